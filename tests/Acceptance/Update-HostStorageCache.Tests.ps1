BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Update-HostStorageCache' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        Connect-TestDisk
    }

    AfterAll {
        Stop-TestSession
    }

    It 'reads every disk again' {
        Initialize-Disk 1
        'size=20MiB' | sfdisk --quiet --no-reread --no-tell-kernel (Get-Disk 1).Location
        Update-HostStorageCache | Should -BeNullOrEmpty
        Test-Path (Get-Partition 1 1).AccessPaths[-1] | Should -BeTrue
    }
}
