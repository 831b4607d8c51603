#!/usr/bin/env bats
# Seccomp profiles: whoever starts a container, and whatever profile it has or
# has not, the calls that are watched are asked about; in what is put in later
# too. No floor here: what is refused is refused by the profile.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/containerd
load lib/control
load lib/attack

setup_file() {
    require getfattr=attr
    make_world
    write_scope_policy bare "$refusing" 'floor: off'
    configure default_policy bare
    start_engines
    require_containerd
    start_containerd
    load_images_into_containerd
}

teardown_file() {
    end_engines
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    remove_all_containerd_containers
    configure default_policy bare
    configure on_worker_failure kill
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

image=docker.io/library/busybox:latest

# started ENGINE [OPTION…]: a container that stays; its ID, as in the name of its trace.
started() {
    local engine=$1 pod
    shift
    case $engine in
        runc)
            make_container box sleep 1000
            start_detached box
            id_of box
            ;;
        docker) docker run -d --network none "$@" localhost/box sleep 1000 ;;
        podman) podman_run -d "$@" localhost/box sleep 1000 ;;
        ctr)
            ctr_run -d "$image" "$WORLD_NAME-ctr" sleep 1000
            echo "$WORLD_NAME-ctr"
            ;;
        cri)
            pod=$(cri RunPodSandbox "$WORLD_NAME-pod" sandtrace "/$WORLD_NAME")
            id=$(cri CreateContainer "$pod" box "$image" -- sleep 1000)
            cri StartContainer "$id"
            echo "$id"
            ;;
    esac
}

# put_in ENGINE ID COMMAND…: as the engine's exec does.
put_in() {
    local engine=$1 id=$2
    shift 2
    case $engine in
        runc) runtime exec "$id" "$@" ;;
        docker) docker exec "$id" "$@" ;;
        podman) podman exec "$id" "$@" ;;
        ctr) ctr tasks exec --exec-id "n$RANDOM" "$id" "$@" ;;
        cri) cri ExecSync "$id" "$@" ;;
    esac
}

is_made() { echo ".event_type == \"filesystem\" and .payload.op == \"create\" and .payload.path == \"$1\""; }

# is_asked_about ENGINE ID: what is put in can't make a directory outside of the scope, but can within; both are recorded.
is_asked_about() {
    run put_in "$1" "$2" mkdir /outside-of-it
    [ "$status" -ne 0 ]
    run put_in "$1" "$2" sh -c 'mkdir -p /workspace; mkdir /workspace/one 2>&1; grep ^Seccomp: /proc/self/status'
    [ "$output" = $'Seccomp:\t2' ] || fail "$1: $output"
    retry_until trace_has "$2" "$(is_made /workspace/one) and .verdict.result == \"allow\""
    trace_has "$2" "$(is_made /outside-of-it) and .payload.blocked and .payload.process.comm == \"mkdir\""
}

@test "what docker, podman, ctr, CRI and runc put in later is asked about" {
    for engine in runc docker podman ctr cri; do
        is_asked_about "$engine" "$(started "$engine")"
    done
}

@test "a container that is to have no profile gets one" {
    for engine in docker podman; do
        id=$(started "$engine" --security-opt seccomp=unconfined)
        grep -q '^Seccomp:.2' "/proc/$(trace_value "$id" "$is_start" .payload.pid)/status"
        is_asked_about "$engine" "$id"
    done
}

@test "what a profile of the user's own refuses stays refused, in its own words" {
    echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat", "sync"], "action": "SCMP_ACT_ERRNO"}]}' >"$NOTES/profile"
    for engine in docker podman; do
        id=$(started "$engine" --security-opt "seccomp=$NOTES/profile")
        run ! put_in "$engine" "$id" mkdir /tmp/new
        [[ $output == *"Operation not permitted"* ]]
        run ! put_in "$engine" "$id" chmod 0700 /etc
        [[ $output == *"Permission denied"* ]]
        run -0 put_in "$engine" "$id" touch /tmp/new
        [ "$(trace_count "$id" "$(is_made /tmp/new) and .payload.blocked")" -eq 0 ]
    done
}

# refused_with ENGINE REASON PROFILE
refused_with() {
    echo "$3" >"$NOTES/profile"
    case $1 in
        runc)
            make_container box true
            edit_config "$(bundle_of box)" --slurpfile profile "$NOTES/profile" '.linux.seccomp = $profile[0]'
            run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
            rm -rf "$(bundle_of box)"
            ;;
        docker) run ! docker run --rm --network none --security-opt "seccomp=$NOTES/profile" localhost/box true ;;
        podman) run ! podman_run --rm --security-opt "seccomp=$NOTES/profile" localhost/box true ;;
    esac
    [[ $output == *"$2"* ]] || fail "$1: $output"
}

@test "a profile that leaves calls to others is refused: a listener, or a tracer" {
    for engine in runc docker podman; do
        refused_with "$engine" 'leaves syscalls to a tracer (SCMP_ACT_TRACE)' \
            '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["unlink"], "action": "SCMP_ACT_TRACE"}]}'
    done
    refused_with runc 'leaves syscalls to a tracer' '{"defaultAction": "SCMP_ACT_TRACE"}'
    refused_with runc 'a listener of its own' '{"defaultAction": "SCMP_ACT_NOTIFY"}'
    refused_with runc 'a listener of its own' '{"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": "/run/x.sock"}'
    refused_with runc 'a listener of its own' '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["unlink"], "action": "SCMP_ACT_NOTIFY"}]}'
}

ends_foreign_calls() { [[ $output == *$'x32 SYS\n'* && $output == *"i386 SYS"* && $output != *" ok"* ]] || fail "$output"; }

@test "calls of other architectures end who makes them, whichever a profile lists" {
    [ "$(uname -m)" = x86_64 ] || return 0 # there are no others
    for list in '[]' '["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]' '["SCMP_ARCH_X86"]' '["SCMP_ARCH_X32"]' '["SCMP_ARCH_AARCH64"]'; do
        make_target box attack bypass
        edit_config "$(bundle_of box)" ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\", architectures: $list}"
        run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
        ends_foreign_calls
        nothing_outside_changed box
        rm -rf "$(bundle_of box)"
    done
    for engine in docker podman; do
        id=$(started "$engine")
        run put_in "$engine" "$id" attack bypass
        ends_foreign_calls
    done
}

@test "when the listener is lost every call that was asked about fails, and nothing can be put in" {
    nothing_is_written_when_both_are_killed
    rm -rf "$WORLD/run/.net" "$(bundle_of box)"
    make_container box sleep 1000
    start_detached box
    id=$(id_of box)
    kill_together "$(state_of "$id" warden)" "$(state_of "$id" worker)"
    thaw_cgroups_of_world
    run ! runtime exec "$id" touch /tmp/new
    [ ! -e "$(rootfs_of box)/tmp/new" ]
    plain_runc delete --force "$id"
    rm -rf "$WORLD/run/$id" "$WORLD"/run/.n*/* "$(trace_of "$id")"
}
