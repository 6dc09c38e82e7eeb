BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Set-FileStorageTier' {
    It 'pins a file, in place of the pin that it has' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierFriendlyName Data_Slow -WhatIf
        Get-FileStorageTier -VolumePath $volume | Should -BeNullOrEmpty
        Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierUniqueId (Get-StorageTier Data_Slow).UniqueId | Should -BeNullOrEmpty
        Set-FileStorageTier -FilePath $volume/file -DesiredStorageTier (Get-StorageTier Data_Fast)
        $pin = Get-FileStorageTier -FilePath $volume/file
        $pin.DesiredStorageTierName | Should -Be 'Data_Fast'
        $pin.FileSize | Should -Be 4MB
        $pin.PlacementStatus | Should -Be 'Not on tier'
        $pin.State | Should -Be 'Pending'
    }

    It 'moves it at once with -Now, and the file is what it was' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        $before = (Get-FileHash $volume/file).Hash
        Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierFriendlyName Data_Fast -Now
        $pin = Get-FileStorageTier -FilePath $volume/file
        $pin.PlacementStatus | Should -Be 'Completely on tier'
        $pin.State | Should -Be 'OK'
        $pin.FileSizeOnPerformanceTierClass | Should -Be 4MB
        [IO.File]::WriteAllText('/proc/sys/vm/drop_caches', '1')
        (Get-FileHash $volume/file).Hash | Should -Be $before
    }

    It 'refuses more than the tier has and says what would fit' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        $refused = Get-WrittenError { Set-FileStorageTier -FilePath $volume/filler -DesiredStorageTierFriendlyName Data_Fast }
        $refused.FullyQualifiedErrorId | Should -Be 'StorageWMI 40000,Set-FileStorageTier'
        "$refused" | Should -Match 'At most \d+ bytes more can be pinned to it'
    }

    It 'refuses what is on no connected virtual disk, and what is not there' {
        "$(Get-WrittenError { Set-FileStorageTier -FilePath disk1.img -DesiredStorageTierFriendlyName Data_Fast })" | Should -Match 'disk1.img'
        (Get-WrittenError { Set-FileStorageTier -FilePath nothing -DesiredStorageTierFriendlyName Data_Fast }).FullyQualifiedErrorId |
            Should -BeLike '*,Set-FileStorageTier'
    }
}
