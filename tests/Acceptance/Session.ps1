# A host of one's own for a test file: dot-source it, Start-TestSession in BeforeAll, Stop-TestSession in AfterAll.
# The module is the installed one where the run names it (eng/acceptance.ps1 -Package), else the one of the tree.

$TestModule = Join-Path ($env:TIERSPACES_TEST_MODULE ?? (Join-Path $PSScriptRoot '../..')) TierSpaces.psd1
Import-Module $TestModule

function Start-TestSession {
    $script:SessionFolder = Join-Path ([IO.Path]::GetTempPath()) "ps$PID-$([guid]::NewGuid().ToString('N').Substring(0, 6))"
    $null = New-Item -ItemType Directory -Path $script:SessionFolder
    $script:SavedHome = $env:TIERSPACES_HOME
    $env:TIERSPACES_HOME = Join-Path $script:SessionFolder 'home'
    Push-Location $script:SessionFolder
}

function Stop-TestSession {
    Get-VirtualDisk | Where-Object NbdUri | Disconnect-VirtualDisk
    $null = Stop-TierSpacesHost
    Pop-Location
    $env:TIERSPACES_HOME = $script:SavedHome
    Remove-Item -Recurse -Force $script:SessionFolder
}

# Image files of the session, named by a prefix: disk1, disk2, …
function New-TestDisk([int] $Count = 4, [uint64] $Size = 256MB, [string] $Prefix = 'disk') {
    New-PhysicalDisk -Path (1..$Count | ForEach-Object { "$Prefix$_.img" }) -Size $Size -MediaType SSD
}

function New-TestPool([string] $Name = 'Pool1', [int] $Count = 4, [uint64] $Size = 256MB) {
    New-StoragePool -FriendlyName $Name -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks (New-TestDisk $Count $Size $Name)
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
