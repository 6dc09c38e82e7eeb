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

    It 'unmounts a volume, so that the virtual disk can be disconnected, and keeps its files' {
        "$(Get-WrittenError { Disconnect-VirtualDisk Data })" | Should -Match 'is mounted on'
        Remove-PartitionAccessPath -DriveLetter E
        Disconnect-VirtualDisk Data
        Connect-VirtualDisk Data
        Get-Partition 1 1 | Add-PartitionAccessPath -AccessPath E:
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be 'text'
    }
}
