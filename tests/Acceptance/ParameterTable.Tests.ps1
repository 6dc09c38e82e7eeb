# Every parameter that works, as tests/Conformance/Facts/parameters.tsv lists it, is given by name or by position in a command line of these
# tests; every cmdlet that changes state is run with -WhatIf in one, and every cmdlet has a test file that uses it.
BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $rows = Import-Csv -Delimiter "`t" $PSScriptRoot/../Conformance/Facts/parameters.tsv | Where-Object { $_.State -eq 'works' -and $_.Cmdlet -ne '*' }
    $cmdlets = (Get-Command -Module TierSpaces -CommandType Cmdlet).Name | ForEach-Object { @{ Cmdlet = $_; Working = @($rows | Where-Object Cmdlet -EQ $_ | ForEach-Object Parameter) } }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1

    # "Cmdlet Parameter" for each parameter in a piece of script, whatever prefix or alias it is written with.
    function Get-GivenParameter([string] $Text) {
        $script = [System.Management.Automation.Language.Parser]::ParseInput($Text, [ref] $null, [ref] $null)
        foreach ($command in $script.FindAll({ $args[0] -is [System.Management.Automation.Language.CommandAst] }, $true)) {
            $name = $command.GetCommandName()
            $info = if ($name) { Get-Command -Name $name -Module TierSpaces -ErrorAction Ignore }
            if ($info -is [System.Management.Automation.CmdletInfo]) {
                foreach ($given in $command.CommandElements | Where-Object { $_ -is [System.Management.Automation.Language.CommandParameterAst] }) {
                    try { "$info $($info.ResolveParameter($given.ParameterName).Name)" } catch { Write-Debug "$info has no -$($given.ParameterName)" }
                }

                $named = [System.Management.Automation.Language.StaticParameterBinder]::BindCommand($command, $true).BoundParameters.Keys
                foreach ($name in $named | Where-Object { $info.Parameters.ContainsKey($_) }) { "$info $name" }
            }
        }
    }

    $given = [System.Collections.Generic.HashSet[string]]::new()
    foreach ($file in Get-ChildItem $PSScriptRoot/*.Tests.ps1) {
        $given.UnionWith([string[]] @(Get-GivenParameter (Get-Content -Raw $file)))
    }

    foreach ($line in Get-Content $PSScriptRoot/CommandLines.txt | Where-Object { $_ -match '^[^#\s]' }) {
        $given.UnionWith([string[]] @(Get-GivenParameter $line))
    }
}

Describe '<Cmdlet>' -ForEach $cmdlets {
    It 'has every parameter that works tried out' {
        $Working | Where-Object { -not $given.Contains("$Cmdlet $_") } | Should -BeNullOrEmpty
    }

    It 'is tried with -WhatIf if it changes anything' {
        if ((Get-Command $Cmdlet).Parameters.ContainsKey('WhatIf')) { "$Cmdlet WhatIf" | Should -BeIn $given }
    }

    It 'has a test file of its own' {
        "$PSScriptRoot/$Cmdlet.Tests.ps1" | Should -Exist
        Get-Content -Raw "$PSScriptRoot/$Cmdlet.Tests.ps1" | Should -Match "\b$Cmdlet\b"
    }
}
