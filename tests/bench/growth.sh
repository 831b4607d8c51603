#!/bin/bash
# How a start and an open that is asked about grow with the rules of a policy, and a start with the files of an image. The policy
# is agent-default, with rules of its own in front that refuse to read one path each.
#
#   growth.sh [--runs N] [--rules "N…"] [--files "N…"]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/container.bash
source "$here/../bats/lib/container.bash"

runs=7
rules='1 10 100 1000 10000 100000'
files='10 1000 100000'
while [ $# -gt 0 ]; do
    case $1 in
    --runs) runs=$2 ;;
    --rules) rules=$2 ;;
    --files) files=$2 ;;
    *) fail 'usage: growth.sh [--runs N] [--rules "N…"] [--files "N…"]' || exit 2 ;;
    esac
    shift 2
done

trap 'remove_all_containers; end_world' EXIT
make_world
configure network false
clock=$ST_BUILDDIR/tests/bench/clock

write_policy() {
    printf 'schema_version: "2.0"\nname: grown\nextends: agent-default\nrules:\n'
    seq "$1" | sed 's|.*|  - { id: r&, type: filesystem, action: deny, severity: high, access: [read], paths: [/opt/secret/&] }|'
}

# median COMMAND…: of the nanoseconds that it prints.
median() {
    local n
    for ((n = 0; n < runs; n++)); do "$@"; done | sort -n | sed -n "$((runs / 2 + 1))p"
}

in_ms() { awk -v ns="$1" 'BEGIN { printf "%.1f", ns / 1e6 }'; }

plainly() { "$clock" run "$(command -v runc)" --root "$WORLD/root" run --bundle "$(bundle_of plain)" "$(id_of plain)" </dev/null; }
watched() { "$clock" run "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null; }
asked() { runtime exec "$(id_of asked)" clock open /etc/passwd 5000 </dev/null; }

make_container plain true
make_container box true
make_container asked sleep infinity
cp "$clock" "$(bundle_of asked)/rootfs/bin/clock"
edit_config "$(bundle_of asked)" '.annotations["io.sandtrace.depth"] = "strict"'
echo "plain runc: $(in_ms "$(median plainly)") ms a start"

configure default_policy grown
printf '\n%10s %12s %22s\n' rules 'start, ms' 'open that is asked, µs'
for n in $rules; do
    write_policy "$n" >"$WORLD/policies/grown.yaml"
    start_detached asked
    printf '%10s %12s %22s\n' "$n" "$(in_ms "$(median watched)")" "$(awk -v ns="$(median asked)" 'BEGIN { printf "%.1f", ns / 1e3 }')"
    runtime delete --force "$(id_of asked)"
done

configure default_policy agent-default
printf '\n%10s %12s\n' files 'start, ms'
there=0
for n in $files; do
    for ((; there < n; there += 1000)); do
        dir=$(bundle_of box)/rootfs/opt/many/$((there / 1000))
        mkdir -p "$dir" && (cd "$dir" && seq "$((n - there < 1000 ? n - there : 1000))" | xargs touch)
    done
    printf '%10s %12s\n' "$n" "$(in_ms "$(median watched)")"
done
