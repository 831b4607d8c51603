#!/bin/bash
# What many containers at once cost that do nothing: the memory of their monitors, and how often these wake up.
#
#   many.sh [--containers N] [--seconds N]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/container.bash
source "$here/../bats/lib/container.bash"

containers=200
seconds=10
while [ $# -gt 0 ]; do
    case $1 in
    --containers) containers=$2 ;;
    --seconds) seconds=$2 ;;
    *) fail 'usage: many.sh [--containers N] [--seconds N]' || exit 2 ;;
    esac
    shift 2
done
groups=$(cat /proc/sys/fs/fanotify/max_user_groups)
[ "$groups" -gt $((2 * containers)) ] ||
    fail "$containers containers need $((2 * containers)) groups of fanotify, and root may have $groups: sysctl fs.fanotify.max_user_groups=1024" || exit 1

trap 'remove_all_containers; end_world' EXIT
make_world
configure default_policy agent-default
sync "$WORLD"/bin/* # pages that are not written back yet would count as the monitor's own
make_container first sleep infinity

# bundle_like_first NAME: a bundle that shares the root file system of the first.
bundle_like_first() {
    mkdir -p "$(bundle_of "$1")"
    jq --arg root "$(bundle_of first)/rootfs" --arg cgroup "/$WORLD_NAME/$1" \
        '.root = {path: $root, readonly: true} | .linux.cgroupsPath = $cgroup' \
        <"$(bundle_of first)/config.json" >"$(bundle_of "$1")/config.json"
}

monitors() { jq -r '.warden, .worker' "$WORLD"/run/*/state.json; }

# Kibibytes in all; what programs share counts once.
pss() { monitors | sed 's|.*|/proc/&/smaps_rollup|' | xargs cat | awk '/^Pss:/ { sum += $2 } END { print sum }'; }

switches() { monitors | sed 's|.*|/proc/&/status|' | xargs cat | awk '/^voluntary_ctxt_switches:/ { sum += $2 } END { print sum }'; }

for ((n = 1; n <= containers; n++)); do
    bundle_like_first "box$n"
    start_detached "box$n"
done
there=$(monitors | wc -l)
[ "$there" -eq $((2 * containers)) ] || fail "$there processes watch $containers containers" || exit 1
kib=$(pss)
before=$(switches)
sleep "$seconds"
after=$(switches)
awk -v n="$containers" -v kib="$kib" -v woken="$((after - before))" -v s="$seconds" 'BEGIN {
    printf "%d containers: their monitors have %.1f MB in all, %.2f MB each (PSS), and wake up %.2f times a second each\n", n, kib / 1024, kib / 1024 / n, woken / n / s }'
