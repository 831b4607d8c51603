#!/usr/bin/env bats
# containerd: by ctr with --runc-binary, and by CRI with a RuntimeClass handler
# whose BinaryName is our runtime, as Kubernetes would call it.
bats_require_minimum_version 1.5.0
load lib/world
load lib/containerd

setup_file() {
    make_world
    require_containerd
    start_containerd
    load_images_into_containerd
}

teardown_file() { end_world; }

setup() { remember_what_is_there; }

teardown() { remove_all_containerd_containers; }

busybox=docker.io/library/busybox:latest

# unique NAME: an ID that no other world has.
unique() { echo "$WORLD_NAME-$1"; }

ctr_task_is() { ctr tasks ls | grep -q "^$1 .* $2\$"; }

@test "ctr run prints what the container prints and leaves a complete trace" {
    id=$(unique run)
    run -0 ctr_run --rm "$busybox" "$id" echo hello
    [ "$output" = hello ]
    trace_is_complete "$id"
    nothing_left_behind
}

@test "by ctr exit codes pass through unchanged" {
    for code in 0 1 42 127 137; do
        run -"$code" ctr_run --rm "$busybox" "$(unique "exit$code")" sh -c "exit $code"
    done
    nothing_left_behind
}

@test "ctr exec, pause, resume, kill and delete work on a detached container" {
    id=$(unique detached)
    ctr_run -d "$busybox" "$id" sleep 1000
    is_watched "$id"
    run -0 ctr tasks exec --exec-id one "$id" echo alive
    [ "$output" = alive ]
    run -42 ctr tasks exec --exec-id two "$id" sh -c 'exit 42'
    ctr tasks pause "$id"
    ctr_task_is "$id" PAUSED
    ctr tasks resume "$id"
    ctr_task_is "$id" RUNNING
    ctr tasks kill -s KILL "$id"
    retry_until ctr_task_is "$id" STOPPED
    ctr tasks delete "$id" || [ $? -eq 137 ]
    ctr containers delete "$id"
    trace_is_complete "$id"
    nothing_left_behind
}

@test "ctr tasks delete --force ends a running container" {
    id=$(unique forced)
    ctr_run -d "$busybox" "$id" sleep 1000
    ctr tasks delete --force "$id" || [ $? -eq 137 ]
    ctr containers delete "$id"
    trace_is_complete "$id"
    nothing_left_behind
}

# pod_round NAME [host]: a pod with one container through its whole life.
pod_round() {
    local pod id
    pod=$(cri RunPodSandbox "$(unique "$1")" sandtrace "/$WORLD_NAME" "${2:-}")
    id=$(cri CreateContainer "$pod" worker "$busybox" -- sh -c 'trap "exit 5" TERM; while :; do sleep 0.1; done')
    cri StartContainer "$id"
    is_watched "$id"
    [ "$(cri ContainerStatus "$id")" = "running 0" ]
    [ "$(cri ExecSync "$id" echo alive)" = alive ]
    run -42 cri ExecSync "$id" sh -c 'exit 42'
    cri StopContainer "$id" 60
    [ "$(cri ContainerStatus "$id")" = "exited 5" ]
    trace_is_complete "$id"
    cri RemoveContainer "$id"
    cri StopPodSandbox "$pod"
    cri RemovePodSandbox "$pod"
    trace_is_complete "$pod"
}

@test "a pod with its own network runs, execs, stops and goes by CRI" {
    pod_round own-network
    nothing_left_behind
}

@test "a pod on the host's network runs, execs, stops and goes by CRI" {
    pod_round host-network host
    nothing_left_behind
}

@test "RemovePodSandbox with a running container leaves nothing but traces" {
    pod=$(cri RunPodSandbox "$(unique abrupt)" sandtrace "/$WORLD_NAME")
    id=$(cri CreateContainer "$pod" worker "$busybox" -- sleep 1000)
    cri StartContainer "$id"
    cri StopPodSandbox "$pod"
    cri RemovePodSandbox "$pod"
    trace_is_complete "$id"
    trace_is_complete "$pod"
    nothing_left_behind
}

@test "a container whose policy does not exist does not start and CRI's error names it" {
    pod=$(cri RunPodSandbox "$(unique refused)" sandtrace "/$WORLD_NAME" host)
    id=$(cri CreateContainer "$pod" worker "$busybox" io.sandtrace.policy=no-such-policy -- true)
    run cri StartContainer "$id"
    [ "$status" -ne 0 ]
    [[ $output == *no-such-policy* ]]
    cri StopPodSandbox "$pod"
    cri RemovePodSandbox "$pod"
    nothing_left_behind
}

@test "containerd can be killed and started again while a container runs, and it stays watched" {
    id=$(unique outlives)
    ctr_run -d "$busybox" "$id" sleep 1000
    worker=$(state_of "$id" worker)
    kill -KILL "$(daemon_pid containerd)"
    retry_until has_ended "$(daemon_pid containerd)"
    is_running "$worker"
    start_containerd
    ctr_task_is "$id" RUNNING
    ctr tasks delete --force "$id" || [ $? -eq 137 ]
    ctr containers delete "$id"
    trace_is_complete "$id"
}
