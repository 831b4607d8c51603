#!/bin/bash
# What an open costs under depth strict, where every one is asked about: the same open in two containers by plain runc
# (the A/A pair) and in one by us, in turns whose order is shuffled; and how much of it is the kernel's way of asking
# (bare.c). The policy is agent-default.
#
#   open.sh [--rounds N] [--calls N] [--assert]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/container.bash
source "$here/../bats/lib/container.bash"

trap 'remove_all_containers; end_world' EXIT
make_world
configure default_policy agent-default
configure network false
for kind in plain again strict; do
    make_container "$kind" sleep infinity
    cp "$ST_BUILDDIR/tests/bench/clock" "$(bundle_of "$kind")/rootfs/bin/clock"
    by=plain_runc
    [ "$kind" != strict ] || by=runtime
    edit_config "$(bundle_of "$kind")" --arg depth "$kind" 'if $depth == "strict" then .annotations["io.sandtrace.depth"] = $depth else . end'
    start_detached "$kind" "$by"
done
python3 "$here/syscall_rounds.py" "$@" --uses open --root "$WORLD/root" --runtime "$(command -v runc)" --plain "$(id_of plain)" \
    --again "$(id_of again)" --sandtrace "$(id_of strict)" --bare "$ST_BUILDDIR/tests/bench/bare" --pid "$(init_pid_of plain)"
for kind in plain again strict; do plain_runc delete --force "$(id_of "$kind")"; done
# Every open of ours was told of, or its time means nothing.
retry_until is_sealed "$(id_of strict)"
jq -rs 'map(select(.event_type == "filesystem" and .payload.path == "/etc/passwd") | .payload.count // 1) | "told of: \(add) opens"' \
    "$(trace_of "$(id_of strict)")"
