#!/bin/bash
# How soon a container stands still after a violation, and whether it runs on:
# on cgroup v1 and v2, with the operation held and refused.
#
#   freeze.sh [--trials N] [KIND…]      N (1000) for each KIND: v1-hold v1-refuse v2-hold v2-refuse
#
# Fails where the violating thread, or another of its process, got one
# instruction further while the container was paused. Prints how long the
# freeze took: from the kernel's report to the freezer's confirmation.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/container.bash
source "$here/../bats/lib/container.bash"
# shellcheck source=../bats/lib/control.bash
source "$here/../bats/lib/control.bash"

trials=1000
kinds=()
while [ $# -gt 0 ]; do
    case $1 in
    --trials) trials=$2 && shift ;;
    v[12]-hold | v[12]-refuse) kinds+=("$1") ;;
    *) fail "usage: freeze.sh [--trials N] [v1-hold|v1-refuse|v2-hold|v2-refuse]…" || exit 2 ;;
    esac
    shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(v1-hold v1-refuse v2-hold v2-refuse)

trap 'remove_all_containers; end_world' EXIT
make_world
failed=0
for kind in "${kinds[@]}"; do
    hold=true
    [ "${kind#*-}" = hold ] || hold=false
    write_policy "$kind" "pause: { hold: $hold, timeout: 0 }"
    configure default_policy "$kind"
    configure freezer "${kind%-*}"
    make_container "$kind" /bin/marker /workspace/page /etc/shadow
    cp "$ST_BUILDDIR/tests/attack/marker" "$(bundle_of "$kind")/rootfs/bin/marker"
    echo secret >"$(bundle_of "$kind")/rootfs/etc/shadow"
    start_detached "$kind"
    retry_until waits "$kind"
    echo "== $kind"
    python3 "$here/freeze_trials.py" "$WORLD/run/$(id_of "$kind")" "$(work_of "$kind")/page" \
        "$(trace_of "$(id_of "$kind")")" "$trials" || failed=1
    runtime delete --force "$(id_of "$kind")"
done
exit "$failed"
