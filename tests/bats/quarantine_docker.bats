#!/usr/bin/env bats
# Docker tells which image a container is of: none of the same starts until a person has looked.
# shellcheck disable=SC2154 # words of bats and the libraries
bats_require_minimum_version 1.5.0
load lib/world
load lib/docker
load lib/control

setup_file() {
    make_world
    require_docker
    write_policy killing 'on_violation: { low: deny, medium: deny, high: kill, critical: kill }'
    configure default_policy killing
    configure refuse_unreviewed image
    start_dockerd
    load_busybox_into_docker
}

teardown_file() {
    remove_all_docker_containers || true
    end_containerd_of_dockerd
    end_world
}

setup() { remember_what_is_there; }

teardown() { remove_all_docker_containers; }

@test "by its digest a container of the same image is refused until the task is closed, and the engine shows the command" {
    docker run --network none -d --name box busybox sh -c 'echo made >/made; mkdir -p /root/.ssh; echo x >/root/.ssh/id; cat /root/.ssh/id; sleep 1000' >/dev/null
    id=$(docker_id box)
    retry_until exists "$WORLD/quarantine/$id/review.json"
    trace_is_complete "$id"
    [ "$(jq -r .image "$WORLD/quarantine/$id/review.json")" = "$(docker image inspect -f '{{.Id}}' busybox)" ]
    [ "$(jq -r .snapshot.kind "$WORLD/quarantine/$id/review.json")" = overlay ]
    tar -xOf "$WORLD/quarantine/$id/files.tar" made | grep -qx made
    run docker run --network none --rm busybox true
    [ "$status" -ne 0 ]
    [[ $output == *"a container of this image ended by a violation"*"sandtrace review show $id"* ]]
    sandtrace review close "${id:0:12}" --verdict policy --reason 'the rule was meant for others'
    docker run --network none --rm busybox true
    nothing_left_behind
}

@test "docker rm -f of what is paused for a violation has it looked at while it stands still" {
    write_policy held
    configure default_policy held
    docker run --network none -d --name box busybox sh -c 'mkdir -p /root/.ssh; cat /root/.ssh/id; sleep 1000' >/dev/null
    id=$(docker_id box)
    is_pending() { [ -n "$(sandtrace pending | jq -r .pause_id)" ]; }
    retry_until is_pending
    docker rm -f box
    retry_until exists "$WORLD/quarantine/$id/review.json"
    trace_is_complete "$id"
    [ "$(jq -r '.cause + " " + (.snapshot.frozen | tostring)' "$WORLD/quarantine/$id/review.json")" = "engine true" ]
    nothing_left_behind
}
