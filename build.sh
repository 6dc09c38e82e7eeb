#!/usr/bin/env bash
# The tasks of this repository. Needs only the .NET SDK; what a task needs beside it (Debian packages) is installed
# where that is allowed and named with its command where it is not. build.ps1 calls this file: all logic is here.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root"

export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
export DOTNET_CLI_USE_MSBUILD_SERVER=0 MSBUILDDISABLENODEREUSE=1
[ -w "${HOME:-/nonexistent}" ] || export DOTNET_CLI_HOME="$root/artifacts/home"

usage() {
    cat <<'TEXT'
Usage: ./build.sh TASK [options]

  Build      restore and build everything; bin/ then holds the module's assemblies and bin/host/tierspaces, en-US/ its help
  Package    build, then bin/package/TierSpaces.VERSION.nupkg: the module for a PowerShell repository (Install-PSResource)
  Test       build, package, then the tests of every change; -Full runs every test, -Long at length; the last line is
             "N passed, N failed, N skipped"
  Demo       build, then the main job: disks, pool, mirror, file system, kill -9, start again, every byte compared
  Bench      build, then the tables of docs/performance.md, measured beside nbdkit, qemu-nbd and fio; -Long takes longer
  Experiment build, then a published experiment again on emulated disks, into docs/experiments; -Name NAME
  Simulate   build, then the crash simulator; -Seeds N -Seed S
  PowerCut   build, then power cuts of a whole machine with a kernel of its own; -Cuts N -Seeds N -Seed S -Results FILE -Keep FOLDER
  Fuzz       build, then damaged and made-up bytes into every parser; -Executions N -Seed S -Only TEXT
  Mutate     build, then the simulator and the engine's tests on an engine with one flush, wait, lock or checksum taken out at a
             time; -Only TEXT -Seeds N -Results FILE -Table FILE
  Clean      remove everything a task has built
TEXT
}

require_sdk() {
    command -v dotnet >/dev/null && return
    echo "build.sh: the .NET SDK 8 or later is needed and 'dotnet' is not on the path: https://dotnet.microsoft.com/download" >&2
    exit 2
}

# The servers a build may start outlive it unless told not to.
dotnet_quiet() {
    local verb=$1
    shift
    dotnet "$verb" "$@" --configuration Release --disable-build-servers --nologo --verbosity quiet
}

# The runtime that the host will run on where there is no 8.0 (RollForward): it refuses native code made for 8.0 and would
# recompile everything at each start.
later_runtime() {
    dotnet --list-runtimes | awk '$1 == "Microsoft.NETCore.App" && $2 !~ /-/ { print $2 }' | sort -V |
        awk -F. '$1 == 8 { exit } $1 > 8 && !major { major = $1 } $1 == major { newest = $0 } END { print newest }'
}

# publish PROJECT FOLDER [VERSION]: with native code beside the IL, which halves the start of host and module; its compiler is a
# package that may be out of reach, and then it goes without.
publish() {
    local project=$1 folder=$2 version=${3:-} platform
    case $(uname -m) in aarch64) platform=linux-arm64 ;; *) platform=linux-x64 ;; esac
    [ "$(cat "$project/obj/native" 2>/dev/null)" = "$version" ] || rm -rf "$project"/obj/*/*/*/R2R   # of another compiler
    mkdir -p "$project/obj" && echo "$version" >"$project/obj/native"
    rm -rf "$folder"
    dotnet_quiet publish "$project" --runtime "$platform" --no-self-contained -p:PublishReadyToRun=true \
        ${version:+-p:NativeCodeVersion=$version} --output "$folder" \
        >artifacts/publish.log 2>&1 && return
    echo "build: no native code for $project (artifacts/publish.log says why); it starts a little slower"
    rm -rf "$folder"
    dotnet_quiet publish "$project" --output "$folder"
}

task_build() {
    require_sdk
    mkdir -p artifacts bin
    dotnet_quiet build TierSpaces.slnx
    publish src/Cmdlets artifacts/module
    cp --remove-destination artifacts/module/TierSpaces.{Cmdlets,Contracts,Enumerations}.dll bin/
    publish src/Host bin/host "$(later_runtime)"
    dotnet src/Cmdlets.Help/bin/Release/net8.0/TierSpaces.Cmdlets.Help.dll maml docs/cmdlets en-US/TierSpaces.Cmdlets.dll-Help.xml
}

task_package() {
    task_build
    rm -rf bin/package
    dotnet_quiet pack src/Cmdlets --no-build --output bin/package
    echo "build: $(ls bin/package/*.nupkg)"
}

task_test() {
    task_package
    exec eng/test.sh "$@"
}

task_demo() {
    task_build
    eng/packages.sh demo || true
    exec demo/run.sh "$@"
}

task_bench() {
    task_build
    eng/packages.sh bench || true
    [ $# -gt 0 ] && [ "${1#-}" = "$1" ] || set -- table "$@"
    exec dotnet bench/bin/Release/net8.0/TierSpaces.Bench.dll "$@"
}

task_experiment() {
    task_build
    exec dotnet bench/bin/Release/net8.0/TierSpaces.Bench.dll experiment "$@"
}

task_simulate() {
    require_sdk
    dotnet_quiet build tests/Simulation
    exec dotnet tests/Simulation/bin/Release/net8.0/TierSpaces.Simulation.dll "$@"
}

task_powercut() {
    require_sdk
    eng/packages.sh power-cut || true   # what is missing is named again
    mkdir -p artifacts bin
    publish src/Host bin/host "$(later_runtime)"
    dotnet_quiet build tests/PowerCuts
    has_cuts "$@" || set -- -Cuts 20 "$@"
    exec tests/PowerCuts/bin/Release/net8.0/TierSpaces.PowerCuts "$@"
}

has_cuts() {
    printf '%s\n' "$@" | grep -qix -- -cuts
}

task_fuzz() {
    require_sdk
    dotnet_quiet build tests/Fuzz
    exec dotnet tests/Fuzz/bin/Release/net8.0/TierSpaces.Fuzz.dll "$@"
}

task_mutate() {
    require_sdk
    dotnet_quiet build tests/Engine.Tests
    dotnet_quiet build tests/Mutants
    exec dotnet tests/Mutants/bin/Release/net8.0/TierSpaces.Mutants.dll "$@"
}

task_clean() {
    rm -rf bin en-US artifacts
    find src tests bench -type d \( -name bin -o -name obj \) -prune -exec rm -rf {} + 2>/dev/null || true
}

task=${1:-}
[ $# -eq 0 ] || shift
case ${task,,} in
    build) task_build ;;
    package) task_package ;;
    test) task_test "$@" ;;
    demo) task_demo "$@" ;;
    bench) task_bench "$@" ;;
    experiment) task_experiment "$@" ;;
    simulate) task_simulate "$@" ;;
    powercut) task_powercut "$@" ;;
    fuzz) task_fuzz "$@" ;;
    mutate) task_mutate "$@" ;;
    clean) task_clean ;;
    '' | help | -h | --help) usage ;;
    *)
        echo "build.sh: '$task' is not a task." >&2
        usage >&2
        exit 2
        ;;
esac
