#!/usr/bin/env bats
# The network by the engines, each with the network that it makes itself: docker's bridges and its resolver, podman's
# by netavark or CNI, a namespace for ctr, a pod by CRI. All of them run in the suite's own namespace (lib/net.bash).
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/net
load lib/docker
load lib/podman
load lib/containerd
load lib/control

setup_file() {
    make_world
    require_docker
    require_podman
    require_containerd
    make_net
    start_docker_with_networks
    configure_podman_network
    export POD_ROUTES='[{"dst": "0.0.0.0/0"}]'
    start_containerd
    make_images
    # Docker keeps a mount from the first use of the host's network on.
    docker run --rm --runtime runc --network host client true
}

teardown_file() {
    remove_all_docker_containers || true
    end_containerd_of_dockerd
    end_podman
    remove_all_containerd_containers || true
    stop_daemon containerd || true
    stop_daemon dockerd || true
    end_net
    end_world
}

setup() {
    remember_what_is_there
    use_policy "$(to web '{ host: allowed.example.test, ports: [80, 443] }')" "$(to address "{ cidr: $allowed4, port: $sink }, { cidr: \"$allowed6\", port: $sink }")"
}

teardown() {
    remove_all_docker_containers
    remove_all_podman_containers
    remove_all_containerd_containers
    [ ! -e "$WORLD/pod" ] || { umount -l "$WORLD/pod"; rm -f "$WORLD/pod"; }
    retry_until unplugged 2
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

start_docker_with_networks() {
    # The default bridge is the suite's: no embedded resolver there. A network of docker's own has one.
    start_dockerd --live-restore --log-level warn --bridge plug --dns "$dns4"
    docker network inspect own >/dev/null 2>&1 ||
        docker network create --subnet 10.78.0.0/24 --ipv6 --subnet fd78::/64 -o com.docker.network.bridge.name=plug-own own >/dev/null
    docker network inspect second >/dev/null 2>&1 ||
        docker network create --subnet 10.79.0.0/24 -o com.docker.network.bridge.name=plug-second second >/dev/null
}

# With netavark where it is installed, as podman itself would choose; else with CNI.
configure_podman_network() {
    local backend=cni
    [ ! -x /usr/lib/podman/netavark ] || backend=netavark
    configure_podman
    mkdir -p "$WORLD/podman-net"
    printf '[network]\nnetwork_backend = "%s"\nnetwork_config_dir = "%s"\ncni_plugin_dirs = ["/usr/lib/cni"]\n' "$backend" "$WORLD/podman-net" >>"$CONTAINERS_CONF"
    "make_podman_network_by_$backend"
}

make_podman_network_by_netavark() {
    cat >"$WORLD/podman-net/own.json" <<END2
{"name": "own", "id": "$(printf own | sha256sum | cut -d' ' -f1)", "driver": "bridge", "network_interface": "plug-podman",
 "subnets": [{"subnet": "10.80.0.0/24", "gateway": "10.80.0.1"}, {"subnet": "fd80::/64", "gateway": "fd80::1"}],
 "ipv6_enabled": true, "internal": false, "dns_enabled": false, "ipam_options": {"driver": "host-local"}}
END2
}

make_podman_network_by_cni() {
    cat >"$WORLD/podman-net/own.conflist" <<END2
{"cniVersion": "0.4.0", "name": "own", "plugins": [{"type": "bridge", "bridge": "plug-podman", "isGateway": true, "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": "$WORLD/podman-ipam", "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}],
 "ranges": [[{"subnet": "10.80.0.0/24"}], [{"subnet": "fd80::/64"}]]}}]}
END2
}

make_net_rootfs() { make_rootfs "$1" && furnish_net "$1"; }

make_images() {
    make_root=make_net_rootfs make_image docker.io/library/client:latest "$WORLD/client.tar" sh
    make_image docker.io/library/pause:latest "$WORLD/pause.tar" sleep 1000000
    {
        docker load -q -i "$WORLD/client.tar"
        podman load -q -i "$WORLD/client.tar"
        ctr images import "$WORLD/client.tar"
        ctr -n k8s.io images import "$WORLD/client.tar"
        ctr -n k8s.io images import "$WORLD/pause.tar"
    } >"$NOTES/load.log"
}

image=docker.io/library/client:latest

# What a client tries, one line each; all of it, one after the other.
trial="wget -qO- http://allowed.example.test/ || echo failed
net connect $allowed4 $sink hello
net connect $other4 $sink secret
net udp $other4 $sink secret
wget -qO- http://other.example.test/ >/dev/null 2>&1 && echo secret || echo refused
net packet plain eth0 $other4 $sink secret
echo over"

# Everything: without us.
all_arrived() {
    [[ $output == *"allowed.example.test by $allowed4"*over* ]] || fail "$output"
    run ! grep -E 'failed|refused' <<<"$output"
    arrived "tcp and dst host $other4 and port $sink"
    arrived "tcp and dst host $other4 and port 80"
    retry_until noted ".to == \"$other4\" and .what == \"datagram\" and .text == \"secret\""
    retry_until name_arrived other.example.test
}

# trial_was_judged ID: by us: what is allowed at the first time, the rest not at all, and all on the trace.
trial_was_judged() {
    [[ $output == *"allowed.example.test by $allowed4"*ok*ECONNREFUSED*refused*over* ]] || fail "$output"
    never_arrived "host $other4 or host $other6"
    run ! name_arrived other.example.test
    run ! text_arrived secret
    retry_until trace_has "$1" "$is_attempt and $was_allowed and $(at "$allowed4" 80 allowed.example.test) and (.payload.process.exe | startswith(\"/bin/\"))"
    retry_until trace_has "$1" "$is_dns and $was_allowed and .payload.name == \"allowed.example.test\""
    retry_until trace_has "$1" "$is_dns and $was_refused and .payload.name == \"other.example.test\""
    retry_until trace_has "$1" "$is_attempt and $was_refused and $(at "$other4" "$sink") and .payload.protocol == \"tcp\" and .payload.process.exe == \"/bin/net\""
    retry_until trace_has "$1" "$is_attempt and $was_refused and $(at "$other4" "$sink") and .payload.protocol == \"udp\""
}

# ---- docker --------------------------------------------------------------------------------------------------------

@test "control: by docker with runc everything arrives, on both kinds of bridge" {
    for network in bridge own; do
        run -0 docker run --rm --runtime runc --network "$network" --dns "$dns4" client sh -c "$trial"
        all_arrived
    done
}

@test "docker, default bridge: what is allowed works at the first time, and nothing else arrives" {
    run -0 docker run --name box --dns "$dns4" client sh -c "$trial"
    trial_was_judged "$(docker_id box)"
    trace_is_complete "$(docker_id box)"
    trace_has "$(docker_id box)" "$is_closed and $(at "$allowed4" "$sink") and .payload.bytes_sent > 40"
}

@test "docker, a network of its own with its own resolver: what is allowed works at the first time, and nothing else arrives" {
    run -0 docker run --name box --network own --dns "$dns4" client sh -c "grep 127.0.0.11 /etc/resolv.conf; $trial"
    [[ $output == *127.0.0.11* ]]
    trial_was_judged "$(docker_id box)"
    trace_is_complete "$(docker_id box)"
}

@test "docker, a network of its own: by IPv6 too" {
    run -0 docker run --name box --network own --dns "$dns4" client sh -c "net connect $allowed6 $sink hello; net connect $other6 $sink secret || true"
    [[ $output == ok*ECONNREFUSED ]]
    never_arrived "host $other6"
}

@test "docker: names of other containers are not known to who may not ask for them" {
    docker run -d --name neighbour --network own client sleep 1000 >/dev/null
    run -0 docker run --name box --network own client net dns 127.0.0.11 53 neighbour A
    [ "$output" = REFUSED ]
}

@test "docker: an interface that comes later is under the same rules" {
    docker run -d --name box client sleep 1000 >/dev/null
    docker network connect second box
    run docker exec box net connect "$allowed4" "$sink" hello
    [ "$output" = ok ]
    run docker exec box net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    for device in eth0 eth1; do docker exec box net packet plain "$device" "$other4" "$sink" secret || true; done
    never_arrived "host $other4"
    docker network disconnect bridge box
    run docker exec box net connect "$other4" "$sink" secret
    [ "$output" != ok ]
    never_arrived "host $other4"
    docker rm -f box
}

# With the other, docker takes its interface away: what is left has no network, and no way to get one.
@test "docker: a container in another's network is under its rules, also when the other has gone" {
    docker run -d --name box client sleep 1000 >/dev/null
    docker run -d --name joined --network container:box client sleep 1000 >/dev/null
    id=$(docker_id box)
    run docker exec joined net connect "$allowed4" "$sink" hello
    [ "$output" = ok ]
    run docker exec joined net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    docker rm -f box
    trace_is_complete "$id"
    retry_until trace_has "$(docker_id joined)" '.event_type == "sensor" and .payload.name == "network" and .payload.state == "on"'
    run docker exec joined net connect "$other4" "$sink" secret
    [ "$output" != ok ]
    never_arrived "host $other4"
}

@test "docker: the host's network is refused under an enforcing policy, on docker's own error line" {
    run docker run --rm --network host client true
    [ "$status" -ne 0 ]
    [[ $output == *host_network* ]]
}

@test "docker: NET_ADMIN and --privileged are refused under an enforcing policy, on docker's own error line" {
    run ! docker run --rm --cap-add=NET_ADMIN client true
    [[ $output == *CAP_NET_ADMIN* ]]
    run ! docker run --rm --privileged client true # for whatever of it is seen first
    [[ $output == *"sandtrace: the container can "* ]]
}

@test "docker: without a network it runs as ever" {
    run -0 docker run --name box --network none client sh -c "net connect $other4 $sink; echo over"
    [[ $output == ENETUNREACH*over ]]
    trace_is_complete "$(docker_id box)"
}

@test "docker: a restart of the engine disturbs no flow, and lifts no rule" {
    docker run -d --name box client net pulse tcp "$allowed4" "$sink" >/dev/null
    id=$(docker_id box)
    retry_until eval '[ "$(docker logs box)" = ok ]'
    stop_dockerd
    seen=$(packets "tcp and dst host $allowed4 and port $sink" | wc -l)
    retry_until eval "[ \$(packets 'tcp and dst host $allowed4 and port $sink' | wc -l) -gt $((seen + 100)) ]"
    start_docker_with_networks
    remember_what_is_there
    docker_is box running
    # Not by exec: after a restart dockerd keeps the connection of one open, with runc too.
    run nsenter -n -t "$(docker inspect -f '{{.State.Pid}}' box)" "$ST_BUILDDIR/tests/attack/net" connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    never_arrived "host $other4"
    # One connection from first to last.
    [ "$(count_noted '.what == "accept"')" -eq 1 ]
    [ "$(count_noted '.what == "close"')" -eq 0 ]
    docker rm -f box
    trace_is_complete "$id"
}

@test "docker: what is held goes on when it is approved, and the client sees a slow connect" {
    use_policy "$(to web '{ host: allowed.example.test, port: 80 }')" -- \
        'on_violation: { low: pause, medium: pause, high: pause, critical: pause }' 'pause: { hold: true, timeout: 0 }'
    docker run -d --name box client wget -qO- "http://$other4/" >/dev/null
    retry_until eval '[ -n "$(sandtrace pending)" ]'
    never_arrived "host $other4"
    sandtrace approve "$(sandtrace pending | jq -r .pause_id)"
    run -0 docker wait box
    [ "$output" = 0 ]
    [ "$(docker logs box)" = "$other4 by $other4" ]
}

# ---- podman --------------------------------------------------------------------------------------------------------

@test "control: by podman with runc everything arrives" {
    run -0 podman --runtime plain run --rm --cgroup-parent "/$WORLD_NAME" --cap-add NET_RAW --network own --dns "$dns4" client sh -c "$trial"
    all_arrived
}

@test "podman: what is allowed works at the first time, and nothing else arrives" {
    run -0 podman_run --name box --cap-add NET_RAW --network own --dns "$dns4" client sh -c "$trial"
    trial_was_judged "$(podman_id box)"
    trace_is_complete "$(podman_id box)"
}

@test "podman by its hooks directory alone: what is allowed works at the first time, and nothing else arrives" {
    install_hooks
    run -0 by_hooks --name box --cap-add NET_RAW --network own --dns "$dns4" client sh -c "$trial"
    trial_was_judged "$(podman_id box)"
    trace_is_complete "$(podman_id box)"
}

@test "podman: a container in another's network is under its rules" {
    podman_run -d --name box --network own client sleep 1000 >/dev/null
    run podman_run --rm --network container:box client net connect "$other4" "$sink" secret
    [[ $output == *ECONNREFUSED* ]]
    never_arrived "host $other4"
    run podman exec box net connect "$allowed4" "$sink" hello
    [ "$output" = ok ]
    run podman exec box net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
}

@test "podman: the host's network and NET_ADMIN are refused under an enforcing policy, on podman's own error line" {
    run podman_run --rm --network host client true
    [ "$status" -ne 0 ]
    [[ $output == *host_network* ]]
    run podman_run --rm --network own --cap-add NET_ADMIN client true
    [ "$status" -ne 0 ]
    [[ $output == *CAP_NET_ADMIN* ]]
}

@test "podman: NET_ADMIN in a user namespace is held from outside, if the configuration says so" {
    configure net_admin outside
    podman_run -d --name box --uidmap 0:100000:65536 --cap-add NET_ADMIN --network own client sleep 1000 >/dev/null
    run podman exec box net connect "$allowed4" "$sink" hello
    [ "$output" = ok ]
    run podman exec box net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    in_net nft list tables | grep -q 'netdev sandtrace_'
    # Not in the machine's.
    run podman_run --rm --network own --cap-add NET_ADMIN client true
    [ "$status" -ne 0 ]
    [[ $output == *"user namespace"* ]]
    podman rm -f -t 0 box >/dev/null
    retry_until eval '! in_net nft list tables | grep -q sandtrace_'
    configure net_admin refuse
}

# ---- containerd ------------------------------------------------------------------------------------------------------

# make_pod_namespace: with an interface, as a CNI would leave it.
make_pod_namespace() {
    touch "$WORLD/pod"
    unshare --net="$WORLD/pod" true
    plug "$WORLD/pod" 2
}

@test "control: by ctr with runc everything arrives" {
    make_pod_namespace
    run -0 ctr run --rm --cgroup "/$WORLD_NAME/control" --cap-add CAP_NET_RAW --with-ns "network:$WORLD/pod" "$image" "$WORLD_NAME-control" sh -c "$trial"
    all_arrived
}

# ctr mounts no resolv.conf, and that of the image is not believed.
@test "ctr: what is allowed works at the first time, and nothing else arrives" {
    configure resolvers "[$dns4]"
    make_pod_namespace
    run -0 ctr_run --rm --cap-add CAP_NET_RAW --with-ns "network:$WORLD/pod" "$image" "$WORLD_NAME-box" sh -c "$trial"
    trial_was_judged "$WORLD_NAME-box"
    trace_is_complete "$WORLD_NAME-box"
}

@test "ctr: a namespace that outlives its container is left as it was" {
    make_pod_namespace
    run -0 ctr_run --rm --with-ns "network:$WORLD/pod" "$image" "$WORLD_NAME-box" net connect "$allowed4" "$sink" hello
    trace_is_complete "$WORLD_NAME-box"
    run nsenter --net="$WORLD/pod" "$ST_BUILDDIR/tests/attack/net" connect "$other4" "$sink" free
    [ "$output" = ok ]
}

@test "a pod by CRI: all its containers are under the rules, and those that follow" {
    pod=$(cri RunPodSandbox "$WORLD_NAME-pod" sandtrace "/$WORLD_NAME" "dns=$dns4")
    for name in one two; do
        id=$(cri CreateContainer "$pod" "$name" "$image" -- sleep 1000)
        cri StartContainer "$id"
        [ "$(cri ExecSync "$id" wget -qO- http://allowed.example.test/)" = "allowed.example.test by $allowed4" ]
        run cri ExecSync "$id" net connect "$other4" "$sink" secret
        [[ $output == *ECONNREFUSED* ]]
        run cri ExecSync "$id" net dns "$dns4" 53 other.example.test A
        [[ $output == *REFUSED* ]]
        never_arrived "host $other4"
        run ! name_arrived other.example.test
        retry_until trace_has "$id" "$is_attempt and $was_refused and $(at "$other4" "$sink")"
        [ "$name" = two ] || { cri StopContainer "$id" 0; cri RemoveContainer "$id"; }
    done
    cri StopPodSandbox "$pod"
    cri RemovePodSandbox "$pod"
    trace_is_complete "$pod"
    trace_is_complete "$id"
}
