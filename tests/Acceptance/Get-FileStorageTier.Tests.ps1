BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    if ($volume) { Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierFriendlyName Data_Slow }
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Get-FileStorageTier' {
    It 'lists pinned files of a volume and one by its path' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        (Get-FileStorageTier -VolumePath $volume).FilePath | Should -Be "$volume/file"
        Push-Location $volume
        (Get-FileStorageTier -FilePath ./file).PlacementStatus | Should -Be 'Completely on tier'
        Pop-Location
        [pscustomobject]@{ FilePath = "$volume/file" } | Get-FileStorageTier | ForEach-Object DesiredStorageTierClass | Should -Be 'Capacity'
    }

    It 'prints the table of Windows' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Get-FileStorageTier -VolumePath $volume | Out-String -Width 200 | Should -Match 'FilePath\s+DesiredStorageTierName\s+PlacementStatus\s+State'
    }

    It 'does not know a file that is not pinned, drive letters and volume objects' {
        (Get-WrittenError { Get-FileStorageTier -FilePath /nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FilePath,Get-FileStorageTier'
        (Get-WrittenError { Get-FileStorageTier -VolumeDriveLetter D }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_DriveLetter,Get-FileStorageTier'
    }
}

Describe 'Get-FileStorageTier with a virtual disk' {
    BeforeAll {
        $data = Get-VirtualDisk Data
        Set-FileStorageTier -VirtualDisk $data -Offset 70MB -Length 2MB -DesiredStorageTierFriendlyName Data_Slow
        Set-FileStorageTier -VirtualDisk $data -Offset 76MB -Length 1MB -DesiredStorageTierFriendlyName Data_Fast
    }

    It 'lists ranges, and the files beside them, by name, identifier, object and from the pipeline' {
        $pins = Get-FileStorageTier -VirtualDiskFriendlyName Data
        $pins[0].Offset, $pins[0].Length, $pins[0].FilePath, $pins[0].VirtualDiskUniqueId | Should -Be 70MB, 2MB, '', $data.UniqueId
        $pins[1].Offset, $pins[1].Length, $pins[1].DesiredStorageTierName | Should -Be 76MB, 1MB, Data_Fast
        if ($volume) { $pins[2].FilePath, $pins[2].Offset | Should -Be "$volume/file", $null }
        (Get-FileStorageTier -VirtualDiskUniqueId $data.UniqueId).PinUniqueId | Should -Be $pins.PinUniqueId
        (Get-FileStorageTier -VirtualDisk $data).PinUniqueId | Should -Be $pins.PinUniqueId
        (Get-VirtualDisk Data | Get-FileStorageTier).PinUniqueId | Should -Be $pins.PinUniqueId
        (Get-FileStorageTier -VirtualDiskFriendlyName 'Dat?').PinUniqueId | Should -Be $pins.PinUniqueId
    }

    It 'lists those that have a slice of a range' {
        (Get-FileStorageTier -VirtualDiskFriendlyName Data -Offset 71MB).Offset | Should -Be 70MB, 76MB
        (Get-FileStorageTier -VirtualDiskFriendlyName Data -Offset 71MB -Length 5MB).Offset | Should -Be 70MB
        Get-FileStorageTier -VirtualDisk $data -Offset 72MB -Length 4MB | Should -BeNullOrEmpty
    }

    It 'shows ranges in the table of Windows' {
        Get-FileStorageTier -VirtualDisk $data | Out-String -Width 200 | Should -Match 'FilePath\s+Desired[\s\S]*2 MB at offset 70 MB\s+Data_Slow\s+\w'
    }

    It 'lists files alone of a volume' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        (Get-FileStorageTier -VolumePath $volume).FilePath | Should -Be "$volume/file"
    }

    It 'refuses what has no tiers, what is not there and what is no range' {
        $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -MediaType HDD -WriteCacheSize 0
        (Get-WrittenError { Get-FileStorageTier -VirtualDiskFriendlyName Plain }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Get-FileStorageTier'
        (Get-WrittenError { Get-FileStorageTier -VirtualDiskFriendlyName Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-FileStorageTier'
        (Get-WrittenError { Get-FileStorageTier -VirtualDiskFriendlyName Data -Length 0 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Get-FileStorageTier'
        (Get-WrittenError { Get-FileStorageTier -VirtualDiskFriendlyName Data -Offset 80MB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Get-FileStorageTier'
    }
}
