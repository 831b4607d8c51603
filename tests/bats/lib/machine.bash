# A machine of one's own to install things on: the host's system, seen through an overlay in a mount namespace. What is
# written there is in memory, and gone with it; /proc, /sys and /dev are the host's, $WORLD is the same directory.
#
#   start_machine             once for a file
#   on_machine COMMAND…       as root, with the environment of a fresh login
#   new_on_machine            every file there that the host has not
#   end_machine               before end_world
#
# Needs world.bash.

start_machine() {
    mkdir -p "$WORLD/machine"
    start_daemon machine unshare --mount --propagation private bash -euc "$(declare -f build_machine); build_machine \"\$@\"" bash "$WORLD"
    daemon_answers machine on_machine test -e /run/machine-is-up
}

# In the namespace, as its first process; stays, because the namespace lives as long as somebody is in it.
build_machine() {
    local shared=$1 top=$1/machine dir
    mount -t tmpfs -o mode=0755 machine "$top"
    mkdir "$top"/{upper,work,root}
    mount -t overlay -o "lowerdir=/,upperdir=$top/upper,workdir=$top/work" machine "$top/root"
    for dir in proc sys dev; do mount --rbind "/$dir" "$top/root/$dir"; done
    mount -t tmpfs -o mode=0755 run "$top/root/run"
    mount -t tmpfs -o mode=1777 tmp "$top/root/tmp"
    mkdir -p "$top/root$shared" "$top/root/run/written"
    mount --bind "$shared" "$top/root$shared"
    mount --bind "$top/upper" "$top/root/run/written"
    cd "$top/root" || exit
    pivot_root . .
    umount -l .
    # Each package with a manual would have all of them indexed anew.
    rm -f /var/lib/man-db/auto-update
    touch /run/machine-is-up
    exec sleep infinity
}

on_machine() {
    nsenter --target "$(daemon_pid machine)" --mount --wdns=/ \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# By what was written to it: a directory that was only changed is there on the host as well.
new_on_machine() {
    local path
    on_machine find /run/written -mindepth 1 ! -type c -printf '/%P\n' | sort | while read -r path; do
        [ -e "$path" ] || [ -L "$path" ] || echo "$path"
    done
}

# With whoever is still there: the namespace is ours, and so are they.
end_machine() {
    local space pid
    [ -e "$NOTES/daemons/machine" ] || return 0
    space=$(readlink "/proc/$(daemon_pid machine)/ns/mnt") || true
    # One that never came to be is not ours: its namespace would be the host's.
    [ -n "$space" ] && [ "$space" != "$(readlink /proc/self/ns/mnt)" ] || return 0
    for pid in $(find /proc/[0-9]*/ns/mnt -printf '%l %p\n' 2>/dev/null | awk -v space="$space" '$1 == space { split($2, part, "/"); print part[3] }'); do
        kill -KILL "$pid" 2>/dev/null || true
    done
    stop_daemon machine
}
