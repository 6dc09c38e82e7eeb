BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $data = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB -NumberOfColumns 2
    $thin = New-VirtualDisk Pool1 -FriendlyName Thin -Size 32MB -ProvisioningType Thin
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-PhysicalExtent' {
    It 'covers a virtual disk once per copy' {
        $extents = $data | Get-PhysicalExtent
        ($extents | Measure-Object Size -Sum).Sum | Should -Be (2 * $data.Size)
        $extents.ColumnNumber | Sort-Object -Unique | Should -Be 0, 1
        $extents.CopyNumber | Sort-Object -Unique | Should -Be 0, 1
        $extents.OperationalStatus | Sort-Object -Unique | Should -Be 'OK'
    }

    It 'puts no two parts of a row on one disk, and no two extents in one place' {
        $extents = $data | Get-PhysicalExtent
        foreach ($row in $extents | Group-Object VirtualDiskOffset) { ($row.Group.PhysicalDiskUniqueId | Sort-Object -Unique).Count | Should -Be 4 }
        ($extents | Group-Object PhysicalDiskUniqueId, PhysicalDiskOffset | Where-Object Count -GT 1) | Should -BeNullOrEmpty
    }

    It 'shows what lies on a physical disk' {
        $disk = Get-PhysicalDisk Pool11
        $extents = $disk | Get-PhysicalExtent
        $extents.VirtualDiskUniqueId | Sort-Object -Unique | Should -Be $data.UniqueId
        ($extents | Measure-Object Size -Sum).Sum | Should -BeLessOrEqual $disk.VirtualDiskFootprint
    }

    It 'has nothing to show of a thin disk that was never written' {
        $thin | Get-PhysicalExtent | Should -BeNullOrEmpty
    }

    It 'shows where a tier lies' {
        $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
        $tiered = New-VirtualDisk Pool1 -FriendlyName Tiered -StorageTiers (Get-StorageTier Fast) -StorageTierSizes 8MB
        $extents = Get-StorageTier -VirtualDisk $tiered | Get-PhysicalExtent
        $extents.StorageTierUniqueId | Sort-Object -Unique | Should -Be (Get-StorageTier Tiered_Fast).UniqueId
        $extents.Count | Should -Be @($tiered | Get-PhysicalExtent).Count
        $data | Get-PhysicalExtent | Where-Object StorageTierUniqueId | Should -BeNullOrEmpty
    }

    It 'lists the slices of a tiered disk, with their tier' {
        $tiered = Get-VirtualDisk Tiered
        $tiered | Get-PhysicalExtent -Tier | Should -BeNullOrEmpty
        { $data | Get-PhysicalExtent -Tier -ErrorAction Stop } | Should -Throw '*has no tiers*'
        $disk = Connect-VirtualDisk Tiered -PassThru
        if (-not $disk.DevicePath) { Set-ItResult -Skipped -Because 'this user or this machine has no block devices'; return }
        dd if=/dev/urandom of=$($disk.DevicePath) bs=4096 seek=768 count=1 oflag=direct status=none
        $slices = @($tiered | Get-PhysicalExtent -Tier)
        $slices.SliceNumber | Sort-Object -Unique | Should -Be 3
        $slices.StorageTierFriendlyName | Sort-Object -Unique | Should -Be 'Tiered_Fast'
        $slices.VirtualDiskOffset | Sort-Object -Unique | Should -Be 3MB
        ($slices | Group-Object CopyNumber | ForEach-Object { ($_.Group | Measure-Object Size -Sum).Sum } | Sort-Object -Unique) | Should -Be 1MB
        $slices.PhysicalDiskUniqueId | ForEach-Object { (Get-PhysicalDisk -UniqueId $_).FriendlyName | Should -BeIn $slices.PhysicalDiskFriendlyName }
    }
}
