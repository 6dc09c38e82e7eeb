BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Compare-StorageTierHeatMap' {
    BeforeAll {
        $null = Export-StorageTierHeatMap Data before.heat
        Set-Content "$PWD/other.txt" ('no heat' * 1000)
    }

    It 'says what has become hotter' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        $hottest = Get-StorageTierHeatMap Data -Hottest 1
        $device = (Get-VirtualDisk Data | Get-Disk).Location
        foreach ($i in 1..200) { $null = dd if=$device of=/dev/null bs=4k count=1 iflag=direct skip=$($hottest.Offset / 4096) 2>&1 }
        $null = Export-StorageTierHeatMap Data after.heat
        $changes = @(Compare-StorageTierHeatMap before.heat after.heat -Greatest 3)
        $changes[0].Offset | Should -Be $hottest.Offset
        $changes[0].Length | Should -Be 1MB
        $changes[0].Change | Should -BeGreaterThan 50
        $changes[0].HeatAfter - $changes[0].HeatBefore - $changes[0].Change | Should -BeLessThan 0.01
        $changes.Count | Should -BeLessOrEqual 3
        (Compare-StorageTierHeatMap -ReferencePath after.heat -DifferencePath before.heat)[0].Change | Should -Be (-$changes[0].Change)
    }

    It 'returns nothing for files with the same heat' {
        Compare-StorageTierHeatMap before.heat before.heat | Should -BeNullOrEmpty
    }

    It 'refuses what is no heat map, and names the parameter' {
        $refused = Get-WrittenError { Compare-StorageTierHeatMap before.heat other.txt }
        $refused.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Compare-StorageTierHeatMap'
        "$refused" | Should -Match "-DifferencePath '.*other.txt' cannot be compared. It is no heat map"
        "$(Get-WrittenError { Compare-StorageTierHeatMap nothing.heat before.heat })" | Should -Match "-ReferencePath '.*nothing.heat' cannot be used"
        "$(Get-WrittenError { Compare-StorageTierHeatMap before.heat before.heat -Greatest 10001 })" | Should -Match 'Valid: 1 to 10000'
    }
}
