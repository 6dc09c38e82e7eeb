BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-PhysicalDisk -Path slow1.img, slow2.img -Size 512MB -MediaType HDD
    Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk slow?)
    $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
    $null = New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageTierSupportedSize' {
    It 'is exact for <Tier>: the largest size can be had, and a slice more cannot' -ForEach @{ Tier = 'Fast' }, @{ Tier = 'Slow' } {
        $sizes = Get-StorageTierSupportedSize $Tier
        $given = @{ StoragePoolFriendlyName = 'Pool1'; FriendlyName = 'Most'; StorageTiers = Get-StorageTier $Tier }
        (Get-WrittenError { New-VirtualDisk @given -StorageTierSizes ($sizes.TierSizeMax + $sizes.TierSizeDivisor) }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 40000,New-VirtualDisk'
        $most = New-VirtualDisk @given -StorageTierSizes $sizes.TierSizeMax -WarningAction Ignore
        $most.Size | Should -Be $sizes.TierSizeMax
        $most | Remove-VirtualDisk -Confirm:$false
    }

    It 'takes names, identifiers and objects, and a layout' {
        $simple = Get-StorageTierSupportedSize Fast -ResiliencySettingName Simple
        $simple.TierSizeMax | Should -BeGreaterThan (Get-StorageTierSupportedSize Fast).TierSizeMax
        (Get-StorageTierSupportedSize -UniqueId (Get-StorageTier Fast).UniqueId -Name Simple).TierSizeMax | Should -Be $simple.TierSizeMax
        @(Get-StorageTierSupportedSize -FriendlyName Fast, Slow).Count | Should -Be 2
        @(Get-StorageTier | Get-StorageTierSupportedSize).Count | Should -Be 2
        (Get-StorageTierSupportedSize -InputObject (Get-StorageTier Slow)).TierSizeMin | Should -Be 1MB
    }

    It 'prints a table, and refuses what is not there' {
        Get-StorageTierSupportedSize Fast | Out-String -Width 200 | Should -Match 'SupportedSizes\s+TierSizeMin\s+TierSizeMax\s+TierSizeDivisor'
        (Get-WrittenError { Get-StorageTierSupportedSize Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StorageTierSupportedSize'
        (Get-WrittenError { Get-StorageTierSupportedSize Fast -ResiliencySettingName Magic }).FullyQualifiedErrorId | Should -Be 'StorageWMI 49000,Get-StorageTierSupportedSize'
    }
}
