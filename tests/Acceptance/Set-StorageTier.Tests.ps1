BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-StorageTier' {
    It 'changes the name in each way of naming it' {
        Set-StorageTier Fast -NewFriendlyName Faster
        Set-StorageTier -UniqueId (Get-StorageTier Faster).UniqueId -NewFriendlyName Fastest
        Set-StorageTier -InputObject (Get-StorageTier Fastest) -NewFriendlyName Fast
        (Get-StorageTier).FriendlyName | Should -Be 'Fast'
    }

    It 'changes description and layout' {
        Get-StorageTier Fast | Set-StorageTier -Description 'all flash'
        Get-StorageTier Fast | Set-StorageTier -MediaType SCM -ResiliencySettingName Mirror -NumberOfDataCopies 3 -NumberOfColumns 2 -Interleave 64KB -ProvisioningType Thin
        $tier = Get-StorageTier Fast
        $tier.Description, $tier.MediaType, $tier.ResiliencySettingName, $tier.ProvisioningType | Should -Be 'all flash', 'SCM', 'Mirror', 'Thin'
        $tier.NumberOfDataCopies, $tier.PhysicalDiskRedundancy, $tier.NumberOfColumns, $tier.Interleave | Should -Be 3, 2, 2, 64KB
        Set-StorageTier Fast -PhysicalDiskRedundancy 1
        (Get-StorageTier Fast).NumberOfDataCopies | Should -Be 2
    }

    It 'takes name or layout, not both' {
        (Get-WrittenError { try { Set-StorageTier Fast -NewFriendlyName New -MediaType SSD } catch { $_ } }).FullyQualifiedErrorId | Should -BeLike 'AmbiguousParameterSet*'
    }

    It 'refuses what cannot be, and does nothing with -WhatIf' {
        $before = Get-StorageTier Fast | ConvertTo-Json
        (Get-WrittenError { Set-StorageTier Fast -Interleave 3KB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 49005,Set-StorageTier'
        (Get-WrittenError { Set-StorageTier Fast -NumberOfColumns 65 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 49006,Set-StorageTier'
        (Get-WrittenError { Set-StorageTier Slow -MediaType HDD }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Set-StorageTier'
        Set-StorageTier Fast -MediaType HDD -WhatIf
        Get-StorageTier Fast | ConvertTo-Json | Should -Be $before
    }
}
