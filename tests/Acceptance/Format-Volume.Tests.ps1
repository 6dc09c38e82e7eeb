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
