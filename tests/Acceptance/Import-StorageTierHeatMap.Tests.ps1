BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    $data = Get-VirtualDisk Data
    $plain = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -MediaType HDD -WriteCacheSize 0
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Import-StorageTierHeatMap' {
    BeforeAll {
        # A copy of Data in another pool.
        $disks = @(New-PhysicalDisk -Path other1.img -Size 512MB -MediaType SSD) + @(New-PhysicalDisk -Path other2.img -Size 512MB -MediaType HDD)
        $null = New-StoragePool -FriendlyName Pool2 -StorageSubSystemFriendlyName * -PhysicalDisks $disks
        $tiers = (New-StorageTier Pool2 -FriendlyName Flash -MediaType SSD), (New-StorageTier Pool2 -FriendlyName Disk -MediaType HDD)
        $copy = New-VirtualDisk Pool2 -FriendlyName Copy -ResiliencySettingName Simple -StorageTiers $tiers -StorageTierSizes 16MB, 64MB -WriteCacheSize 0
        $coarse = New-VirtualDisk Pool2 -FriendlyName Coarse -ResiliencySettingName Simple -StorageTiers $tiers -StorageTierSizes 16MB, 64MB -SliceSize 2MB -WriteCacheSize 0
        $null = Export-StorageTierHeatMap Data map.heat
    }

    It 'gives a virtual disk in another pool the heat of the first' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Import-StorageTierHeatMap Copy map.heat -WhatIf
        Get-StorageTierHeatMap Copy | Should -BeNullOrEmpty
        Import-StorageTierHeatMap -FriendlyName Copy -Path map.heat | Should -BeNullOrEmpty
        $hot = @(Get-StorageTierHeatMap Data -Hottest 10000 | Sort-Object Slice)
        $imported = @(Get-StorageTierHeatMap Copy | Sort-Object Slice)
        $imported.Slice | Should -Be $hot.Slice
        for ($i = 0; $i -lt $hot.Count; $i++) {
            $imported[$i].Heat / $hot[$i].Heat | Should -BeGreaterThan 0.9
            $imported[$i].Heat / $hot[$i].Heat | Should -BeLessThan 1.1
        }
    }

    It 'keeps it over a restart' {
        $before = @(Get-StorageTierHeatMap Copy).Slice
        $null = Stop-TierSpacesHost -KeepAttached -WarningAction Ignore
        @(Get-StorageTierHeatMap Copy).Slice | Should -Be $before
    }

    It 'takes identifiers and objects, and slices that are larger' {
        (Import-StorageTierHeatMap -UniqueId $copy.UniqueId -Path map.heat -PassThru).VirtualDiskFriendlyName | Should -Be 'Copy'
        (Import-StorageTierHeatMap -InputObject $copy -Path map.heat -PassThru).SourceUniqueId | Should -Be $data.UniqueId
        ($coarse | Import-StorageTierHeatMap -Path map.heat -PassThru -Confirm:$false).SliceSize | Should -Be 1MB
    }

    It 'refuses larger slices, and what is damaged or no heat map' {
        $null = Export-StorageTierHeatMap Coarse coarse.heat
        $refused = Get-WrittenError { Import-StorageTierHeatMap Copy coarse.heat }
        $refused.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Import-StorageTierHeatMap'
        "$refused" | Should -Match 'where in a larger slice its heat lay is not known'
        $bytes = [IO.File]::ReadAllBytes("$PWD/map.heat")
        $bytes[100] = $bytes[100] -bxor 1
        [IO.File]::WriteAllBytes("$PWD/map.heat", $bytes)
        "$(Get-WrittenError { Import-StorageTierHeatMap Copy map.heat })" | Should -Match 'It is damaged in its 4 KB at offset 0'
        Set-Content other.txt ('no heat' * 1000)
        "$(Get-WrittenError { Import-StorageTierHeatMap Copy other.txt })" | Should -Match 'It is no heat map'
        (Get-WrittenError { Import-StorageTierHeatMap Copy nothing.heat }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Import-StorageTierHeatMap'
    }
}
