#!/usr/bin/env bats
# Podman, with its own storage: by --runtime (the shim) and by --hooks-dir (the
# hook alone, under plain runc).
bats_require_minimum_version 1.5.0
load lib/world
load lib/podman

setup_file() {
    make_world
    require_podman
    configure_podman
    load_busybox_into_podman
}

teardown_file() {
    end_podman
    end_world
}

setup() { remember_what_is_there; }

teardown() { remove_all_podman_containers; }

# by_runtime ARGUMENT…, and by_hooks of lib/podman.bash: `podman run` in either way.
by_runtime() { podman --runtime sandtrace run --cgroup-parent "/$WORLD_NAME" "$@"; }

# run_in_background WAY NAME: a container that stays until it is stopped.
run_in_background() {
    "$1" -d --name "$2" busybox sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done' >/dev/null
}

@test "podman run by --runtime prints what the container prints and leaves a complete trace" {
    run -0 by_runtime --name box busybox echo hello
    [ "$output" = hello ]
    trace_is_complete "$(podman_id box)"
    podman rm box
    nothing_left_behind
}

@test "by --runtime exit codes pass through unchanged" {
    for code in 0 1 42 126 127 137; do
        run -"$code" by_runtime --rm busybox sh -c "exit $code"
    done
    nothing_left_behind
}

@test "by --runtime standard input and a terminal reach the container" {
    export -f podman by_runtime
    run -0 bash -c 'seq 1 1000 | by_runtime -i --rm busybox wc -l'
    [ "$output" = 1000 ]
    # By its exit code: what a container that ends at once has printed on its terminal podman now and then loses,
    # with plain runc too.
    run -33 env SHELL=/bin/bash script -qec \
        'by_runtime -it --rm busybox sh -c "[ \$(tty) = /dev/pts/0 ] && exit 33"' /dev/null
}

@test "podman exec, top, pause and unpause work on a container by --runtime" {
    run_in_background by_runtime box
    run -42 podman exec box sh -c 'exit 42'
    podman pause box
    podman_is box paused
    podman unpause box
    run -0 podman exec box echo alive
    [ "$output" = alive ]
    run -0 podman top box args
    [[ $output != *sandtrace* ]]
}

@test "podman stop, kill and rm -f end a container by --runtime with a complete trace" {
    run_in_background by_runtime one
    run_in_background by_runtime two
    run_in_background by_runtime three
    ids=("$(podman_id one)" "$(podman_id two)" "$(podman_id three)")
    podman stop -t 60 one
    podman kill two
    retry_until podman_is two exited
    podman rm -f -t 0 three
    for id in "${ids[@]}"; do trace_is_complete "$id"; done
    podman rm one two
    nothing_left_behind
}

@test "podman by --hooks-dir watches a container of plain runc" {
    install_hooks
    run_in_background by_hooks box
    id=$(podman_id box)
    is_watched "$id"
    run -0 podman exec box echo alive
    podman stop -t 60 box
    trace_is_complete "$id"
    podman rm box
    nothing_left_behind
}

@test "by --hooks-dir exit codes pass through and podman kill and rm -f leave complete traces" {
    install_hooks
    run -42 by_hooks --rm busybox sh -c 'exit 42'
    run_in_background by_hooks one
    run_in_background by_hooks two
    ids=("$(podman_id one)" "$(podman_id two)")
    podman kill one
    retry_until podman_is one exited
    podman rm -f -t 0 two
    for id in "${ids[@]}"; do trace_is_complete "$id"; done
    podman rm one
    nothing_left_behind
}

@test "the containers of a pod are watched, each in its own trace" {
    podman pod create --name pod --infra=false --cgroup-parent "/$WORLD_NAME" >/dev/null
    podman --runtime sandtrace run -d --pod pod --name one busybox sleep 1000 >/dev/null
    podman --runtime sandtrace run -d --pod pod --name two busybox sleep 1000 >/dev/null
    ids=("$(podman_id one)" "$(podman_id two)")
    podman pod rm -f -t 0 pod
    for id in "${ids[@]}"; do trace_is_complete "$id"; done
    nothing_left_behind
}

@test "an annotation chooses the policy and one that does not exist stops the container" {
    run by_runtime --annotation io.sandtrace.policy=no-such-policy --name box busybox true
    [ "$status" -ne 0 ]
    [[ $output == *no-such-policy* ]]
    podman rm -f box
    nothing_left_behind
}
