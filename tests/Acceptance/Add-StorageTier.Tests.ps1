BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-PhysicalDisk -Path slow1.img, slow2.img -Size 512MB -MediaType HDD
    $null = New-PhysicalDisk -Path top1.img, top2.img -Size 512MB -MediaType SCM
    Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks @(Get-PhysicalDisk slow?; Get-PhysicalDisk top?)
    $top = New-StorageTier Pool1 -FriendlyName Top -MediaType SCM
    $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
    $null = New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD
    foreach ($name in 'One', 'Two', 'Three') {
        $null = New-VirtualDisk Pool1 -FriendlyName $name -StorageTiers (Get-StorageTier Fast), (Get-StorageTier Slow) -StorageTierSizes 16MB, 32MB -WarningAction Ignore
    }
}

AfterAll {
    Stop-TestSession
}

Describe 'Add-StorageTier' {
    It 'does nothing with -WhatIf' {
        Add-StorageTier One $top 8MB -WhatIf
        Add-StorageTier -VirtualDisk (Get-VirtualDisk One) -StorageTier $top -Size 8MB -WhatIf
        (Get-VirtualDisk One).Size | Should -Be 48MB
    }

    It 'adds a tier by name, identifier, object and from the pipeline, and the virtual disk grows' {
        Add-StorageTier One $top 8MB -Confirm:$false | Should -BeNullOrEmpty
        $tier = Get-VirtualDisk Two | Add-StorageTier -StorageTier (Get-StorageTier Top) -Size 8MB -PassThru -Confirm:$false
        $tier.FriendlyName | Should -Be 'Two_Top'
        $tier.TierClass | Should -Be 'Performance'
        $tier.PSTypeNames | Should -Contain 'Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageTier'
        Add-StorageTier -VirtualDiskUniqueId (Get-VirtualDisk Three).UniqueId -StorageTier $top -Size 8MB -Confirm:$false
        (Get-VirtualDisk One, Two, Three).Size | Should -Be 56MB, 56MB, 56MB
        (Get-StorageTier -VirtualDisk (Get-VirtualDisk One)).FriendlyName | Should -Be 'One_Top', 'One_Fast', 'One_Slow'
    }

    It 'refuses what cannot be' {
        (Get-WrittenError { Add-StorageTier One $top 8MB -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Add-StorageTier'
        (Get-WrittenError { Add-StorageTier One (Get-StorageTier One_Fast) 8MB -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Add-StorageTier'
        (Get-WrittenError { Add-StorageTier Nobody $top 8MB -Confirm:$false }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Add-StorageTier'
        $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 16MB
        (Get-WrittenError { Add-StorageTier Plain $top 8MB -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Add-StorageTier'
    }
}
