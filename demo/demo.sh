#!/usr/bin/env bash
# The main job with the command line. run.sh prepares the environment.
set -euo pipefail

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

field() {
    tierspaces Get-VirtualDisk -FriendlyName Data -Json | grep -oE "\"$1\": *\"[^\"]*\"" | cut -d'"' -f4 || true
}

disks=$(printf "$DEMO_WORK/disk%s.img," 1 2 3 4)
disks=${disks%,}

show tierspaces New-PhysicalDisk -Path "$disks" -Size 512MB -MediaType SSD
show tierspaces New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks 'disk*'
show tierspaces New-VirtualDisk -StoragePoolFriendlyName Pool1 -FriendlyName Data \
    -ResiliencySettingName Mirror -NumberOfColumns 2 -Size 512MB
show tierspaces Connect-VirtualDisk -FriendlyName Data
show tierspaces status

"$DEMO/steps.sh" fill "$(field DevicePath)" "$(field NbdUri)"
"$DEMO/steps.sh" kill

show tierspaces start
show tierspaces status
show tierspaces Get-VirtualDisk -FriendlyName Data
"$DEMO/steps.sh" verify "$(field DevicePath)" "$(field NbdUri)"
