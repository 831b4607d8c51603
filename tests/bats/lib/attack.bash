# A program inside that tries (tests/attack), a place outside of the scope that must stay as it is.

# write_scope_policy NAME [LINE…]: /workspace and /tmp are the scope; lines go behind the rules.
write_scope_policy() {
    local name=$1
    shift
    cat >"$WORLD/policies/$name.yaml" <<END
schema_version: "2.0"
name: $name
mode: enforce
scope: [/workspace, /tmp]
defaults:
  filesystem: { read: allow, write: deny, exec: allow }
  syscall: allow
rules:
  - id: devices
    type: filesystem
    paths: [/dev/null]
END
    printf '%s\n' "$@" >>"$WORLD/policies/$name.yaml"
}

# Violations are refused, or wait.
# shellcheck disable=SC2034 # used by those who load this
refusing='on_violation: { low: deny, medium: deny, high: deny, critical: deny }'
# shellcheck disable=SC2034 # used by those who load this
holding='on_violation: { low: pause, medium: pause, high: pause, critical: pause }
pause: { hold: true, timeout: 0 }'

rootfs_of() { echo "$(bundle_of "$1")/rootfs"; }

# make_target NAME COMMAND…: a container with the program in it, and /outside with things to hit.
make_target() {
    make_container "$@"
    cp "$ST_BUILDDIR/tests/attack/attack" "$(rootfs_of "$1")/bin/attack"
    "$ST_BUILDDIR/tests/attack/attack" try "$(rootfs_of "$1")/outside" chmod >/dev/null
    look_outside "$1" >"$NOTES/$1.before"
}

# Everything that a call could have changed.
look_outside() {
    (cd "$(rootfs_of "$1")/outside" && find . -printf '%p %y %s %m %U:%G %T@ %C@ %i %n %l\n' | sort &&
        getfattr -d -R -h . 2>/dev/null && cat file)
}

nothing_outside_changed() {
    look_outside "$1" | diff "$NOTES/$1.before" - >&2 || fail "something outside of the scope has changed"
}

# run_target NAME COMMAND…: until it ends; what it says.
run_target() {
    make_target "$@"
    runtime run --bundle "$(bundle_of "$1")" "$(id_of "$1")" </dev/null
}

# All syscalls that the C library's headers name.
syscall_names() {
    echo '#include <sys/syscall.h>' | gcc -E -dM - | sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/\1/p'
}

all_calls() { "$ST_BUILDDIR/tests/attack/attack" list; }

# approve_all NAME: whatever waits, until the container has ended.
approve_all() {
    local pause
    while ! is_sealed "$(id_of "$1")" 2>/dev/null; do
        for pause in $(pauses "$1" 2>/dev/null); do
            sandtrace approve "$pause" >/dev/null 2>&1 || true
        done
        sleep 0.05
    done
}

# nothing_is_written_when_both_are_killed: a floor holds without worker and warden, against every call.
# has_open CONTAINER TEXT: its first process has a file open whose name ends so.
has_open() {
    readlink "/proc/$(state_of "$1" pid)/fd/"* | grep -q -- "$2\$"
}

nothing_is_written_when_both_are_killed() {
    configure on_worker_failure pause
    make_target box sh -c 'read line </workspace/go; attack hit /outside'
    mkfifo "$(rootfs_of box)/workspace/go"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/out" 2>&1 3>&- &
    local job=$! go
    exec {go}<>"$(rootfs_of box)/workspace/go"
    # What is opened later than that is refused, and it would never come to the calls.
    retry_until has_open "$(id_of box)" /workspace/go
    kill_together "$(state_of "$(id_of box)" warden)" "$(state_of "$(id_of box)" worker)"
    thaw_cgroups_of_world
    echo go >&"$go"
    exec {go}>&-
    wait "$job" || true
    [ "$(wc -l <"$NOTES/out")" -ge "$(all_calls | wc -l)" ]
    run ! grep ' ok$' "$NOTES/out"
    nothing_outside_changed box
    rm -rf "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/* "$(trace_of "$(id_of box)")"
}
