#!/usr/bin/env bats
# scripts/verify_sandbox_monitor.sh: says that the watch holds where it does, and that it does not where it does not.
bats_require_minimum_version 1.5.0
load lib/world
load lib/docker
load lib/podman

setup_file() {
    make_world
    require_docker
    require_podman
    require ip=iproute2 slirp4netns=slirp4netns
    configure default_policy agent-default
    make_network
    start_dockerd --bridge plug
    load_busybox_into_docker
    configure_podman
    load_busybox_into_podman
}

teardown_file() {
    remove_all_docker_containers || true
    stop_dockerd || true
    end_podman
    umount "$WORLD/netns" || true
    end_world
}

setup() {
    configure default_policy agent-default
    remember_what_is_there
}

# Engines get a network of the suite's own, with a bridge that leads nowhere.
make_network() {
    touch "$WORLD/netns"
    unshare --net="$WORLD/netns" true
    export ENGINE_NETNS=$WORLD/netns
    nsenter --net="$ENGINE_NETNS" sh -c 'ip link set lo up; sysctl -q net.ipv4.ip_forward=1; ip link add plug type bridge
        ip addr add 10.92.0.1/16 dev plug; ip link set plug up; ip route add default via 10.92.0.254 dev plug'
}

verify_monitor() { "$ST_SRCDIR/scripts/verify_sandbox_monitor.sh" "$@"; }

# all_stopped: as $output has it.
all_stopped() {
    [ "$(grep -c '^  stopped .*SECURITY_PAUSE pau_' <<<"$output")" -eq 3 ]
    [ "${lines[-1]}" = '3 of 3 attempts were stopped.' ]
}

@test "by runc all attempts are stopped, and nothing is left but the traces" {
    run -0 verify_monitor runc --runtime "$RUNTIME"
    all_stopped
    nothing_left_behind
}

@test "by sandtrace run all attempts are stopped, and nothing is left but the traces" {
    run -0 verify_monitor run
    [ "${lines[0]}" = 'What must not happen in a container, tried by sandtrace run:' ]
    all_stopped
    nothing_left_behind
    run -1 verify_monitor run --policy audit-only
    [ "$(grep -c '^  NOT HELD ' <<<"$output")" -eq 3 ]
    run -2 verify_monitor run --runtime sandtrace
    [[ $output == *'--runtime says nothing to sandtrace run'* ]]
    nothing_left_behind
}

@test "by docker all attempts are stopped" {
    run -0 verify_monitor docker
    all_stopped
    [ -z "$(docker ps -aq)" ]
    nothing_left_behind
}

@test "by podman all attempts are stopped" {
    # The suite's podman is a function with options of its own.
    cat >"$WORLD/bin/podman" <<END
#!/bin/bash
exec nsenter --net=$ENGINE_NETNS $(type -P podman) --root $WORLD/podman --runroot $WORLD/podman-run --tmpdir $WORLD/podman-tmp "\$@"
END
    chmod +x "$WORLD/bin/podman"
    # No network of podman's own is needed to be refused one.
    sed -i 's/^netns = .*/netns = "host"/' "$CONTAINERS_CONF"
    configure host_network cgroup
    printf '#!/bin/bash\nargs=()\nfor a in "$@"; do args+=("$a"); [ "$a" != run ] || args+=(--cap-drop net_raw); done\nexec %s "${args[@]}"\n' \
        "$WORLD/bin/podman" >"$WORLD/bin/podman-without-raw"
    chmod +x "$WORLD/bin/podman-without-raw"
    mkdir -p "$WORLD/as-podman"
    ln -sf "$WORLD/bin/podman-without-raw" "$WORLD/as-podman/podman"
    PATH=$WORLD/as-podman:$PATH run -0 verify_monitor podman --image localhost/busybox:latest
    rm "$WORLD/bin/podman"
    configure host_network refuse
    all_stopped
    nothing_left_behind
}

@test "under a policy that only records, it says that nothing is held" {
    configure default_policy audit-only
    run -1 verify_monitor runc --runtime "$RUNTIME"
    [ "$(grep -c '^  NOT HELD ' <<<"$output")" -eq 3 ]
    [ "${lines[-1]}" = '0 of 3 attempts were stopped.' ]
    run -0 verify_monitor runc --runtime "$RUNTIME" --policy agent-default
    all_stopped
    nothing_left_behind
}

@test "by a runtime that is not sandtrace, it says that nothing is held" {
    run -1 verify_monitor runc --runtime "$(command -v runc)"
    [[ $output == *'NOT HELD'* ]]
    nothing_left_behind
}

@test "what can't be tried is told from what was not held" {
    run -2 verify_monitor
    [[ $output == *'name one of docker, podman, runc, run'* ]]
    run -2 verify_monitor runc --runtime "$RUNTIME" --policy no-such-policy
    [[ $output == *'no-such-policy'* ]]
    run -2 verify_monitor lxc
    run -2 setpriv --reuid 65534 --regid 65534 --clear-groups "$ST_SRCDIR/scripts/verify_sandbox_monitor.sh" runc
    [[ $output == *'only root'* ]]
    # shellcheck disable=SC2016 # of that shell
    run -2 unshare --mount sh -c 'mount --bind /dev/null /dev/net/tun && exec "$0" run' "$ST_SRCDIR/scripts/verify_sandbox_monitor.sh"
    [[ $output == *'slirp4netns made no network'*'the container could not be started; sandtrace doctor may say why'* ]] || fail "$output"
    [[ $output != *'NOT HELD'* ]]
    run -0 verify_monitor --help
    [[ $output == *'Exit code'* ]]
    nothing_left_behind
}
