BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-PhysicalDisk -Path f1.img, f2.img -Size 256MB -MediaType SSD
    $null = New-PhysicalDisk -Path s1.img, s2.img, s3.img -Size 512MB -MediaType HDD
    $null = New-StoragePool -FriendlyName Mixed -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk -CanPool $true)
}

AfterAll {
    Stop-TestSession
}

Describe 'Storage tiers with parity' {
    It 'are made under a faster mirror, each with its own layout' {
        $fast = New-StorageTier Mixed -FriendlyName Performance -MediaType SSD -ResiliencySettingName Mirror
        $slow = New-StorageTier Mixed -FriendlyName Capacity -MediaType HDD -ResiliencySettingName Parity
        $slow.ParityLayout, $slow.PhysicalDiskRedundancy, $slow.NumberOfDataCopies | Should -Be 'Rotated Parity', 1, 1
        $disk = New-VirtualDisk Mixed -FriendlyName Tiered -StorageTiers $fast, $slow -StorageTierSizes 16MB, 64MB -WriteCacheSize 0
        $disk.Size, $disk.PhysicalDiskRedundancy, $disk.ParityLayout | Should -Be 80MB, 1, 'Rotated Parity'
        $tiers = Get-StorageTier -VirtualDisk $disk
        $tiers.ResiliencySettingName | Should -Be 'Mirror', 'Parity'
        $tiers.NumberOfColumns | Should -Be 1, 3
        $tiers[1].FootprintOnPool | Should -BeGreaterThan ($tiers[1].AllocatedSize * 1.4)
        @(Get-PhysicalExtent -StorageTier $tiers[1]).PhysicalDiskUniqueId | Sort-Object -Unique | Should -HaveCount 3
    }

    It 'grow and shrink in the report of sizes, and are optimized' {
        $most = (Get-StorageTierSupportedSize Capacity).TierSizeMax
        $most | Should -BeGreaterThan 400MB
        (Resize-StorageTier Tiered_Capacity -Size 96MB -PassThru).Size | Should -Be 96MB
        (Optimize-StorageTier Tiered_Capacity -Confirm:$false).State | Should -Be 'Completed'
    }

    It 'need disks of their medium' {
        (Get-WrittenError { New-VirtualDisk Mixed -FriendlyName Wide -StorageTiers (Get-StorageTier Capacity) -StorageTierSizes 8MB -NumberOfColumns 4 -WriteCacheSize 0 }).
            FullyQualifiedErrorId | Should -Be 'StorageWMI 49006,New-VirtualDisk'
        Get-VirtualDisk Wide -ErrorAction Ignore | Should -BeNullOrEmpty
    }
}

Describe 'A write cache in front of parity' {
    BeforeAll {
        $null = New-PhysicalDisk -Path h1.img, h2.img, h3.img, h4.img, h5.img -Size 512MB -MediaType HDD
        $null = New-StoragePool -FriendlyName Slow -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk -CanPool $true)
    }

    It 'is on the disks of the data where there is no flash' {
        (New-VirtualDisk Slow -FriendlyName Archive -ResiliencySettingName Parity -NumberOfColumns 3 -Size 64MB).WriteCacheSize | Should -Be 32MB
        (New-VirtualDisk Slow -FriendlyName Bare -ResiliencySettingName Parity -NumberOfColumns 3 -Size 16MB -WriteCacheSize 0).WriteCacheSize | Should -Be 0
        (Get-WrittenError { New-VirtualDisk Slow -FriendlyName Copies -ResiliencySettingName Mirror -Size 8MB -WriteCacheSize 8MB }).
            FullyQualifiedErrorId | Should -Be 'StorageWMI 48004,New-VirtualDisk'
    }

    It 'goes to disks for journals when there are enough of them, and data leaves these' {
        $warnings = @()
        Set-PhysicalDisk h4 -Usage Journal -WarningVariable +warnings -WarningAction SilentlyContinue
        Set-PhysicalDisk h5 -Usage Journal -WarningVariable +warnings -WarningAction SilentlyContinue
        $journals = (Get-PhysicalDisk h4).UniqueId, (Get-PhysicalDisk h5).UniqueId
        for ($waited = 0; $waited -lt 600; $waited++) {
            $left = @(Get-PhysicalExtent -VirtualDisk (Get-VirtualDisk Archive) | Where-Object PhysicalDiskUniqueId -In $journals)
            if ($left.Count -eq 0 -and -not (Get-StorageJob | Where-Object JobState -EQ 'Running')) { break }
            Start-Sleep -Milliseconds 100
        }

        $left | Should -BeNullOrEmpty
        Get-PhysicalExtent -VirtualDisk (Get-VirtualDisk Archive) | ForEach-Object PhysicalDiskUniqueId | Sort-Object -Unique | Should -HaveCount 3
    }
}
