#!/usr/bin/env bash
# The parts of the demo that are the same in every shell:
#   steps.sh fill DEVICE URI     puts a file system with random files on the virtual disk and keeps their checksums
#   steps.sh kill                kill -9 for every process of the demo's host, and whatever stands between it and a mount
#   steps.sh verify DEVICE URI   compares every byte
#   steps.sh unmount             lets go of the file system
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
    elif [ -w /dev/fuse ] && command -v nbdfuse >/dev/null && command -v mkfs.ext4 >/dev/null; then
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
    (cd "$1" && sha256sum --check --quiet "$sums") || return 1
    printf '\nVerified (%s): %s files, %s bytes, each equal to what was written before kill -9.\n' \
        "$2" "$(wc -l <"$sums")" "$(cat "$files"/* | wc -c)"
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
    check_files "$mountpoint" "ext4 mounted on $device"
    show umount "$mountpoint"
    show e2fsck -fn "$device"
}

# with_export COMMAND…: while the virtual disk is the file $export/disk.
with_export() {
    local code=0 pid
    mkdir -p "$export"
    nbdfuse "$export/disk" "$uri" &
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
    check_files "$DEMO_WORK/back" "ext4 read through $uri"
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
    check_files "$DEMO_WORK/back" "copied in and out through $uri"
}

# Processes of this demo are those that name its folder; no one else's can.
processes() {
    local p
    for p in /proc/[0-9]*; do
        { tr '\0' '\n' <"$p/environ"; tr '\0' '\n' <"$p/cmdline"; } 2>/dev/null | grep -qF "$TIERSPACES_HOME" || continue
        case $(tr '\0' ' ' <"$p/cmdline" 2>/dev/null) in
            *tierspaces*serve* | *tierspaces*supervise* | nbdfuse* | nbdkit* | */nbdfuse* | */nbdkit*) echo "${p#/proc/}" ;;
        esac
    done
}

kill_everything() {
    local pids
    pids=$(processes | xargs)
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086 -- a list of process ids
    show kill -9 $pids
    unmount
}

unmount() {
    ! mountpoint -q "$mountpoint" || umount -l "$mountpoint" 2>/dev/null || true
    ! mountpoint -q "$export" || fusermount3 -uz "$export" 2>/dev/null || true
}

case ${1:-} in
    fill)
        make_files
        fill_"$(rung)"
        ;;
    kill) kill_everything ;;
    verify) verify_"$(rung)" ;;
    unmount) unmount ;;
    *) echo "usage: steps.sh fill|kill|verify|unmount [DEVICE URI]" >&2; exit 2 ;;
esac
