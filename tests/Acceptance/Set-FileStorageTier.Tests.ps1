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
        "$refused" | Should -Match 'At most \d+ MB more can be pinned to it'
    }

    It 'refuses what is on no connected virtual disk, and what is not there' {
        "$(Get-WrittenError { Set-FileStorageTier -FilePath disk1.img -DesiredStorageTierFriendlyName Data_Fast })" | Should -Match 'disk1.img'
        (Get-WrittenError { Set-FileStorageTier -FilePath nothing -DesiredStorageTierFriendlyName Data_Fast }).FullyQualifiedErrorId |
            Should -BeLike '*,Set-FileStorageTier'
    }
}

# 4 MB on SSD and 12 MB on HDD, all of it written: the first 4 MB are on the fast tier.
Describe 'Set-FileStorageTier with a range' {
    BeforeAll {
        Remove-TestVolume
        $script:TestVolume = $null
        Get-VirtualDisk Data | Disconnect-VirtualDisk
        $data = Get-VirtualDisk Data
        $ranges = New-VirtualDisk Pool1 -FriendlyName Ranges -ResiliencySettingName Simple -StorageTiers (Get-StorageTier Fast, Slow) -StorageTierSizes 4MB, 12MB -WriteCacheSize 0
        $written = Join-Path $SessionFolder written
        $bytes = [byte[]]::new(16MB)
        [Random]::new(2).NextBytes($bytes)
        [IO.File]::WriteAllBytes($written, $bytes)
        if (Get-Command nbdcopy -ErrorAction Ignore) {
            Connect-VirtualDisk Ranges
            nbdcopy $written (Get-VirtualDisk Ranges).NbdUri
            $hasData = $true
        }

        function Get-TestTier([int[]] $Slice) {
            (Get-StorageTierHeatMap Ranges | Where-Object Slice -in $Slice).Tier
        }

        function Get-TestHash {
            Remove-Item $SessionFolder/read -ErrorAction Ignore
            nbdcopy (Get-VirtualDisk Ranges).NbdUri "$SessionFolder/read"
            (Get-FileHash "$SessionFolder/read").Hash
        }
    }

    It 'takes virtual disk and tier by name, identifier and object, and from the pipeline; pins whole slices' {
        Set-FileStorageTier -VirtualDiskFriendlyName Data -Offset 1 -Length 1MB -DesiredStorageTierFriendlyName Data_Fast -WhatIf
        Get-FileStorageTier -VirtualDiskFriendlyName Data -Offset 0 -Length 2MB | Where-Object Length | Should -BeNullOrEmpty
        Set-FileStorageTier -VirtualDiskFriendlyName Data -Offset 1 -Length 1MB -DesiredStorageTierFriendlyName Data_Fast | Should -BeNullOrEmpty
        Set-FileStorageTier -VirtualDiskFriendlyName Data -Offset 10MB -Length 1 -DesiredStorageTier (Get-StorageTier Data_Slow)
        Set-FileStorageTier -VirtualDiskUniqueId $data.UniqueId -Offset 11MB -Length 1 -DesiredStorageTierUniqueId (Get-StorageTier Data_Slow).UniqueId
        Set-FileStorageTier -VirtualDisk $data -Offset 12MB -Length 1 -DesiredStorageTierFriendlyName Data_Slow
        Get-VirtualDisk Data | Set-FileStorageTier -Offset 13MB -Length 1 -DesiredStorageTier (Get-StorageTier Data_Slow)
        $pins = Get-FileStorageTier -VirtualDiskFriendlyName Data | Where-Object { -not $_.FilePath }
        $pins.Offset | Should -Be 0, 10MB, 11MB, 12MB, 13MB
        $pins | ForEach-Object Length | Should -Be 2MB, 1MB, 1MB, 1MB, 1MB
        $pins.DesiredStorageTierName | Should -Be Data_Fast, Data_Slow, Data_Slow, Data_Slow, Data_Slow
    }

    It 'moves it at once with -Now, where it stays over a restart, and the data is what it was' {
        if (-not $hasData) { Set-ItResult -Skipped -Because 'nbdcopy is missing: apt-get install libnbd-bin'; return }

        Get-TestTier 0, 8, 9 | Should -Be Ranges_Fast, Ranges_Slow, Ranges_Slow
        Set-FileStorageTier -VirtualDiskFriendlyName Ranges -Offset 8MB -Length 2MB -DesiredStorageTierFriendlyName Ranges_Fast
        $pin = Get-FileStorageTier -VirtualDiskFriendlyName Ranges
        $pin.PlacementStatus, $pin.State | Should -Be 'Not on tier', 'Pending'
        Set-FileStorageTier -VirtualDiskFriendlyName Ranges -Offset 8MB -Length 2MB -DesiredStorageTierFriendlyName Ranges_Fast -Now
        $pin = Get-FileStorageTier -VirtualDiskFriendlyName Ranges
        $pin.PlacementStatus, $pin.State | Should -Be 'Completely on tier', 'OK'
        $pin.FileSizeOnPerformanceTierClass | Should -Be 2MB
        Get-TestTier 8, 9 | Should -Be Ranges_Fast, Ranges_Fast
        Get-TestHash | Should -Be (Get-FileHash $written).Hash

        Stop-TierSpacesHost
        $again = Get-FileStorageTier -VirtualDiskFriendlyName Ranges
        $again.PinUniqueId, $again.Offset, $again.Length, $again.DesiredStorageTierName | Should -Be $pin.PinUniqueId, 8MB, 2MB, Ranges_Fast
        $null = Optimize-StorageTier -VirtualDisk $ranges
        Get-TestTier 8, 9 | Should -Be Ranges_Fast, Ranges_Fast
        Connect-VirtualDisk Ranges
        Get-TestHash | Should -Be (Get-FileHash $written).Hash
    }

    It 'sends what is pinned to the slow tier there with the next optimization' {
        if (-not $hasData) { Set-ItResult -Skipped -Because 'nbdcopy is missing: apt-get install libnbd-bin'; return }

        Set-FileStorageTier -VirtualDiskFriendlyName Ranges -Offset 8MB -Length 2MB -DesiredStorageTierFriendlyName Ranges_Slow
        @(Get-FileStorageTier -VirtualDiskFriendlyName Ranges).Count | Should -Be 1
        Get-TestTier 8, 9 | Should -Be Ranges_Fast, Ranges_Fast
        $null = Optimize-StorageTier -VirtualDisk $ranges
        Get-TestTier 8, 9 | Should -Be Ranges_Slow, Ranges_Slow
        Get-TestHash | Should -Be (Get-FileHash $written).Hash
    }

    It 'refuses <Why>, and changes nothing' -ForEach @(
        @{ Why = 'no bytes'; Disk = 'Ranges'; Offset = 0; Length = 0; Tier = 'Ranges_Fast'; Id = 'StorageWMI 5' }
        @{ Why = 'bytes beyond the end'; Disk = 'Ranges'; Offset = 15MB; Length = 2MB; Tier = 'Ranges_Fast'; Id = 'StorageWMI 5' }
        @{ Why = 'an offset beyond the end'; Disk = 'Ranges'; Offset = 1GB; Length = 1; Tier = 'Ranges_Fast'; Id = 'StorageWMI 5' }
        @{ Why = 'more than the tier has'; Disk = 'Ranges'; Offset = 0; Length = 5MB; Tier = 'Ranges_Fast'; Id = 'StorageWMI 40000' }
        @{ Why = 'a tier of another virtual disk'; Disk = 'Ranges'; Offset = 0; Length = 1MB; Tier = 'Data_Fast'; Id = 'CmdletizationQuery_NotFound_FriendlyName' }
        @{ Why = 'a virtual disk that is not there'; Disk = 'Absent'; Offset = 0; Length = 1MB; Tier = 'Data_Fast'; Id = 'CmdletizationQuery_NotFound_FriendlyName' }
        @{ Why = 'one without tiers'; Disk = 'Plain'; Offset = 0; Length = 1MB; Tier = 'Data_Fast'; Id = 'StorageWMI 1' }
    ) {
        if ($Disk -eq 'Plain') { $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -MediaType HDD -WriteCacheSize 0 }
        $before = (Get-FileStorageTier -VirtualDiskFriendlyName Ranges).PinUniqueId
        $refused = Get-WrittenError {
            Set-FileStorageTier -VirtualDiskFriendlyName $Disk -Offset $Offset -Length $Length -DesiredStorageTierFriendlyName $Tier -Now
        }
        $refused.FullyQualifiedErrorId | Should -Be "$Id,Set-FileStorageTier"
        (Get-FileStorageTier -VirtualDiskFriendlyName Ranges).PinUniqueId | Should -Be $before
    }

    It 'takes no range of a file, and no range without a tier' {
        { Set-FileStorageTier -FilePath $written -Offset 0 -Length 1MB -DesiredStorageTierFriendlyName Data_Fast } |
            Should -Throw -ErrorId 'AmbiguousParameterSet,TierSpaces.Cmdlets.SetFileStorageTierCommand'
        { Set-FileStorageTier -VirtualDiskFriendlyName Data -Offset 0 -Length 1MB } |
            Should -Throw -ErrorId 'AmbiguousParameterSet,TierSpaces.Cmdlets.SetFileStorageTierCommand'
    }
}
