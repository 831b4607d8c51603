#!/usr/bin/env bats
# Docker, started by this suite, with sandtrace-runtime as its default runtime:
# no command of the engine behaves otherwise than with runc.
bats_require_minimum_version 1.5.0
load lib/world
load lib/docker

setup_file() {
    make_world
    require_docker
    start_dockerd --live-restore
    load_busybox_into_docker
}

teardown_file() {
    remove_all_docker_containers || true
    end_containerd_of_dockerd
    end_world
}

setup() { remember_what_is_there; }

teardown() { remove_all_docker_containers; }

# run_in_background NAME ARGUMENT…: a container that stays until it is stopped.
run_in_background() {
    local name=$1
    shift
    docker run --network none -d --name "$name" "$@" busybox sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done' >/dev/null
}

@test "docker run prints what the container prints and leaves a complete trace" {
    run -0 docker run --network none --name box busybox echo hello
    [ "$output" = hello ]
    trace_is_complete "$(docker_id box)"
    docker rm box
    nothing_left_behind
}

# runc takes such a container for stopped and refuses to kill it: with it alone `docker kill` fails after ten seconds.
@test "a container whose first thread has ended alone is killed and removed like any other" {
    mkdir "$WORLD/out"
    docker run --network none -d --name box -v "$ST_BUILDDIR/tests/attack/storm:/bin/storm:ro" -v "$WORLD/out:/workspace" \
        busybox storm headless /nowhere /workspace/went-on >/dev/null
    id=$(docker_id box)
    retry_until exists "$WORLD/out/went-on"
    docker kill box
    trace_is_complete "$id"
    docker rm box
    nothing_left_behind
}

@test "exit codes pass through unchanged" {
    for code in 0 1 42 126 127 137 255; do
        run -"$code" docker run --network none --rm busybox sh -c "exit $code"
    done
    nothing_left_behind
}

@test "a command that is not there or may not run gives 127 and 126 as with runc" {
    run -127 docker run --network none --rm busybox /no/such/command
    [[ $output == *"/no/such/command"* ]]
    run -126 docker run --network none --rm busybox /etc/passwd
    [[ $output == *"permission denied"* ]]
    nothing_left_behind
}

@test "docker run -i hands over standard input to its end" {
    run -0 bash -c 'seq 1 20000 | docker run --network none -i --rm busybox sh -c "wc -l"'
    [ "$output" = 20000 ]
}

@test "docker run -it gives the container a terminal" {
    run -0 script -qec "docker run --network none -it --rm busybox sh -c 'tty; stty size; test -t 0 && test -t 1 && echo terminal'" /dev/null
    [[ $output == *"/dev/pts/0"* ]]
    [[ $output == *terminal* ]]
}

@test "docker logs shows standard output and standard error apart" {
    docker run --network none --name box busybox sh -c 'echo out; echo err >&2'
    run -0 --separate-stderr docker logs box
    [ "$output" = out ]
    # shellcheck disable=SC2154 # set by run
    [ "$stderr" = err ]
}

@test "docker exec runs beside the container and passes its exit code" {
    run_in_background box
    run -0 docker exec box cat /proc/1/cmdline
    [[ $output == sh* ]]
    run -42 docker exec box sh -c 'exit 42'
    run -0 bash -c 'echo through | docker exec -i box cat'
    [ "$output" = through ]
    run -0 script -qec "docker exec -it box tty" /dev/null
    [[ $output == *"/dev/pts/"* ]]
}

@test "docker top and docker stats see the container's processes and nothing of ours" {
    run_in_background box
    run -0 docker top box -eo pid,args
    [[ $output == *"sleep 0.1"* ]]
    [[ $output != *sandtrace* ]]
    run -0 docker stats --no-stream --format '{{.Name}} {{.PIDs}}' box
    [[ $output =~ ^box\ [1-3]$ ]]
}

@test "docker pause stops and docker unpause resumes" {
    run_in_background box
    docker pause box
    docker_is box paused
    run -0 docker unpause box
    docker_is box running
    run -0 docker exec box echo alive
}

@test "docker update changes limits of the running container" {
    run_in_background box
    docker update --memory 64m --memory-swap 64m --pids-limit 33 box
    [ "$(docker inspect -f '{{.HostConfig.Memory}}' box)" = 67108864 ]
    run -0 docker exec box sh -c 'cat /sys/fs/cgroup/pids/pids.max 2>/dev/null || cat /sys/fs/cgroup/pids.max'
    [ "$output" = 33 ]
}

@test "docker run --init reaps and ends on TERM" {
    docker run --network none -d --init --name box busybox sleep 1000
    run -0 docker exec box cat /proc/1/comm
    [[ $output == *init* ]]
    docker stop -t 30 box
    [ "$(docker inspect -f '{{.State.ExitCode}}' box)" = 143 ]
}

@test "docker stop lets the container end by itself and its trace says how" {
    run_in_background box
    id=$(docker_id box)
    docker stop -t 60 box
    [ "$(docker inspect -f '{{.State.ExitCode}}' box)" = 0 ]
    trace_is_complete "$id"
    docker rm box
    nothing_left_behind
}

@test "docker kill ends the container at once and its trace is complete" {
    run_in_background box
    id=$(docker_id box)
    docker kill box
    [ "$(docker inspect -f '{{.State.ExitCode}}' box)" = 137 ]
    trace_is_complete "$id"
    docker rm box
    nothing_left_behind
}

@test "docker kill with another signal reaches the container" {
    docker run --network none -d --name box busybox sh -c 'trap "exit 7" USR1; while :; do sleep 0.1; done'
    docker kill -s USR1 box
    run -0 docker wait box
    [ "$output" = 7 ]
}

@test "docker rm -f of a running container leaves nothing but its trace" {
    run_in_background box
    id=$(docker_id box)
    docker rm -f box
    trace_is_complete "$id"
    nothing_left_behind
}

@test "docker rm -f of a paused container leaves nothing but its trace" {
    run_in_background box
    id=$(docker_id box)
    docker pause box
    docker rm -f box
    trace_is_complete "$id"
    nothing_left_behind
}

@test "a container that is started again goes on with its trace" {
    docker run --network none --name box busybox true
    id=$(docker_id box)
    trace_is_complete "$id"
    docker start -a box
    retry_until has_stopped_times "$id" 2
    trace_is_complete "$id"
}

@test "restart policy on-failure starts the container again, watched each time" {
    docker run --network none -d --name box --restart on-failure:2 busybox sh -c 'exit 3'
    retry_until docker_is box exited
    run -0 docker inspect -f '{{.RestartCount}} {{.State.ExitCode}}' box
    [ "$output" = "2 3" ]
    id=$(docker_id box)
    retry_until has_stopped_times "$id" 3
    trace_is_complete "$id"
}

@test "docker cp goes both ways" {
    run_in_background box
    echo content >"$BATS_TEST_TMPDIR/in"
    docker cp "$BATS_TEST_TMPDIR/in" box:/workspace/file
    run -0 docker exec box cat /workspace/file
    [ "$output" = content ]
    docker cp box:/etc/passwd "$BATS_TEST_TMPDIR/out"
    contains "$BATS_TEST_TMPDIR/out" root:x:0
}

@test "with live-restore a container outlives the daemon and stays watched" {
    run_in_background box
    id=$(docker_id box)
    worker=$(state_of "$id" worker)
    stop_dockerd
    is_running "$worker"
    start_dockerd --live-restore
    docker_is box running
    run -0 docker exec box echo alive
    [ "$(state_of "$id" worker)" = "$worker" ]
    docker rm -f box
    trace_is_complete "$id"
}

@test "a container whose policy does not exist does not start and docker's error names it" {
    configure default_policy no-such-policy
    run docker run --network none --name box busybox true
    configure default_policy audit-only
    [ "$status" -ne 0 ]
    [[ $output == *no-such-policy* ]]
    docker rm -f box
    nothing_left_behind
}
