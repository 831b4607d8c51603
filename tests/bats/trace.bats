#!/usr/bin/env bats
# The trace of a real container: repeats folded with exact counts, checkpoints,
# rotation, a full disk, and sinks.
# shellcheck disable=SC2154,SC2016 # words of the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container

setup_file() {
    require python3=python3
    make_world
    configure default_policy traced
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() {
    write_policy
    remember_what_is_there
}

teardown() {
    local name
    configure on_trace_failure pause
    configure trace_rotate 0
    configure sinks '[]'
    make_room || true
    for name in "$NOTES"/daemons/*; do
        [ ! -e "$name" ] || stop_daemon "$(basename "$name")"
    done
    remove_all_containers
    RETRY_SECONDS=20 retry_until is_unmounted "$WORLD/log" || true
    nothing_left_behind
    rm -rf "${WORLD:?}"/log/* "$WORLD"/sinks
}

# write_policy [WINDOW]: everything is allowed but reading /etc/shadow, which is refused and not paused.
write_policy() {
    cat >"$WORLD/policies/traced.yaml" <<END
schema_version: "2.0"
name: traced
floor: off
defaults: { filesystem: { read: allow, write: allow, exec: allow } }
rules:
  - { id: secrets, type: filesystem, action: deny, severity: medium, paths: [/etc/shadow] }
fold: { window: ${1:-10s} }
END
}

# make_box SCRIPT: a container with a secret in it.
make_box() {
    make_container box sh -c "$1"
    echo 'root:secret' >"$(bundle_of box)/rootfs/etc/shadow"
}

# run_box SCRIPT: a container that runs it to its end.
run_box() {
    make_box "$1"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/box.log" 2>&1
}

trace() { trace_of "$(id_of box)"; }

# uses FILTER: how many uses the records that satisfy it stand for.
uses() { jq -s "map(select($1) | .payload.count // 1) | add // 0" "$(trace)"; }

reads_passwd='.payload.path == "/etc/passwd" and .payload.op == "open"'
runs_a_program='.payload.op == "exec"'

# ---- folding ----

@test "repeated uses are folded, and the counts are exact" {
    run_box 'i=0; while [ $i -lt 200 ]; do cat /etc/passwd; i=$((i + 1)); done'
    trace_is_complete "$(id_of box)"
    [ "$(uses "$reads_passwd")" -eq 200 ]
    [ "$(uses "$runs_a_program")" -eq 201 ]
    [ "$(trace_count "$(id_of box)" "$reads_passwd")" -lt 100 ]
    trace_has "$(id_of box)" "$reads_passwd and .payload.count > 1 and .payload.first_time <= .payload.last_time"
    # A reader adds them up.
    run -0 sandtrace report "$(trace)"
    [[ $output == *"What was run"*"/bin/sh"*"201"* ]]
}

@test "with a window of 0 each use is a record" {
    write_policy 0
    run_box 'i=0; while [ $i -lt 50 ]; do cat /etc/passwd; i=$((i + 1)); done'
    [ "$(trace_count "$(id_of box)" "$reads_passwd")" -eq 50 ]
    [ "$(uses "$reads_passwd")" -eq 50 ]
}

@test "counts come out at the end of their window, while the container runs" {
    write_policy 200ms
    make_container box sh -c 'while :; do cat /etc/passwd; done'
    start_detached box
    retry_until trace_has "$(id_of box)" "$reads_passwd and .payload.count > 1"
    [ "$(plain_runc state "$(id_of box)" | jq -r .status)" = running ]
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "refusals are never folded" {
    run_box 'i=0; while [ $i -lt 20 ]; do cat /etc/shadow; i=$((i + 1)); done; true'
    [ "$(trace_count "$(id_of box)" '.verdict.result == "deny" and .payload.access == ["read"]')" -eq 20 ]
    trace_is_complete "$(id_of box)"
}

@test "a worker that dies says through the next one how many uses its trace lacks" {
    write_policy 1h
    make_container box sh -c 'i=0; while [ $i -lt 50 ]; do cat /etc/passwd; i=$((i + 1)); done >/dev/null
        echo done >/workspace/done; sleep 1000'
    start_detached box
    retry_until exists "$(bundle_of box)/rootfs/workspace/done"
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until trace_has "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost"'
    [ "$(trace_value "$(id_of box)" '.payload.name == "worker"' .payload.unwritten)" -ge $((49 * 2)) ]
    retry_until is_sealed "$(id_of box)"
}

# ---- checkpoints and rotation ----

@test "a long trace has signed checkpoints on its way, and goes on in new files, as one chain" {
    write_policy 0
    configure trace_rotate 1MiB
    run_box 'i=0; while [ $i -lt 1500 ]; do cat /etc/passwd >/dev/null; i=$((i + 1)); done'
    exists "$(trace).1"
    [ "$(cat "$(trace)".* "$(trace)" | jq -c 'select(.event_type == "checkpoint" and .payload.signature)' | wc -l)" -ge 4 ]
    [ "$(cat "$(trace)".* "$(trace)" | jq -c "select($reads_passwd)" | wc -l)" -eq 1500 ]
    sandtrace verify "$(trace)"
}

# ---- a full disk ----

# small_disk: where traces lie there is little room.
small_disk() { mount -t tmpfs -o size=128k,mode=0755 none "$WORLD/log"; }
make_room() { ! mountpoint -q "$WORLD/log" || mount -o remount,size=64m "$WORLD/log"; }
is_unmounted() { ! mountpoint -q "$1" || umount "$1"; }

status_is() { [ "$(sandtrace ps --json | jq -r --arg id "$(id_of box)" 'select(.id == $id) | .status')" = "$1" ]; }

start_writing() {
    write_policy 0
    small_disk
    start_ticking box
}

@test "a full disk holds the container until there is room, and nothing is missing then" {
    start_writing
    retry_until status_is stuck
    retry_until is_frozen box
    before=$(count_ticks box)
    # Whatever is decided meanwhile, it stands still.
    run sandtrace pause "$(id_of box)"
    run sandtrace resume "$(id_of box)"
    is_frozen box
    [ "$(count_ticks box)" -eq "$before" ]
    make_room
    retry_until status_is watching
    is_ticking box
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.payload.name == "trace" and .payload.state == "restored" and
        (.payload.detail | contains("No space left")) and .payload.not_recorded >= 0'
}

@test "with on_trace_failure: kill a full disk is the container's end, and the trace says so when it can" {
    configure on_trace_failure kill
    start_writing
    retry_until has_ended "$(init_pid_of box)"
    make_room
    retry_until is_sealed "$(id_of box)"
    [ "$(stop_value "$(id_of box)" .payload.reason)" = "the trace could not be written" ]
    sandtrace verify "$(trace)"
}

@test "a trace that somebody shortens while the disk is full is not gone on with" {
    start_writing
    retry_until status_is stuck
    warden=$(state_of "$(id_of box)" warden)
    init=$(init_pid_of box)
    truncate -s -20 "$(trace)"
    retry_until has_ended "$init"
    retry_until has_ended "$warden"
    run -1 sandtrace verify "$(trace)"
}

@test "where the first record finds no room the container does not start, and the reason is told" {
    mount -t tmpfs -o size=4k,mode=0755 none "$WORLD/log"
    head -c 4096 /dev/zero >"$WORLD/log/filler" || true
    make_container box true
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"No space left on device"* ]]
    rm "$WORLD/log/filler"
}

# ---- sinks ----

# sink_listener NAME KIND: what comes to $WORLD/sinks/NAME.sock is in $WORLD/sinks/NAME.
sink_listener() {
    mkdir -p "$WORLD/sinks"
    : >"$WORLD/sinks/$1"
    start_daemon "$1" python3 "$ST_SRCDIR/tests/bats/lib/listen.py" "$2" "$WORLD/sinks/$1.sock" "$WORLD/sinks/$1"
    retry_until exists "$WORLD/sinks/$1.sock"
}

# sink_program NAME [COMMAND]: puts what it gets behind $WORLD/sinks/NAME.
sink_program() {
    mkdir -p "$WORLD/sinks"
    printf '#!/bin/sh\ncat >>%s\n%s\n' "$WORLD/sinks/$1" "${2:-}" >"$WORLD/sinks/$1.sh"
    chmod 0755 "$WORLD/sinks/$1.sh"
}

has_all_records() { [ "$(grep -ac "$1" "$2")" -eq "$(wc -l <"$(trace)")" ]; }

has_whole_trace() { cmp -s "$1" "$(trace)"; }

@test "each kind of sink gets each record of a container" {
    sink_listener stream stream
    sink_listener log dgram
    sink_listener journal dgram
    sink_program all
    configure sinks "[file:$WORLD/sinks/file, unix:$WORLD/sinks/stream.sock, syslog:$WORLD/sinks/log.sock, journald:$WORLD/sinks/journal.sock, exec:$WORLD/sinks/all.sh]"
    run_box 'cat /etc/passwd; cat /etc/shadow; true'
    trace_is_complete "$(id_of box)"
    for name in file stream all; do
        retry_until has_whole_trace "$WORLD/sinks/$name" || diff "$WORLD/sinks/$name" "$(trace)"
    done
    retry_until has_all_records '^<[0-9]*>sandtrace\[[0-9]*\]: {' "$WORLD/sinks/log"
    retry_until has_all_records '^SANDTRACE_TYPE=' "$WORLD/sinks/journal"
    # A refusal is graver than what was allowed.
    grep -q '^<84>.*"result":"deny"' "$WORLD/sinks/log"
}

@test "a sink gets only what it asked for" {
    sink_program refused
    configure sinks "[{to: file:$WORLD/sinks/life, types: [lifecycle]}, {to: exec:$WORLD/sinks/refused.sh, only: refusals}]"
    run_box 'cat /etc/shadow; true'
    trace_is_complete "$(id_of box)"
    retry_until eval '[ "$(jq -r .payload.op "$WORLD/sinks/life" | tr "\n" " ")" = "start stop " ]'
    retry_until eval '[ "$(jq -r .verdict.result "$WORLD/sinks/refused" | sort -u)" = deny ]'
}

@test "a sink that can't be reached, and comes late, is in the trace and misses nothing that fits its queue" {
    mkdir -p "$WORLD/sinks"
    configure sinks "[unix:$WORLD/sinks/late.sock]"
    start_ticking box
    is_sink='.payload.name == "sink" and (.payload.sink | endswith("late.sock"))'
    retry_until trace_has "$(id_of box)" "$is_sink and .payload.state == \"down\""
    sink_listener late stream
    retry_until trace_has "$(id_of box)" "$is_sink and .payload.state == \"up\""
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    retry_until has_whole_trace "$WORLD/sinks/late"
}

has_lost() {
    [ "$(jq -s '[.[] | select(.payload.name == "sink" and .payload.state == "lost") | .payload.lost] | add // 0' "$(trace)")" -eq "$1" ]
}

@test "what a sink loses is declared with its number, and the trace has it all" {
    sink_program failing 'exit 3'
    configure sinks "[{to: exec:$WORLD/sinks/failing.sh, only: refusals}]"
    make_box 'for i in 1 2 3; do cat /etc/shadow; done; sleep 1000'
    start_detached box
    retry_until has_lost 3
    trace_has "$(id_of box)" '.payload.state == "lost" and (.payload.detail | endswith("ended with code 3"))'
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "a program that hangs holds up neither the container nor its end" {
    sink_program hanging 'sleep 1000'
    configure sinks "[exec:$WORLD/sinks/hanging.sh]"
    run_box 'cat /etc/passwd'
    trace_is_complete "$(id_of box)"
    is_gone "$WORLD/run/$(id_of box)"
}

@test "the death of the process that works the sinks is in the trace, and nothing else comes of it" {
    configure sinks "[file:$WORLD/sinks/file]"
    mkdir -p "$WORLD/sinks"
    start_ticking box
    worker=$(state_of "$(id_of box)" worker)
    kill -KILL "$(ps -o pid= --ppid "$worker")"
    retry_until trace_has "$(id_of box)" '.payload.name == "sink" and .payload.state == "gone"'
    is_ticking box
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "a sink that can't be meant keeps the container from starting, with the place of the mistake" {
    configure sinks '[tcp:1.2.3.4]'
    make_container box true
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"sandtrace.yaml:"*"wrong value in \`sinks\`"* ]]
}
