#!/bin/bash
# What watching costs: the same work in containers by plain runc, under each depth, and under what else is installed.
# The method is in docs/bench/README.md; arguments are those of costs/__main__.py.
#
# This file makes the place: a world, what all containers have in common, and a network with a server in it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"
# shellcheck source=../bats/lib/net.bash
source "$here/../bats/lib/net.bash"
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

# What needs no containers needs no world either.
case " $* " in *" --report "* | *" --help "* | *" -h "*) exec /usr/bin/python3 -m costs "$@" ;; esac

port=7100

clean_up() {
    local root
    for root in "$WORLD"/root/*/; do
        [ ! -d "$root" ] || plain_runc delete --force "$(basename "$root")" || true
    done
    end_net
    end_world
}

# has_room DIR: a tmpfs with 3 GB to spare.
has_room() { [ "$(stat -f -c %T "$1")" = tmpfs ] && [ "$(df --output=avail "$1" | tail -n 1)" -gt 3000000 ]; }

# Whatever it is that the work needs, each container sees it through overlays of its own.
make_base() {
    mkdir -p "$WORLD"/base/{dev,etc,opt,proc,root,sys,tmp,usr,var/tmp,workspace} "$WORLD/empty"
    chmod 1777 "$WORLD"/base/{tmp,var/tmp}
    local dir
    for dir in bin lib lib64 sbin; do [ ! -e "/usr/$dir" ] || ln -s "usr/$dir" "$WORLD/base/$dir"; done
    cp /etc/ld.so.cache "$WORLD/base/etc/"
    cp "$ST_BUILDDIR/tests/bench/clock" "$WORLD/base/opt/clock"
    echo 'root:x:0:0:root:/tmp:/bin/sh' >"$WORLD/base/etc/passwd"
    echo 'root:x:0:' >"$WORLD/base/etc/group"
    echo 'hosts: files' >"$WORLD/base/etc/nsswitch.conf"
}

# agent-default, with a place to go to; what is refused is refused and no more, and fails the run.
write_policy() {
    cat >"$WORLD/policies/bench.yaml" <<END
schema_version: "2.0"
name: bench
extends: agent-default
rules:
  - $(to server "{ cidr: $allowed4, ports: [$port] }")
on_violation: { low: deny, medium: deny, high: deny, critical: deny }
END
    sandtrace policy check "$WORLD/policies/bench.yaml" >"$NOTES/check" || { cat "$NOTES/check" >&2; return 1; }
    configure default_policy bench
}

make_bench_net() {
    require ip=iproute2 nsenter=util-linux sysctl=procps
    touch "$WORLD/netns"
    unshare --net="$WORLD/netns" true
    make_addresses
    # shellcheck disable=SC2154 # of lib/net.bash
    start_in_net sink "$ST_BUILDDIR/tests/bench/clock" serve "$allowed4" "$port"
    daemon_answers sink contains "$NOTES/sink.log" ready
}

# In memory, where nothing waits for a disk: it is more even, and no cost of watching hides behind a wait. Traces are on disk.
[ -n "${ST_WORLD_DIR:-}" ] || ! has_room /dev/shm || export ST_WORLD_DIR=/dev/shm
# take_precedence: what else the machine does gets a tenth, where there is a v1 hierarchy to say so; watchers run in no group.
take_precedence() {
    local group=/sys/fs/cgroup/cpu/$WORLD_NAME
    [ ! -e /sys/fs/cgroup/cpu/cpu.shares ] || { mkdir -p "$group" && echo 10240 >"$group/cpu.shares"; }
}

trap clean_up EXIT
make_world
mkdir "$NOTES/log" && rmdir "$WORLD/log" && ln -s "$NOTES/log" "$WORLD/log"
require gcc=gcc git=git node=nodejs tar=tar find=findutils grep=grep
take_precedence
make_base
make_bench_net
write_policy
/usr/bin/python3 -m costs "$@" --box "$here/box.sh" --server "$allowed4" --port "$port" --version "$(sandtrace version | head -n 1)"
