# Help as a user gets it, offline; and every example of docs/cmdlets, run unchanged: only the folder of the images is another one.
BeforeDiscovery {
    $pages = Get-ChildItem "$PSScriptRoot/../../docs/cmdlets/*-*.md" | Where-Object BaseName -CNE 'common-parameters' | ForEach-Object {
        $below = ((Get-Content -Raw $_) -split '(?m)^## ' | Where-Object { $_ -match '^Examples\n' }) -split '(?m)^### ' | Select-Object -Skip 1
        @{
            Name = $_.BaseName
            Examples = @($below | ForEach-Object {
                @{ Title = ($_ -split "`n")[0]; Code = [regex]::Match($_, '(?s)```powershell\n(.*?)```').Groups[1].Value }
            })
        }
    }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
    $readme = Get-Content -Raw "$PSScriptRoot/../../docs/cmdlets/README.md"
    $preparation = [regex]::Match($readme, '(?s)```powershell\n(.*?)```').Groups[1].Value

    # Runs commands of a page and returns what they wrote as an error.
    function Invoke-Example([string] $Code) {
        $answers = & ([scriptblock]::Create($Code.Replace('/tmp/spaces', $SessionFolder))) *>&1
        $answers | Where-Object { $_ -is [System.Management.Automation.ErrorRecord] }
    }
}

Describe 'Help of <Name>' -ForEach $pages {
    BeforeAll {
        $help = Get-Help $Name -Full
    }

    It 'says what it does' {
        $help.Synopsis.Trim() | Should -Match '\.$'
        $help.Description.Text | Should -Not -BeNullOrEmpty
        $help.RelatedLinks.NavigationLink | Should -Not -BeNullOrEmpty
    }

    It 'describes every parameter' {
        $common = [System.Management.Automation.PSCmdlet]::CommonParameters
        $parameters = (Get-Command $Name).Parameters.Keys | Where-Object { $_ -notin $common }
        $described = Get-Help $Name -Parameter * | Where-Object { "$($_.Description.Text)".Trim() }
        $described.Name | Sort-Object | Should -Be ($parameters | Sort-Object)
    }

    It 'shows every example' {
        @($help.Examples.Example).Code | Should -Be @($Examples | ForEach-Object { $_.Code.TrimEnd("`n") })
    }
}

Describe 'Get-Help' {
    It 'prints one parameter with its range' {
        Get-Help New-VirtualDisk -Parameter Interleave | Out-String | Should -Match '(?s)-Interleave <UInt64>.*power of two.*49005'
    }

    It 'prints the examples' {
        Get-Help New-VirtualDisk -Examples | Out-String | Should -Match '(?s)Example 1.*New-VirtualDisk -StoragePoolFriendlyName Pool1'
    }

    It 'prints everything' {
        Get-Help New-VirtualDisk -Full | Out-String | Should -Match '(?s)SYNOPSIS.*SYNTAX.*DESCRIPTION.*PARAMETERS.*-AsJob.*INPUTS.*OUTPUTS.*Example 2.*RELATED LINKS'
    }
}

Describe 'Examples of <Name>' -ForEach $pages {
    BeforeAll {
        Start-TestSession -AttachNewDisks
        Invoke-Example $preparation | Should -BeNullOrEmpty
    }

    AfterAll {
        Stop-TestSession
    }

    It '<Title>' -ForEach $Examples {
        $Code | Should -Not -BeNullOrEmpty
        Invoke-Example $Code | Should -BeNullOrEmpty
    }
}
