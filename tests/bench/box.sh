#!/bin/bash
# One container of a measurement, in the world of bench.sh.
#
#   box.sh start NAME N plain|DEPTH      at 10.77.0.N; says its pid
#   box.sh stop NAME                     and waits for the end of its trace
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/net.bash
source "$here/../bats/lib/net.bash"

# As engines have it: a root that is an overlay of this container alone. So is /usr, over the machine's own: then nothing
# that is put on the file systems of one container (a mark on a superblock) touches the host or another container.
mount_root() {
    mkdir -p "$1"/{rootfs,upper,work,usr}
    mount -t overlay bench-root -o "lowerdir=$WORLD/base,upperdir=$1/upper,workdir=$1/work" "$1/rootfs"
    mount -t overlay bench-usr -o "ro,lowerdir=$WORLD/empty:/usr" "$1/usr"
}

write_bundle() {
    local name=$1 dir
    dir=$(bundle_of "$name")
    (cd "$dir" && runc spec)
    edit_config "$dir" --arg cgroup "/$WORLD_NAME/$name" --arg usr "$dir/usr" --arg depth "$2" \
        '.process.terminal = false | .root.readonly = false | .linux.cgroupsPath = $cgroup |
         .process.args = ["/usr/bin/sleep", "infinity"] | .process.cwd = "/workspace" |
         .process.env = ["PATH=/usr/bin:/usr/sbin:/opt", "HOME=/tmp", "LC_ALL=C"] |
         .process.rlimits = [{type: "RLIMIT_NOFILE", hard: 16384, soft: 16384}] |
         .mounts += [{type: "bind", source: $usr, destination: "/usr", options: ["rbind", "ro"]}] |
         if $depth == "plain" then . else .annotations["io.sandtrace.depth"] = $depth end'
}

case $1 in
start)
    mount_root "$(bundle_of "$2")"
    write_bundle "$2" "$4"
    by=runtime
    [ "$4" != plain ] || by=plain_runc
    start_box_of "$2" "$3" "$by"
    cat "$NOTES/$2.pid"
    ;;
stop)
    plain_runc delete --force "$(id_of "$2")"
    [ ! -e "$(trace_of "$(id_of "$2")")" ] || retry_until is_sealed "$(id_of "$2")"
    dir=$(bundle_of "$2")
    umount "$dir/rootfs" "$dir/usr"
    rm -rf --one-file-system "$dir"
    ;;
*) fail "usage: box.sh start NAME N plain|DEPTH, box.sh stop NAME" || exit 2 ;;
esac
