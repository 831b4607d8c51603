#!/bin/bash
# What a notified syscall that is let by costs: the same call in two containers by plain runc (the A/A pair) and in
# one by us, in turns whose order is shuffled.
#
#   syscall.sh [--rounds N] [--calls N] [--assert]
#
# chroot: a text of the caller's memory is read. kcmp: all is in registers. How much of it is the kernel's way of asking
# is measured beside it (bare.c). --assert: fails over the limit.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/container.bash
source "$here/../bats/lib/container.bash"
# shellcheck source=../bats/lib/attack.bash
source "$here/../bats/lib/attack.bash"

trap 'remove_all_containers; end_world' EXIT
make_world
write_scope_policy bench
configure default_policy bench
configure network false
for kind in plain again sandtrace; do
    make_container "$kind" sleep infinity
    cp "$ST_BUILDDIR/tests/attack/ask" "$(rootfs_of "$kind")/bin/ask"
    by=plain_runc
    [ "$kind" != sandtrace ] || by=runtime
    start_detached "$kind" "$by"
done
python3 "$here/syscall_rounds.py" "$@" --uses chroot kcmp --root "$WORLD/root" --runtime "$(command -v runc)" --plain "$(id_of plain)" \
    --again "$(id_of again)" --sandtrace "$(id_of sandtrace)" --bare "$ST_BUILDDIR/tests/bench/bare" --pid "$(init_pid_of plain)"
for kind in plain again sandtrace; do plain_runc delete --force "$(id_of "$kind")"; done
# Every call of ours was told of, or its time means nothing.
retry_until is_sealed "$(id_of sandtrace)"
stop_value "$(id_of sandtrace)" '.payload.syscalls | "told of: \(.chroot.permitted) chroot, \(.kcmp.permitted) kcmp"'
