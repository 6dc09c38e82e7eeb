BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-PhysicalDisk -Path slow1.img, slow2.img -Size 512MB -MediaType HDD
    Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk slow?)
    $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
    $null = New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD
    $data = New-VirtualDisk Pool1 -FriendlyName Data -StorageTiers (Get-StorageTier Fast), (Get-StorageTier Slow) -StorageTierSizes 16MB, 64MB -WarningAction Ignore
}

AfterAll {
    Stop-TestSession
}

Describe 'Resize-StorageTier' {
    It 'does nothing with -WhatIf' {
        Resize-StorageTier Data_Fast -Size 32MB -WhatIf
        (Get-VirtualDisk Data).Size | Should -Be 80MB
    }

    It 'makes a tier larger by name, identifier and from the pipeline, and the virtual disk with it' {
        Resize-StorageTier Data_Fast -Size 24MB -Confirm:$false
        Resize-StorageTier -UniqueId (Get-StorageTier Data_Slow).UniqueId -Size 96MB -Confirm:$false
        (Get-StorageTier Data_Fast | Resize-StorageTier -Size 32MB -PassThru -Confirm:$false).Size | Should -Be 32MB
        Resize-StorageTier -InputObject (Get-StorageTier Data_Slow) -Size 100MB -Confirm:$false
        (Get-VirtualDisk Data).Size | Should -Be 132MB
    }

    It 'goes to the largest size and no further' {
        $sizes = Get-StorageTierSupportedSize Data_Slow
        (Get-WrittenError { Resize-StorageTier Data_Slow -Size ($sizes.TierSizeMax + $sizes.TierSizeDivisor) -Confirm:$false }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 40000,Resize-StorageTier'
        (Resize-StorageTier Data_Slow -Size $sizes.TierSizeMax -PassThru -Confirm:$false).Size | Should -Be $sizes.TierSizeMax
    }

    It 'refuses what cannot be' {
        (Get-WrittenError { Resize-StorageTier Data_Fast -Size 1MB -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 4097,Resize-StorageTier'
        (Get-WrittenError { Resize-StorageTier Fast -Size 1GB -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Resize-StorageTier'
        (Get-WrittenError { Resize-StorageTier Nobody -Size 1GB -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Resize-StorageTier'
    }
}
