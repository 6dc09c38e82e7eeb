BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-StorageSubSystem' {
    It 'sets how much of the disks repairs have, by the names and the numbers of Windows' {
        (Get-StorageSubSystem).VirtualDiskRepairQueueDepth | Should -Be 4
        Get-StorageSubSystem | Set-StorageSubSystem -VirtualDiskRepairQueueDepth High
        (Get-StorageSubSystem).VirtualDiskRepairQueueDepth | Should -Be 8
        Set-StorageSubSystem -FriendlyName 'Windows Storage*' -VirtualDiskRepairQueueDepth 16
        (Get-StorageSubSystem).VirtualDiskRepairQueueDepth | Should -Be 16
        Set-StorageSubSystem -Name (Get-StorageSubSystem).Name -VirtualDiskRepairPriority VeryLow
        (Get-StorageSubSystem).VirtualDiskRepairQueueDepth | Should -Be 1
    }

    It 'keeps it over a restart of the host' {
        Set-StorageSubSystem -UniqueId (Get-StorageSubSystem).UniqueId -VirtualDiskRepairQueueDepth Low
        Stop-TierSpacesHost -Confirm:$false
        (Get-StorageSubSystem).VirtualDiskRepairQueueDepth | Should -Be 2
    }

    It 'refuses other numbers and changes nothing' {
        { Set-StorageSubSystem -FriendlyName * -VirtualDiskRepairQueueDepth 3 } | Should -Throw
        { Set-StorageSubSystem -FriendlyName * } | Should -Throw -ErrorId 'AmbiguousParameterSet*'
        Set-StorageSubSystem -FriendlyName * -VirtualDiskRepairQueueDepth Medium -WhatIf
        (Get-StorageSubSystem).VirtualDiskRepairQueueDepth | Should -Be 2
    }
}
