#!/usr/bin/env bats
# One hundred containers, ten at a time: nothing stays but one hundred traces.
bats_require_minimum_version 1.5.0
load lib/world
load lib/container

setup_file() { make_world; }

teardown_file() {
    remove_all_containers || true
    end_world
}

# bundle_like_first NAME: a bundle that shares the root file system of the first.
bundle_like_first() {
    mkdir -p "$(bundle_of "$1")"
    jq --arg root "$(bundle_of first)/rootfs" --arg cgroup "/$WORLD_NAME/$1" \
        '.root = {path: $root, readonly: true} | .linux.cgroupsPath = $cgroup' \
        <"$(bundle_of first)/config.json" >"$(bundle_of "$1")/config.json"
}

# whole_life NUMBER: started, and stopped in one of three ways.
whole_life() {
    local name=box$1
    bundle_like_first "$name"
    start_detached "$name" || return 1
    case $(($1 % 3)) in
    0) runtime delete --force "$(id_of "$name")" ;;
    1)
        runtime kill "$(id_of "$name")" KILL
        retry_until runtime_status_is "$name" stopped
        runtime delete "$(id_of "$name")"
        ;;
    2)
        kill -KILL "$(init_pid_of "$name")"
        retry_until runtime_status_is "$name" stopped
        runtime delete "$(id_of "$name")"
        ;;
    esac
}

# what_is_known_of NAME: where a container's life went wrong.
what_is_known_of() {
    echo "$1 failed; its monitor and the end of its trace:"
    cat "$WORLD/run/$(id_of "$1")/state.json"
    tail -n 4 "$(trace_of "$(id_of "$1")")"
}

# chain FIRST STEP LAST: one after the other; ten chains make ten at a time.
chain() {
    local n
    for ((n = $1; n <= $3; n += $2)); do
        whole_life "$n" || { what_is_known_of "box$n" >&2; return 1; }
    done
}

@test "one hundred containers, ten at a time, leave one hundred complete traces and nothing else" {
    make_container first sleep 1000
    remember_what_is_there
    pids=()
    for ((c = 1; c <= 10; c++)); do
        chain "$c" 10 100 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done
    [ "$(ids_of_world | wc -l)" -eq 100 ]
    for id in $(ids_of_world); do trace_is_complete "$id"; done
    nothing_left_behind
}
