BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Remove-PartitionAccessPath' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'unmounts a volume for good, and keeps its files' {
        Remove-PartitionAccessPath -DriveLetter E
        Test-Path (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -BeFalse
        Disconnect-VirtualDisk Data
        Connect-VirtualDisk Data
        Test-Path (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -BeFalse
        Get-Partition 1 1 | Add-PartitionAccessPath -AccessPath E:
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be 'text'
    }
}
