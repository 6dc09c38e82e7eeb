#!/usr/bin/env bash
# packages.sh test|power-cut|demo|bench: the Debian packages of a task. Installs what is missing when run by root with apt-get,
# else names it with the command. Exit code 0 when nothing is missing at the end; no task depends on it.
set -u

# command:package pairs; the command, or the library, tells whether the package is there.
declare -A wanted=(
    [demo]="nbdfuse:libnbd-bin nbdcopy:libnbd-bin nbdkit:nbdkit fusermount3:fuse3 mkfs.ext4:e2fsprogs"
    [test]="nbdfuse:libnbd-bin nbdcopy:libnbd-bin nbdinfo:libnbd-bin nbdkit:nbdkit fusermount3:fuse3
            qemu-io:qemu-utils fio:fio mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs sfdisk:fdisk"
    [power-cut]="linux.uml:user-mode-linux mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs perl:perl-base losetup:mount"
    [bench]="nbdkit:nbdkit qemu-nbd:qemu-utils fio:fio libisal.so.2:libisal2"
)

# System programs live in directories that a user's path often lacks.
PATH=$PATH:/usr/sbin:/sbin

missing() {
    local pair
    for pair in ${wanted[$1]}; do
        case $pair in
            *.so.*) ldconfig -p | grep -qF "${pair%%:*}" || echo "${pair#*:}" ;;
            *) command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}" ;;
        esac
    done | sort -u
}

task=${1:?packages.sh: which task?}
lacking=$(missing "$task" | xargs)
[ -n "$lacking" ] || exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "packages: installing $lacking"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 -- a list of words
    { apt-get update -qq; apt-get install -y -qq --no-install-recommends $lacking; } </dev/null >/dev/null 2>&1
    lacking=$(missing "$task" | xargs)
    [ -n "$lacking" ] || exit 0
fi

echo "packages: not installed: $lacking. To have everything '$task' can do:"
echo "    sudo apt-get install -y $lacking"
exit 1
