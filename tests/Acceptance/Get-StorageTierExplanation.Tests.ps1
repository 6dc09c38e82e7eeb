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

Describe 'Get-StorageTierExplanation' {
    It 'explains a file: where it is, its heat, and what becomes of it' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        $why = @(Get-StorageTierExplanation -FilePath $volume/file)
        $why.Count | Should -BeIn 4, 5
        $why.Tier | Sort-Object -Unique | Should -Be 'Data_Slow'
        $why[0].FilePath | Should -Be "$volume/file"
        $why[0].Fitting | Should -Be 16
        $why[0].Explanation | Should -Match "^It is on tier 'Data_Slow' since the hour that began at \d{4}-\d\d-\d\d \d\d:00 UTC, where its first write found room\. Its heat is"
        @(Get-ChildItem $volume/file | Get-StorageTierExplanation).Slice | Should -Be $why.Slice

        Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierFriendlyName Data_Fast
        $why = @(Get-FileStorageTier -FilePath $volume/file | Get-StorageTierExplanation)
        $why.PinnedTier | Sort-Object -Unique | Should -Be 'Data_Fast'
        $why.NextTier | Sort-Object -Unique | Should -Be 'Data_Fast'
        $why[0].Explanation | Should -BeLike "*The next optimization moves it to tier 'Data_Fast', to which it is pinned."
        Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierFriendlyName Data_Fast -Now
        @(Get-StorageTierExplanation -FilePath $volume/file)[0].Explanation |
            Should -BeLike "*brought there by its pin.*It stays there: it is pinned to this tier, whatever its heat."
    }

    It 'explains ranges of virtual disks by name, identifier and object' {
        $mapped = @(Get-StorageTierHeatMap Data).Slice
        $free = (0..79 | Where-Object { $_ -notin $mapped })[0] * 1MB
        (Get-StorageTierExplanation Data -Offset $free).Explanation | Should -BeLike '*nothing has been written to it*fastest tier that has room.'
        @($data | Get-StorageTierExplanation -Offset 3MB -Length 2MB).Offset | Should -Be 3MB, 4MB
        (Get-StorageTierExplanation -UniqueId $data.UniqueId -Offset 39MB).Offset | Should -Be 39MB
        (Get-StorageTierExplanation -InputObject $data).Offset | Should -Be 0
        Get-StorageTierExplanation Data -Offset $free | Out-String -Width 120 | Should -Match 'VirtualDisk\s+Offset\s+Tier\s+Explanation[\s\S]*It is on no tier'
    }

    It 'refuses what has no tiers, what is beyond the end, and a file elsewhere' {
        (Get-WrittenError { Get-StorageTierExplanation Plain }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Get-StorageTierExplanation'
        (Get-WrittenError { Get-StorageTierExplanation Data -Offset 1GB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Get-StorageTierExplanation'
        (Get-WrittenError { Get-StorageTierExplanation -FilePath slow1.img }).FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Get-StorageTierExplanation'
    }
}
