#!/usr/bin/env bash
# kernel-nbd.sh: the main job through the kernel's own nbd driver, on a machine whose kernel has none: user-mode Linux is
# booted on this machine's files, and in it, as root, the host is killed while a file system on /dev/nbdN is written and verified.
#
#   sudo apt-get install -y user-mode-linux fio e2fsprogs
#   ./build.sh Build && tests/Acceptance/kernel-nbd.sh
#
# Needs no root, takes two to three minutes. One machine, two boots; all it writes is in one folder, which is gone at the end:
#   1  pool, mirror of two columns, /dev/nbdN, ext4; under fio with verify the host dies three times by kill -9 and stops once in
#      good order; fsck; disconnected and connected again; host and supervisor killed at once; at the end a power cut while mounted
#   2  the machine comes back, the device is created again, every byte is compared, fsck
# Exit code 0: all of it verified. Kernel messages and the host's log are printed when something failed.
set -euo pipefail

self=$(readlink -f "${BASH_SOURCE[0]}")
root=$(dirname "$(dirname "$(dirname "$self")")")
load_seconds=60

fail() {
    echo "kernel-nbd: $*" >&2
    exit 1
}

say() {
    printf '%7.1f  %s\n' "$(cut -d ' ' -f 1 /proc/uptime)" "$*"
}

# ---------------------------------------------------------------------------------------------- on this machine

on_this_machine() {
    local kernel modules dotnet boot
    for tool in linux.uml fio mkfs.ext4 e2fsck perl dotnet; do
        command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null \
            || fail "$tool is missing: sudo apt-get install -y user-mode-linux fio e2fsprogs perl; dotnet is the .NET SDK"
    done
    [ -x "$root/bin/host/tierspaces" ] || fail "$root/bin/host/tierspaces is missing: ./build.sh Build"
    kernel=$(command -v linux.uml)
    modules=${kernel%/bin/*}/lib/uml/modules/$("$kernel" --version)
    [ -f "$modules/kernel/drivers/block/nbd.ko" ] || fail "$modules has no nbd.ko"
    dotnet=${DOTNET_ROOT:-$(dirname "$(readlink -f "$(command -v dotnet)")")}

    work=$(mktemp -d /tmp/tsuml.XXXXXX)   # short: socket paths end at 107 bytes
    trap 'end_machine; rm -rf --one-file-system "$work"' EXIT
    trap 'exit 130' INT TERM
    mkdir "$work/machine"
    truncate -s 4G "$work/disk"
    printf 'export PATH=%q DOTNET_ROOT=%q\nmodules=%q work=%q\n' "$PATH:/usr/sbin:/sbin" "$dotnet" "$modules" "$work" >"$work/environment"
    [ -z "${TIERSPACES_IO_BACKEND:-}" ] || printf 'export TIERSPACES_IO_BACKEND=%q\n' "$TIERSPACES_IO_BACKEND" >>"$work/environment"
    for boot in first second; do
        echo "== $boot boot"
        boot_machine "$kernel" "$boot"
        grep -qsx verified "$work/$boot.result" || fail "the $boot boot was not verified"
    done
    echo "kernel-nbd: verified"
}

# The root of the machine is this one's; its only disk is $work/disk. The kernel hands words it does not know to init.
boot_machine() {
    env -i TMPDIR="$work" timeout --kill-after=10s 10m "$1" mem=1500M root=/dev/root rootfstype=hostfs rootflags=/ rw loglevel=1 \
        "ubd0=$work/disk" "uml_dir=$work" con0=null,fd:1 con=null "init=$self" "boot=$2" "work=$work" </dev/null &
    wait $! || true
    end_machine
}

# Not every process of user-mode Linux always ends with it; all have the name of its disk among their words.
end_machine() {
    local process round
    for round in 1 2 3; do
        for process in /proc/[0-9]*; do
            ! grep -qsF "ubd0=$work/disk" "$process/cmdline" || kill -9 "${process#/proc/}" 2>/dev/null || true
        done
    done
}

# ---------------------------------------------------------------------------------------------- in user-mode Linux

in_the_machine() {
    # shellcheck source=/dev/null -- written by the other half
    . "$work/environment"
    mount -t proc proc /proc
    mount -t sysfs sys /sys
    mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm
    machine=$work/machine
    [ "$boot" = second ] || mkfs.ext4 -q -E lazy_itable_init=0 /dev/ubda
    mount /dev/ubda "$machine"
    mkdir -p "$machine/tmp" "$machine/data"
    export HOME=$machine/tmp TMPDIR=$machine/tmp TIERSPACES_HOME=$machine/h LC_ALL=C
    dmesg --clear
    insert_module "$modules/kernel/drivers/block/nbd.ko"
    mnt=$machine/data device=''

    code=0
    ("$boot"_boot) &   # not "if" or "||": errors would be ignored in there
    wait $! || code=$?
    if [ "$code" -eq 0 ]; then
        say "the $boot boot is verified"
        echo verified >"$work/$boot.result"
        sync "$work/$boot.result"
    else
        dmesg | tail -n 60
        tail -n 60 "$TIERSPACES_HOME/host.log" || true
        cat "$machine/fio" || true
    fi
    power_cut
}

first_boot() {
    local disks
    set -E
    trap 'echo "kernel-nbd: line $LINENO failed" >&2' ERR
    tierspaces start >/dev/null
    say "I/O backend: $(tierspaces status -Json | sed -n 's/.*"IOBackend\(Reason\)\?": *"\(.*\)".*/\2/p' | paste -sd ';')"
    disks=$(printf "$machine/d%s.img," 1 2 3 4)
    tierspaces New-PhysicalDisk -Path "${disks%,}" -Size 512MB -MediaType SSD >/dev/null
    tierspaces New-StoragePool -FriendlyName p -StorageSubSystemFriendlyName '*' -PhysicalDisks 'd*' >/dev/null
    tierspaces New-VirtualDisk -StoragePoolFriendlyName p -FriendlyName Data -ResiliencySettingName Mirror \
        -NumberOfDataCopies 2 -NumberOfColumns 2 -Size 400MB >/dev/null
    connect
    mkfs.ext4 -q "$device"
    mount "$device" "$mnt"
    write_files before-the-kill 40

    killed_under_load
    check_files
    take_down_and_check
    say "disconnect, connect"
    tierspaces Disconnect-VirtualDisk -FriendlyName Data
    [ ! -e "/sys/block/$(basename "$device")/pid" ] || fail "$device is still attached"
    connect
    mount "$device" "$mnt"
    check_files

    killed_together
    check_files
    write_files before-the-power-cut 20
    sync -f "$mnt"
    no_io_errors
    say "power cut, $mnt still mounted"
}

second_boot() {
    set -E
    trap 'echo "kernel-nbd: line $LINENO failed" >&2' ERR
    tierspaces start >/dev/null
    find_device
    mount "$device" "$mnt"
    check_files
    [ "$(wc -l <"$work/sums")" = 75 ] || fail "75 files were written"
    take_down_and_check
    tierspaces Disconnect-VirtualDisk -FriendlyName Data
    tierspaces stop
    no_io_errors
}

# Verified writes past the page cache, one file system; in the middle of them three kills and a stop. fio ends at the first error.
killed_under_load() {
    local load i victim
    say "fio, $load_seconds s"
    fio --name=load --directory="$mnt" --rw=randwrite --bs=4k --size=12M --numjobs=2 --direct=1 --ioengine=libaio --iodepth=8 \
        --verify=crc32c --verify_fatal=1 --verify_backlog=256 --verify_state_save=0 --time_based --runtime="$load_seconds" \
        --eta=never --output="$machine/fio" &
    load=$!
    for i in 1 2 3; do
        sleep 6
        kill -0 "$load" || fail "fio ended before kill $i: $(cat "$machine/fio")"
        victim=$(cat "$TIERSPACES_HOME/host.lock")
        kill -9 "$victim"
        say "kill -9 of host $victim"
        write_files "after-kill-$i" 5
        [ "$(cat "$TIERSPACES_HOME/host.lock")" != "$victim" ] || fail "the host that was killed was not started again"
        say "host $(cat "$TIERSPACES_HOME/host.lock") carries $device again, files written and synced"
    done
    kill -0 "$load" || fail "fio ended before the stop"
    tierspaces stop
    say "stopped in good order"
    tierspaces start >/dev/null
    wait "$load" || fail "fio: exit code $?"
    [ "$(grep -c 'err= 0' "$machine/fio")" = 2 ] || fail "fio does not say that both of its jobs went well"
    say "fio: both jobs without an error; what they wrote, and the longest wait:"
    sed -nE '/^ +write: |^ +clat .*max=/s/^ +/         /p' "$machine/fio"
    no_io_errors
}

killed_together() {
    local host supervisor before=$device
    host=$(cat "$TIERSPACES_HOME/host.lock") supervisor=$(cat "$TIERSPACES_HOME/supervisor.lock")
    kill -9 "$supervisor" "$host"
    say "kill -9 of supervisor $supervisor and host $host, mounted"
    sleep 2
    tierspaces start >/dev/null
    find_device
    [ "$device" = "$before" ] || fail "the device was $before and is $device"
}

connect() {
    tierspaces Connect-VirtualDisk -FriendlyName Data >/dev/null
    find_device
}

# A host that was started makes its devices after it is ready.
find_device() {
    local disk='' try
    for try in $(seq 30); do
        disk=$(tierspaces Get-VirtualDisk -FriendlyName Data -Json)
        ! grep -q '"AttachMethod": *"' <<<"$disk" || break
        sleep 1
    done
    grep -q '"AttachMethod": *"KernelNbd"' <<<"$disk" || fail "not attached through the kernel: $disk"
    device=$(readlink -f "$(sed -n 's/.*"DevicePath": *"\([^"]*\)".*/\1/p' <<<"$disk")")
    [[ $device == /dev/nbd* && -b $device ]] || fail "not an nbd device: $disk"
    say "attached through the kernel's nbd: $device"
}

# The sums are kept where no power cut of the machine reaches them.
write_files() {
    local i
    for i in $(seq "$2"); do
        head -c $((i * i * 431 + i)) /dev/urandom >"$machine/tmp/content"
        cp "$machine/tmp/content" "$mnt/$1-$i"
        echo "$(sha256sum <"$machine/tmp/content" | cut -d ' ' -f 1)  $1-$i" >>"$work/sums"
    done
    sync -f "$mnt"
    sync "$work/sums"
}

# From the device, not from the page cache.
check_files() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
    (cd "$mnt" && sha256sum --check --strict --quiet "$work/sums") || fail "files differ"
    say "$(wc -l <"$work/sums") files are what they were"
}

take_down_and_check() {
    umount "$mnt"
    e2fsck -fn "$device" >"$machine/fsck" 2>&1 || fail "e2fsck: exit code $?: $(cat "$machine/fsck")"
    say "e2fsck -fn: clean"
}

no_io_errors() {
    ! dmesg | grep -iE 'I/O error|EXT4-fs (error|warning)|Buffer I/O|lost async|blocked for more' || fail "the kernel has seen errors"
}

tierspaces() {
    "$root/bin/host/tierspaces" "$@"
}

# finit_module, without the programs of the package kmod.
insert_module() {
    perl -e 'open(my $f, "<", $ARGV[0]) or die "$!"; my $none = ""; syscall(313, fileno($f), $none, 0) == 0 or die "$ARGV[0]: $!"' "$1"
}

# The machine ends here and now: nothing is synced, nothing is unmounted.
power_cut() {
    echo 1 >/proc/sys/kernel/sysrq
    echo o >/proc/sysrq-trigger
    sleep 60
}

if [ $$ -eq 1 ]; then
    in_the_machine
else
    on_this_machine
fi
