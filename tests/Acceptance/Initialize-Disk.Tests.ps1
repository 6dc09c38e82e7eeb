BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Initialize-Disk' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        Connect-TestDisk
    }

    AfterAll {
        Stop-TestSession
    }

    It 'refuses a device that was formatted as a whole, and says what to do' {
        mkfs.ext4 -q -L whole (Get-Disk 1).Location
        $failure = Get-WrittenError { Initialize-Disk 1 }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Initialize-Disk'
        "$failure" | Should -Match "file system ext4 \('whole'\)"
        "$failure" | Should -Match 'Clear-Disk 1 -RemoveData'
        (Get-Volume).FileSystemLabel | Should -Be 'whole'
        Clear-Disk 1 -RemoveData -Confirm:$false
    }

    It 'makes a GPT' {
        Get-VirtualDisk Data | Get-Disk | Initialize-Disk
        (Get-Disk 1).PartitionStyle | Should -Be 'GPT'
        (sfdisk --json (Get-Disk 1).Location | ConvertFrom-Json).partitiontable.label | Should -Be 'gpt'
    }
}
