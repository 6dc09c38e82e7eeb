# The main job in PowerShell. run.sh prepares the environment.
$ErrorActionPreference = 'Stop'
$PSStyle.OutputRendering = 'PlainText'
Import-Module (Join-Path $PSScriptRoot '../TierSpaces.psd1')

function Show-Step([scriptblock] $Step) {
    "`nPS> $($Step.ToString().Trim())"
    & $Step | Out-String -Width 150 | ForEach-Object Trim
}

function Invoke-Step([string] $Step) {
    $disk = Get-VirtualDisk Data
    & "$PSScriptRoot/steps.sh" $Step "$($disk.DevicePath)" "$($disk.NbdUri)"
    if ($LASTEXITCODE) { exit $LASTEXITCODE }
}

Set-Location $env:DEMO_WORK
Show-Step { New-PhysicalDisk -Path disk1.img, disk2.img, disk3.img, disk4.img -Size 512MB -MediaType SSD }
Show-Step { New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks (Get-PhysicalDisk -CanPool $true) }
Show-Step { New-VirtualDisk -StoragePoolFriendlyName Pool1 -FriendlyName Data -ResiliencySettingName Mirror -NumberOfColumns 2 -Size 512MB }
Show-Step { Get-VirtualDisk Data | Connect-VirtualDisk -PassThru | Format-List FriendlyName, OperationalStatus, DevicePath, NbdUri }
Show-Step { Get-TierSpacesHost | Format-List ProcessId, IOBackend, IOBackendReason }

Invoke-Step fill
& "$PSScriptRoot/steps.sh" kill
if ($LASTEXITCODE) { exit $LASTEXITCODE }

Show-Step { Start-TierSpacesHost | Format-List ProcessId, IOBackend }
Show-Step { Get-VirtualDisk Data }
Invoke-Step verify
