BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $tools = @('mkfs.ntfs', 'ntfsfix', 'ntfsresize', 'ntfslabel', 'mount.ntfs-3g' | Where-Object { -not (Get-Command $_ -ErrorAction Ignore) })
    if ($tools) { Write-Host "NTFS: skipped, as programs of ntfs-3g are missing: $tools" }
    $skips = $tools.Count -gt 0 -or -not (Test-DiskSupport)
}

Describe 'NTFS' -Skip:$skips {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        Connect-TestDisk
        Initialize-Disk 1
        $root = Join-Path $env:TIERSPACES_VOLUME_ROOT E
    }

    AfterAll {
        Stop-TestSession
    }

    It 'is made, mounted and shown' {
        $volume = New-Partition 1 -Size 300MB -DriveLetter E | Format-Volume -FileSystem NTFS -NewFileSystemLabel Daten -Confirm:$false -WarningVariable said
        $said | Should -BeNullOrEmpty
        $volume.FileSystem | Should -Be 'ntfs'
        $volume.FileSystemType | Should -Be 'NTFS'
        $volume.FileSystemLabel | Should -Be 'Daten'
        $volume.AllocationUnitSize | Should -Be 4096
        $volume.RequestedFileSystem | Should -BeNullOrEmpty
        $volume.DriveLetter | Should -Be 'E'
        Set-Content (Join-Path $root 'file') 'text'
        (Get-Volume E).SizeRemaining | Should -BeLessThan (Get-Volume E).Size
    }

    It 'has the allocation units that Get-SupportedClusterSizes returns' {
        $sizes = @(Get-SupportedClusterSizes E -FileSystem NTFS)
        $sizes | Should -Contain 65536
        $sizes | Should -Contain 1MB
        foreach ($size in $sizes) {
            (Format-Volume E -FileSystem NTFS -AllocationUnitSize $size -Force -Confirm:$false).AllocationUnitSize | Should -Be $size
            Set-Content (Join-Path $root "file$size") 'text'
        }

        (Get-WrittenError { Format-Volume E -FileSystem NTFS -AllocationUnitSize 2MB -Force -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 43000,Format-Volume'
        (Get-Volume E).AllocationUnitSize | Should -Be 1MB
    }

    It 'gets another label while it is mounted, and one that is used keeps its own' {
        $null = Format-Volume E -FileSystem NTFS -NewFileSystemLabel old -Force -Confirm:$false
        Set-Content (Join-Path $root file) 'text'
        Set-Volume -DriveLetter E -NewFileSystemLabel 'Ein Name mit mehr als sechzehn Zeichen'
        (Get-Volume E).FileSystemLabel | Should -Be 'Ein Name mit mehr als sechzehn Zeichen'
        Get-Content (Join-Path $root file) | Should -Be 'text'

        $open = [IO.File]::OpenRead((Join-Path $root file))
        (Get-WrittenError { Set-Volume -DriveLetter E -NewFileSystemLabel busy }).FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Set-Volume'
        $open.Dispose()
        (Get-Volume E).FileSystemLabel | Should -BeLike 'Ein Name*'
        (Get-Volume E).MountPoints | Should -Not -BeNullOrEmpty
    }

    It 'has several access paths, and each can go' {
        Set-Partition -DriveLetter E -NewDriveLetter F
        Set-Partition -DriveLetter F -NewDriveLetter E
        $folder = Join-Path $env:TIERSPACES_VOLUME_ROOT second/path
        Get-Partition -DriveLetter E | Add-PartitionAccessPath -AccessPath $folder
        Get-Content (Join-Path $folder file) | Should -Be 'text'
        Set-Content (Join-Path $folder both) 'both'
        Get-Content (Join-Path $root both) | Should -Be 'both'
        Set-Volume -DriveLetter E -NewFileSystemLabel two
        (Get-Volume E).MountPoints.Count | Should -Be 2

        Remove-PartitionAccessPath -DriveLetter E
        Get-Content (Join-Path $folder both) | Should -Be 'both'
        $partition = Get-Volume -FileSystemLabel two | Get-Partition
        $partition | Add-PartitionAccessPath -AccessPath E:
        $partition | Remove-PartitionAccessPath -AccessPath $folder
        Get-Content (Join-Path $root both) | Should -Be 'both'
        (Get-Volume E).MountPoints.Count | Should -Be 1
    }

    It 'gets a letter after it was mounted at its label' {
        $volume = New-Partition 1 -Size 32MB | Format-Volume -FileSystem NTFS -NewFileSystemLabel labelled -Confirm:$false
        $volume | Get-Partition | Set-Partition -NewDriveLetter L
        (Get-Volume L).MountPoints.Count | Should -Be 2
        Set-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT L/file) 'text'
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT labelled/file) | Should -Be 'text'
        Get-Partition -DriveLetter L | Remove-Partition -Confirm:$false
    }

    It 'is resized with its partition, and keeps what it holds' {
        $null = Format-Volume E -FileSystem NTFS -AllocationUnitSize 65536 -Force -Confirm:$false
        $bytes = [byte[]]::new(60MB)
        [Random]::new(1).NextBytes($bytes)
        [IO.File]::WriteAllBytes((Join-Path $root big), $bytes)
        $hash = (Get-FileHash (Join-Path $root big)).Hash
        $volume = Get-Volume E

        $range = Get-PartitionSupportedSize -DriveLetter E
        $range.SizeMin | Should -BeGreaterThan 60MB
        $range.SizeMin | Should -BeLessThan 100MB
        foreach ($size in $range.SizeMin, 200MB, $range.SizeMax) {
            Resize-Partition -DriveLetter E -Size $size
            (Get-Partition -DriveLetter E).Size | Should -Be $size
            (Get-Volume E).Size | Should -BeGreaterThan ($size - 1MB)
            (Get-Volume E).Size | Should -BeLessOrEqual $size
            (Get-FileHash (Join-Path $root big)).Hash | Should -Be $hash
        }

        (Get-WrittenError { Resize-Partition -DriveLetter E -Size 20MB }).FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Resize-Partition'
        (Get-FileHash (Join-Path $root big)).Hash | Should -Be $hash
        (Get-Volume E).AllocationUnitSize | Should -Be 65536
        $volume | Repair-Volume -OfflineScanAndFix | Should -Be 'NoErrorsFound'

        Remove-PartitionAccessPath -DriveLetter E
        $partition = Get-Disk 1 | Get-Partition | Where-Object Size -gt 100MB
        ($partition | Get-PartitionSupportedSize).SizeMin | Should -BeGreaterThan 60MB
        $partition | Resize-Partition -Size 300MB
        $partition | Add-PartitionAccessPath -AccessPath E:
        (Get-FileHash (Join-Path $root big)).Hash | Should -Be $hash
    }

    It 'stays mounted where a resize is refused because it is used' {
        Push-Location $root
        try {
            $open = [IO.File]::OpenRead((Join-Path $root big))
            (Get-WrittenError { Resize-Partition -DriveLetter E -Size 250MB }).FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Resize-Partition'
            $open.Dispose()
        }
        finally {
            Pop-Location
        }

        (Get-Partition -DriveLetter E).Size | Should -Be 300MB
        Test-Path (Join-Path $root big) | Should -BeTrue
    }

    It 'is checked and repaired' {
        (Get-WrittenError { Repair-Volume E -Scan }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Repair-Volume'
        Repair-Volume E -OfflineScanAndFix | Should -Be 'NoErrorsFound'
        Set-Content (Join-Path $root file) 'text'
        $volume = Get-Volume E
        Remove-PartitionAccessPath -DriveLetter E

        # The first clusters of the copy of the master file table; its place is in the boot sector.
        $file = [IO.File]::Open($volume.Path, 'Open', 'ReadWrite', 'ReadWrite')
        $boot = [byte[]]::new(512)
        $null = $file.Read($boot)
        $file.Position = [BitConverter]::ToInt64($boot, 56) * 65536
        $file.Write([byte[]]::new(4096))
        $file.Flush($true)
        $file.Dispose()
        $volume | Repair-Volume -Scan | Should -Be 'ErrorsFound'
        $volume | Repair-Volume -SpotFix | Should -Be 'ErrorsFixed'
        $volume | Repair-Volume -Scan | Should -Be 'NoErrorsFound'
        $volume | Get-Partition | Add-PartitionAccessPath -AccessPath E:
        Get-Content (Join-Path $root file) | Should -Be 'text'
    }

    It 'is made by New-Volume with the clusters that databases ask for' {
        $null = New-TestDisk 2 512MB second
        $null = New-StoragePool -FriendlyName Pool2 -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk second?)
        $volume = New-Volume -StoragePoolFriendlyName Pool2 -FriendlyName sql -Size 100MB -ResiliencySettingName Mirror -FileSystem NTFS -AllocationUnitSize 64KB -DriveLetter S -WriteCacheSize 0
        $volume.FileSystem | Should -Be 'ntfs'
        $volume.AllocationUnitSize | Should -Be 65536
        Set-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT S/file) 'text'
        Write-VolumeCache S
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT S/file) | Should -Be 'text'
    }

    It 'is mounted again when the host starts again' {
        $null = Stop-TierSpacesHost -Force
        (Get-Volume S).MountPoints | Should -Not -BeNullOrEmpty
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT S/file) | Should -Be 'text'
    }
}
