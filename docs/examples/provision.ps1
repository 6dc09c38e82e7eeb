# From blank disks to volumes and back: pool, tiers, parity and mirror disks, drive letters, pinned files, a schedule, and everything away again.
# Run as root: pwsh docs/examples/provision.ps1. All of it is in a folder of its own, so that it can run beside other pools, and any number of times.
$ErrorActionPreference = 'Stop'
$work = (New-Item -ItemType Directory (Join-Path ([IO.Path]::GetTempPath()) "provision-$PID")).FullName
$env:TIERSPACES_HOME = "$work/home"
$env:TIERSPACES_VOLUME_ROOT = "$work/volumes"
Import-Module (Join-Path $PSScriptRoot '../../TierSpaces.psd1')
Set-Location $work

# Six disks, two of them fast: image files here, else Register-PhysicalDisk with block devices.
$null = New-PhysicalDisk -Path ssd1.img, ssd2.img -Size 2GB -MediaType SSD
$null = New-PhysicalDisk -Path hdd1.img, hdd2.img, hdd3.img, hdd4.img -Size 4GB -MediaType HDD
$disks = Get-PhysicalDisk -CanPool $true
$pool = New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks $disks
$pool | Set-StoragePool -RetireMissingPhysicalDisks Auto

# A tier of each medium, both of them mirrors.
$fast = New-StorageTier -StoragePoolFriendlyName Pool1 -FriendlyName Fast -MediaType SSD -ResiliencySettingName Mirror
$slow = New-StorageTier -StoragePoolFriendlyName Pool1 -FriendlyName Slow -MediaType HDD -ResiliencySettingName Mirror

# A tiered mirror for databases, and parity on the slow disks for archives.
$tiered = @{
    FriendlyName     = 'Databases'
    StorageTiers     = $fast, $slow
    StorageTierSizes = 256MB, 768MB
    WriteCacheSize   = 0
}
$null = $pool | New-VirtualDisk @tiered
$null = New-VirtualDisk Pool1 -FriendlyName Archive -ResiliencySettingName Parity -NumberOfColumns 3 -Size 600MB -MediaType HDD -WriteCacheSize 0

# A volume on each, with a drive letter.
$null = Get-VirtualDisk Databases | Get-Disk | Initialize-Disk -PartitionStyle GPT -PassThru |
    New-Partition -UseMaximumSize -DriveLetter E |
    Format-Volume -FileSystem ext4 -NewFileSystemLabel Databases -Confirm:$false
$null = Get-VirtualDisk Archive | Get-Disk | New-Volume -FriendlyName Archive -FileSystem xfs -DriveLetter F

# The same in one step from the pool: a mirror on the fast disks.
$null = New-Volume -StoragePoolFriendlyName Pool1 -FriendlyName Logs -ResiliencySettingName Mirror -MediaType SSD -Size 256MB -FileSystem ext4 -DriveLetter L

# Two files, one pinned to each tier, and an optimization every night and at noon.
Set-Content E:\index.dat ('i' * 1MB) -NoNewline
Set-Content E:\old.dat ('o' * 1MB) -NoNewline
Get-Volume E | Write-VolumeCache
Set-FileStorageTier -FilePath E:\index.dat -DesiredStorageTierFriendlyName Databases_Fast
Set-FileStorageTier -FilePath E:\old.dat -DesiredStorageTierFriendlyName Databases_Slow
Set-StorageTierSchedule Pool1 -Time 01:00, 12:00 -Enabled $true
Optimize-Volume -DriveLetter E -TierOptimize
Copy-Item E:\old.dat F:\
Copy-Item E:\index.dat L:\

Get-Volume | Sort-Object DriveLetter | Format-Table DriveLetter, FileSystemLabel, FileSystem, HealthStatus
Get-FileStorageTier -VolumeDriveLetter E | Format-Table FilePath, DesiredStorageTierName, PlacementStatus

# And everything away again: virtual disks with their volumes and letters, tiers, pool, host, images.
Clear-FileStorageTier -FilePath E:\index.dat
Get-VirtualDisk | Remove-VirtualDisk -Confirm:$false
Get-StorageTier | Remove-StorageTier -Confirm:$false
Remove-StoragePool Pool1 -Confirm:$false
$null = Stop-TierSpacesHost
Set-Location /
Remove-Item -Recurse $work
