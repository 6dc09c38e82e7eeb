#!/usr/bin/env bash
# test.sh [-Full | -Long]: runs the suites of a built tree, says how long each took, and adds them up. Without an option it is the check of
# every change: what docs/testing.md lists under "Three gates"; -Full runs every suite, -Long every suite at length. The last line is
# "N passed, N failed, N skipped"; the exit code is 1 when anything failed. Counts come from the runners' report files, never from their text: a suite
# that ends without a report, or with an error its report does not show, counts as one failure.
#
# No suite touches the user's own host: TIERSPACES_HOME points into the scratch folder.
# Everything a suite starts carries TIERSPACES_TEST_RUN in its environment and keeps its files in one scratch folder:
# whatever is left at the end is found by these two and removed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

long=0 full=0
case ${1:-} in
    -Long | -long | --long) long=1 full=1 ;;
    -Full | -full | --full) full=1 ;;
    '') ;;
    *) echo "test.sh: '$1' is not an option; there are -Full and -Long" >&2; exit 2 ;;
esac

passed=0 failed=0 skipped=0
durations=()   # "SECONDS NAME" of each suite that has ended
reports=$root/artifacts/tests
run_id=$$-$RANDOM$RANDOM
scratch=$(mktemp -d /tmp/ts.XXXXXX)   # short: socket paths end at 107 bytes
limit=$([ "$long" = 1 ] && echo 8h || echo 30m)
lane_runs=$([ "$long" = 1 ] && echo uring:1 uring:2 threads:1 threads:2 || echo uring:2 threads:1)   # backend and number of data lanes
real_lanes=(-class '*DiskSignatureTests' -class '*StorageSubsystemTests' -class '*OfflineReaderTests')   # use a real lane and name no backend
chmod 711 "$scratch"                   # a test acts as another user, who must get as far as the socket that refuses him
rm -rf "$reports"
mkdir -p "$reports"

leftovers() {
    local p
    for p in /proc/[0-9]*; do
        # -c reads to the end: a grep that stops early would break the pipe, and with it this test
        [ "$(cat "$p/environ" 2>/dev/null | grep -aczx "TIERSPACES_TEST_RUN=$run_id")" = 1 ] && echo "${p#/proc/}"
    done
}

clean_up() {
    local pids mount loop loops
    pids=$(leftovers)
    # Loop devices are known by the path of their file, which is gone once what it lies on is unmounted.
    loops=$(losetup --list --noheadings --output NAME,BACK-FILE 2>/dev/null | awk -v d="$scratch/" 'index($2, d) == 1 { print $1 }')
    # shellcheck disable=SC2086 -- a list of process ids
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
    for mount in $(awk -v d="$scratch/" 'index($2, d) == 1 { print $2 }' /proc/mounts | sort -r); do
        umount -l "$mount" 2>/dev/null || fusermount3 -uz "$mount" 2>/dev/null
    done
    for loop in $loops; do
        losetup --detach "$loop" 2>/dev/null
    done
    rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# add NAME PASSED FAILED SKIPPED [STARTED]: a suite has ended that began at second STARTED, or when the one before it ended.
add() {
    durations+=("$((SECONDS - ${5:-$suite_started})) $1")
    suite_started=$SECONDS
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    printf '%s: %d passed, %d failed, %d skipped\n' "${@:1:4}"
}

# in_suite COMMAND…: with the marks by which its leftovers are found, and a time limit.
in_suite() {
    env TIERSPACES_TEST_RUN="$run_id" TIERSPACES_TEST_LONG="$long" TMPDIR="$scratch" TIERSPACES_HOME="$scratch/home" \
        timeout --kill-after=30s "$limit" "$@" </dev/null
}

attribute() {
    local value
    value=$(grep -o '<assembly [^>]*>' "$1" | head -n 1 | grep -oE " $2=\"[0-9]+\"" | tr -dc '0-9')
    echo "${value:-0}"
}

# run_xunit NAME ASSEMBLY [FILTER…]
run_xunit() {
    local name=$1 report=$reports/$1.xml code=0 ok bad none
    echo "== $name"
    in_suite dotnet exec "$2" -xml "$report" -noLogo -noColor "${@:3}" || code=$?
    if ! grep -q '<assembly ' "$report" 2>/dev/null; then
        echo "$name ended with exit code $code and without a report" >&2
        add "$name" 0 1 0
        return
    fi
    ok=$(attribute "$report" passed) none=$(attribute "$report" skipped)
    bad=$(($(attribute "$report" failed) + $(attribute "$report" errors)))
    [ "$code" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    add "$name" "$ok" "$bad" "$none"
}

# Whatever does its I/O through the engine runs once on each backend: on io_uring with two data lanes, on threads with one; -Long runs all four. The check
# of every change runs the engine's tests once and only those of a real lane again. The engine's tests run in three processes, since their
# simulated worlds take some gigabytes. Those of rates in simulated time need no backend: they run once, in a process of their own.
run_project() {
    local project=$1 name assembly backend lanes run
    name=$(basename "$project" .csproj)
    assembly=$(dirname "$project")/bin/Release/net8.0/$name.dll
    case $name in
        *Engine.Tests)
            run_xunit "$name.rates" "$assembly" -class '*RateTests'
            for run in $lane_runs; do
                read -r backend lanes <<<"${run/:/ }"
                export TIERSPACES_IO_BACKEND=$backend TIERSPACES_LANES=$lanes
                if [ "$full" = 0 ] && [ "$backend" = threads ]; then
                    run_xunit "$name.$backend.$lanes" "$assembly" "${real_lanes[@]}"
                    continue
                fi
                run_xunit "$name.$backend.$lanes.management" "$assembly" -namespace '*.Management*' -class- '*RateTests'
                run_xunit "$name.$backend.$lanes.storage" "$assembly" -namespace '*.Tests.Resiliency*' -namespace '*.Tests.Pools*' -namespace '*.Tests.VirtualDisks*'
                run_xunit "$name.$backend.$lanes" "$assembly" -namespace- '*.Management*' -namespace- '*.Tests.Resiliency*' -namespace- '*.Tests.Pools*' -namespace- '*.Tests.VirtualDisks*'
            done
            unset TIERSPACES_IO_BACKEND TIERSPACES_LANES
            ;;
        *Interop*)
            for run in $lane_runs; do
                read -r backend lanes <<<"${run/:/ }"
                TIERSPACES_IO_BACKEND=$backend TIERSPACES_LANES=$lanes run_xunit "$name.$backend.$lanes" "$assembly"
            done
            ;;
        *Host.Tests) TIERSPACES_LANES=2 run_xunit "$name" "$assembly" ;;
        *Acceptance)
            if [ "$full" = 1 ]; then
                run_xunit "$name" "$assembly"
            else
                run_xunit "$name" "$assembly" -class '*.MainJobTests' -class '*.KillCycleTests' -class '*.FuseDeviceTests' -class '*.ParityPulledTests'
            fi
            ;;
        *PowerCuts | *Bench.Tests) [ "$full" = 0 ] || run_xunit "$name" "$assembly" ;;
        *) run_xunit "$name" "$assembly" ;;
    esac
}

# Each seed of the simulator is one test; its last line is "N seeds, N crash states, N violations, trace …". It waits for nothing but the
# processor, so it has what the other suites leave idle from the beginning on, and all of it at the end.
start_simulation() {
    local seeds=160
    [ "$full" = 0 ] || seeds=2000
    [ "$long" = 0 ] || seeds=20000
    simulation_started=$SECONDS
    limit=8h in_suite chrt --idle 0 dotnet exec tests/Simulation/bin/Release/net8.0/TierSpaces.Simulation.dll -Seeds "$seeds" >"$reports/simulation.txt" &
    simulation=$!
}

end_simulation() {
    local report=$reports/simulation.txt code=0 ran bad
    echo "== simulation"
    wait "$simulation" || code=$?
    cat "$report"
    read -r ran _ _ _ _ bad _ <<<"$(tail -n 1 "$report")"
    if ! [[ $ran =~ ^[0-9]+$ && $bad =~ ^[0-9]+$ ]]; then
        echo "the simulation ended with exit code $code and without a count" >&2
        add simulation 0 1 0 "$simulation_started"
        return
    fi
    [ "$code" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    add simulation $((ran - bad)) "$bad" 0 "$simulation_started"
}

# Each target of the fuzzer is one test; its last line is "N executions, N crashes, N hangs, N over the allocation bound".
run_fuzz() {
    local executions=100000 report=$reports/fuzz.txt code=0 ok bad
    [ "$full" = 0 ] || executions=300000
    [ "$long" = 0 ] || executions=10000000
    echo "== fuzz"
    in_suite dotnet exec tests/Fuzz/bin/Release/net8.0/TierSpaces.Fuzz.dll -Executions "$executions" | tee "$report" || code=$?
    ok=$(grep -cE '^[a-z-]+: [0-9]+ executions, 0 crashes, 0 over the bound' "$report")
    bad=$(($(grep -cE '^[a-z-]+: [0-9]+ executions,' "$report") - ok))
    [ "$code" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$ok" -gt 0 ] || [ "$bad" -gt 0 ] || bad=1
    add fuzz "$ok" "$bad" 0
}

pester_version='(Get-Module -ListAvailable Pester | Sort-Object Version -Descending | Select-Object -First 1).Version -ge [version]"5.7"'

run_acceptance() {
    local files=(tests/Acceptance/{FirstSession,MainJob,CommandLines,ParameterTable}.Tests.ps1) count report=$reports/acceptance.txt code=0 ok bad none
    [ "$full" = 0 ] || files=(tests/Acceptance/*.Tests.ps1)
    echo "== acceptance"
    count=$(cat "${files[@]}" | grep -cE '^[[:space:]]*It[[:space:]]')
    if ! command -v pwsh >/dev/null || [ "$(pwsh -NoProfile -NonInteractive -Command "$pester_version" </dev/null)" != True ]; then
        echo "acceptance: skipped: needs pwsh 7.4 or later (https://aka.ms/install-powershell) with Pester 5.7 or later (Install-PSResource Pester)"
        add acceptance 0 0 "$count"
        return
    fi
    in_suite pwsh -NoProfile -NonInteractive -File eng/acceptance.ps1 -CountsTo "$report" -Path "$(IFS=,; echo "${files[*]}")" -Package "$(ls bin/package/*.nupkg)" || code=$?
    if ! read -r ok bad none 2>/dev/null <"$report"; then
        echo "acceptance ended with exit code $code and without a report" >&2
        add acceptance 0 1 0
        return
    fi
    [ "$code" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    add acceptance "$ok" "$bad" "$none"
}

eng/packages.sh test || true
[ "$long" = 0 ] || eng/packages.sh power-cut || true
start_simulation
suite_started=$SECONDS
for project in $(grep -l '<IsTestProject>true' tests/*/*.csproj); do
    run_project "$project"
done
run_fuzz
run_acceptance
end_simulation

# Failures are repeated at the end, where the last lines of a long run are read.
for report in "$reports"/*.xml; do
    # Each element that is looked at begins a line: whole collections are on one line else.
    sed -E 's/<(test|error|message|output|failure|stack-trace) ?/\n&/g; s/<\/(test|message|error)>/&\n/g' "$report" | awk -v suite="$(basename "$report" .xml)" '
        /^<test / { failed = /result="Fail"/ }
        /^<error / { failed = 1 }
        /^<(test|error) / && failed && match($0, / (name|type)="[^"]*"/) { print "FAILED " suite ":" substr($0, RSTART, RLENGTH) }
        /^<message>/ && failed { left = 12 }
        failed && left > 0 { print "    " substr($0, 1, 400); left-- }
        /<\/message>/ { left = 0 }'
done
cat "$reports"/*.failed 2>/dev/null
grep -hE '^seed [0-9]+: |VIOLATION' "$reports/simulation.txt" 2>/dev/null | head -n 20

echo
printf '%s\n' "${durations[@]}" | sort -rn | awk '{ printf "%6d s  %s\n", $1, $2 }'
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
