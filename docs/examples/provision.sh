#!/bin/sh
# The steps of provision.ps1 with the command line: each line is one command, and any shell runs it.
# Run as root, with bin/host in PATH. All of it is in a folder of its own, so that it can run beside other pools, and any number of times.
set -eu
work=$(mktemp -d)
export TIERSPACES_HOME="$work/home"
export TIERSPACES_VOLUME_ROOT="$work/volumes"
cd "$work"

# Six disks, two of them fast: image files here, else Register-PhysicalDisk with block devices.
tierspaces New-PhysicalDisk -Path ssd1.img,ssd2.img -Size 2GB -MediaType SSD
tierspaces New-PhysicalDisk -Path hdd1.img,hdd2.img,hdd3.img,hdd4.img -Size 4GB -MediaType HDD
tierspaces New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks 'ssd*,hdd*'
tierspaces Set-StoragePool Pool1 -RetireMissingPhysicalDisks Auto

# A tier of each medium, both of them mirrors.
tierspaces New-StorageTier -StoragePoolFriendlyName Pool1 -FriendlyName Fast -MediaType SSD -ResiliencySettingName Mirror
tierspaces New-StorageTier -StoragePoolFriendlyName Pool1 -FriendlyName Slow -MediaType HDD -ResiliencySettingName Mirror

# A tiered mirror for databases, and parity on the slow disks for archives.
tierspaces New-VirtualDisk Pool1 -FriendlyName Databases -StorageTiers Fast,Slow -StorageTierSizes 256MB,768MB -WriteCacheSize 0
tierspaces New-VirtualDisk Pool1 -FriendlyName Archive -ResiliencySettingName Parity -NumberOfColumns 3 -Size 600MB -MediaType HDD -WriteCacheSize 0

# A volume on each, with a drive letter, which is a folder below the volume root.
tierspaces Initialize-Disk 1 -PartitionStyle GPT
tierspaces New-Partition 1 -UseMaximumSize -DriveLetter E
tierspaces Format-Volume E -FileSystem ext4 -NewFileSystemLabel Databases -Force
tierspaces New-Volume -DiskNumber 2 -FriendlyName Archive -FileSystem xfs -DriveLetter F

# The same in one step from the pool: a mirror on the fast disks.
tierspaces New-Volume -StoragePoolFriendlyName Pool1 -FriendlyName Logs -ResiliencySettingName Mirror -MediaType SSD -Size 256MB -FileSystem ext4 -DriveLetter L

# Two files, one pinned to each tier, and an optimization every night and at noon.
head -c 1048576 /dev/zero > "$TIERSPACES_VOLUME_ROOT/E/index.dat"
head -c 1048576 /dev/zero > "$TIERSPACES_VOLUME_ROOT/E/old.dat"
tierspaces Write-VolumeCache E
tierspaces Set-FileStorageTier -FilePath "$TIERSPACES_VOLUME_ROOT/E/index.dat" -DesiredStorageTierFriendlyName Databases_Fast
tierspaces Set-FileStorageTier -FilePath "$TIERSPACES_VOLUME_ROOT/E/old.dat" -DesiredStorageTierFriendlyName Databases_Slow
tierspaces Set-StorageTierSchedule Pool1 -Time 01:00,12:00 -Enabled true
tierspaces Optimize-Volume E -TierOptimize
cp "$TIERSPACES_VOLUME_ROOT/E/old.dat" "$TIERSPACES_VOLUME_ROOT/F/"
cp "$TIERSPACES_VOLUME_ROOT/E/index.dat" "$TIERSPACES_VOLUME_ROOT/L/"

tierspaces Get-Volume
tierspaces Get-FileStorageTier -VolumeDriveLetter E

# And everything away again: virtual disks with their volumes and letters, tiers, pool, host, images.
tierspaces Clear-FileStorageTier -FilePath "$TIERSPACES_VOLUME_ROOT/E/index.dat"
tierspaces Remove-VirtualDisk Databases,Archive,Logs -Confirm:false
tierspaces Remove-StorageTier Fast,Slow -Confirm:false
tierspaces Remove-StoragePool Pool1 -Confirm:false
tierspaces stop
cd /
rm -r "$work"
