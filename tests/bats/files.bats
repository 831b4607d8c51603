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
