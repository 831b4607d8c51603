#!/usr/bin/env bats
# docs/integration-docker.md, typed as it stands, with a dockerd that has its usual configuration file.
bats_require_minimum_version 1.5.0
load lib/world
load lib/docker
load lib/docs

document=docs/integration-docker.md

setup_file() {
    make_world
    require_docker
    rm -rf "$WORLD/keys" # the document makes them
    configure default_policy agent-default
    configure policy_from_env true
    make_machine
    stand_in_for_systemctl
    start_dockerd_of_machine
    load_stand_in_for_debian
}

teardown_file() {
    in_machine docker ps -aq | xargs -r nsenter -t "$(daemon_pid machine)" --mount --net docker rm -f || true
    stop_dockerd || true
    end_machine
    end_world
}

# The end of a reload is awaited, which a real one does not, lest the next command be too quick.
stand_in_for_systemctl() {
    # shellcheck disable=SC2016 # read by the stand-in
    stand_in systemctl 'pid=$(cat "$NOTES/daemons/dockerd")
        case $* in
        "reload docker")
            kill -HUP "$pid"
            until docker info --format "{{json .Runtimes}}" | jq -e .sandtrace >/dev/null; do sleep 0.1; done ;;
        "restart docker")
            kill -TERM "$pid"
            while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
            setsid bash "$NOTES/dockerd.sh" >>"$NOTES/dockerd.log" 2>&1 &
            echo $! >"$NOTES/daemons/dockerd"
            until docker version >/dev/null 2>&1; do sleep 0.1; done ;;
        *) exit 1 ;;
        esac'
}

# Where it is told of runtimes is /etc/docker/daemon.json of the machine, and nothing else.
start_dockerd_of_machine() {
    export DOCKER_HOST=unix://$WORLD/docker.sock DOCKER_CONFIG=$WORLD/docker-config DOCKER_BUILDKIT=0
    mkdir -p "$DOCKER_CONFIG"
    in_machine mkdir -p /etc/docker
    printf '{\n    "log-level": "warn"\n}\n' | in_machine tee /etc/docker/daemon.json >/dev/null
    cat >"$NOTES/dockerd.sh" <<END
exec dockerd --data-root "$WORLD/docker" --exec-root "$WORLD/docker-exec" -H "$DOCKER_HOST" -p "$WORLD/docker.pid" \
    --bridge=plug --iptables=false --ip6tables=false --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$WORLD_NAME"
END
    start_daemon dockerd nsenter -t "$(daemon_pid machine)" --mount --net bash "$NOTES/dockerd.sh"
    daemon_answers dockerd docker version
}

# debian:12 as far as the documents need it.
make_debian() {
    make_rootfs "$1"
    printf '#!/bin/sh\nexit 0\n' >"$1/bin/apt-get"
    printf '#!/bin/sh\necho agent:x:1000:1000::/home/agent:/bin/sh >>/etc/passwd\n' >"$1/bin/useradd"
    ln -s sh "$1/bin/bash"
    mkdir -p "$1/var/lib/apt/lists"
    chmod +x "$1/bin/apt-get" "$1/bin/useradd"
}

load_stand_in_for_debian() {
    make_root=make_debian make_image debian:12 "$WORLD/debian.tar" bash
    docker load -q -i "$WORLD/debian.tar" >"$NOTES/load.log"
}

daemon_json() { in_machine cat /etc/docker/daemon.json; }

@test "every command of the document works as it is written" {
    before=$(daemon_json)
    type_document "$ST_SRCDIR/$document"
    typed_shows '+    "runtimes": {'
    typed_line hello
    typed_shows ': valid'
    typed_line 'done'
    typed_line '3 of 3 attempts were stopped.'
    [ "$(daemon_json)" = "$before" ]
    run -0 docker info --format '{{json .Runtimes}}'
    [[ $output != *sandtrace* ]]
    traces=("$WORLD"/log/*.jsonl)
    [ "${#traces[@]}" -eq 6 ]
}

@test "no command stands outside of what is run" { no_command_elsewhere "$ST_SRCDIR/$document"; }

@test "daemon.json of contrib is what install writes" {
    sandtrace install docker --file "$BATS_TEST_TMPDIR/daemon.json" --runtime /bin/true >/dev/null
    [ "$(sed 's,/bin/true,/usr/bin/sandtrace-runtime,' "$BATS_TEST_TMPDIR/daemon.json")" = "$(cat "$ST_SRCDIR/contrib/docker/daemon.json")" ]
}

@test "compose.yaml is YAML with our runtime, and the policy that it names is shipped" {
    run -0 /usr/bin/python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))' "$ST_SRCDIR/contrib/docker/compose.yaml"
    [ "$(jq -r .services.agent.runtime <<<"$output")" = sandtrace ]
    [ -e "$ST_SRCDIR/policies/$(jq -r '.services.agent.annotations["io.sandtrace.policy"]' <<<"$output").yaml" ]
}
