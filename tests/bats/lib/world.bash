# A private world for one bats file: programs, configuration, key, policies,
# state and traces under one temporary directory, so that files can run side by
# side with each other and with whatever else the machine does.
#
#   setup_file()    { make_world; }
#   teardown_file() { end_world; }        # also runs after failures
#
# Owns $WORLD and everything that is started with `start_daemon`. Ends processes
# by pid only.

load_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Without `..` in it, as a configuration wants its paths.
ST_SRCDIR=$(cd "${ST_SRCDIR:-$load_dir/../../..}" && pwd)
: "${ST_BUILDDIR:=$ST_SRCDIR/build}"
# make's own have `..` in them, which our configuration refuses.
ST_SRCDIR=$(cd "$ST_SRCDIR" && pwd)
ST_BUILDDIR=$(cd "$ST_BUILDDIR" && pwd)
export ST_SRCDIR ST_BUILDDIR

# shellcheck source=wait.bash
source "$load_dir/wait.bash"

# fail MESSAGE…: say why on standard error (bats shows it) and return 1.
fail() {
    echo "$*" >&2
    return 1
}

# require COMMAND=PACKAGE…: fail, naming what to install, unless every command is there.
require() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} -eq 0 ] || fail "missing prerequisites; install them with: apt-get install ${missing[*]}"
}

require_root() {
    [ "$(id -u)" -eq 0 ] || fail "this suite starts containers and engines: run it as root"
}

# The programs are copied: their path then tells whose they are (lib/leftovers.bash).
copy_programs() {
    local program
    mkdir -p "$WORLD/bin"
    for program in sandtrace sandtrace-runtime sandtrace-hook sandtrace-knock sandtrace-init sandtrace-monitor sandtrace-snapshot; do
        [ -x "$ST_BUILDDIR/$program" ] || { fail "$ST_BUILDDIR/$program is not built; run make"; return 1; }
        cp "$ST_BUILDDIR/$program" "$WORLD/bin/$program"
    done
}

# configure KEY VALUE: set one key of sandtrace.yaml, for the containers to come.
configure() {
    sed -i "/^$1:/d" "$SANDTRACE_CONFIG"
    echo "$1: $2" >>"$SANDTRACE_CONFIG"
}

# ST_DEPTH=strict: the whole suite under strict; record: bundles that make_bundle makes under record, the others by their policies,
# of which most say guard.
asked_about_all() { [ "${ST_DEPTH:-}" = strict ]; }
usual_depth() { if asked_about_all; then echo strict; else echo policy; fi; }

write_configuration() {
    export SANDTRACE_CONFIG=$WORLD/sandtrace.yaml
    mkdir -m 0755 "$WORLD/log" "$WORLD/policies"
    mkdir -m 0700 "$WORLD/run" "$WORLD/keys"
    cat >"$SANDTRACE_CONFIG" <<END
runtime: $(command -v runc)
hook: $WORLD/bin/sandtrace-hook
monitor: $WORLD/bin/sandtrace-monitor
state_dir: $WORLD/run
log_dir: $WORLD/log
key_dir: $WORLD/keys
quarantine_dir: $WORLD/quarantine
policy_dirs: [$WORLD/policies, $ST_SRCDIR/policies]
default_policy: audit-only
depth: $(usual_depth)
END
}

make_world() {
    require_root
    require runc=runc jq=jq busybox=busybox-static
    # Short, because sockets lie below it; x for all, because user namespaces look into it.
    WORLD=$(mktemp -d "${ST_WORLD_DIR:-/tmp}/st.XXXXXX")
    chmod 0755 "$WORLD"
    WORLD_NAME=$(basename "$WORLD" | tr . -)
    # What the suite writes for itself lies beside: whoever holds a file of $WORLD belongs to it.
    NOTES=$(mktemp -d "/tmp/$(basename "$WORLD")-notes.XXXXXX")
    export WORLD WORLD_NAME NOTES
    mkdir "$NOTES/daemons"
    write_configuration
    # Another runtime can be put in place of ours, to see whether a failure is ours.
    export RUNTIME=${ST_RUNTIME:-$WORLD/bin/sandtrace-runtime}
    [ -z "${ST_RUNTIME:-}" ] || return 0
    copy_programs
    export PATH=$WORLD/bin:$PATH
    make_key
}

make_key() {
    sandtrace keygen >"$NOTES/keygen.log" 2>&1 || { cat "$NOTES/keygen.log" >&2; fail "sandtrace keygen made no key"; }
}

# start_daemon NAME COMMAND…: in the background, in its own session, its output in $NOTES/NAME.log.
start_daemon() {
    local name=$1
    shift
    setsid "$@" >>"$NOTES/$name.log" 2>&1 3>&- </dev/null &
    echo $! >"$NOTES/daemons/$name"
    disown # its end is no news to the shell
}

# daemon_answers NAME CONDITION…: wait until the condition holds; show the log where the daemon ends first.
daemon_answers() {
    local name=$1
    shift
    retry_until has_ended_or "$(daemon_pid "$name")" "$@"
    "$@" >/dev/null && return
    tail -n 20 "$NOTES/$name.log" >&2
    fail "$name did not start"
}

has_ended_or() { has_ended "$1" || "${@:2}"; }

daemon_pid() { cat "$NOTES/daemons/$1"; }

is_running() { kill -0 "$1" 2>/dev/null && [ "$(process_state "$1")" != Z ]; }

# status_of PID WORD: the first of what proc(5) says there; by no program of its own, because it is asked for very often.
status_of() { [[ $(<"/proc/$1/status") =~ $2:[[:space:]]*([^[:space:]]+) ]] && echo "${BASH_REMATCH[1]}"; } 2>/dev/null

# One letter; X for a process that is gone.
process_state() { status_of "$1" State || echo X; }

# end_process PID: TERM, then KILL where that was not enough; returns when it is gone.
end_process() {
    is_running "$1" || return 0
    kill -TERM "$1" 2>/dev/null || true
    RETRY_SECONDS=20 retry_until has_ended "$1" && return 0
    kill -KILL "$1" 2>/dev/null || true
    retry_until has_ended "$1"
}

has_ended() { ! is_running "$1"; }

stop_daemon() {
    end_process "$(daemon_pid "$1")"
    rm -f "$NOTES/daemons/$1"
}

# Whatever still runs from, in or on this world, for teardown only: a test that
# needs this has failed already by nothing_left_behind.
end_stragglers() {
    local pid
    for pid in $(processes_to_end); do
        kill -CONT "$pid" 2>/dev/null || true
        kill -KILL "$pid" 2>/dev/null || true
    done
}

unmount_below() {
    local point
    awk -v d="$1/" 'index($5 "/", d) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
        while read -r point; do umount -l "$point" || true; done
}

# Never fails: teardown must come to its end whatever the tests left.
end_world() {
    [ -n "${WORLD:-}" ] || return 0
    local name
    for name in "$NOTES"/daemons/*; do
        [ -e "$name" ] && stop_daemon "$(basename "$name")"
    done
    thaw_cgroups_of_world
    end_stragglers
    RETRY_SECONDS=10 retry_until no_process_of_world || true
    RETRY_SECONDS=10 retry_until can_remove_cgroups_of_world || true
    unmount_below "$WORLD"
    rm -rf --one-file-system "$WORLD" "$NOTES"
    return 0
}

# shellcheck source=leftovers.bash
source "$load_dir/leftovers.bash"
# shellcheck source=trace.bash
source "$load_dir/trace.bash"
