#!/usr/bin/env bats
# The file system, by runc, docker and podman: what is outside of the policy is
# refused or held, by whichever way it is reached; what is inside is not touched.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control

files_lib=$BATS_TEST_DIRNAME/lib

setup_file() {
    require git=git sqlite3=sqlite3 gcc=gcc python3=python3
    make_world
    cat >"$WORLD/policies/refusing.yaml" <<END
schema_version: "2.0"
name: refusing
extends: agent-default
on_violation: { low: deny, medium: deny, high: deny, critical: deny }
END
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() {
    configure default_policy refusing
    remember_what_is_there
}

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/volumes"
}

# all_attacks_fail ENGINE
all_attacks_fail() {
    prepare "$1" box
    furnish_workspace "$(workspace_of "$1" box)"
    run_by "$1" box attack reach <"$files_lib/attacks.txt" >"$NOTES/said" 2>&1 || fail "$(cat "$NOTES/said")"
    trace_is_complete "$(watched_id "$1" box)"
    /usr/bin/python3 "$files_lib/judge.py" "$files_lib/attacks.txt" "$NOTES/said" "$(trace_of "$(watched_id "$1" box)")" "${@:2}" >&2
}

@test "runc: every attack by every way is refused, and recorded with its true path and its process" {
    all_attacks_fail runc
}

@test "docker: every attack by every way is refused, and recorded with its true path and its process" {
    all_attacks_fail docker --lenient
}

@test "podman: every attack by every way is refused, and recorded with its true path and its process" {
    all_attacks_fail podman --lenient
}

# The host's programs, without its configuration.
host_programs='/usr:/usr:ro /usr/lib:/lib:ro /usr/lib64:/lib64:ro'

# daily_work_is_not_touched ENGINE empty|repository
daily_work_is_not_touched() {
    configure default_policy agent-default
    prepare "$1" box
    [ "$2" = empty ] || furnish_workspace "$(workspace_of "$1" box)"
    MOUNTS=$host_programs run_by "$1" box /usr/bin/bash -s "$2" <"$files_lib/benign.sh" >"$NOTES/said" 2>&1 3>&- &
    local job=$!
    RETRY_SECONDS=300 retry_until ended_or_paused "$job" || true
    no_alarm "$(watched_id "$1" box)"
    wait "$job" || fail "$(tail -n 20 "$NOTES/said")"
    contains "$NOTES/said" benign
    trace_is_complete "$(watched_id "$1" box)"
}

# A container that is paused would wait for a person: that is the end of such a test.
ended_or_paused() { has_ended "$1" || [ -n "$(sandtrace pending)" ]; }

# no_alarm ID: nothing was refused, nothing paused.
no_alarm() {
    jq -c 'select(.verdict.result != "allow" or .event_type == "security_pause") |
        [.payload.op, .payload.path, .payload.name, .payload.process.argv, .verdict.policy_rule]' "$(trace_of "$1")" >"$NOTES/alarms"
    [ ! -s "$NOTES/alarms" ] || fail "$(head -n 20 "$NOTES/alarms")"
}

@test "runc: a project that begins in an empty workspace raises no alarm" { daily_work_is_not_touched runc empty; }

@test "runc: work in a repository that was there, with compiler, tar, database and server, raises no alarm" {
    daily_work_is_not_touched runc repository
}

@test "docker: a project that begins in an empty workspace raises no alarm" { daily_work_is_not_touched docker empty; }

@test "docker: work in a repository that was there, with compiler, tar, database and server, raises no alarm" {
    daily_work_is_not_touched docker repository
}

@test "podman: a project that begins in an empty workspace raises no alarm" { daily_work_is_not_touched podman empty; }

@test "podman: work in a repository that was there, with compiler, tar, database and server, raises no alarm" {
    daily_work_is_not_touched podman repository
}

@test "an open for reading is never taken for one for writing, however many there are at once" {
    prepare runc box
    run_by runc box sh -c 'for p in 1 2 3 4; do (i=0; while [ $i -lt 2000 ]; do read x </etc/passwd || echo refused; i=$((i+1)); done) & done; wait' >"$NOTES/said"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" '.payload.path == "/etc/passwd"')" -ge 8000 ]
    [ "$(trace_count "$(id_of box)" '.payload.path == "/etc/passwd" and .payload.access != ["read"]')" -eq 0 ]
    [ ! -s "$NOTES/said" ]
}
