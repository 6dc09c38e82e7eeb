BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Format-Volume' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        Connect-TestDisk; Initialize-Disk 1; $null = New-Partition 1 -UseMaximumSize -DriveLetter E
    }

    AfterAll {
        Stop-TestSession
    }

    It 'makes <Name> as <Made>' -ForEach @{ Name = 'ext4'; Made = 'ext4' }, @{ Name = 'xfs'; Made = 'xfs' }, @{ Name = 'btrfs'; Made = 'btrfs' }, @{ Name = 'ReFS'; Made = 'xfs' } {
        $volume = Format-Volume E -FileSystem $Name -NewFileSystemLabel "l-$Name" -Force -Confirm:$false -WarningVariable said -WarningAction SilentlyContinue
        $volume.FileSystem | Should -Be $Made
        $volume.FileSystemLabel | Should -Be "l-$Name"
        blkid --probe --match-tag TYPE --output value $volume.Path | Should -Be $Made
        $volume.RequestedFileSystem | Should -Be ($Name -eq $Made ? $null : $Name)
        "$said" -match $Made | Should -Be ($Name -ne $Made)
        Set-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) $Name
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be $Name
    }

    It 'makes <Name> with an allocation unit of <Size> bytes, which only <Name> has, with the default and says so' -ForEach @(
        @{ Name = 'CSVFS_NTFS'; Made = 'ext4'; Size = 65536 }
        @{ Name = 'CSVFS_NTFS'; Made = 'ext4'; Size = 2MB }
        @{ Name = 'ReFS'; Made = 'xfs'; Size = 65536 }
    ) {
        $volume = Format-Volume E -FileSystem $Name -AllocationUnitSize $Size -Force -Confirm:$false -WarningVariable said -WarningAction SilentlyContinue
        $volume.FileSystem | Should -Be $Made
        $volume.AllocationUnitSize | Should -Be 4096
        @($said) -match "-AllocationUnitSize $Size has no effect: $Name has it, and $Made" | Should -HaveCount 1
    }

    It 'makes the default file system with an allocation unit of <Size> bytes, which only NTFS has, with the default and says so' -ForEach @{ Size = 65536 }, @{ Size = 512 }, @{ Size = 2MB } {
        $volume = Format-Volume E -AllocationUnitSize $Size -Force -Confirm:$false -WarningVariable said -WarningAction SilentlyContinue
        $volume.FileSystem | Should -Be 'ext4'
        $volume.AllocationUnitSize | Should -Be 4096
        @($said) -match "-AllocationUnitSize $Size has no effect: NTFS has it, and ext4, which is made without -FileSystem, does not" | Should -HaveCount 1
        (Get-WrittenError { Format-Volume E -AllocationUnitSize 3000 -Force -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 43000,Format-Volume'
    }

    It 'says nothing of an allocation unit of <Size> bytes, which <Name> and <Made> have' -ForEach @{ Name = 'CSVFS_NTFS'; Made = 'ext4'; Size = 4096 } {
        $volume = Format-Volume E -FileSystem $Name -AllocationUnitSize $Size -Force -Confirm:$false -WarningVariable said -WarningAction SilentlyContinue
        $volume.AllocationUnitSize | Should -Be $Size
        @($said) -match 'AllocationUnitSize' | Should -BeNullOrEmpty
    }

    It 'refuses an allocation unit of <Size> bytes for <Name>' -ForEach @(
        @{ Name = 'CSVFS_NTFS'; Size = 3000 }
        @{ Name = 'CSVFS_NTFS'; Size = 256 }
        @{ Name = 'CSVFS_NTFS'; Size = 4MB }
        @{ Name = 'ReFS'; Size = 8192 }
        @{ Name = 'ext4'; Size = 65536 }
    ) {
        $failure = Get-WrittenError { Format-Volume E -FileSystem $Name -AllocationUnitSize $Size -Force -Confirm:$false -WarningAction Ignore }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 43000,Format-Volume'
    }

    It 'is also called Initialize-Volume' {
        (Get-Command Initialize-Volume).Definition | Should -Be 'Format-Volume'
        (Initialize-Volume E -NewFileSystemLabel again -Force -Confirm:$false).FileSystemLabel | Should -Be 'again'
        (Get-WrittenError { Initialize-Volume -Path /none -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Path,Format-Volume'
    }

    It 'names the package of a tool that is not installed' {
        if (Get-Command mkfs.ntfs -ErrorAction Ignore) { Set-ItResult -Skipped -Because 'ntfs-3g is installed'; return }
        (Format-Volume E -FileSystem NTFS -Force -Confirm:$false -WarningAction Ignore).FileSystem | Should -Be 'ext4'
    }

    It 'mounts a volume without a letter at its label' {
        Clear-Disk 1 -RemoveData -Confirm:$false
        Initialize-Disk 1
        $volume = New-Partition 1 -UseMaximumSize | Format-Volume -NewFileSystemLabel 'My files' -Confirm:$false
        $volume.MountPoints | Should -BeLike '*/My%20files'
        Test-Path $volume.MountPoints[0] | Should -BeTrue
    }
}
