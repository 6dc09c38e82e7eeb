#!/usr/bin/env bash
# The first program of a machine: what the kernel hands it is the folder of the run (work=) and the number of the start (boot=).
# The root of the machine is that of this machine, its own disk is /dev/loop0. The machine ends when its program has ended.
. "$work/environment"
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /run
for module in $(cat "$work/modules"); do
    # finit_module, without the programs of the package kmod
    perl -e 'open(my $f, "<", $ARGV[0]) or die "$!"; my $none = ""; syscall(313, fileno($f), $none, 0) == 0 or die "$ARGV[0]: $!"' "$module"
done
# What is written goes to the disks soon, in any order: there it is lost or not, here it would always be lost.
echo 65536 >/proc/sys/vm/dirty_background_bytes
echo 4 >/proc/sys/vm/dirty_writeback_centisecs
echo 4 >/proc/sys/vm/dirty_expire_centisecs
# The files have one number, each in its own FUSE: what tells them apart is the part of its file that each device shows.
number=0
for disk in $(cat "$work/disklist"); do
    [ "$boot" != 0 ] && [ "$number" = "$(cat "$work/away")" ] || losetup --offset $((number * 1048576)) "/dev/loop$number" "$disk"
    number=$((number + 1))
done
[ "$boot" != 0 ] || mkfs.ext4 -q -E lazy_itable_init=0 /dev/loop0
mount /dev/loop0 "$work/machine" || echo "violation: the machine's own file system cannot be mounted" >>"$work/progress"
export HOME=$work/machine TMPDIR=$work/machine TIERSPACES_HOME=$work/machine/h TIERSPACES_VOLUME_ROOT=$work/machine/volumes
"$program" -InMachine "$work" "$boot"
echo o >/proc/sysrq-trigger
sleep 60
