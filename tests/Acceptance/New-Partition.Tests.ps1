BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'New-Partition' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        Connect-TestDisk; Initialize-Disk 1
    }

    AfterAll {
        Stop-TestSession
    }

    It 'begins at a multiple of the stripe and tells the file system of it' {
        $partition = New-Partition 1 -Size 100MB -DriveLetter E
        $partition.Offset % 1MB | Should -Be 0
        $partition.Offset % (2 * 256KB) | Should -Be 0
        $null = Format-Volume E -Confirm:$false
        dumpe2fs -h (Get-Volume E).Path 2>$null | Out-String | Should -Match '(?s)RAID stride:\s+64.*RAID stripe width:\s+128'
    }

    It 'makes nothing when the letter cannot be had' {
        (Get-WrittenError { New-Partition 1 -Size 20MB -DriveLetter E }).FullyQualifiedErrorId | Should -Be 'StorageWMI 42002,New-Partition'
        (Get-Disk 1).NumberOfPartitions | Should -Be 1
    }
}
