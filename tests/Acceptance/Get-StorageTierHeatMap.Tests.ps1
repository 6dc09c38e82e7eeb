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

Describe 'Get-StorageTierHeatMap' {
    It 'lists what is written, in order, with where and why' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        $map = Get-StorageTierHeatMap Data
        $map.Offset | Should -Be ($map.Offset | Sort-Object)
        $map.Count | Should -BeGreaterOrEqual 28
        $map.Tier | Sort-Object -Unique | Should -Be 'Data_Fast', 'Data_Slow'
        $slow = @($map | Where-Object Tier -eq 'Data_Slow')[0]
        $slow.MediaType, $slow.Reason, $slow.Length | Should -Be 'HDD', 'FirstWrite', 1MB
        $slow.Since | Should -BeGreaterThan ([datetime]::UtcNow.AddHours(-2))
        ($map.Rank | Sort-Object)[0] | Should -Be 1
        @($map | Where-Object Rank -eq 1)[0].Heat | Should -Be ($map | Measure-Object Heat -Maximum).Maximum
    }

    It 'takes identifiers, objects, ranges and the hottest' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        $hottest = Get-StorageTierHeatMap -UniqueId $data.UniqueId -Hottest 3
        $hottest.Count | Should -Be 3
        $hottest.Heat | Should -Be ($hottest.Heat | Sort-Object -Descending)
        $hottest[0].Rank | Should -Be 1
        @(Get-StorageTierHeatMap -InputObject $data -Offset 1MB -Length 2MB).Slice | Should -Be 1, 2
        @($data | Get-StorageTierHeatMap -Offset 1025KB -Length 1).Offset | Should -Be 1MB
    }

    It 'is exported as CSV and JSON, and printed as a table' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Get-StorageTierHeatMap Data | Export-Csv heat.csv
        $rows = Import-Csv heat.csv
        $rows.Count | Should -Be @(Get-StorageTierHeatMap Data).Count
        $rows[0].PSObject.Properties.Name | Should -Contain 'Heat'
        @(Get-StorageTierHeatMap Data | ConvertTo-Json | ConvertFrom-Json).Count | Should -Be $rows.Count
        Get-StorageTierHeatMap Data | Out-String -Width 100 | Should -Match 'VirtualDisk: Data\s+Offset\s+Length\s+Heat\s+Rank\s+Tier\s+PinnedTier\s+Reason'
    }

    It 'refuses what has no tiers, and what is beyond the end' {
        (Get-WrittenError { Get-StorageTierHeatMap Plain }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Get-StorageTierHeatMap'
        (Get-WrittenError { Get-StorageTierHeatMap Data -Offset 1GB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Get-StorageTierHeatMap'
        (Get-WrittenError { Get-StorageTierHeatMap Data -Hottest 0 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Get-StorageTierHeatMap'
        (Get-WrittenError { Get-StorageTierHeatMap Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StorageTierHeatMap'
    }
}
