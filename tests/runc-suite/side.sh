#!/bin/bash
# One side of the comparison: the files of the suite, one after the other, with
# a controlling terminal, in cgroups that this side has for itself: both sides
# use the same cgroup names, and so can run at the same time.
#
#   RUNC=RUNTIME TMPDIR=DIR side.sh CGROUP LOCK SUITE OUT FILE…
#
# The cgroup namespace's root is CGROUP, and /sys/fs/cgroup shows only what is
# below it; a cgroup namespace is what a container or a CI runner has as well.
set -euo pipefail

cgroup=$1
lock=$2
suite=$3
out=$4
shift 4

# hierarchies: the mount points, v1 and v2.
hierarchies() { awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) ~ /^cgroup2?$/) print $5 }' /proc/self/mountinfo; }

# Into a cgroup of our own in each hierarchy.
enter() {
    local dir
    for dir in $(hierarchies); do
        mkdir -p "$dir/$cgroup"
        [ ! -e "$dir/cpuset.mems" ] || {
            cat "$dir/cpuset.cpus" >"$dir/$cgroup/cpuset.cpus"
            cat "$dir/cpuset.mems" >"$dir/$cgroup/cpuset.mems"
        }
        echo $$ >"$dir/$cgroup/cgroup.procs"
    done
}

# In the new namespaces: what is below our cgroup takes the place of the whole.
narrow() {
    local dir controller controllers=()
    for dir in $(hierarchies); do
        mount --bind "$dir/$cgroup" "$dir"
    done
    # On cgroup v2 alone, controllers are handed down only from cgroups without processes.
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        mkdir -p /sys/fs/cgroup/suite
        echo $$ >/sys/fs/cgroup/suite/cgroup.procs
        read -ra controllers </sys/fs/cgroup/cgroup.controllers || true
        for controller in "${controllers[@]}"; do
            echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
        done
    fi
}

run_file() { script -qec "bats --tap '$suite/$1' >'$out/$1.tap' 2>&1" /dev/null </dev/null >/dev/null || true; }

# update.bats wants two thirds of the machine's realtime budget (v1): the sides
# take turns, and whoever has the turn has the budget. A cgroup that was just
# removed keeps its share for a moment longer (EINVAL, nearly always at once
# after an rmdir): asked until it is given.
realtime_budget() {
    local file=/sys/fs/cgroup/cpu/cpu.rt_runtime_us deadline=$((SECONDS + 60))
    [ -e "$file" ] || return 0
    until { echo "$1" >"$file"; } 2>/dev/null; do
        [ "$SECONDS" -lt "$deadline" ] || { echo "the realtime budget of $1 us is not given: who has it?" >&2; return 1; }
    done
}

run_files() {
    local file
    for file in "$@"; do
        if [ "$file" = update.bats ]; then
            exec 9>"$lock"
            flock 9
            realtime_budget 900000
            run_file "$file" 9>&-
            realtime_budget 0
            exec 9>&-
        else
            run_file "$file"
        fi
    done
}

if [ -z "${ST_SIDE_INSIDE:-}" ]; then
    enter
    ST_SIDE_INSIDE=1 exec unshare --cgroup --mount --propagation private "$0" "$cgroup" "$lock" "$suite" "$out" "$@"
fi
narrow
run_files "$@"
