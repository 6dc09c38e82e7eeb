BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 16MB -ResiliencySettingName Simple -NumberOfColumns 1 -Checksum None -PhysicalDisksToUse (Get-PhysicalDisk Pool11)
}

AfterAll {
    Stop-TestSession
}

Describe 'Remove-PhysicalDisk' {
    It 'gives an empty disk back' {
        Remove-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk Pool14) -Confirm:$false
        (Get-PhysicalDisk Pool14).CanPool | Should -BeTrue
        @($pool | Get-PhysicalDisk).Count | Should -Be 3
    }

    It 'refuses a disk with data, names who uses it, and removes none of the disks given with it' {
        $failure = Get-WrittenError { $pool | Remove-PhysicalDisk -PhysicalDisks (Get-PhysicalDisk Pool13), (Get-PhysicalDisk Pool11) -Confirm:$false }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 51004,Remove-PhysicalDisk'
        "$failure" | Should -BeLike "*'Pool11'*'Data'*"
        @($pool | Get-PhysicalDisk).Count | Should -Be 3
    }

    It 'refuses a virtual disk in place of a pool' {
        $failure = Get-WrittenError { Get-VirtualDisk Data | Remove-PhysicalDisk -PhysicalDisks (Get-PhysicalDisk Pool13) -Confirm:$false }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Remove-PhysicalDisk'
        "$failure" | Should -BeLike '*-VirtualDisk*'
    }

    It 'does not go on unasked in a non-interactive session' {
        { $pool | Remove-PhysicalDisk -PhysicalDisks (Get-PhysicalDisk Pool13) -ErrorAction Stop } | Should -Throw
        @($pool | Get-PhysicalDisk).Count | Should -Be 3
    }
}
