#!/bin/bash
# demo: an agent stopped in the act, a watcher killed, a trace proved. contrib/quickstart.sh demo runs it.
#
#   contrib/demo.sh PREFIX [LOG]        as root; PREFIX is where sandtrace was installed
#
# Every sentence that it prints about a result has been looked up first; where one does not hold, it says
# so and ends with 1. Configuration, keys and state are its own, in a directory that goes away at the
# end; the traces are kept beside LOG.
set -euo pipefail

prefix=${1:?usage: contrib/demo.sh PREFIX [LOG]}
log=${2:-/dev/null}
kept=$(dirname "$log")/demo
sandtrace=$prefix/bin/sandtrace
runtime=$prefix/bin/sandtrace-runtime

home=$(mktemp -d /tmp/st-demo.XXXXXX)

cleanup() {
    local id
    cd "$home"
    for id in agent-1 agent-2; do
        "$runtime" --root runc delete --force "$id" >>"$log" 2>&1 || true
    done
    cd /
    rm -rf --one-file-system "$home"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

fail() {
    echo "demo: $*" >&2
    exit 1
}

say() { printf '\n%s\n' "$*"; }
shown() { sed 's/^/    /'; }

# show COMMAND…: the command as a person would type it, and what it says. On a terminal of its own, for a
# pipe gets other answers; no word of the commands here wants quoting.
show() {
    printf '    $ %s\n' "${*//"$prefix/bin/"/}"
    NO_COLOR=1 script -qec "stty cols 120 2>/dev/null; $*" /dev/null </dev/null 2>&1 | tr -d '\r' | cut -c 1-116 | shown
}

# until_true COMMAND…: waits for a condition, half a minute at most.
until_true() {
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || return 1
        sleep 0.05
    done
}

# member KEY: a value of the state.json on standard input.
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# Gone, or dead and not yet waited for by its parent.
has_ended() { ! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }

trace_of() { echo "log/$1.jsonl"; }
is_sealed() { tail -n 1 "$(trace_of "$1")" 2>/dev/null | grep -q '"final":true'; }

# The record of the lost worker, as FREEZE_US; fails where it was not frozen or not killed by us.
freeze_time() {
    python3 - "$1" <<'END'
import json, sys
lost = [r["payload"] for r in map(json.loads, open(sys.argv[1]))
        if r["event_type"] == "sensor" and r["payload"].get("state") == "lost"]
assert len(lost) == 1 and lost[0]["frozen"] and lost[0]["detail"] == "killed by signal 9", lost
print(lost[0]["freeze_us"])
END
}

# ---- a place of its own -------------------------------------------------------------------------------

configure() {
    mkdir -m 0700 keys run
    mkdir -p log "$kept"
    cat >sandtrace.yaml <<END
hook: $prefix/libexec/sandtrace/sandtrace-hook
monitor: $prefix/libexec/sandtrace/sandtrace-monitor
state_dir: $home/run
log_dir: $home/log
key_dir: $home/keys
policy_dirs: [$prefix/share/sandtrace/policies]
default_policy: audit-only
END
    export SANDTRACE_CONFIG=$home/sandtrace.yaml
    "$sandtrace" keygen >>"$log" 2>&1 || fail "sandtrace keygen made no key; see $log"
}

# bundle DIR SCRIPT [MEMBERS]: busybox, and a shell script for it to run; MEMBERS are added to config.json.
bundle() {
    local dir=$1
    mkdir -p "$dir/rootfs"/{bin,dev,etc,proc,sys,tmp,workspace}
    cp "$(command -v busybox)" "$dir/rootfs/bin/busybox"
    ln -s busybox "$dir/rootfs/bin/sh"
    printf '%s\n' "$2" >"$dir/rootfs/agent.sh"
    (cd "$dir" && runc spec)
    python3 - "$dir/config.json" "/$(basename "$home")-$dir" "{${3-}}" <<'END'
import json, sys
config = json.load(open(sys.argv[1]))
config["process"].update(terminal=False, args=["sh", "/agent.sh"])
config["root"]["readonly"] = False
config["linux"]["cgroupsPath"] = sys.argv[2]
config.update(json.loads(sys.argv[3]))
json.dump(config, open(sys.argv[1], "w"))
END
}

# ---- the story ----------------------------------------------------------------------------------------

an_agent_is_stopped() {
    say "A. An agent is stopped in the act, in a container that needs neither engine nor image (sandtrace demo):"
    rm -f "$kept"/escape.*
    printf '\n    $ sandtrace demo escape --keep %s\n' "$kept"
    "$sandtrace" demo escape --keep "$kept" || fail "not all was shown"
}

a_container_comes_and_goes() {
    local id=agent-1 status=0
    say "B. A container runs through sandtrace-runtime as it would through runc: same output, same exit code."
    bundle one 'echo "hello from process $$"; busybox id -u >/workspace/uid; exit 7'
    show "$runtime" --root runc run --bundle one "$id" || status=$?
    [ "$status" = 7 ] || fail "exit code $status instead of 7"
    echo "    (exit code 7, as the container's process said)"
    until_true is_sealed "$id" || fail "its trace was not sealed"
    say "   What was recorded about it:"
    show "$sandtrace" stream "$(trace_of "$id")"
    show "$sandtrace" verify "$(trace_of "$id")" || fail "the trace is not valid"
}

the_watcher_dies() {
    local id=agent-2 state pid warden worker frozen
    say "C. Beside each container lives a monitor: a warden and its worker."
    bundle two 'echo started >/workspace/started; exec busybox sleep 1000'
    "$runtime" --root runc run --detach --bundle two "$id" </dev/null >>"$log" 2>&1 || fail "it did not start; see $log"
    until_true test -s "two/rootfs/workspace/started" || fail "the container does not run"
    state=$(cat "run/$id/state.json")
    pid=$(member pid <<<"$state")
    warden=$(member warden <<<"$state")
    worker=$(member worker <<<"$state")
    show "$sandtrace" ps
    show ps -o pid,ppid,rss,args -p "$pid,$warden,$worker"

    say "   Now the worker is killed, as an attacker would. The container must not run on unwatched:"
    echo "    \$ kill -KILL $worker"
    kill -KILL "$worker"
    until_true is_sealed "$id" || fail "the trace was not sealed"
    has_ended "$pid" || fail "the container still runs"
    show "$sandtrace" stream "$(trace_of "$id")"
    frozen=$(freeze_time "$(trace_of "$id")") || fail "that the worker was lost and the container frozen is not on the trace"
    say "   Frozen $frozen microseconds after the loss was seen, then killed; a new worker has recorded it."
    show "$sandtrace" verify "$(trace_of "$id")" || fail "the trace is not valid"
}

the_trace_is_forged() {
    local id=agent-2 forged status=0
    forged=forged.jsonl
    say "D. Someone changes one word of the trace: who killed the watcher."
    sed 's/killed by signal 9/exited by itself!/' "$(trace_of "$id")" >"$forged"
    ! cmp -s "$(trace_of "$id")" "$forged" || fail "nothing was forged"
    show "$sandtrace" verify "$forged" || status=$?
    [ "$status" = 1 ] || fail "verify answered $status to a forged trace"
    echo "    (exit code 1: the chain is broken)"
}

[ "$(id -u)" = 0 ] || fail "must run as root: it starts containers"
for program in "$sandtrace" "$runtime" runc busybox python3; do
    command -v "$program" >/dev/null || fail "$program not found; contrib/quickstart.sh demo installs and builds what this needs"
done
: >>"$log"
log=$(readlink -f "$log")
kept=$(readlink -m "$kept")
cd "$home"
configure
an_agent_is_stopped
a_container_comes_and_goes
the_watcher_dies
the_trace_is_forged
cp log/*.jsonl "$kept/"
cp keys/*.pub "$kept/" 2>/dev/null || true
say "The traces, and the public key that verifies them, are in $kept."
