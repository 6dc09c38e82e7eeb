BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool Pool1 6
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-ResiliencySetting' {
    It 'sets defaults that the next virtual disk takes, and a parameter goes before them' {
        $pool | Set-ResiliencySetting -Name Mirror -NumberOfDataCopiesDefault 3 -NumberOfColumnsDefault 1 -InterleaveDefault 64KB
        $disk = New-VirtualDisk Pool1 -FriendlyName Three -Size 8MB
        $disk.NumberOfDataCopies, $disk.NumberOfColumns, $disk.Interleave | Should -Be 3, 1, 64KB
        $disk = New-VirtualDisk Pool1 -FriendlyName Two -Size 8MB -NumberOfDataCopies 2 -AutoNumberOfColumns -Interleave 128KB
        $disk.NumberOfDataCopies, $disk.NumberOfColumns, $disk.Interleave | Should -Be 2, 3, 128KB
    }

    It 'keeps copies and redundancy of a mirror together' {
        $changed = $pool | Get-ResiliencySetting -Name Mirror | Set-ResiliencySetting -PhysicalDiskRedundancyDefault 1 -PassThru
        $changed.NumberOfDataCopiesDefault, $changed.PhysicalDiskRedundancyDefault | Should -Be 2, 1
    }

    It 'goes back to automatic columns' {
        ($pool | Set-ResiliencySetting -Name Mirror -AutoNumberOfColumns -PassThru).NumberOfColumnsDefault | Should -BeNullOrEmpty
    }

    It 'refuses what contradicts itself and changes nothing' {
        $before = $pool | Get-ResiliencySetting -Name Mirror | ConvertTo-Json
        (Get-WrittenError { $pool | Set-ResiliencySetting -Name Mirror -NumberOfDataCopiesDefault 3 -PhysicalDiskRedundancyDefault 1 }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 49003,Set-ResiliencySetting'
        (Get-WrittenError { $pool | Set-ResiliencySetting -Name Mirror -NumberOfColumnsDefault 2 -AutoNumberOfColumns }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 49006,Set-ResiliencySetting'
        $pool | Get-ResiliencySetting -Name Mirror | ConvertTo-Json | Should -Be $before
    }
}
