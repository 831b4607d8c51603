#!/usr/bin/env bats
# Engines as their packages set them up, under systemd and cgroup v2 alone: for
# a machine that can be spoilt (tests/vm/run.sh). Everything else is tested with
# engines of the suites' own.
# shellcheck disable=SC2154,SC2153,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load ../bats/lib/world
load ../bats/lib/container
load ../bats/lib/control
load ../bats/lib/attack

setup_file() {
    [ "$(cat /proc/1/comm)" = systemd ] || fail "this suite changes the machine it runs on: only for one made for it"
    make_world
    write_policy held
    make_image localhost/box:latest "$WORLD/box.tar" sh
    # The services inherit nothing of ours: the configuration is named by a wrapper.
    mkdir -p "$WORLD/bin"
    printf '#!/bin/sh\nSANDTRACE_CONFIG=%s exec %s "$@"\n' "$SANDTRACE_CONFIG" "$RUNTIME" >"$WORLD/bin/wrapped"
    chmod +x "$WORLD/bin/wrapped"
    mkdir -p /etc/docker
    jq -n --arg path "$WORLD/bin/wrapped" '{runtimes: {sandtrace: {path: $path}}, bridge: "none", iptables: false, ip6tables: false}' >/etc/docker/daemon.json
    systemctl restart docker.service
    docker load -q -i "$WORLD/box.tar" >/dev/null
    podman load -q -i "$WORLD/box.tar" >/dev/null
}

teardown_file() { end_world; }

setup() { configure default_policy held; }

is_paused_in() { trace_has "$1" "$is_pause"; }

# reading_is_held ID: a read of the secret waits; denied, the container goes on to the end.
reading_is_held() {
    retry_until is_paused_in "$1"
    sandtrace deny "$(sandtrace pending "$1" | jq -r .pause_id)"
}

script='cat /etc/passwd >/dev/null; cat /etc/shadow; rm -f /etc/group; sleep 1000'

make_secret() { echo secret >"$WORLD/shadow"; }

@test "docker with systemd's groups: a secret is held, denied, and docker rm -f ends it" {
    [ "$(docker info -f '{{.CgroupDriver}} {{.CgroupVersion}}')" = "systemd 2" ]
    make_secret
    docker run -d --name box --runtime sandtrace --network none -v "$WORLD/shadow:/etc/shadow" localhost/box sh -c "$script" >/dev/null
    id=$(docker inspect -f '{{.Id}}' box)
    reading_is_held "$id"
    docker exec box true
    docker pause box
    docker unpause box
    docker rm -f box >/dev/null
    trace_is_complete "$id"
}

@test "docker rm -f of a container in which something is held does not wait, and it is kept for review" {
    make_secret
    docker run -d --name box --runtime sandtrace --network none -v "$WORLD/shadow:/etc/shadow" localhost/box sh -c "$script" >/dev/null
    id=$(docker inspect -f '{{.Id}}' box)
    retry_until is_paused_in "$id"
    docker rm -f box >/dev/null
    trace_is_complete "$id"
    trace_has "$id" '.event_type == "security_resume" and .payload.decision == "kill" and .payload.by.how == "engine"'
    [ "$(sandtrace review show --json "$id" | jq -r .state)" = open ]
}

@test "podman by its runtime, with systemd's groups" {
    make_secret
    podman --runtime "$WORLD/bin/wrapped" run -d --name box --network none -v "$WORLD/shadow:/etc/shadow" localhost/box sh -c "$script" >/dev/null
    id=$(podman inspect -f '{{.Id}}' box)
    reading_is_held "$id"
    podman --runtime "$WORLD/bin/wrapped" rm -f -t 0 box >/dev/null
    trace_is_complete "$id"
}

# What the package chose: crun, where it is there.
@test "podman by its hooks directory, with its own runtime: opens and changes are decided" {
    make_secret
    mkdir -p "$WORLD/hooks.d"
    for file in "$ST_BUILDDIR"/hooks/*.json; do
        jq --arg hook "$WORLD/bin/sandtrace-hook" --arg config "$SANDTRACE_CONFIG" \
            '.hook.path = $hook | .hook.args += ["--config", $config]' "$file" >"$WORLD/hooks.d/$(basename "$file")"
    done
    configure default_policy agent-default
    for runtime in crun runc; do
        podman --runtime "$runtime" --hooks-dir "$WORLD/hooks.d" run -d --name box --network none localhost/box \
            sh -c 'rm /etc/passwd; sleep 1000' >/dev/null
        id=$(podman inspect -f '{{.Id}}' box)
        retry_until trace_has "$id" '.payload.op == "delete" and .payload.path == "/etc/passwd" and .payload.blocked'
        trace_has "$id" '.payload.op == "start" and (.payload.sensors | any(.name == "mutations" and .state == "on"))'
        sandtrace kill "$id"
        retry_until is_sealed "$id"
        podman rm -f -t 0 box >/dev/null
        trace_is_complete "$id"
    done
}

@test "crun in the place of runc, by our runtime" {
    configure runtime "$(command -v crun)"
    make_reader box 'look 1; sleep 1000'
    start_detached box
    pause=$(held box)
    sandtrace approve "$pause"
    retry_until looked box 1 yes
    runtime exec "$(id_of box)" true
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    configure runtime "$(command -v runc)"
}

# hits_nothing NAME KIND: every call outside of the scope is refused, on a floor of that kind.
hits_nothing() {
    run -0 run_target "$1" attack hit /outside
    [ "$(wc -l <<<"$output")" -ge "$(all_calls | wc -l)" ]
    [ "$(grep ' ok$' <<<"$output")" = "" ]
    nothing_outside_changed "$1"
    trace_is_complete "$(id_of "$1")"
    trace_has "$(id_of "$1")" "$is_start and (.payload.sensors | any(.name == \"floor\" and .kind == \"$2\" and .state == \"on\"))"
}

# Debian 12's kernel has a Landlock that would let files be truncated: no floor is said to be there that is not.
@test "a floor of Landlock where the kernel's will do; else it is refused with the reason, and the one it names holds" {
    write_scope_policy by-landlock "$refusing" 'floor: landlock'
    write_scope_policy by-mounts "$refusing" 'floor: mount'
    configure default_policy by-landlock
    case $(uname -r) in
        6.1.*)
            make_target refused true
            run ! runtime run --bundle "$(bundle_of refused)" "$(id_of refused)"
            [[ $output == *'Landlock of this kernel (ABI 2) does not keep files from being truncated'*'write `floor: mount`'* ]] || fail "$output"
            is_gone "$(trace_of "$(id_of refused)")"
            ;;
        *) hits_nothing floored landlock ;;
    esac
    configure default_policy by-mounts
    hits_nothing other mount
    remove_all_containers
}

# A kernel before 6.3 can't be told to make no programs in memory, and no program can ask it for a file that is none.
@test "files in memory are there for whoever uses them, and none is run by its fd; where the kernel can't tell, the trace says so" {
    write_policy in-memory 'exec_of_memfd: deny' 'on_violation: { low: deny, medium: deny, high: deny, critical: deny }'
    configure default_policy in-memory
    make_container memory sh -c 'execs memory 1 data; execs memfd /bin/execs say gone; true'
    cp "$ST_BUILDDIR/tests/attack/execs" "$(bundle_of memory)/rootfs/bin/execs"
    run -0 runtime run --bundle "$(bundle_of memory)" "$(id_of memory)"
    [[ $output == *'memory 0x1 data ok'* && $output == *'memfd EACCES'* && $output != *gone* ]] || fail "$output"
    trace_has "$(id_of memory)" '.event_type == "syscall" and .payload.name == "execveat" and .payload.memfd and .payload.blocked'
    case $(uname -r) in
        6.1.*) trace_has "$(id_of memory)" '.event_type == "sensor" and .payload.name == "exec_of_memfd" and .payload.state == "degraded"' ;;
        *) trace_has_no "$(id_of memory)" '.payload.name == "exec_of_memfd"' ;;
    esac
    remove_all_containers
}
