BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Repair-Volume' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'answers with the status alone, which is a name and a number' {
        Repair-Volume E -Scan -WarningAction SilentlyContinue | Should -Be 'NoErrorsFound'
        (Repair-Volume E -OfflineScanAndFix) -eq 0 | Should -BeTrue
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be 'text'
    }

    It 'finds and repairs damage' {
        Remove-PartitionAccessPath -DriveLetter E
        $volume = Get-Volume -FileSystemLabel Test
        $debug = 'clri <2>'
        debugfs -w -R $debug $volume.Path 2>$null
        $volume | Repair-Volume -Scan | Should -Be 'ErrorsFound'
        $volume | Repair-Volume -SpotFix | Should -Be 'ErrorsFixed'
        $volume | Repair-Volume -Scan | Should -Be 'NoErrorsFound'
    }
}
