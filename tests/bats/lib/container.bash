# Containers straight by the runtime, without an engine: bundles below the
# world, IDs that no other world has.

# shellcheck source=bundle.bash
source "$(dirname "${BASH_SOURCE[0]}")/bundle.bash"

# id_of NAME, bundle_of NAME: where the container of that name is.
id_of() { echo "$WORLD_NAME-$1"; }
bundle_of() { echo "$WORLD/bundles/$1"; }

# runtime ARGUMENT…: what is under test, with the world's own root.
runtime() { "$RUNTIME" --root "$WORLD/root" "$@"; }

# plain_runc ARGUMENT…: the real runtime, on the same containers.
plain_runc() { runc --root "$WORLD/root" "$@"; }

# make_container NAME COMMAND…: its bundle.
make_container() {
    local name=$1
    shift
    make_bundle "$(bundle_of "$name")" "$@"
}

# start_detached NAME [RUNTIME-FUNCTION]: `run --detach` of a bundle that is there.
start_detached() {
    local log=$NOTES/$1.log
    "${2:-runtime}" run --detach --bundle "$(bundle_of "$1")" "$(id_of "$1")" </dev/null >"$log" 2>&1 ||
        { cat "$log" >&2; return 1; }
}

# make_ticking NAME: the bundle of a shell that stays, and shows by a growing file that it runs.
make_ticking() { make_container "$1" sh -c 'while :; do echo tick >>/workspace/ticks; sleep 0.02; done'; }

# start_ticking NAME: returns when it ticks.
start_ticking() {
    make_ticking "$1"
    start_detached "$1"
    retry_until exists "$(ticks_of "$1")"
}

ticks_of() { echo "$(bundle_of "$1")/rootfs/workspace/ticks"; }

count_ticks() { wc -l <"$(ticks_of "$1")"; }

ticks_more_than() { [ "$(count_ticks "$1")" -gt "$2" ]; }

# is_ticking NAME: it runs on from here.
is_ticking() { retry_until ticks_more_than "$1" "$(count_ticks "$1")"; }

init_pid_of() { plain_runc state "$(id_of "$1")" | jq -r .pid; }

runtime_status_is() { [ "$(plain_runc state "$(id_of "$1")" | jq -r .status)" = "$2" ]; }

is_frozen_by_v1() { [ "$(cat "/sys/fs/cgroup/freezer/$WORLD_NAME/$1/freezer.state" 2>/dev/null)" = FROZEN ]; }

# is_frozen NAME: as the kernel says, v1 or v2.
is_frozen() {
    local dir
    is_frozen_by_v1 "$1" && return
    for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        grep -qs '^frozen 1$' "$dir/$WORLD_NAME/$1/cgroup.events" && return
    done
    return 1
}

# is_halted NAME: the freezer has been asked. On v2 a process that waits for the answer to a held operation
# counts as frozen only when it is answered; till then it has no user instruction to run.
is_halted() {
    local dir
    is_frozen "$1" && return
    for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        [ "$(cat "$dir/$WORLD_NAME/$1/cgroup.freeze" 2>/dev/null)" = 1 ] && return
    done
    return 1
}

# remove_all_containers: tests start from none.
remove_all_containers() {
    local id
    # Not by `list`: on v2 it waits for what is held.
    for id in "$WORLD"/root/*/; do
        [ -d "$id" ] || continue
        thaw_cgroups_of_world
        plain_runc delete --force "$(basename "$id")"
    done
    rm -rf "$WORLD/bundles"
}
