BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-PhysicalDisk -Path slow1.img, slow2.img -Size 512MB -MediaType HDD
    Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk slow?)
    Set-StoragePool Pool1 -WriteCacheSizeDefault 0   # one that is chosen by itself becomes smaller where tiers are larger
    $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
    $null = New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageTierSupportedSize' {
    It 'can be had for both tiers of a disk, and a slice more of the fast one cannot' {
        $fast = Get-StorageTierSupportedSize Fast
        $slow = Get-StorageTierSupportedSize Slow
        $given = @{ StoragePoolFriendlyName = 'Pool1'; FriendlyName = 'Most'; StorageTiers = (Get-StorageTier Fast), (Get-StorageTier Slow) }
        (Get-WrittenError { New-VirtualDisk @given -StorageTierSizes ($fast.TierSizeMax + $fast.TierSizeDivisor), $slow.TierSizeMax }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 40000,New-VirtualDisk'
        $most = New-VirtualDisk @given -StorageTierSizes $fast.TierSizeMax, $slow.TierSizeMax -WarningAction Ignore
        $most.Size | Should -Be ($fast.TierSizeMax + $slow.TierSizeMax)
        $most | Remove-VirtualDisk -Confirm:$false
    }

    It 'can be had for <_> with no other tier' -ForEach 'Fast', 'Slow' {
        $most = (Get-StorageTierSupportedSize $_).TierSizeMax
        $disk = New-VirtualDisk Pool1 -FriendlyName Most -StorageTiers (Get-StorageTier $_) -StorageTierSizes $most -WarningAction Ignore
        $disk.Size | Should -Be $most
        $disk | Remove-VirtualDisk -Confirm:$false
    }

    It 'cannot be had for Slow with a slice more' {
        $more = (Get-StorageTierSupportedSize Slow).TierSizeMax + 1MB
        (Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName Most -StorageTiers (Get-StorageTier Slow) -StorageTierSizes $more }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 40000,New-VirtualDisk'
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
