BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Remove-Partition' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'unmounts and removes a partition, and frees its letter' {
        Remove-Partition -DriveLetter E -Confirm:$false
        Get-Partition | Should -BeNullOrEmpty
        Test-Path (Join-Path $env:TIERSPACES_VOLUME_ROOT E) | Should -BeFalse
        (New-Partition 1 -Size 20MB -DriveLetter E).DriveLetter | Should -Be 'E'
    }
}
