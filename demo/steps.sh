#!/usr/bin/env bash
# The parts of the demo that are the same in every shell:
#   steps.sh fill DEVICE URI     puts a file system with random files on the virtual disk and keeps their checksums
#   steps.sh kill                kill -9 for every process of the demo's host, and for the processes between it and a mount
#   steps.sh verify DEVICE URI   compares every byte
#   steps.sh unmount             unmounts the file system
#   steps.sh clear               releases everything else that the kernel still holds in the demo's folder
#
# Three rungs, the highest possible is taken: a mounted file system (a block device, root); mkfs and fsck through the export (FUSE);
# an image copied in and out (nbdcopy).
set -euo pipefail

files=$DEMO_WORK/files sums=$DEMO_WORK/sums mountpoint=$DEMO_WORK/mnt export=$DEMO_WORK/export
device=${2:-} uri=${3:-}

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

rung() {
    if [ -n "$device" ] && [ "$(id -u)" -eq 0 ] && command -v mkfs.ext4 >/dev/null; then
        echo mounted
    elif [ -w /dev/fuse ] && command -v nbdfuse >/dev/null && command -v nbdkit >/dev/null && command -v mkfs.ext4 >/dev/null; then
        echo export
    elif command -v nbdcopy >/dev/null; then
        echo copy
    else
        echo "demo: nothing here can write to a virtual disk. sudo apt-get install -y libnbd-bin fuse3 e2fsprogs" >&2
        return 1
    fi
}

make_files() {
    local i
    mkdir -p "$files"
    for i in $(seq 1 60); do
        head -c $((i * i * 700 + i)) /dev/urandom >"$files/file$i"
    done
    (cd "$files" && sha256sum -- *) >"$sums"
    printf '\n%s random files, %s bytes, their SHA-256 sums kept apart\n' "$(wc -l <"$sums")" "$(cat "$files"/* | wc -c)"
}

check_files() {
    (cd "$1" && sha256sum --check --quiet "$sums")
}

conclude() {
    printf '\nVerified (%s): %s files, %s bytes, each equal to what was written before kill -9.\n' \
        "$1" "$(wc -l <"$sums")" "$(cat "$files"/* | wc -c)"
}

fill_mounted() {
    mkdir -p "$mountpoint"
    show mkfs.ext4 -q "$device"
    show mount "$device" "$mountpoint"
    show cp -r "$files/." "$mountpoint"
    show sync -f "$mountpoint"
}

verify_mounted() {
    show mount "$device" "$mountpoint"
    check_files "$mountpoint"
    show umount "$mountpoint"
    show e2fsck -fn "$device"
    conclude "ext4 mounted on $device"
}

# with_export COMMAND…: while the virtual disk is the file $export/disk. mkfs and fsck read less than a sector of 4 KiB at a time, which
# the export refuses: the filter in between reads whole ones for them.
with_export() {
    local code=0 pid
    mkdir -p "$export"
    nbdfuse "$export/disk" [ nbdkit --exit-with-parent --filter=blocksize nbd "uri=$uri" minblock=4096 ] &
    pid=$!
    until [ -e "$export/disk" ]; do
        kill -0 "$pid" || return 1
        sleep 0.1
    done
    "$@" || code=$?
    fusermount3 -u "$export"
    wait "$pid"
    return "$code"
}

fill_export() {
    with_export show mkfs.ext4 -q -d "$files" "$export/disk"
}

verify_export() {
    with_export read_export
    check_files "$DEMO_WORK/back"
    conclude "ext4 read through $uri"
}

read_export() {
    mkdir -p "$DEMO_WORK/back"
    show e2fsck -fn "$export/disk" && show debugfs -R "rdump / $DEMO_WORK/back" "$export/disk"
}

fill_copy() {
    tar -C "$files" -cf "$DEMO_WORK/image" .
    truncate -s 64M "$DEMO_WORK/image"
    show nbdcopy --flush "$DEMO_WORK/image" "$uri"
}

verify_copy() {
    mkdir -p "$DEMO_WORK/back"
    show nbdcopy "$uri" "$DEMO_WORK/copy"
    tar -C "$DEMO_WORK/back" -xf "$DEMO_WORK/copy"
    check_files "$DEMO_WORK/back"
    conclude "copied in and out through $uri"
}

# Processes of this demo are those that name its folder; no one else's can.
processes() {
    local p
    for p in /proc/[0-9]*; do
        # -c reads to the end: a grep that stops early would break the pipe, and with it this test
        [ "$(cat "$p/environ" "$p/cmdline" 2>/dev/null | grep -acF "$TIERSPACES_HOME")" != 0 ] || continue
        case $(tr '\0' ' ' <"$p/cmdline" 2>/dev/null) in
            *tierspaces*serve* | *tierspaces*supervise* | nbdfuse* | nbdkit* | */nbdfuse* | */nbdkit*) echo "${p#/proc/}" ;;
        esac
    done
}

kill_everything() {
    local pids
    pids=$(processes | xargs)
    [ -n "$pids" ] || return 1
    # shellcheck disable=SC2086 -- a list of process ids
    show kill -9 $pids
    unmount
}

unmount() {
    ! mountpoint -q "$mountpoint" || umount -l "$mountpoint" 2>/dev/null || true
    ! mountpoint -q "$export" || fusermount3 -uz "$export" 2>/dev/null || true
}

clear_kernel() {
    local loop mount
    for loop in $(losetup --list --noheadings --output NAME,BACK-FILE | awk -v d="$DEMO_WORK/" 'index($2, d) == 1 { print $1 }'); do
        losetup --detach "$loop"
    done
    for mount in $(awk -v d="$DEMO_WORK/" 'index($2, d) == 1 { print $2 }' /proc/mounts); do
        fusermount3 -uz "$mount"
    done
}

case ${1:-} in
    fill)
        make_files
        fill_"$(rung)"
        ;;
    kill)
        kill_everything || { echo "demo: no host runs that could be killed" >&2; exit 1; }
        ;;
    verify) verify_"$(rung)" ;;
    unmount) unmount ;;
    clear) clear_kernel ;;
    *) echo "usage: steps.sh fill|kill|verify|unmount [DEVICE URI]" >&2; exit 2 ;;
esac
