#!/bin/bash
# What the watch costs a network: the same loads in two containers by plain runc (the A/A pair), in a third one by plain
# runc whose flows are tracked by the kernel (conntrack with its counters, and nothing else: the bare mechanism), and in
# one by us, in turns whose order is shuffled.
#
#   net.sh [--rounds N] [--only bulk|address|name] [--assert]
#
# bulk: one download of 64 MiB. address: connections one after the other, allowed by their address. name: requests,
# each on a connection of its own, whose name is checked. --assert: fails over the limits. A connection that is not on the
# trace fails always.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/net.bash
source "$here/../bats/lib/net.bash"

# track PID: in its network, as our rules need it.
track() {
    nsenter --net="/proc/$1/ns/net" nft -f - <<'END'
table inet tracked {
    chain out { type filter hook output priority 0; ct mark 1 accept; }
}
END
    nsenter --net="/proc/$1/ns/net" sysctl -q net.netfilter.nf_conntrack_acct=1 net.netfilter.nf_conntrack_timestamp=1
}

trap 'remove_all_containers; end_net; end_world' EXIT
make_world
make_net
stop_daemon tcpdump # it would cost the most of all
# shellcheck disable=SC2154 # addresses and ports of lib/net.bash
use_policy "$(to address "{ cidr: $other4, ports: [80, $sink] }")" "$(to name '{ host: allowed.example.test, ports: [80] }')"
kinds=(plain again tracked sandtrace)
n=2
for kind in "${kinds[@]}"; do
    make_box "$kind" sleep infinity
    cp "$here/net_load.py" "$(bundle_of "$kind")/rootfs/net_load.py"
    by=plain_runc
    [ "$kind" != sandtrace ] || by=runtime
    start_box_of "$kind" "$n" "$by"
    [ "$kind" != tracked ] || track "$(cat "$NOTES/$kind.pid")"
    n=$((n + 1))
done
rc=0
python3 "$here/net_rounds.py" "$@" --root "$WORLD/root" --runtime "$(command -v runc)" --plain "$(id_of plain)" --again "$(id_of again)" \
    --tracked "$(id_of tracked)" --sandtrace "$(id_of sandtrace)" --address "$other4" --port "$sink" --name allowed.example.test >"$NOTES/rounds" || rc=$?
head -n -1 "$NOTES/rounds"
[ "$rc" -le 1 ] || exit "$rc"
for kind in "${kinds[@]}"; do plain_runc delete --force "$(id_of "$kind")"; done
made=$(tail -n 1 "$NOTES/rounds")
retry_until is_sealed "$(id_of sandtrace)"
# shellcheck disable=SC2154 # of lib/net.bash
closed=$(trace_count "$(id_of sandtrace)" "$is_closed")
[ "$closed" -eq "$made" ] || fail "$closed of $made connections are on the trace" || exit 1
exit "$rc"
