BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
}

Describe 'New-VirtualDisk' {
    BeforeAll {
        Start-TestSession
        $pool = New-TestPool
    }

    AfterAll {
        Stop-TestSession
    }

    It 'makes a two-way mirror with neither layout nor copies named' {
        $disk = New-VirtualDisk -StoragePoolFriendlyName Pool1 -FriendlyName Plain -Size 32MB

        $disk.ResiliencySettingName | Should -Be 'Mirror'
        $disk.NumberOfDataCopies | Should -Be 2
        $disk.PhysicalDiskRedundancy | Should -Be 1
        $disk.Interleave | Should -Be 256KB
        $disk.Size | Should -BeGreaterOrEqual 32MB
        $disk.FootprintOnPool | Should -BeGreaterOrEqual (2 * $disk.Size)
    }

    It 'takes columns, interleave and provisioning' {
        { New-VirtualDisk Pool1 -FriendlyName Wide -NumberOfColumns 1.5 -Size 32MB } | Should -Throw -ExpectedMessage "*-NumberOfColumns '1.5': is not a number of this parameter.*"
        { New-VirtualDisk Pool1 -FriendlyName Wide -NumberOfColumns '1.5' -Size 32MB } | Should -Throw -ExpectedMessage "*-NumberOfColumns '1.5': is not a number of this parameter.*"
        $disk = New-VirtualDisk Pool1 -FriendlyName Wide -ResiliencySettingName Simple -NumberOfColumns 4 -Interleave 64KB -Size 32MB -ProvisioningType Thin

        $disk.NumberOfColumns, $disk.Interleave, $disk.ProvisioningType | Should -Be 4, 64KB, 'Thin'
    }

    It 'makes parity that survives one disk or two' {
        $disk = New-VirtualDisk Pool1 -FriendlyName Single -ResiliencySettingName Parity -NumberOfColumns 3 -Size 8MB -ProvisioningType Fixed
        $disk.ResiliencySettingName, $disk.NumberOfDataCopies, $disk.PhysicalDiskRedundancy, $disk.NumberOfColumns | Should -Be 'Parity', 1, 1, 3
        $disk.ParityLayout, $disk.Interleave | Should -Be 'Rotated Parity', 64KB
        $row = $disk | Get-PhysicalExtent | Where-Object VirtualDiskOffset -eq 0
        $row.ColumnNumber | Sort-Object -Unique | Should -Be 0, 1, 2
        @($row.PhysicalDiskUniqueId | Sort-Object -Unique).Count | Should -Be 3

        $double = New-VirtualDisk Pool1 -FriendlyName Double -ResiliencySettingName Parity -PhysicalDiskRedundancy 2 -NumberOfColumns 4 -Size 8MB
        $double.PhysicalDiskRedundancy, $double.NumberOfColumns | Should -Be 2, 4
        $disk, $double | Remove-VirtualDisk -Confirm:$false
    }

    It 'says which number of columns programs fill whole' {
        $null = New-VirtualDisk Pool1 -FriendlyName Three -ResiliencySettingName Parity -NumberOfColumns 4 -Size 8MB -ProvisioningType Thin -WarningVariable warned -WarningAction SilentlyContinue
        "$warned" | Should -BeLike '*3 columns of data*-NumberOfColumns 3 has 2*'
        Remove-VirtualDisk Three -Confirm:$false
    }

    It 'takes the pool from the pipeline, a size as text and abbreviated parameters' {
        (Get-StoragePool Pool1 | New-VirtualDisk -FriendlyName Short -ResiliencySetting Simple -Size '32MB').FriendlyName | Should -Be 'Short'
    }

    It 'makes a write cache that the footprint and the largest size count' {
        $before = (Get-VirtualDiskSupportedSize Pool1).VirtualDiskSizeMax
        $disk = New-VirtualDisk Pool1 -FriendlyName Cached -Size 16MB -WriteCacheSize 5MB -NumberOfColumns 2
        $disk.WriteCacheSize | Should -Be 5MB
        $disk.FootprintOnPool | Should -BeGreaterOrEqual 42MB
        $disk | Remove-VirtualDisk -Confirm:$false
        (Get-VirtualDiskSupportedSize Pool1).VirtualDiskSizeMax | Should -Be $before
        $largest = New-VirtualDisk Pool1 -FriendlyName Largest -WriteCacheSize 16MB -UseMaximumSize
        $largest | Remove-VirtualDisk -Confirm:$false
        (Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName More -WriteCacheSize 16MB -Size ($largest.Size + 1) }).FullyQualifiedErrorId | Should -Be 'StorageWMI 40000,New-VirtualDisk'
    }

    It 'chooses a write cache where rotating disks have flash beside them, and says so when it is small' {
        $null = New-PhysicalDisk -Path f1.img, f2.img -Size 256MB -MediaType SSD
        $null = New-PhysicalDisk -Path r1.img, r2.img, r3.img -Size 256MB -MediaType HDD
        $null = New-StoragePool -FriendlyName Mixed -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk '[fr]?')
        $disk = New-VirtualDisk Mixed -FriendlyName Slow -Size 16MB -MediaType HDD -WarningVariable warned -WarningAction SilentlyContinue
        $disk.WriteCacheSize | Should -Be 31MB
        $warned | Should -BeLike '*31 MB*'
        (New-VirtualDisk Mixed -FriendlyName Fast -Size 16MB -MediaType SSD).WriteCacheSize | Should -Be 0
        (New-VirtualDisk Mixed -FriendlyName None -Size 16MB -WriteCacheSize 0).WriteCacheSize | Should -Be 0
    }

    It 'puts the write cache in another pool' {
        $null = New-PhysicalDisk -Path l1.img, l2.img -Size 256MB -MediaType SSD
        $null = New-StoragePool -FriendlyName Flash -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk 'l?')
        $disk = New-VirtualDisk Pool1 -FriendlyName Remote -Size 16MB -NumberOfColumns 2 -CachePool Flash -WriteCacheSize 5MB
        $disk.WriteCacheSize | Should -Be 5MB
        $disk.FootprintOnPool | Should -BeLessThan 42MB
        (Get-VirtualDiskWriteCache Remote).CachePool, (Get-VirtualDiskWriteCache Remote).State | Should -Be 'Flash', 'Active'
        (Get-StoragePool Flash).LentWriteCacheSize | Should -Be 10MB
        Set-VirtualDisk Remote -WriteCacheSize 8MB
        (Get-StoragePool Flash).LentWriteCacheSize | Should -Be 16MB
        New-VirtualDisk Pool1 -FriendlyName Planned -Size 16MB -CachePool Flash -WhatIf
        Get-VirtualDisk 'Planned*' | Should -BeNullOrEmpty
        (Get-WrittenError { Remove-StoragePool Flash -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 48008,Remove-StoragePool'
        foreach ($case in @{ Id = 8; CachePool = 'Nowhere' }, @{ Id = 48000; CachePool = 'Primordial' }, @{ Id = 50005; CachePool = 'Flash'; WriteCacheSize = 0 }) {
            $given = @{} + $case
            $given.Remove('Id')
            (Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName Wrong -Size 16MB @given }).FullyQualifiedErrorId | Should -Be "StorageWMI $($case.Id),New-VirtualDisk"
        }

        Set-StoragePool Flash -LentWriteCacheSizeMax 20MB
        $failure = Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName Wrong -Size 16MB -CachePool Flash -WriteCacheSize 4MB }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 50005,New-VirtualDisk'
        $failure.Exception.Message | Should -BeLike '*8 MB*16 MB*20 MB*'
        $disk | Remove-VirtualDisk -Confirm:$false
        (Get-StoragePool Flash).LentWriteCacheSize, (Get-StoragePool Flash).AllocatedSize | Should -Be 0, 0
        Remove-StoragePool Flash -Confirm:$false
        (Get-VirtualDisk Remote -ErrorAction Ignore) | Should -BeNullOrEmpty
    }

    Context 'with tiers' {
        BeforeAll {
            $null = New-PhysicalDisk -Path t1.img, t2.img, t3.img, t4.img -Size 256MB -MediaType SSD
            $null = New-PhysicalDisk -Path u1.img, u2.img, u3.img, u4.img -Size 512MB -MediaType HDD
            $null = New-StoragePool -FriendlyName Tiers -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk '[tu]?')
            $ssd = New-StorageTier Tiers -FriendlyName SSDTier -MediaType SSD
            $hdd = New-StorageTier Tiers -FriendlyName HDDTier -MediaType HDD
        }

        It 'makes one of each template, as scripts write it' {
            $disk = New-VirtualDisk -StoragePoolFriendlyName Tiers -FriendlyName Space -StorageTiers @($ssd, $hdd) -StorageTierSizes @(32MB, 128MB) -ResiliencySettingName Mirror -WriteCacheSize 8MB
            $disk.IsTiered, $disk.Size, $disk.NumberOfColumns, $disk.SliceSize, $disk.WriteCacheSize | Should -Be $true, 160MB, 2, 1MB, 8MB
            $tiers = $disk | Get-StorageTier
            $tiers.FriendlyName | Should -Be 'Space_SSDTier', 'Space_HDDTier'
            $tiers.TierClass | Should -Be 'Performance', 'Capacity'
            $tiers.FreeSize | Should -Be 32MB, 128MB
            (Get-StorageTier -MediaType SSD).FriendlyName | Should -Be 'SSDTier', 'Space_SSDTier'
            $disk | Remove-VirtualDisk -Confirm:$false
        }

        It 'gives each tier a layout of its own' {
            $flash = $ssd, (New-StorageTier Tiers -FriendlyName Wide -MediaType HDD -ResiliencySettingName Simple -NumberOfColumns 4 -Interleave 64KB)
            $disk = New-VirtualDisk Tiers -FriendlyName Two -StorageTiers $flash -StorageTierSizes 8MB, 8MB -SliceSize 256KB -WarningAction Ignore
            $disk.ResiliencySettingName | Should -BeNullOrEmpty
            $disk.NumberOfColumns | Should -BeNullOrEmpty
            ($disk | Get-StorageTier).NumberOfColumns | Should -Be 2, 4
            $disk | Remove-VirtualDisk -Confirm:$false
        }

        It 'refuses <Why> with <Code>' -ForEach @(
            @{ Why = 'a size beside tiers'; Code = 48010; Given = @{ StorageTierSizes = 8MB, 8MB; Size = 8MB }; Says = '*-Size*' }
            @{ Why = 'tiers without sizes'; Code = 48010; Given = @{}; Says = '*StorageTierSizes*' }
            @{ Why = 'a size too few'; Code = 48010; Given = @{ StorageTierSizes = 8MB }; Says = '*2 tiers*1 size.*' }
            @{ Why = 'more than there is room for'; Code = 40000; Given = @{ StorageTierSizes = 8MB, 1TB }; Says = '*at most*' }
            @{ Why = 'slices of no power of two'; Code = 5; Given = @{ StorageTierSizes = 8MB, 8MB; SliceSize = 300KB }; Says = '*300 KB*' }
        ) {
            $failure = Get-WrittenError { New-VirtualDisk Tiers -FriendlyName Refused -StorageTiers $ssd, $hdd @Given }
            $failure.FullyQualifiedErrorId | Should -Be "StorageWMI $Code,New-VirtualDisk"
            "$failure" | Should -BeLike $Says
            Get-VirtualDisk Refuse* | Should -BeNullOrEmpty
        }

        It 'names the medium that the pool lacks' {
            $scm = New-StorageTier Tiers -FriendlyName Memory -MediaType SCM
            $failure = Get-WrittenError { New-VirtualDisk Tiers -FriendlyName Refused -StorageTiers $scm, $hdd -StorageTierSizes 8MB, 8MB }
            $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 48004,New-VirtualDisk'
            "$failure" | Should -BeLike '*medium SCM*'
        }
    }

    It 'changes nothing with -WhatIf' {
        New-VirtualDisk Pool1 -FriendlyName Never -Size 32MB -WhatIf
        Get-VirtualDisk Nev* | Should -BeNullOrEmpty
    }

    It 'refuses <Why> with <Code>' -ForEach @(
        @{ Why = 'too many columns'; Code = 49006; Given = @{ NumberOfColumns = 3; Size = 32MB }; Says = '*6*' }
        @{ Why = 'an interleave that is not a power of two'; Code = 49005; Given = @{ Interleave = 100KB; Size = 32MB }; Says = '*100 KB*' }
        @{ Why = 'no size'; Code = 40005; Given = @{}; Says = '*Size*' }
        @{ Why = 'a size beyond the pool'; Code = 40000; Given = @{ Size = 1TB }; Says = '*-Size 1 TB *' }
        @{ Why = 'a resiliency that does not exist'; Code = 49000; Given = @{ ResiliencySettingName = 'Magic'; Size = 32MB }; Says = '*Magic*' }
        @{ Why = 'a write cache beyond the pool'; Code = 50005; Given = @{ WriteCacheSize = 1TB; Size = 32MB }; Says = '*at most*' }
        @{ Why = 'a name that is taken'; Code = 5; Given = @{ FriendlyName = 'Plain'; Size = 32MB }; Says = '*Plain*' }
    ) {
        $before = (Get-VirtualDisk).Count
        $arguments = @{ StoragePoolFriendlyName = 'Pool1'; FriendlyName = 'Refused' }
        foreach ($name in $Given.Keys) { $arguments[$name] = $Given[$name] }

        $failure = Get-WrittenError { New-VirtualDisk @arguments }

        $failure.FullyQualifiedErrorId | Should -Be "StorageWMI $Code,New-VirtualDisk"
        "$failure" | Should -BeLike $Says
        (Get-VirtualDisk).Count | Should -Be $before
    }

    It 'refuses a pool that does not exist' {
        (Get-WrittenError { New-VirtualDisk nothing -FriendlyName X -Size 32MB }).FullyQualifiedErrorId | Should -BeLike '*NotFound_*FriendlyName,New-VirtualDisk'
    }

    It 'answers a list of tiers with a place that is empty by the name of the parameter' {
        $tier = New-StorageTier Pool1 -FriendlyName Hole -MediaType SSD
        $failure = { New-VirtualDisk Pool1 -FriendlyName Hole -StorageTiers @($tier, $null) -StorageTierSizes 8MB, 8MB } | Should -Throw -PassThru
        $failure.FullyQualifiedErrorId | Should -BeLike 'ParameterArgumentValidationError,*'
        "$failure" | Should -Match "'StorageTiers'"
        Remove-StorageTier Hole -Confirm:$false
    }
}

# The command lines of the other files set this off.
Describe 'New-VirtualDisk by default' {
    BeforeAll {
        Start-TestSession -AttachNewDisks
        $null = New-TestPool
    }

    AfterAll {
        Stop-TestSession
    }

    It 'attaches the virtual disk, unless it is to be attached by hand' {
        $disk = New-VirtualDisk Pool1 -FriendlyName Attached -Size 16MB -WarningAction Ignore
        $disk.OperationalStatus, $disk.DetachedReason, $disk.IsManualAttach | Should -Be 'OK', 'None', $false
        $disk.NbdUri | Should -BeLike 'nbd+unix:///Attached*'
        $manual = New-VirtualDisk Pool1 -FriendlyName ByHand -Size 16MB -IsManualAttach $true
        $manual.OperationalStatus, $manual.DetachedReason, $manual.IsManualAttach | Should -Be 'Detached', 'By Policy', $true
        { Connect-VirtualDisk Attached -WarningAction Ignore } | Should -Not -Throw
    }

    It 'gives it a disk that a script can go on with' -Skip:(-not (Test-DiskSupport)) {
        New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB | Get-Disk | Initialize-Disk -PassThru |
            New-Partition -UseMaximumSize -DriveLetter E | Format-Volume -Confirm:$false | ForEach-Object DriveLetter | Should -Be 'E'
        Remove-VirtualDisk Data -Confirm:$false
        Get-Volume | Should -BeNullOrEmpty
        Test-Path (Join-Path $env:TIERSPACES_VOLUME_ROOT E) | Should -BeFalse
    }
}
