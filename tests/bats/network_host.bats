#!/usr/bin/env bats
# Containers in the host's network, told by their control group: the same policies hold for them, and nobody else in that
# network is touched. The host is a namespace of the suite's own: nothing is ever put into the machine's.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/net
load lib/docker
load lib/control

setup_file() {
    make_world
    require_docker
    make_net
    make_host
    ENGINE_NETNS=$WORLD/host start_dockerd --log-level warn
    make_root=make_net_rootfs make_image client:latest "$WORLD/client.tar" sh
    docker load -q -i "$WORLD/client.tar" >"$NOTES/load.log"
    # Docker keeps a mount from the first use of the host's network on.
    docker run --rm --runtime runc --network host client true
    start_local_services
}

teardown_file() {
    remove_all_containers || true
    remove_all_docker_containers || true
    end_containerd_of_dockerd
    for name in dockerd local names outsider; do stop_daemon "$name" || true; done
    end_host
    end_net
    end_world
}

setup() {
    configure host_network cgroup
    remember_what_is_there
}

teardown() {
    [ ! -e "$NOTES/daemons/outsider" ] || stop_daemon outsider
    [ -z "${nobody_is_left:-}" ] || clear_what_is_dead
    remove_all_docker_containers
    remove_all_containers
    configure on_worker_failure kill
    nothing_left_behind
    no_rules_left
    rm -f "$WORLD"/log/*
    forget_packets
}

make_net_rootfs() { make_rootfs "$1" && furnish_net "$1"; }

# What a host has on its loopback: a service, and a resolver that passes on.
start_local_services() {
    start_daemon local nsenter --net="$WORLD/host" /usr/bin/python3 "$net_lib/net_servers.py" "$WORLD/servers/local.log" tcp:6000 udp:6000
    start_daemon names nsenter --net="$WORLD/host" dnsmasq --no-daemon --conf-file=/dev/null --no-hosts --no-resolv --user=root --bind-interfaces \
        --listen-address=127.0.0.53 --server="$dns4" --cache-size=0
    daemon_answers local contains "$WORLD/servers/local.log" ready
    daemon_answers names local_name_is_known
}
local_name_is_known() { in_host "$ST_BUILDDIR/tests/attack/net" dns 127.0.0.53 53 allowed.example.test A | grep -qwF "$allowed4"; }

# Of all that we put there.
no_rules_left() {
    local left
    left=$(in_host nft list tables; in_host cat /proc/net/netfilter/nfnetlink_queue)
    [ -z "$left" ] || fail "$left"
}

# outside WORD ARGUMENT…: a process of the host that is in no container says this.
outside() {
    run in_host "$ST_BUILDDIR/tests/attack/net" "${@:2}"
    [ "$output" = "$1" ] || fail "outside, net ${*:2} says $output, not $1"
}

# outsiders_are_free: all that the box may not, and nothing of it is on its trace.
outsiders_are_free() {
    outside ok connect "$other4" 8080
    outside ok connect "$other6" 8080
    outside ok udp "$other4" 853 free
    outside ok ping "$other4" free
    outside "NOERROR $other4" dns "$dns4" 53 other.example.test A
    outside "NOERROR $other4" dns-tcp "$dns4" 53 other.example.test A
    outside ok connect 127.0.0.1 6000 free
    outside ok udp 127.0.0.1 6000 free
    run -0 in_host curl -sSf "http://$other4/"
    run -0 in_net "$ST_BUILDDIR/tests/attack/net" connect "$host4" 6000 from-elsewhere
    [ "$output" = ok ]
    [ "$(trace_count "$(id_of box)" '.payload.dst_port == 8080 or .payload.dst_port == 853 or .payload.dst_port == 6000 or .payload.src_ip != null')" -eq 0 ]
}

# start_outsider: a process of the host that sends and is answered all the time, to port 7001; is_undisturbed: it does.
start_outsider() { start_daemon outsider nsenter --net="$WORLD/host" "$ST_BUILDDIR/tests/attack/net" pulse tcp "$other4" 7001; }
outsider_packets() { packets "src host $host4 and dst port 7001" | wc -l; }
outsider_sent_more() { [ "$(outsider_packets)" -gt "$1" ]; }
is_undisturbed() {
    retry_until outsider_sent_more "$(($(outsider_packets) + 50))"
    [ "$(count_noted '.what == "accept" and .port == 7001')" -eq 1 ]
    [ "$(count_noted '.what == "close" and .port == 7001')" -eq 0 ]
}

# What nobody is left to clear away.
clear_what_is_dead() {
    plain_runc delete --force "$(id_of box)"
    in_host nft delete table inet "sandtrace-$(id_of box)"
    rm -rf "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/* "$(trace_of "$(id_of box)")"
}

web='{ host: allowed.example.test, ports: [80, 443] }'

# start_box: the container `box`, which stays.
start_box() {
    make_hosted box sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    start_hosted box
}

inside() { inside_of box "$@"; }
inside_of() { hosted_runtime exec "$(id_of "$1")" "${@:2}"; }

# remove_all_of NAME: it ends, and its trace is complete.
remove_all_of() {
    runtime delete --force "$(id_of "$1")"
    trace_is_complete "$(id_of "$1")"
}

# remove_box: it ends, its trace is complete, and of its rules nothing is left.
remove_box() {
    remove_all_of box
    rm -rf "$(bundle_of box)"
    no_rules_left
}

@test "what is allowed, by address and by name, works at the first time" {
    use_policy "$(to web "$web")" "$(to address "{ cidr: $other4, port: $sink }, { cidr: \"$other6\", port: $sink }")"
    start_box
    run -0 inside curl -sSf http://allowed.example.test/
    [ "$output" = "allowed.example.test by $allowed4" ]
    run -0 inside curl -6 -sSf https://allowed.example.test/
    says ok connect "$other4" "$sink" hello
    says ok connect "$other6" "$sink" hello
    says ok udp "$other4" "$sink" hello
    allowed_on_trace "$(at "$allowed4" 80 allowed.example.test) and .payload.process.exe == \"/usr/bin/curl\" and .verdict.policy_rule == \"web\""
    allowed_on_trace "$(at "$other4" "$sink") and .payload.process.exe == \"/bin/net\""
    retry_until trace_has "$(id_of box)" "$is_dns and .payload.name == \"allowed.example.test\" and $was_allowed and .payload.answers == [\"$allowed4\"]"
    remove_box
    trace_has "$(id_of box)" "$is_closed and $(at "$allowed4" 80 allowed.example.test) and .payload.bytes_sent > 100 and .payload.bytes_received > 100"
    trace_has "$(id_of box)" "$is_closed and $(at "$other6" "$sink") and .payload.packets_sent > 2"
    [ "$(trace_count "$(id_of box)" '.payload.blocked')" -eq 0 ]
}

@test "what is refused never arrives: addresses, names, a name at another's address; all is recorded" {
    use_policy "$(to web "$web")" "$(to shared '{ host: shared-good.example.test, port: 443 }')"
    start_box
    says ECONNREFUSED connect "$other4" "$sink" secret
    says ECONNREFUSED connect "$other6" "$sink" secret
    refuses udp "$other4" "$sink" secret
    refuses udp-connected "$other6" "$sink" secret
    says ECONNREFUSED connect "::ffff:$other4" "$sink" secret
    says REFUSED dns "$dns4" 53 other.example.test A
    says REFUSED dns-tcp "$dns4" 53 other.example.test A
    says ECONNREFUSED connect "$allowed4" "$sink" secret
    refuses dns "$rogue4" 53 allowed.example.test A
    run -0 inside curl -sSf https://shared-good.example.test/
    run ! inside curl -sS -k --connect-to "evil.test:443:shared-good.example.test:443" https://evil.test/
    never_arrived "host $other4 or host $other6 or host $rogue4 or (host $allowed4 and port $sink)"
    run ! name_arrived other.example.test
    run ! served '.sni == "evil.test"'
    refused_on_trace "$(at "$other4" "$sink") and .payload.protocol == \"tcp\" and .payload.process.exe == \"/bin/net\""
    refused_on_trace "$(at "$other6" "$sink") and .payload.protocol == \"udp\""
    refused_on_trace "$(at "$shared4" 443 evil.test)"
    retry_until trace_has "$(id_of box)" "$is_dns and .payload.name == \"other.example.test\" and $was_refused"
    outsiders_are_free
    remove_box
}

@test "a process of the host that is in no container is not disturbed, and not on the trace" {
    use_policy "$(to address "{ cidr: $other4, port: $sink }")"
    start_box
    start_outsider
    outsiders_are_free
    is_undisturbed
    # 2,000 of each at the same time: which are whose is never mixed up.
    in_host "$ST_BUILDDIR/tests/attack/net" burst "$other4" 8080 2000 >"$NOTES/outside" 3>&- &
    others=$!
    says 2000 burst "$other4" "$sink" 2000
    wait "$others"
    [ "$(cat "$NOTES/outside")" = 2000 ]
    says 0 burst "$other4" 80 500
    remove_box
    [ "$(trace_sum "$is_attempt and $was_allowed and $(at "$other4" "$sink")")" -eq 2000 ]
    [ "$(trace_sum "$is_closed and $(at "$other4" "$sink")")" -eq 2000 ]
    [ "$(trace_sum "$is_attempt and $was_refused and $(at "$other4" 80)")" -eq 500 ]
    [ "$(trace_count "$(id_of box)" '.payload.dst_port == 7001 or .payload.dst_port == 8080')" -eq 0 ]
    is_undisturbed
    outsiders_are_free
}

@test "services on the host's loopback are refused to the container, unless a rule names them" {
    use_policy "$(to web "$web")"
    start_box
    says ECONNREFUSED connect 127.0.0.1 6000 secret
    says ECONNREFUSED connect ::1 6000 secret
    says ECONNREFUSED connect "$host4" 6000 secret
    refuses udp 127.0.0.1 6000 secret
    outside ok connect 127.0.0.1 6000 free
    run ! grep secret "$WORLD/servers/local.log"
    refused_on_trace "$(at 127.0.0.1 6000) and .payload.protocol == \"tcp\""
    remove_box
    use_policy "$(to local "{ cidr: 127.0.0.1, port: 6000 }")"
    start_box
    says ok connect 127.0.0.1 6000 hello
    says ok udp 127.0.0.1 6000 hello
    says ECONNREFUSED connect "$host4" 6000 secret
    remove_box
    trace_has "$(id_of box)" "$is_closed and $(at 127.0.0.1 6000) and .payload.protocol == \"tcp\" and .payload.bytes_sent > 40"
}

@test "a resolver on the host's loopback is a resolver" {
    use_policy "$(to web "$web")"
    make_hosted box sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    echo 'nameserver 127.0.0.53' >"$NOTES/resolv.conf"
    edit_config "$(bundle_of box)" '(.mounts[] | select(.destination == "/etc/resolv.conf")).source = $file' --arg file "$NOTES/resolv.conf"
    start_hosted box
    run -0 inside curl -sSf http://allowed.example.test/
    says REFUSED dns 127.0.0.53 53 other.example.test A
    says REFUSED dns-tcp 127.0.0.53 53 other.example.test A
    # No other one is, and the resolver's other ports are none.
    says REFUSED dns 127.0.0.53 53 evil.test A
    refuses dns "$dns4" 53 allowed.example.test A
    run ! name_arrived other.example.test
    retry_until trace_has "$(id_of box)" "$is_dns and $was_allowed and .payload.server == \"127.0.0.53\" and .payload.answers == [\"$allowed4\"]"
    remove_box
}

@test "attack: a resolver of the container's own, at the address of a resolver, teaches nothing" {
    use_policy "$(to web "$web")" "$(to lo '{ cidr: 127.0.0.0/8 }')"
    make_hosted box sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    echo 'nameserver 127.0.0.54' >"$NOTES/resolv.conf"
    edit_config "$(bundle_of box)" '(.mounts[] | select(.destination == "/etc/resolv.conf")).source = $file' --arg file "$NOTES/resolv.conf"
    start_hosted box
    # It answers to nobody: what it would say is dropped as it leaves.
    run inside net own-resolver allowed.example.test "$other4" 80 127.0.0.54
    [[ $output == *ECONNREFUSED* && $output == *"did not answer"* ]] || fail "$output"
    # One elsewhere does, and is believed by nobody.
    says ECONNREFUSED own-resolver allowed.example.test "$other4" 80 127.0.0.1
    never_arrived "host $other4"
    remove_box
}

@test "attack: sockets of kinds that no rule of the group sees are refused" {
    use_policy "$(to web "$web")"
    start_box
    for family in 3 5 9 17 21 24 29 30 31 33 40 41 43 44 45; do
        run inside net socket "$family" 5 0
        [[ $output == @(EPERM|ENOSYS) ]] || fail "family $family: $output"
    done
    for family in 1 2 10 16; do says ok socket "$family" 2 0; done
    remove_box
}

@test "attack: a mark that the container sets is worth nothing" {
    use_policy "$(to web "$web")"
    start_box
    says unmarked-EPERM mark 0x04000000 "$other4" "$sink"
    # Who is put in with the capability may, and gains nothing.
    for mark in 1 5 0x04000000 0x08000000 0x10000000 0x24000000 0xffffffff; do
        run in_host runc --root "$WORLD/root" exec --cap CAP_NET_ADMIN "$(id_of box)" net mark "$mark" "$other4" "$sink"
        [ "$output" = ECONNREFUSED ]
    done
    never_arrived "host $other4"
    remove_box
}

@test "marks that others use are kept, of packets and of flows" {
    use_policy "$(to web "$web")" "$(to address "{ cidr: $other4, port: $sink }")"
    in_host nft -f - <<END2
table inet others {
    chain before { type filter hook output priority -150; ct state new ct mark set 0x8000; meta mark set 0x40004000; }
    chain behind { type filter hook postrouting priority 300;
        meta mark 0x40004000 ct mark and 0x03ffffff == 0x8000 tcp dport { 80, $sink } counter comment "kept"
        tcp dport { 80, $sink } meta mark != 0x40004000 counter comment "lost"
        tcp dport { 80, $sink } ct mark and 0x03ffffff != 0x8000 counter comment "lost"
    }
}
END2
    start_box
    run -0 inside curl -sSf http://allowed.example.test/
    says ok connect "$other4" "$sink" hello
    run in_host nft list table inet others
    in_host nft delete table inet others
    [[ $output =~ counter\ packets\ [1-9][0-9]*\ bytes\ [0-9]+\ comment\ \"kept\" ]] || fail "$output"
    [ "$(grep -c 'packets 0 bytes 0 comment "lost"' <<<"$output")" -eq 2 ] || fail "$output"
    remove_box
}

@test "two containers under different policies, and a flow from one to the other" {
    use_policy "$(to address "{ cidr: $other4, port: $sink }, { cidr: 127.0.0.1, port: 8000 }")"
    start_box
    write_net_policy second "$(to address "{ cidr: $other4, port: 7001 }")"
    configure default_policy second
    make_hosted second sh -c 'while :; do echo served | nc.openbsd -lN 8000; done'
    start_hosted second
    says ok connect "$other4" "$sink" hello
    says ECONNREFUSED connect "$other4" 7001 secret
    run inside_of second net connect "$other4" 7001 hello
    [ "$output" = ok ]
    run inside_of second net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    run ! noted '.text == "secret"'
    retry_until inside sh -c 'nc.openbsd -d 127.0.0.1 8000 | grep served'
    remove_all_of second
    says ok connect "$other4" "$sink" hello
    says ECONNREFUSED connect "$other4" 7001 secret
    remove_box
    trace_has "$(id_of box)" "$is_closed and $(at 127.0.0.1 8000) and .payload.bytes_received > 40"
    trace_has "$(id_of second)" "$is_ingress and .payload.src_ip == \"127.0.0.1\" and .payload.state == \"closed\" and .payload.bytes_sent > 40"
    [ "$(trace_count "$(id_of box)" '.payload.dst_port == 7001 and .verdict.result == "allow"')" -eq 0 ]
    [ "$(trace_count "$(id_of second)" ".payload.dst_port == $sink and .verdict.result == \"allow\"")" -eq 0 ]
}

@test "a container that may not be come in to is not, though another that began the flow may" {
    use_policy "$(to local "{ cidr: 127.0.0.1, port: 8000 }")"
    start_box
    write_net_policy second
    sed -i 's/network_ingress: allow/network_ingress: deny/' "$WORLD/policies/second.yaml"
    configure default_policy second
    make_hosted second sh -c 'while :; do echo served | nc.openbsd -lN 8000; done'
    start_hosted second
    retry_until inside_of second sh -c 'netstat -ltn | grep -q :8000'
    run ! in_net nc.openbsd -d -w 2 "$host4" 8000
    run ! in_host nc.openbsd -d -w 2 127.0.0.1 8000
    run ! inside nc.openbsd -d -w 2 127.0.0.1 8000
    retry_until trace_has "$(id_of second)" "$is_ingress and .payload.src_ip == \"$gateway4\" and $was_refused"
    retry_until trace_has "$(id_of second)" "$is_ingress and .payload.src_ip == \"127.0.0.1\" and $was_refused"
    # Who listens there and is in no container is come in to.
    run -0 in_net "$ST_BUILDDIR/tests/attack/net" connect "$host4" 6000 free
    remove_all_of second
    remove_box
}

@test "who comes in is served and recorded, by TCP and UDP" {
    use_policy "$(to web "$web")"
    make_hosted box /usr/bin/python3 -c "
import socket, threading
u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); u.bind(('::', 8000))
t = socket.socket(socket.AF_INET6); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); t.bind(('::', 8000)); t.listen()
def echo():
    while True:
        data, peer = u.recvfrom(100); u.sendto(data, peer)
threading.Thread(target=echo, daemon=True).start()
while True:
    c, _ = t.accept(); c.send(c.recv(100)); c.close()"
    start_hosted box
    for to in "$host4" "$host6"; do
        retry_until in_net "$ST_BUILDDIR/tests/attack/net" connect "$to" 8000 hello
        run -0 in_net "$ST_BUILDDIR/tests/attack/net" udp "$to" 8000 hello
        [ "$output" = ok ]
    done
    for protocol in tcp udp; do
        retry_until trace_has "$(id_of box)" "$is_ingress and .payload.src_ip == \"$gateway4\" and $was_allowed and .payload.protocol == \"$protocol\""
        retry_until trace_has "$(id_of box)" "$is_ingress and .payload.src_ip == \"$gateway6\" and $was_allowed and .payload.protocol == \"$protocol\""
    done
    remove_box
    trace_has "$(id_of box)" "$is_ingress and .payload.state == \"closed\" and .payload.bytes_sent > 40"
}

@test "the byte over the limit does not leave" {
    use_policy "$(to limited "{ cidr: $allowed4, port: $sink }" 'max_bytes_per_call: 10000')"
    start_box
    tries send "$allowed4" "$sink" 100000
    [ "$(bytes_arrived "src host $host4 and dst host $allowed4 and port $sink")" -le 10000 ]
    retry_until trace_has "$(id_of box)" "$is_egress and .verdict.result == \"anomaly\" and $(at "$allowed4" "$sink")"
    remove_box
}

@test "what is held has not left, and goes on when it is approved; a reload is heeded" {
    use_policy "$(to web "$web")" -- 'on_violation: { low: pause, medium: pause, high: pause, critical: pause }' 'pause: { hold: true, timeout: 0 }'
    start_box
    start_outsider
    inside curl -sSf "http://$other4:8080/" >"$NOTES/client" 2>&1 3>&- </dev/null &
    client=$!
    pause=$(held box)
    never_arrived "host $other4 and port 8080"
    is_undisturbed
    sandtrace approve "$pause"
    wait "$client"
    [ "$(cat "$NOTES/client")" = "$other4 by $other4" ]
    write_net_policy "net-$BATS_TEST_NUMBER" "$(to address "{ cidr: $other4, port: $sink }")"
    sandtrace reload "$(id_of box)"
    says ok connect "$other4" "$sink" hello
    says ECONNREFUSED connect "$allowed4" 80
    is_undisturbed
    remove_box
}

# unsent ENDING: the container says the beginning of a request to a name, which waits for its rest, and is gone.
unsent() {
    use_policy "$(to web "$web")"
    make_hosted box /usr/bin/python3 -c "
import socket, time
s = socket.create_connection(('allowed.example.test', 80)); s.send(b'GET /secret'); print('sent', flush=True); time.sleep(1000)"
    start_hosted box
    retry_until contains "$NOTES/box.log" sent
    "$@"
    trace_is_complete "$(id_of box)"
    no_rules_left
    # The kernel would have tried again several times by now, as it did without us.
    run in_host ss --tcp --all --no-header "dst $allowed4"
    [[ $output != *FIN-WAIT-1* ]] || fail "$output"
    run ! text_arrived GET
    outsiders_are_free
}

@test "what was not judged when the container ended does not leave afterwards" { unsent runtime delete --force "$(id_of box)"; }

@test "what was not judged when the worker was killed does not leave afterwards" { unsent kill_worker; }
kill_worker() { kill -KILL "$(state_of "$(id_of box)" worker)"; }

# ---- when we die -----------------------------------------------------------------------------------------------------

# start_pulse tcp|udp|new: a flow of the container that is approved and goes on.
start_pulse() {
    use_policy "$(to address "{ cidr: $other4, port: $sink }")"
    make_hosted box net pulse "$1" "$other4" "$sink"
    start_hosted box
    retry_until contains "$NOTES/box.log" ok
    start_outsider
}
pulses="src host $host4 and port $sink"

# goes_on: the program runs, whatever becomes of its packets.
switches() { sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$(cat "$NOTES/box.pid")/status"; }
switches_more_than() { [ "$(switches)" -gt "$1" ]; }
goes_on() { retry_until switches_more_than "$(($(switches) + 20))"; }

ends_with_us() {
    nobody_is_left=yes
    start_pulse "$1"
    time=$(kill_both)
    goes_on
    retry_until is_silent "$pulses"
    late=$(packets_after "$(awk -v t="$time" 'BEGIN { printf "%.6f", t + 2.2 }')" "$pulses")
    [ -z "$late" ] || fail "$(head -n 3 <<<"$late")"
    goes_on
    is_undisturbed
    outside ok connect "$other4" 7000 free
    outside "NOERROR $other4" dns "$dns4" 53 other.example.test A
    outside ok connect 127.0.0.1 6000 free
}

@test "worker and warden killed: an approved TCP flow stops within two seconds, and others go on" { ends_with_us tcp; }

@test "worker and warden killed: an approved UDP flow stops within two seconds, and others go on" { ends_with_us udp; }

@test "worker and warden killed: no new flow begins, and others go on" { ends_with_us new; }

@test "worker killed: the container ends, nothing of it leaves, others go on, and no rule is left" {
    start_pulse tcp
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until runtime_status_is box stopped
    time=$(now)
    trace_is_complete "$(id_of box)"
    [ -z "$(packets_after "$time" "$pulses and tcp[tcpflags] & tcp-push != 0")" ]
    no_rules_left
    is_undisturbed
}

@test "worker killed, and the container only paused: thawed by somebody else, it still sends nothing" {
    configure on_worker_failure pause
    start_pulse tcp
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until is_frozen box
    time=$(now)
    thaw_cgroups_of_world
    retry_until is_silent "$pulses"
    late=$(packets_after "$time" "$pulses")
    [ -z "$late" ] || fail "$(head -n 3 <<<"$late")"
    is_undisturbed
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
    no_rules_left
}

@test "what a dead one has left is replaced when its container starts again" {
    nobody_is_left=yes
    start_pulse tcp
    kill_both
    plain_runc delete --force "$(id_of box)"
    rm -rf "$(bundle_of box)" "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/* "$(trace_of "$(id_of box)")"
    nobody_is_left=
    use_policy "$(to address "{ cidr: $other4, port: 80 }")"
    start_box
    says ECONNREFUSED connect "$other4" "$sink" secret
    says ok connect "$other4" 80
    remove_box
}

# ---- who is refused ----------------------------------------------------------------------------------------------------

@test "with CAP_NET_RAW or CAP_NET_ADMIN such a container is not started, with the reason and what to do" {
    use_policy "$(to web "$web")"
    for capability in CAP_NET_RAW CAP_NET_ADMIN; do
        make_hosted box true
        allow_capability box "$capability"
        run start_hosted box
        [ "$status" -ne 0 ]
        [[ $output == *"$capability"*"--cap-drop ${capability#CAP_}"* ]]
        no_rules_left
        rm -rf "$(bundle_of box)"
    done
}

@test "the host's network is refused by default, with the reason" {
    sed -i '/^host_network:/d' "$SANDTRACE_CONFIG"
    use_policy "$(to web "$web")"
    make_hosted box true
    run start_hosted box
    [ "$status" -ne 0 ]
    [[ $output == *"host_network: cgroup"* ]]
    no_rules_left
}

@test "without a cgroup2 group of its own such a container is not started, with the reason" {
    use_policy "$(to web "$web")"
    make_hosted box true
    # Where version 1 is all that there is. On a machine without it the runtime itself refuses.
    run in_host unshare --mount --propagation private sh -c 'umount /sys/fs/cgroup/unified 2>/dev/null || umount -l /sys/fs/cgroup; exec "$@"' sh \
        "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$status" -ne 0 ]
    [ ! -e /sys/fs/cgroup/unified ] || [[ $output == *"host_network: cgroup needs a cgroup2 group of its own"* ]] || fail "$output"
    no_rules_left
    runtime delete --force "$(id_of box)" || true
}

@test "in audit mode everything arrives, also by a packet socket, and is recorded" {
    use_policy "$(to web "$web")" -- 'mode: audit'
    make_hosted box sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    allow_capability box CAP_NET_RAW
    start_hosted box
    says ok connect "$other4" "$sink" hello
    says "NOERROR $other4" dns "$dns4" 53 other.example.test A
    says ok packet plain eth0 "$other4" "$sink" frame
    trace_has "$(id_of box)" '[.payload.sensors[]? | select(.name == "network") | .detail] | any(test("packet sockets"))'
    retry_until trace_has "$(id_of box)" "$is_attempt and $(at "$other4" "$sink") and .verdict.result == \"deny\" and (.payload.blocked | not)"
    outsiders_are_free
    remove_box
}

# ---- docker ------------------------------------------------------------------------------------------------------------

@test "docker --network host: what is allowed works at the first time, nothing else arrives, others are not disturbed" {
    use_policy "$(to web "$web")" "$(to address "{ cidr: $allowed4, port: $sink }")"
    run docker run --rm --network host client true
    [ "$status" -ne 0 ]
    [[ $output == *"--cap-drop NET_RAW"* ]]
    docker run -d --name box --network host --cap-drop NET_RAW --dns "$dns4" client sleep 1000 >/dev/null
    id=$(docker_id box)
    run docker exec box wget -qO- http://allowed.example.test/
    [ "$output" = "allowed.example.test by $allowed4" ]
    run docker exec box net connect "$allowed4" "$sink" hello
    [ "$output" = ok ]
    run docker exec box net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    run docker exec box net connect 127.0.0.1 6000 secret
    [ "$output" = ECONNREFUSED ]
    run docker exec box net dns "$dns4" 53 other.example.test A
    [ "$output" = REFUSED ]
    never_arrived "host $other4"
    outside ok connect "$other4" "$sink" free
    retry_until trace_has "$id" "$is_attempt and $was_refused and $(at "$other4" "$sink") and .payload.process.exe == \"/bin/net\""
    docker rm -f box
    trace_is_complete "$id"
    trace_has "$id" "$is_closed and $(at "$allowed4" "$sink")"
}
