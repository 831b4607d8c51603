#!/usr/bin/env bats
# What an engine asks of the runtime while a container stands still for us: no
# command waits for a person's decision, and none thaws past it. Run by
# cgroup2.bats once more where there is only cgroup v2.
# shellcheck disable=SC2154,SC2016 # words of lib/control and of bats; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control

setup_file() {
    make_world
    write_policy held
    configure default_policy held
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    configure on_worker_failure kill
    configure default_policy held
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

start_held() {
    make_reader "$1" 'look 1; sleep 1000'
    edit_config "$(bundle_of "$1")" '.annotations = {"b.example": "x=y", "a.example": "", "b": "z"}'
    start_detached "$1"
    pause=$(held "$1")
}

@test "state is told at once: paused, and all else as the runtime says it" {
    start_held box
    runtime state "$(id_of box)" >"$NOTES/held"
    sandtrace deny "$pause"
    retry_until looked box 1 no
    runtime state "$(id_of box)" >"$NOTES/running"
    [ "$(jq -r .status "$NOTES/held")" = paused ]
    [ "$(jq -S 'del(.status)' "$NOTES/held")" = "$(jq -S 'del(.status)' "$NOTES/running")" ]
}

@test "exec into a container that waits for a decision is refused, and says what to do" {
    start_held box
    run ! runtime exec "$(id_of box)" true
    [[ $output == *"sandtrace approve $pause"* ]]
    waits box
}

@test "resume does not thaw past a decision" {
    start_held box
    run ! runtime resume "$(id_of box)"
    [[ $output == *"paused by sandtrace for a violation"* ]]
    is_halted box
    waits box
    sandtrace approve "$pause"
    retry_until looked box 1 yes
}

@test "resume does not thaw what a person has paused by sandtrace" {
    make_reader box 'sleep 1000'
    start_detached box
    sandtrace pause "$(id_of box)"
    run ! runtime resume "$(id_of box)"
    [[ $output == *"sandtrace resume $(id_of box)"* ]]
    retry_until is_frozen box
    sandtrace resume "$(id_of box)"
    run ! is_frozen box
}

@test "what the engine has paused it resumes" {
    make_reader box 'sleep 1000'
    start_detached box
    runtime pause "$(id_of box)"
    runtime_status_is box paused
    runtime resume "$(id_of box)"
    runtime_status_is box running
}

@test "a container that waits for a decision is killed and deleted at once" {
    start_held box
    init=$(state_of "$(id_of box)" pid)
    runtime kill "$(id_of box)" KILL
    retry_until has_ended "$init"
    runtime delete "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "a container that waits for a decision is deleted by force" {
    start_held box
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "update goes through, and the container stays where it is" {
    start_held box
    runtime update --resources - "$(id_of box)" <<<'{}'
    is_halted box
    waits box
    [ "$(pauses box)" = "$pause" ]
    is_gone "$(work_of box)/looked.1"
    sandtrace deny "$pause"
    retry_until looked box 1 no
}

@test "a container that was left paused by the loss of its worker is not resumed" {
    configure on_worker_failure pause
    configure default_policy audit-only
    start_ticking box
    init=$(init_pid_of box)
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until is_frozen box
    retry_until trace_has "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost"'
    run ! runtime resume "$(id_of box)"
    [[ $output == *"nobody watches it"* ]]
    is_frozen box
    sandtrace kill "$(id_of box)"
    retry_until has_ended "$init"
}
