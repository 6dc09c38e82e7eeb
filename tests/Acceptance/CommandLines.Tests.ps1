# Runs CommandLines.txt: a command line is a test. Its head says how it is written.
BeforeDiscovery {
    $lines = [System.Collections.Generic.List[hashtable]]::new()
    $number = 0
    $needsDisks = $false
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
    foreach ($text in Get-Content -LiteralPath $PSScriptRoot/CommandLines.txt) {
        $number++
        switch -Regex ($text) {
            '^#! disks$' { $needsDisks = $true; break }
            '^#! end$' { $needsDisks = $false; break }
            '^\s*(#|$)' { break }
            '^    => (.+)$' { $lines[-1].Expected = $Matches[1]; break }
            '^    !! (.+)$' { $lines[-1].Id = $Matches[1]; break }
            default { $lines.Add(@{ Number = $number; Line = $text; Shown = ($text -replace '[<>]', ' '); Expected = ''; Id = ''; Skips = $needsDisks -and $noDisks }) }
        }
    }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool Pool1
    $null = New-TestPool Pool2 3
    $null = New-TestDisk 9 -Prefix spare
    $null = New-PhysicalDisk -Path emu1.img, emu2.img -Size 256MB -LatencyProfile NVMe
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
    $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 16MB -ResiliencySettingName Simple -NumberOfColumns 1 -PhysicalDisksToUse (Get-PhysicalDisk Pool12)
    $null = New-VirtualDisk Pool2 -FriendlyName Other -Size 16MB -NumberOfColumns 1
}

AfterAll {
    Stop-TestSession
}

Describe 'Command lines' {
    It '<Number>: <Shown>' -ForEach $lines {
        if ($Skips) {
            Set-ItResult -Skipped -Because 'disks need root, FUSE, fdisk and nbdfuse'
            return
        }

        $ErrorActionPreference = 'Continue'
        $ConfirmPreference = 'High'
        $answer = $null
        $failures = [System.Collections.Generic.List[object]]::new()
        try {
            $written = . ([scriptblock]::Create($Line)) 2>&1
            $failures.AddRange(@($written | Where-Object { $_ -is [System.Management.Automation.ErrorRecord] }))
            $answer = $written | Where-Object { $_ -isnot [System.Management.Automation.ErrorRecord] }
        }
        catch {
            $failures.Add($_)
        }

        ($failures | ForEach-Object FullyQualifiedErrorId) -join ' ' | Should -BeExactly $Id
        if ($Expected) {
            . ([scriptblock]::Create($Expected)) | Should -BeTrue -Because $Expected
        }
    }

    It 'has an expectation for each of at least 300' -TestCases @{ All = $lines } {
        $All.Count | Should -BeGreaterOrEqual 300
        $All | Where-Object { -not $_.Expected -eq -not $_.Id } | ForEach-Object { $_.Line } | Should -BeNullOrEmpty
    }
}
