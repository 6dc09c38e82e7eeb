BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    if ($volume) { 'file', 'filler' | ForEach-Object { Set-FileStorageTier -FilePath $volume/$_ -DesiredStorageTierFriendlyName Data_Slow } }
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Clear-FileStorageTier' {
    It 'does nothing with -WhatIf' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Clear-FileStorageTier -FilePath $volume/file -WhatIf
        @(Get-FileStorageTier -VolumePath $volume).Count | Should -Be 2
    }

    It 'takes a pin away, also of a file that is deleted, and from the pipeline' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Remove-Item $volume/file
        Clear-FileStorageTier -FilePath $volume/file | Should -BeNullOrEmpty
        (Get-FileStorageTier -VolumePath $volume).FilePath | Should -Be "$volume/filler"
        Get-FileStorageTier -VolumePath $volume | Clear-FileStorageTier
        Get-FileStorageTier -VolumePath $volume | Should -BeNullOrEmpty
    }

    It 'does not know a file that is not pinned' {
        (Get-WrittenError { Clear-FileStorageTier -FilePath /nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FilePath,Clear-FileStorageTier'
    }
}

Describe 'Clear-FileStorageTier with a range' {
    BeforeAll {
        $data = Get-VirtualDisk Data
    }

    BeforeEach {
        foreach ($at in 60MB, 62MB, 64MB, 66MB) { Set-FileStorageTier -VirtualDisk $data -Offset $at -Length 2MB -DesiredStorageTierFriendlyName Data_Slow }
        if ($volume) { Set-FileStorageTier -FilePath $volume/filler -DesiredStorageTierFriendlyName Data_Slow }
        function Get-TestPin { Get-FileStorageTier -VirtualDisk $data | Where-Object { -not $_.FilePath } | ForEach-Object { $_.Offset / 1MB } }
    }

    It 'does nothing with -WhatIf' {
        Clear-FileStorageTier -VirtualDiskFriendlyName Data -Offset 0 -Length 80MB -WhatIf
        Get-TestPin | Should -Be 60, 62, 64, 66
    }

    It 'takes the pins within it away, by name, identifier, object and from the pipeline; files stay' {
        Clear-FileStorageTier -VirtualDiskFriendlyName Data -Offset 60MB -Length 2MB | Should -BeNullOrEmpty
        Get-TestPin | Should -Be 62, 64, 66
        Clear-FileStorageTier -VirtualDiskUniqueId $data.UniqueId -Offset (62MB + 1) -Length (2MB - 2)
        Get-TestPin | Should -Be 64, 66
        Clear-FileStorageTier -VirtualDisk $data -Offset 64MB -Length 2MB
        Get-TestPin | Should -Be 66
        Get-VirtualDisk Data | Clear-FileStorageTier -Offset 0 -Length 80MB
        Get-TestPin | Should -BeNullOrEmpty
        if ($volume) { (Get-FileStorageTier -VirtualDisk $data).FilePath | Should -Be "$volume/filler" }
    }

    It 'leaves one that reaches beyond it, and says so' {
        Clear-FileStorageTier -VirtualDisk $data -Offset 60MB -Length 3MB -WarningVariable said -WarningAction SilentlyContinue
        "$said" | Should -Match '2 MB at offset 62 MB'
        Get-TestPin | Should -Be 62, 64, 66
        $refused = Get-WrittenError { Clear-FileStorageTier -VirtualDisk $data -Offset 62MB -Length 1MB }
        $refused.FullyQualifiedErrorId | Should -Be 'StorageWMI 8,Clear-FileStorageTier'
        "$refused" | Should -Match 'Pinned beyond it: 2 MB at offset 62 MB'
        Get-TestPin | Should -Be 62, 64, 66
    }

    It 'takes pins as objects' {
        Get-FileStorageTier -VirtualDisk $data -Offset 60MB -Length 2MB | Clear-FileStorageTier
        Get-TestPin | Should -Be 62, 64, 66
        $pins = Get-FileStorageTier -VirtualDisk $data
        Clear-FileStorageTier -InputObject $pins
        Get-FileStorageTier -VirtualDisk $data | Should -BeNullOrEmpty
        (Get-WrittenError { Clear-FileStorageTier -InputObject $pins[0] }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_UniqueId,Clear-FileStorageTier'
    }

    It 'refuses what has no tiers, what is not there and what is no range' {
        $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -MediaType HDD -WriteCacheSize 0
        (Get-WrittenError { Clear-FileStorageTier -VirtualDiskFriendlyName Plain -Offset 0 -Length 1MB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Clear-FileStorageTier'
        (Get-WrittenError { Clear-FileStorageTier -VirtualDiskFriendlyName Nobody -Offset 0 -Length 1MB }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Clear-FileStorageTier'
        (Get-WrittenError { Clear-FileStorageTier -VirtualDiskFriendlyName Data -Offset 0 -Length 0 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Clear-FileStorageTier'
        (Get-WrittenError { Clear-FileStorageTier -VirtualDiskFriendlyName Data -Offset 79MB -Length 2MB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Clear-FileStorageTier'
        Get-TestPin | Should -Be 60, 62, 64, 66
    }
}
