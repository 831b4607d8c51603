#!/usr/bin/env bats
# Limits of processes, and the tree, in containers of runc, docker and podman: each brings a seccomp profile and
# control groups of its own.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control
load lib/attack

limits='max_depth: 4, max_children: 30, max_processes: 64, max_forks_per_second: unlimited'

setup_file() {
    require git=git
    make_world
    write_policy limited "process_limits: { $limits }" 'pause: { hold: true, timeout: 0 }'
    write_policy asked "process_limits: { $limits, before: true }" 'pause: { hold: true, timeout: 0 }'
    write_policy slow 'process_limits: { max_forks_per_second: 100, before: true }' 'pause: { hold: true, timeout: 0 }'
    write_scope_policy scoped "$refusing"
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() {
    export MOUNTS="$ST_BUILDDIR/tests/attack/forks:/usr/bin/forks:ro"
    remember_what_is_there
}

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    rm -f "$WORLD"/log/*
}

limit_event='.event_type == "process" and .verdict.policy_rule == "process_limits" and .verdict.severity == "high" and .verdict.action == "paused"'

# begin POLICY ENGINE ARGUMENT…: the container box, of tests/attack/forks.
begin() {
    configure default_policy "$1"
    prepare "$2" box
    start_by "$2" box forks "${@:3}"
}

# end ENGINE: killed by a person, with all that it had.
end() {
    sandtrace kill "$(watched_id "$1" box)" >/dev/null
    trace_is_complete "$(watched_id "$1" box)"
    remove_by "$1" box
    nothing_left_behind
}

# shellcheck disable=SC2317 # by retry_until
has_limit_event() { trace_has "$(watched_id "$1" box)" "$limit_event" 2>/dev/null; }

frozen_at_the_limit() {
    begin limited "$1" bomb
    retry_until has_limit_event "$1"
    retry_until stands_still "$1" box
    end "$1"
}

held_before_the_limit() {
    begin asked "$1" children 35
    retry_until has_limit_event "$1"
    stands_still "$1" box
    trace_has "$(watched_id "$1" box)" "$limit_event and .payload.children == 31 and .payload.blocked"
    trace_has "$(watched_id "$1" box)" "$is_pause and .payload.held"
    end "$1"
}

exec_is_a_first_one() {
    local id
    configure default_policy limited
    prepare "$1" box
    start_by "$1" box sleep 1000
    id=$(watched_id "$1" box)
    run -0 exec_by "$1" box forks deep 4 </dev/null
    [ "$output" = '4 ok' ]
    remove_by "$1" box
    trace_is_complete "$id"
    [ "$(trace_count "$id" '.verdict.result != "allow"')" -eq 0 ]
    [ "$(stop_value "$id" .payload.processes.most_depth)" -eq 4 ]
    trace_has "$id" "$is_start and (.payload.sensors | any(.name == \"processes\" and .kind == \"bpf\"))"
}

# stopped_with ENGINE CONDITION ARGUMENT…: what forks does with these arguments is held, and said so in these words.
stopped_with() {
    local engine=$1 condition=$2
    begin "${policy:-asked}" "$engine" "${@:3}"
    retry_until has_limit_event "$engine"
    trace_has "$(watched_id "$engine" box)" "$limit_event and $condition"
    end "$engine"
}

too_deep_too_often_under_a_false_name() {
    stopped_with "$1" '.payload.op == "depth_limit" and .payload.depth == 5' deep 8
    stopped_with "$1" '.payload.process.comm == "sshd" and .payload.process.exe == "/usr/bin/forks" and .payload.children == 31' masked sshd 35
    policy=slow stopped_with "$1" '.payload.op == "fork_limit" and .payload.forks == 101' storm 1000
}

# A session of its own, and its parents gone.
daemon_keeps_its_ancestors() {
    local id
    configure default_policy scoped
    prepare "$1" box
    start_by "$1" box sh -c 'sh -c "forks daemon /outside /workspace/said"; while :; do sleep 1; done'
    id=$(watched_id "$1" box)
    retry_until exists "$(workspace_of "$1" box)/said"
    remove_by "$1" box
    trace_is_complete "$id"
    trace_has "$id" '.payload.path == "/outside" and .verdict.result == "deny" and .payload.process.comm == "kworker" and
        .payload.process.exe == "/usr/bin/forks" and ([.payload.process.ancestry[].exe][0:2] == ["/usr/bin/forks", "/usr/bin/forks"])'
}

@test "runc: a bomb is frozen" { frozen_at_the_limit runc; }
@test "docker: a bomb is frozen" { frozen_at_the_limit docker; }
@test "podman: a bomb is frozen" { frozen_at_the_limit podman; }

@test "runc: asked before, one too many is held before it is there" { held_before_the_limit runc; }
@test "docker: asked before, one too many is held before it is there, under its profile" { held_before_the_limit docker; }
@test "podman: asked before, one too many is held before it is there, under its profile" { held_before_the_limit podman; }

@test "runc exec begins at depth 0" { exec_is_a_first_one runc; }
@test "docker exec begins at depth 0" { exec_is_a_first_one docker; }
@test "podman exec begins at depth 0" { exec_is_a_first_one podman; }

@test "docker: a tree that is too deep, a storm, a false name are stopped and named" { too_deep_too_often_under_a_false_name docker; }
@test "podman: a tree that is too deep, a storm, a false name are stopped and named" { too_deep_too_often_under_a_false_name podman; }

@test "docker: a daemon that forked twice keeps its ancestors" { daemon_keeps_its_ancestors docker; }
@test "podman: a daemon that forked twice keeps its ancestors" { daemon_keeps_its_ancestors podman; }

@test "docker: under its profile, asked before, threads are made without a question" {
    configure default_policy asked
    prepare docker box
    run -0 run_by docker box forks race 8 3 </dev/null
    [ "$output" = 'made 24' ]
}

@test "podman, by its hooks directory alone: a bomb is frozen" {
    install_hooks
    remove_precreate_hook
    PODMAN_RUN=by_hooks frozen_at_the_limit podman
}
