#!/bin/bash
# What the watch costs a network: the same loads in two containers by plain runc (the A/A pair) and in one by us, in
# turns whose order is shuffled.
#
#   net.sh [--rounds N] [--assert]
#
# bulk: one download of 64 MiB. address: connections one after the other, allowed by their address. name: requests,
# each on a connection of its own, whose name is checked. --assert: fails over the limits.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/net.bash
source "$here/../bats/lib/net.bash"

trap 'remove_all_containers; end_net; end_world' EXIT
make_world
make_net
# shellcheck disable=SC2154 # addresses and ports of lib/net.bash
use_policy "$(to address "{ cidr: $other4, ports: [80, $sink] }")" "$(to name '{ host: allowed.example.test, ports: [80] }')"
n=2
for kind in plain again sandtrace; do
    make_box "$kind" sleep infinity
    cp "$here/net_load.py" "$(bundle_of "$kind")/rootfs/net_load.py"
    by=plain_runc
    [ "$kind" != sandtrace ] || by=runtime
    start_box_of "$kind" "$n" "$by"
    n=$((n + 1))
done
python3 "$here/net_rounds.py" "$@" --root "$WORLD/root" --runtime "$(command -v runc)" --plain "$(id_of plain)" --again "$(id_of again)" \
    --sandtrace "$(id_of sandtrace)" --address "$other4" --port "$sink" --name allowed.example.test
for kind in plain again sandtrace; do plain_runc delete --force "$(id_of "$kind")"; done
