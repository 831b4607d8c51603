#!/bin/bash
# What the depths of watching cost: the same work in two containers by plain runc (the A/A pair) and in one under each
# depth, in turns whose order is shuffled. The policy is agent-default.
#
#   depth.sh [--rounds N]
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

# fill DIR: 2,000 files of 1 KiB in 100 directories.
fill() {
    local n
    for n in {1..100}; do
        mkdir -p "$1/$n"
        for _ in {1..20}; do head -c 768 /dev/urandom | base64 -w 76 >"$1/$n/$RANDOM$RANDOM"; done
    done
}

mkdir "$WORLD/files"
fill "$WORLD/files"
for kind in plain again strict record guard; do
    make_container "$kind" sleep infinity
    root=$(bundle_of "$kind")/rootfs
    cp "$ST_BUILDDIR/tests/bench/clock" "$root/bin/clock"
    mkdir -p "$root/opt" "$root/workspace/out"
    cp -r "$WORLD/files" "$root/opt/files"
    cp -r "$WORLD/files" "$root/workspace/files"
    tar -C "$WORLD" -cf "$root/opt/files.tar" files
    by=plain_runc
    [ "$kind" = plain ] || [ "$kind" = again ] || by=runtime
    edit_config "$(bundle_of "$kind")" --arg depth "$kind" 'if $depth == "plain" or $depth == "again" then . else .annotations["io.sandtrace.depth"] = $depth end'
    start_detached "$kind" "$by"
done
python3 "$here/depth_rounds.py" "$@" --root "$WORLD/root" --runtime "$(command -v runc)" \
    --ids "$(id_of plain)" "$(id_of again)" "$(id_of strict)" "$(id_of record)" "$(id_of guard)"
for kind in plain again strict record guard; do plain_runc delete --force "$(id_of "$kind")"; done
# A fast one that saw less than it should has failed.
for kind in strict record guard; do
    retry_until is_sealed "$(id_of "$kind")"
    jq -rs --arg kind "$kind" '"\($kind): \(first | .payload.sensors[] | select(.name == "files") | .detail | sub(".*; depth "; "depth ")), " +
        "\(map(select(.event_type == "filesystem") | .payload.count // 1) | add) uses of files recorded"' "$(trace_of "$(id_of "$kind")")"
done
