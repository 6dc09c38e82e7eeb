# A host of one's own for a test file: dot-source it, Start-TestSession in BeforeAll, Stop-TestSession in AfterAll.
# The module is the installed one where the run names it (eng/acceptance.ps1 -Package), else the one of the tree.

$TestModule = Join-Path ($env:TIERSPACES_TEST_MODULE ?? (Join-Path $PSScriptRoot '../..')) TierSpaces.psd1
Import-Module $TestModule

# New virtual disks stay detached, which is faster, unless the file is about what users have by default.
function Start-TestSession([switch] $AttachNewDisks) {
    $script:SessionFolder = Join-Path ([IO.Path]::GetTempPath()) "ps$PID-$([guid]::NewGuid().ToString('N').Substring(0, 6))"
    $null = New-Item -ItemType Directory -Path $script:SessionFolder
    $script:SavedHome = $env:TIERSPACES_HOME
    $env:TIERSPACES_HOME = Join-Path $script:SessionFolder 'home'
    $script:SavedVolumeRoot = $env:TIERSPACES_VOLUME_ROOT
    $env:TIERSPACES_VOLUME_ROOT = Join-Path $script:SessionFolder 'volumes'
    $script:SavedAttachNewDisks = $env:TIERSPACES_ATTACH_NEW_DISKS
    $env:TIERSPACES_ATTACH_NEW_DISKS = $AttachNewDisks ? 'yes' : 'no'
    Push-Location $script:SessionFolder
}

function Stop-TestSession {
    Get-Partition | Where-Object { $_.AccessPaths.Count -gt 1 } | Remove-PartitionAccessPath
    Get-VirtualDisk | Where-Object NbdUri | Disconnect-VirtualDisk
    $null = Stop-TierSpacesHost -Force
    Pop-Location
    $env:TIERSPACES_HOME = $script:SavedHome
    $env:TIERSPACES_VOLUME_ROOT = $script:SavedVolumeRoot
    $env:TIERSPACES_ATTACH_NEW_DISKS = $script:SavedAttachNewDisks
    Remove-Item -Recurse -Force $script:SessionFolder
}

# Image files of the session, named by a prefix: disk1, disk2, …
function New-TestDisk([int] $Count = 4, [uint64] $Size = 256MB, [string] $Prefix = 'disk') {
    New-PhysicalDisk -Path (1..$Count | ForEach-Object { "$Prefix$_.img" }) -Size $Size -MediaType SSD
}

function New-TestPool([string] $Name = 'Pool1', [int] $Count = 4, [uint64] $Size = 256MB) {
    New-StoragePool -FriendlyName $Name -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks (New-TestDisk $Count $Size $Name)
}

# Whether disks can be had: connected virtual disks with a block device. Where they cannot, tests of volumes are skipped, with the reason.
function Test-DiskSupport {
    (id -u) -eq 0 -and (Test-Path /dev/fuse) -and (Test-Path /dev/loop-control) -and (Get-Command sfdisk, mkfs.ext4, nbdfuse -ErrorAction Ignore).Count -eq 3
}

# Virtual disk Data, 700 MB in Pool1, connected: disk 1.
function Connect-TestDisk {
    $null = New-TestPool Pool1 2 1GB
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 700MB -ResiliencySettingName Simple
    Connect-VirtualDisk Data
}

# The same with one volume on it, E, of 300 MB.
function New-TestVolumeE {
    Connect-TestDisk
    Initialize-Disk 1
    $null = New-Partition 1 -Size 300MB -DriveLetter E | Format-Volume -NewFileSystemLabel Test -Confirm:$false
    Set-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) 'text'
}

# The error that a command writes: its record, or nothing.
function Get-WrittenError([scriptblock] $Command) {
    $ErrorActionPreference = 'Continue'
    & $Command 2>&1 | Where-Object { $_ -is [System.Management.Automation.ErrorRecord] }
}

# Virtual disk Data in Pool1, 16 MB on SSD and 64 MB on HDD, connected. Its ext4 is mounted and 'file', 4 MB, is on the slow tier; returns the mount
# point, or nothing where this user or this machine cannot mount.
function New-TestTieredVolume {
    $null = New-TestPool Pool1 2
    $null = New-PhysicalDisk -Path slow1.img, slow2.img -Size 512MB -MediaType HDD
    Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk slow?)
    $tiers = (New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD), (New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD)
    $null = New-VirtualDisk Pool1 -FriendlyName Data -ResiliencySettingName Simple -StorageTiers $tiers -StorageTierSizes 16MB, 64MB -WarningAction Ignore
    $disk = Connect-VirtualDisk Data -PassThru
    if (-not $disk.DevicePath -or (id -u) -ne 0 -or -not (Get-Command mkfs.ext4 -ErrorAction Ignore)) {
        return
    }

    $script:TestVolume = (New-Item -ItemType Directory mnt).FullName
    mkfs.ext4 -q $disk.DevicePath
    mount $disk.DevicePath $script:TestVolume
    foreach ($file in @{ Name = 'filler'; Size = 24MB }, @{ Name = 'file'; Size = 4MB }) {
        $bytes = [byte[]]::new($file.Size)
        [Random]::new(1).NextBytes($bytes)
        [IO.File]::WriteAllBytes("$script:TestVolume/$($file.Name)", $bytes)
        sync -f $script:TestVolume
    }

    $script:TestVolume
}

function Remove-TestVolume {
    if ($script:TestVolume) { umount $script:TestVolume }
}
