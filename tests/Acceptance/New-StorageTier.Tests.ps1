BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $null = New-TestPool Pool2 2
}

AfterAll {
    Stop-TestSession
}

Describe 'New-StorageTier' {
    It 'makes a template by name and by position' {
        $tier = New-StorageTier -StoragePoolFriendlyName Pool1 -FriendlyName SSDTier -MediaType SSD
        $tier.MediaType, $tier.TierClass, $tier.Size, $tier.ResiliencySettingName | Should -Be 'SSD', 'Unknown', 0, 'Mirror'
        $tier.NumberOfColumns | Should -BeNullOrEmpty
        (New-StorageTier Pool1 -StorageTierFriendlyName HDDTier -MediaType HDD).MediaType | Should -Be 3
        (New-StorageTier -StoragePoolId $pool.UniqueId -FriendlyName ById -MediaType SCM).FriendlyName | Should -Be 'ById'
    }

    It 'takes pools from the pipeline' {
        $made = Get-StoragePool Pool* | New-StorageTier -FriendlyName Everywhere -MediaType SSD
        $made.StoragePoolUniqueId | Sort-Object | Should -Be ((Get-StoragePool Pool*).UniqueId | Sort-Object)
    }

    It 'keeps the values of its parameters' {
        $tier = $pool | New-StorageTier -FriendlyName Odd -MediaType SSD -ResiliencySettingName Mirror -NumberOfDataCopies 3 -NumberOfColumns 2 `
            -Interleave 64KB -ProvisioningType Thin -Description 'for tests' -FaultDomainAwareness PhysicalDisk -NumberOfGroups 1 -Usage Data
        $tier.NumberOfDataCopies, $tier.PhysicalDiskRedundancy, $tier.NumberOfColumns, $tier.Interleave | Should -Be 3, 2, 2, 64KB
        $tier.ProvisioningType, $tier.Description, $tier.Usage | Should -Be 'Thin', 'for tests', 'Data'
    }

    It 'is an object as on Windows' {
        $tier = Get-StorageTier SSDTier
        $tier.PSTypeNames[0] | Should -Be 'Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/MSFT_StorageTier'
        $tier.MediaType -eq 4 -and $tier.Usage -eq 1 -and $tier.TierClass -eq 0 | Should -BeTrue
    }

    It 'refuses what cannot be' {
        $before = @(Get-StorageTier).Count
        (Get-WrittenError { New-StorageTier Pool1 -FriendlyName ssdtier -MediaType SSD }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,New-StorageTier'
        (Get-WrittenError { New-StorageTier Pool1 -FriendlyName New -NumberOfDataCopies 9 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 49003,New-StorageTier'
        (Get-WrittenError { New-StorageTier Pool1 -FriendlyName New -ResiliencySettingName Parity -PhysicalDiskRedundancy 3 }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 49002,New-StorageTier'
        (Get-WrittenError { New-StorageTier Primordial -FriendlyName New }).FullyQualifiedErrorId | Should -Be 'StorageWMI 48000,New-StorageTier'
        (Get-WrittenError { New-StorageTier Nowhere -FriendlyName New }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,New-StorageTier'
        @(Get-StorageTier).Count | Should -Be $before
    }

    It 'does nothing with -WhatIf' {
        New-StorageTier Pool1 -FriendlyName Planned -MediaType SSD -WhatIf
        Get-StorageTier Plan* | Should -BeNullOrEmpty
    }
}
