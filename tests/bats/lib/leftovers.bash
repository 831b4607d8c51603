# What is on the machine because of this world: processes, cgroups, mounts,
# sockets, network namespaces, files of the state directory. Only what bears the
# world's path, its name or the ID of one of its containers counts, so that
# others may use the machine at the same time (engines name network namespaces
# at random: of these all count that are named as engines do).

# Containers of this world: each has left a trace that is named after it.
ids_of_world() {
    local trace
    for trace in "$WORLD"/log/*.jsonl; do
        [ -e "$trace" ] && basename "$trace" .jsonl
    done
    return 0
}

# Those of them that nothing else can bear: with the world's name in it, or long and random.
unmistakable_ids() { ids_of_world | grep -E "$WORLD_NAME|^[0-9a-f]{32,}\$|^run-[0-9a-f]{12}\$" || true; }

# The marks by which things are recognised, one a line, in a file for grep -f
# (on a command line they would make the searcher find itself).
marks_of_world() {
    local marks=$NOTES/marks
    {
        echo "$WORLD/"
        echo "$WORLD_NAME"
        unmistakable_ids
    } >"$marks"
    echo "$marks"
}

# by_link PLACE…: processes of which a link in /proc/PID leads into the world.
by_link() {
    local place paths=()
    for place in "$@"; do paths+=(/proc/[0-9]*/"$place"); done
    find "${paths[@]}" -maxdepth 1 \( -lname "$WORLD" -o -lname "$WORLD/*" \) 2>/dev/null | cut -d/ -f3
}

# by_command_line: processes whose words bear one of the marks.
by_command_line() { grep -lsazF -f "$(marks_of_world)" /proc/[0-9]*/cmdline | cut -d/ -f3; }

# By what they run, where they are, which files they hold, or their command line.
processes_of_world() { { by_link exe cwd root fd; by_command_line; } | sort -un | but_our_own; }

# but_our_own: of the pids on standard input those that run and are not this shell,
# what it descends from, or bats.
but_our_own() {
    local pid own=" $BASHPID "
    for ((pid = $$; pid > 1; pid = $(status_of "$pid" PPid))); do own+="$pid "; done
    while read -r pid; do
        [[ $own == *" $pid "* ]] || ! is_running "$pid" || is_of_bats "$pid" || echo "$pid"
    done
}

# bats and the shells of the test itself mention the world as well.
is_of_bats() {
    local words
    mapfile -d '' words <"/proc/$1/cmdline" && [[ ${words[*]} == *@(bats-exec|/bats )* ]]
} 2>/dev/null

no_process_of_world() { [ -z "$(processes_of_world)" ]; }

# processes_to_end: what teardown may kill, and no more: what runs a program of the
# world, sits in it, names its path (a random one), or is in a cgroup of its name.
processes_to_end() {
    {
        by_link exe cwd root
        grep -lsazF -f <(echo "$WORLD/") /proc/[0-9]*/cmdline | cut -d/ -f3
        find /sys/fs/cgroup -path "*/$WORLD_NAME/*" -name cgroup.procs -exec cat {} + 2>/dev/null
    } | sort -un | but_our_own
}

# All but the world's own and that of podman's conmons: the first container makes them, the end of the
# world removes them.
cgroups_of_world() {
    local marks
    marks=$(marks_of_world)
    find /sys/fs/cgroup -mindepth 2 -type d 2>/dev/null | grep -F -f "$marks" | grep -v "/$WORLD_NAME\(/conmon\)\?\$" || true
}

thaw_cgroups_of_world() {
    local dir
    for dir in $(cgroups_of_world); do
        [ ! -e "$dir/freezer.state" ] || echo THAWED >"$dir/freezer.state" || true
        [ ! -e "$dir/cgroup.freeze" ] || echo 0 >"$dir/cgroup.freeze" || true
    done
}

# The world's own and all in it; false while some process is still on its way out.
can_remove_cgroups_of_world() {
    local dir left=0
    for dir in /sys/fs/cgroup/"$WORLD_NAME" /sys/fs/cgroup/*/"$WORLD_NAME"; do
        [ -d "$dir" ] || continue
        find "$dir" -depth -type d -exec rmdir {} + || left=1
    done
    cgroups_of_world | sort -r | while read -r dir; do rmdir "$dir"; done && [ "$left" -eq 0 ]
}

describe_process() {
    printf 'process %s %s\n' "$1" "$(tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | cut -c1-200)"
}

# One line for each thing, sorted.
things_of_world() {
    local pid marks
    marks=$(marks_of_world)
    {
        for pid in $(processes_of_world); do describe_process "$pid"; done
        cgroups_of_world | sed 's/^/cgroup /'
        # Podman keeps its storage mounted on itself, now and then past its last container.
        awk '{ print "mount " $5 }' /proc/self/mountinfo | grep -F -f "$marks" | grep -v '/podman/overlay$' || true
        awk 'NF > 7 { print "socket " $8 }' /proc/net/unix | grep -F -f "$marks" || true
        find /run/netns -name 'cni-*' -o -name 'netns-*' 2>/dev/null | sed 's/^/netns /'
        # The folders for sockets are made by the first container and stay; what is in them does not.
        find "$WORLD/run" -mindepth 1 ! -path "$WORLD/run/bus.d" ! -path "$WORLD/run/.notify" \
            ! -path "$WORLD/run/.standby" ! -path "$WORLD/run/.runs" ! -path "$WORLD/run/.runs/lock" ! -path "$WORLD/run/.netfilter" -printf 'state %P\n'
    } | sort -u
}

# remember_what_is_there: before the act.
remember_what_is_there() { things_of_world >"$NOTES/before"; }

new_things_of_world() {
    things_of_world >"$NOTES/after"
    comm -13 "$NOTES/before" "$NOTES/after"
}

all_is_as_before() { [ -z "$(new_things_of_world)" ]; }

# nothing_left_behind: after the act. Processes may take a moment to go; none may stay.
nothing_left_behind() {
    RETRY_SECONDS=${RETRY_SECONDS:-30} retry_until all_is_as_before && return
    echo "left behind:" >&2
    new_things_of_world >&2
    return 1
}
