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

Describe 'Show-StorageTierHeatMap' {
    It 'draws a virtual disk in lines' {
        $lines = @(Show-StorageTierHeatMap Data)
        $lines.Count | Should -Be 3
        $lines.Offset | Should -Be 0, 32MB, 64MB
        $lines.CharacterSize | Sort-Object -Unique | Should -Be 1MB
        ($lines.Heat -join '').Length | Should -Be 80
        if ($volume) {
            $lines.Tier -join '' | Should -Match '1.*2'
            $lines.Heat -join '' | Should -Match '[:=+*#%@-]'
        }

        Show-StorageTierHeatMap Data | Out-String -Width 120 | Should -Match 'VirtualDisk: Data\s+Offset\s+Heat\s+Tier'
    }

    It 'takes identifiers, objects, ranges and a size of the picture' {
        (Show-StorageTierHeatMap -UniqueId $data.UniqueId -Width 80).Heat.Length | Should -Be 80
        (Show-StorageTierHeatMap -InputObject $data -Width 8 -Lines 1).CharacterSize | Should -Be 10MB
        ($data | Show-StorageTierHeatMap -Offset 8MB -Length 16MB).Offset | Should -Be 8MB
    }

    It 'refuses what has no tiers, and numbers outside their range' {
        (Get-WrittenError { Show-StorageTierHeatMap Plain }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Show-StorageTierHeatMap'
        (Get-WrittenError { Show-StorageTierHeatMap Data -Width 7 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Show-StorageTierHeatMap'
        (Get-WrittenError { Show-StorageTierHeatMap Data -Lines 0 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Show-StorageTierHeatMap'
        (Get-WrittenError { Show-StorageTierHeatMap Data -Offset 1GB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Show-StorageTierHeatMap'
    }
}
