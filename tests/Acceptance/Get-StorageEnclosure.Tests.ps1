BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    Get-PhysicalDisk Pool1[13] | Set-PhysicalDisk -EnclosureNumber 1 -SlotNumber 5
    Get-PhysicalDisk Pool1[24] | Set-PhysicalDisk -EnclosureNumber 2
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageEnclosure' {
    It 'lists the enclosures that disks are in' {
        $all = Get-StorageEnclosure
        $all.FriendlyName | Should -Be 'Enclosure 1', 'Enclosure 2'
        $all[0].NumberOfSlots | Should -Be 5
        $all[0].HealthStatus | Should -Be 'Healthy'
        $all[0].PSTypeNames | Should -Contain 'Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageFaultDomain'
    }

    It 'binds names by position and property, and identifiers' {
        (Get-StorageEnclosure 'Enclosure 2').DeviceId | Should -Be 2
        (Get-StorageEnclosure *2 | Get-StorageEnclosure).DeviceId | Should -Be 2
        (Get-StorageEnclosure -Id (Get-StorageEnclosure *1).UniqueId).DeviceId | Should -Be 1
    }

    It 'finds the enclosure of a disk, and the disks of an enclosure' {
        (Get-PhysicalDisk Pool12 | Get-StorageEnclosure).FriendlyName | Should -Be 'Enclosure 2'
        (Get-StorageEnclosure 'Enclosure 1' | Get-PhysicalDisk).FriendlyName | Should -Be 'Pool11', 'Pool13'
    }

    It 'prints a table' {
        (Get-StorageEnclosure | Out-String).Trim() -split '\r?\n' | Select-Object -First 1 |
            Should -Match 'DeviceId\s+FriendlyName\s+SerialNumber\s+HealthStatus\s+OperationalStatus\s+NumberOfSlots'
    }

    It 'says what is not there' {
        Get-StorageEnclosure 'Enclosure 9' -ErrorVariable failure -ErrorAction SilentlyContinue
        $failure.FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StorageEnclosure'
        Get-StorageEnclosure 'Nothing*' | Should -BeNullOrEmpty
    }
}
