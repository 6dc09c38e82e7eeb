#!/usr/bin/env bash
# The main job, shown: image files become disks, the disks a pool, the pool a mirror, the mirror a file system; everything is
# killed hard, started again, and every byte compared. In PowerShell where it is there, else with the command line.
# Everything lives in one folder under /tmp, with a host of its own, and is gone at the end.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export DEMO=$here
export DEMO_WORK
DEMO_WORK=$(mktemp -d /tmp/tsdemo.XXXXXX)
export TIERSPACES_HOME=$DEMO_WORK/home
export PATH=$here/../bin/host:$PATH:/usr/sbin:/sbin

clean_up() {
    "$here/steps.sh" unmount
    tierspaces stop -Force >/dev/null 2>&1
    "$here/steps.sh" kill >/dev/null 2>&1
    "$here/steps.sh" clear >/dev/null 2>&1
    rm -rf --one-file-system "$DEMO_WORK"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

if command -v pwsh >/dev/null && pwsh -NoProfile -Command 'exit [int]($PSVersionTable.PSVersion -lt [version]"7.4")' </dev/null; then
    pwsh -NoProfile -NonInteractive -File "$here/demo.ps1" </dev/null
else
    "$here/demo.sh" </dev/null
fi
