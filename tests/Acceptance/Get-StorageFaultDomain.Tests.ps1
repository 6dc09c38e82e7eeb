BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    Get-PhysicalDisk Pool1[13] | Set-PhysicalDisk -EnclosureNumber 1 -StorageRackId North
    Get-PhysicalDisk Pool1[24] | Set-PhysicalDisk -EnclosureNumber 2 -StorageRackId South
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 8MB -FaultDomainAwareness StorageRack -WarningAction Ignore
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageFaultDomain' {
    It 'lists the widest domains first and disks last' {
        (Get-StorageFaultDomain | Select-Object -First 4).FriendlyName | Should -Be 'North', 'South', 'Enclosure 1', 'Enclosure 2'
        @(Get-StorageFaultDomain -Type PhysicalDisk).Count | Should -Be @(Get-PhysicalDisk).Count
    }

    It 'returns disks and enclosures as what they are' {
        (Get-StorageFaultDomain -Type PhysicalDisk)[0].Usage | Should -Be 'Auto-Select'
        (Get-StorageFaultDomain -Type StorageEnclosure)[0].PSTypeNames | Should -Contain 'Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageEnclosure'
        (Get-StorageFaultDomain -Type StorageRack)[0].PSTypeNames | Should -Contain 'Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageRack'
    }

    It 'finds parents and children' {
        (Get-PhysicalDisk Pool12 | Get-StorageFaultDomain).FriendlyName | Should -Be 'South', 'Enclosure 2'
        (Get-StorageFaultDomain -Type StorageRack | Where-Object FriendlyName -EQ North | Get-StorageFaultDomain -Type PhysicalDisk).FriendlyName |
            Should -Be 'Pool11', 'Pool13'
        (Get-StorageEnclosure 'Enclosure 1' | Get-StorageFaultDomain -Type StorageRack).FriendlyName | Should -Be 'North'
    }

    It 'finds what a virtual disk lies on' {
        (Get-VirtualDisk Data | Get-StorageFaultDomain -Type StorageRack).FriendlyName | Should -Be 'North', 'South'
    }

    It 'says what is not there' {
        $gone = Get-StorageFaultDomain -Type StorageRack | Where-Object FriendlyName -EQ South
        Get-PhysicalDisk Pool1[24] | Set-PhysicalDisk -StorageRackId '' -WarningAction Ignore
        $gone | Get-StorageFaultDomain -ErrorVariable failure -ErrorAction SilentlyContinue
        $failure.FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StorageFaultDomain'
    }
}
