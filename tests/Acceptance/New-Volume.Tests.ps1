BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'New-Volume' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        $null = New-TestPool pool 4 1GB
    }

    AfterAll {
        Stop-TestSession
    }

    It 'runs the published line as it is: 250 GB with two disks to lose' {
        $disks = New-PhysicalDisk -Path (1..5 | ForEach-Object { "wide$_.img" }) -Size 300GB -MediaType SSD
        $null = New-StoragePool -FriendlyName pool1 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks $disks
        $volume = New-Volume -StoragePoolFriendlyName “pool1” -FriendlyName “vm-storage1” -PhysicalDiskRedundancy 2 -FileSystem CSVFS_NTFS -ResiliencySettingName Mirror -Size 250GB -WarningAction SilentlyContinue
        $volume.Size | Should -BeGreaterThan 240GB
        $disk = Get-VirtualDisk vm-storage1
        $disk.NumberOfDataCopies | Should -Be 3
        $disk.Size | Should -BeGreaterOrEqual 250GB
        ($disk | Get-Disk).PartitionStyle | Should -Be 'GPT'
        $volume | Get-Partition | Remove-Partition -Confirm:$false
        $disk | Disconnect-VirtualDisk
        $disk | Remove-VirtualDisk -Confirm:$false
        Remove-StoragePool pool1 -Confirm:$false
        Get-PhysicalDisk wide? | Unregister-PhysicalDisk -Confirm:$false
    }

    It 'runs the published line with smaller sizes: a mirror, one step to a mounted path' {
        $volume = New-Volume -StoragePoolFriendlyName “pool” -FriendlyName “vm-storage1” -PhysicalDiskRedundancy 1 -FileSystem CSVFS_NTFS -ResiliencySettingName Mirror -Size 250MB -WarningVariable said -WarningAction SilentlyContinue
        $volume.RequestedFileSystem | Should -Be 'CSVFS_NTFS'
        "$said" | Should -BeLike '*CSVFS_NTFS*ext4*'
        (Get-VirtualDisk vm-storage1).NumberOfDataCopies | Should -Be 2
        Set-Content "$($volume.MountPoints[0])/file" data
        Get-Content "$env:TIERSPACES_VOLUME_ROOT/vm-storage1/file" | Should -Be data
    }

    It 'takes a pool from the pipeline and gives a drive letter' {
        $volume = Get-StoragePool pool | New-Volume -FriendlyName letters -Size 64MB -DriveLetter G -ResiliencySettingName Simple
        $volume.DriveLetter | Should -Be 'G'
        $volume | Get-Partition | Get-Disk | Get-VirtualDisk | ForEach-Object FriendlyName | Should -Be 'letters'
    }

    It 'covers a disk from the pipeline' {
        $null = New-VirtualDisk pool -FriendlyName own -Size 64MB
        Connect-VirtualDisk own
        $volume = Get-VirtualDisk own | Get-Disk | New-Volume -FriendlyName own -AccessPath (Join-Path $env:TIERSPACES_VOLUME_ROOT here/own)
        $volume.MountPoints | Should -Be (Join-Path $env:TIERSPACES_VOLUME_ROOT here/own)
        (Get-WrittenError { Get-VirtualDisk own | Get-Disk | New-Volume -FriendlyName again }).FullyQualifiedErrorId | Should -BeLike '*,New-Volume'
    }

    It 'takes a disk by position: its number, or the object' {
        foreach ($name in 'first', 'second') {
            $null = New-VirtualDisk pool -FriendlyName $name -Size 64MB
            Connect-VirtualDisk $name
        }

        $number = (Get-VirtualDisk first | Get-Disk).Number
        (New-Volume $number -FriendlyName first | Get-Partition).DiskNumber | Should -Be $number
        (New-Volume (Get-VirtualDisk second | Get-Disk) -FriendlyName second | Get-Partition | Get-Disk).FriendlyName | Should -Be 'second'
        (New-Volume (Get-StoragePool pool) -FriendlyName third -Size 64MB -AllocationUnitSize 65536 -WarningAction Ignore).FileSystemLabel | Should -Be 'third'
        (Get-WrittenError { New-Volume 999 -FriendlyName none }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Number,New-Volume'
        { New-Volume text -FriendlyName none } | Should -Throw -ExpectedMessage "*-DiskNumber 'text': is not a number of this parameter.*"
        { New-Volume (Get-VirtualDisk first) -FriendlyName none } | Should -Throw -ErrorId 'CannotConvertArgument*'
    }

    It 'refuses an object of another class by name' {
        { New-Volume -Disk (Get-StoragePool pool) -FriendlyName none } | Should -Throw -ExpectedMessage '*Disk*'
        { New-Volume -StoragePool (Get-VirtualDisk first) -FriendlyName none } | Should -Throw -ExpectedMessage '*StoragePool*'
    }

    It 'makes a tiered volume from templates by name' {
        Get-PhysicalDisk | Select-Object -First 2 | Set-PhysicalDisk -MediaType HDD
        $null = New-StorageTier pool -FriendlyName Fast -MediaType SSD -ResiliencySettingName Simple
        $null = New-StorageTier pool -FriendlyName Slow -MediaType HDD -ResiliencySettingName Simple
        $volume = New-Volume -StoragePoolFriendlyName pool -FriendlyName tiered -StorageTierFriendlyNames Fast, Slow -StorageTierSizes 32MB, 64MB -WriteCacheSize 0 -DriveLetter T
        $volume.Size | Should -BeGreaterThan 70MB
        (Get-VirtualDisk tiered | Get-StorageTier).Count | Should -Be 2
    }

    It 'makes nothing when a step fails' {
        $before = (Get-VirtualDisk).Count
        (Get-WrittenError { New-Volume -StoragePoolFriendlyName pool -FriendlyName small -Size 64MB -FileSystem xfs }).FullyQualifiedErrorId | Should -BeLike '*,New-Volume'
        (Get-WrittenError { New-Volume -StoragePoolFriendlyName pool -FriendlyName cached -Size 64MB -ReadCacheSize 5GB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,New-Volume'
        (Get-VirtualDisk).Count | Should -Be $before
        Get-VirtualDisk | ForEach-Object FriendlyName | Should -Not -Contain 'small'
    }

    It 'says what it would do' {
        New-Volume -StoragePoolFriendlyName pool -FriendlyName plan -Size 64MB -WhatIf
        Get-VirtualDisk | ForEach-Object FriendlyName | Should -Not -Contain 'plan'
    }
}
