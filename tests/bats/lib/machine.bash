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

end_machine() { [ ! -e "$NOTES/daemons/machine" ] || stop_daemon machine; }
