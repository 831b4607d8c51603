#!/bin/bash
# What shim, hook and monitor add to the start of a container, and what an idle
# monitor costs.
#
#   start.sh [--rounds N] [--runs N] [--policy NAME] [--assert]
#
# Times `runc run true` by plain runc twice (the A/A pair tells how far the
# machine can be trusted) and through sandtrace-runtime, shuffled anew each
# round; then create, start and delete for themselves. Timing fails nothing by itself: --assert holds the figures against the
# project's limits. A container that left no complete trace fails always.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/container.bash
source "$here/../bats/lib/container.bash"

rounds=15
runs=20
policy=audit-only
assert=()
while [ $# -gt 0 ]; do
    case $1 in
    --rounds) rounds=$2 && shift ;;
    --runs) runs=$2 && shift ;;
    --policy) policy=$2 && shift ;;
    --assert) assert=(--assert) ;;
    *) fail "usage: start.sh [--rounds N] [--runs N] [--policy NAME] [--assert]" || exit 2 ;;
    esac
    shift
done

# As engines have it: state and bundles in memory, traces on disk.
[ "$(stat -f -c %T /dev/shm)" != tmpfs ] || export ST_WORLD_DIR=/dev/shm
trap end_world EXIT
make_world
mkdir "$NOTES/log" && rmdir "$WORLD/log" && ln -s "$NOTES/log" "$WORLD/log"
# Pages that are not written back yet would count as the monitor's own.
sync "$WORLD"/bin/*
make_container true true
make_container idle sleep 1000
configure default_policy "$policy"
cp "$(bundle_of true)/config.json" "$WORLD/pristine.json"

"$here/measure.py" start --rounds "$rounds" --runs "$runs" "${assert[@]}" \
    --bundle "$(bundle_of true)" --pristine "$WORLD/pristine.json" --root "$WORLD/root" --id "$WORLD_NAME" \
    --plain "$(command -v runc)" --nothing "$ST_BUILDDIR/tests/bench/nothing" --sandtrace "$RUNTIME"
# Every run of ours is in a trace, or its time means nothing.
watched=$(count_stops)
made=$((rounds * runs + runs))
[ "$watched" -eq "$made" ] || fail "$watched of $made containers were watched" || exit 1

configure default_policy agent-default # with the dead man's switch, which is a monitor's only clock
start_detached idle
"$here/measure.py" idle "${assert[@]}" --state "$WORLD/run/$(id_of idle)/state.json"
runtime delete --force "$(id_of idle)"
