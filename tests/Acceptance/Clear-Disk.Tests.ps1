BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Clear-Disk' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'keeps a disk with a volume in use as it is' {
        $busy = Start-Process sleep 60 -WorkingDirectory (Join-Path $env:TIERSPACES_VOLUME_ROOT E) -PassThru
        (Get-WrittenError { Clear-Disk 1 -RemoveData -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 4099,Clear-Disk'
        $busy.Kill()
        $busy.WaitForExit()
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be 'text'
    }

    It 'erases it, and nothing of it comes back on a new partition' {
        Clear-Disk 1 -RemoveData -Confirm:$false
        (Get-Disk 1).PartitionStyle | Should -Be 'RAW'
        Get-Volume | Should -BeNullOrEmpty
        Initialize-Disk 1
        $null = New-Partition 1 -Size 300MB -DriveLetter E
        (Get-Volume E).FileSystem | Should -BeNullOrEmpty
    }
}
