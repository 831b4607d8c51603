#!/usr/bin/env bats
# The network, by runc: what a policy allows works at once and is recorded with its name, its bytes and who did it;
# what it does not allow never arrives on the other side. network_control.bats shows that without us it does.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/net

setup_file() {
    make_world
    make_net
}

teardown_file() {
    remove_all_containers || true
    end_net
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    retry_until unplugged 2
    retry_until unplugged 3
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

web='{ host: allowed.example.test, ports: [80, 443, 8080] }'

# reaches PROGRAM COMMAND…: it works at the first time, and the trace has both ends of the flow with its name and who
# it was.
reaches() {
    use_policy "$(to web "$web")"
    start_box
    run -0 inside "${@:2}"
    allowed_on_trace ".payload.dst_host == \"allowed.example.test\" and (.payload.process.exe | startswith(\"$1\")) and .verdict.policy_rule == \"web\""
    trace_has "$(id_of box)" "$is_dns and .payload.name == \"allowed.example.test\" and $was_allowed and (.payload.process.exe | startswith(\"$1\"))"
    remove_box
    trace_has "$(id_of box)" "$is_closed and .payload.dst_host == \"allowed.example.test\" and .payload.bytes_sent > 100 and
        .payload.bytes_received > 100 and .payload.packets_sent > 2 and .payload.packets_received > 2 and .payload.duration_ms >= 0"
    [ "$(trace_count "$(id_of box)" '.payload.blocked')" -eq 0 ]
}

@test "curl gets what is allowed at the first time, by HTTP" { reaches /usr/bin/curl curl -sSf http://allowed.example.test/; }

@test "curl gets what is allowed at the first time, by HTTPS" { reaches /usr/bin/curl curl -sSf https://allowed.example.test/; }

@test "curl gets what is allowed at the first time, by IPv6" { reaches /usr/bin/curl curl -6 -sSf https://allowed.example.test/; }

@test "curl gets what is allowed at the first time, in upper case and with a dot at the end" {
    reaches /usr/bin/curl curl -sSf http://ALLOWED.Example.TEST.:8080/
}

@test "wget gets what is allowed at the first time" { reaches /usr/bin/wget /usr/bin/wget -qO- https://allowed.example.test/ --ca-certificate=/etc/ca.pem; }

@test "busybox gets what is allowed at the first time" { reaches /bin/ /bin/wget -qO- http://allowed.example.test/; }

@test "python gets what is allowed at the first time" {
    reaches /usr/bin/python3 /usr/bin/python3 -c 'import urllib.request; print(urllib.request.urlopen("https://allowed.example.test/").read())'
}

@test "node gets what is allowed at the first time" {
    reaches /usr/bin/node node -e 'require("http").get("http://allowed.example.test/", r => r.pipe(process.stdout))'
}

@test "git clones what is allowed at the first time" {
    reaches /usr/lib/git-core git clone -q http://allowed.example.test/project.git /tmp/project
}

@test "nc talks to an address that is allowed" {
    use_policy "$(to address "{ cidr: $other4/32, port: $sink, protocol: tcp }")"
    start_box
    run -0 inside sh -c "echo hello | nc.openbsd -N $other4 $sink"
    [ "$output" = hello ]
    allowed_on_trace "$(at "$other4" "$sink") and .payload.process.exe == \"/usr/bin/nc.openbsd\" and .payload.protocol == \"tcp\""
    remove_box
    trace_has "$(id_of box)" "$is_closed and $(at "$other4" "$sink") and .payload.bytes_sent > 40"
}

@test "a name that no rule allows is refused at once to every client, and leaves the container by no way" {
    use_policy "$(to web "$web")"
    start_box
    says REFUSED dns "$dns4" 53 other.example.test A
    says REFUSED dns "$dns4" 53 other.example.test AAAA
    says REFUSED dns "$dns4" 53 other.example.test TXT
    says REFUSED dns-tcp "$dns4" 53 other.example.test A
    says REFUSED dns-tcp "$dns4" 53 other.example.test A split
    run -6 inside curl -sS http://other.example.test/
    run ! inside /usr/bin/wget -qO- http://other.example.test/
    run ! inside /bin/wget -qO- http://other.example.test/
    run ! inside /usr/bin/python3 -c 'import urllib.request; urllib.request.urlopen("http://other.example.test/")'
    run ! inside node -e 'require("http").get("http://other.example.test/")'
    run ! inside git clone -q http://other.example.test/project.git /tmp/project
    run ! inside nc.openbsd -N other.example.test 80
    run ! name_arrived other.example.test
    never_arrived "host $other4 or host $other6"
    for exe in /bin/net /usr/bin/curl; do
        retry_until trace_has "$(id_of box)" "$is_dns and .payload.name == \"other.example.test\" and $was_refused and
            .payload.process.exe == \"$exe\" and .payload.server == \"$dns4\""
    done
    remove_box
}

@test "an address that no rule allows: TCP and UDP are refused at once, nothing arrives, and all is recorded" {
    use_policy "$(to web "$web")"
    start_box CAP_NET_RAW
    says ECONNREFUSED connect "$other4" "$sink" secret
    says ECONNREFUSED connect "$other6" "$sink" secret
    refuses udp "$other4" "$sink" secret
    refuses udp "$other6" "$sink" secret
    refuses udp-connected "$other4" "$sink" secret
    says ECONNREFUSED connect "$allowed4" "$sink" secret
    tries ping "$other4" secret
    tries ping "$other6" secret
    tries sctp "$other4" "$sink"
    never_arrived "host $other4 or host $other6 or host $allowed4"
    refused_on_trace "$(at "$other4" "$sink") and .payload.protocol == \"tcp\" and .payload.process.exe == \"/bin/net\""
    refused_on_trace "$(at "$other6" "$sink") and .payload.protocol == \"tcp\" and .payload.process.exe == \"/bin/net\""
    refused_on_trace "$(at "$other4" "$sink") and .payload.protocol == \"udp\""
    refused_on_trace "$(at "$other6" "$sink") and .payload.protocol == \"udp\""
    refused_on_trace "$(at "$allowed4" "$sink")"
    for protocol in icmp sctp; do refused_on_trace ".payload.dst_ip == \"$other4\" and .payload.protocol == \"$protocol\""; done
    refused_on_trace ".payload.dst_ip == \"$other6\" and .payload.protocol == \"icmpv6\""
    remove_box
}

@test "rules by address: ports, ranges and protocols hold, for IPv4 and IPv6" {
    use_policy "$(to four "{ cidr: 198.51.100.8/29, ports: [80, 7000-7001], protocol: tcp }")" \
        "$(to six "{ cidr: \"2001:db8::/64\", port: 7001, protocol: udp }")"
    start_box
    says ok connect "$other4" 7000 hello
    says ok connect "$other4" 7001 hello
    says ok connect "$other4" 80
    says ECONNREFUSED connect "$other4" 8080
    says ECONNREFUSED connect "$wild4" 443
    says ECONNREFUSED connect 198.51.100.16 7000
    refuses udp "$other4" 7001 secret
    says ok udp "$other6" 7001 hello
    refuses udp "$other6" 7000 secret
    says ECONNREFUSED connect "$other6" 7001
    never_arrived "tcp port 8080 or tcp port 443 or host 198.51.100.16 or (ip and udp and not port 53) or (ip6 and tcp) or (ip6 and udp port 7000)"
    allowed_on_trace "$(at "$other6" 7001) and .payload.protocol == \"udp\" and .verdict.policy_rule == \"six\""
    remove_box
    trace_has "$(id_of box)" "$is_closed and $(at "$other6" 7001) and .payload.packets_sent == 1 and .payload.packets_received == 1"
}

@test "every protocol to an allowed address arrives and is recorded" {
    use_policy "$(to all "{ cidr: $other4 }, { cidr: \"$other6\" }")"
    start_box CAP_NET_RAW
    says ok connect "$other4" "$sink" hello
    says ok udp "$other4" "$sink" hello
    says ok ping "$other4" hello
    says ok ping "$other6" hello
    tries sctp "$other4" "$sink"
    tries raw-udp "$other4" "$sink" by-hand
    arrived "sctp and dst host $other4"
    retry_until noted '.text == "by-hand"'
    for protocol in tcp udp icmp sctp; do allowed_on_trace ".payload.dst_ip == \"$other4\" and .payload.protocol == \"$protocol\""; done
    allowed_on_trace ".payload.dst_ip == \"$other6\" and .payload.protocol == \"icmpv6\""
    remove_box
}

@test "a connection immediately after the answer works, 2,500 of 2,500" {
    use_policy "$(to name "{ host: allowed.example.test, port: $sink }")"
    start_box
    says 2500 named "$dns4" allowed.example.test "$sink" 2500
    retry_until eval '[ "$(count_noted ".what == \"accept\"")" -eq 2500 ]'
    remove_box
    [ "$(trace_sum "$is_attempt and $was_allowed and $(at "$allowed4" "$sink" allowed.example.test)")" -eq 2500 ]
    [ "$(trace_sum "$is_closed and $(at "$allowed4" "$sink")")" -eq 2500 ]
}

@test "6,000 connections in a burst are all made and all recorded" {
    use_policy "$(to address "{ cidr: $other4, port: $sink }")"
    start_box
    says 6000 burst "$other4" "$sink" 6000
    remove_box
    [ "$(trace_sum "$is_attempt and $was_allowed and $(at "$other4" "$sink")")" -eq 6000 ]
    [ "$(trace_sum "$is_closed and $(at "$other4" "$sink")")" -eq 6000 ]
    [ "$(trace_count "$(id_of box)" '.event_type == "sensor" and .payload.state == "overflow"')" -eq 0 ]
}

@test "1,000 refused connections in a burst are all refused and all counted" {
    use_policy "$(to web "$web")"
    start_box
    says 0 burst "$other4" "$sink" 1000
    never_arrived "host $other4"
    remove_box
    [ "$(trace_sum "$is_attempt and $was_refused and $(at "$other4" "$sink")")" -eq 1000 ]
}

@test "a download costs no queue: its bytes are counted" {
    use_policy "$(to web "$web")"
    start_box
    run -0 inside curl -sSf -o /dev/null -w '%{size_download}' http://allowed.example.test/large
    [ "$output" = 67108864 ]
    remove_box
    trace_has "$(id_of box)" "$is_closed and .payload.bytes_received > 67108864 and .payload.bytes_received < 80000000"
}

# ---- names ---------------------------------------------------------------------------------------------------

@test "answers of every kind come through for an allowed name, and are recorded" {
    use_policy "$(to all '{ host: "*.example.test" }')"
    start_box
    says "NOERROR $allowed4" dns "$dns4" 53 allowed.example.test A
    says "NOERROR $allowed6" dns "$dns4" 53 allowed.example.test AAAA
    says "NOERROR $allowed4" dns-tcp "$dns4" 53 allowed.example.test A
    says "NOERROR $allowed4" dns-tcp "$dns4" 53 allowed.example.test A split
    says "NOERROR $alias4" dns "$dns4" 53 alias.example.test A
    says NOERROR dns "$dns4" 53 service.example.test HTTPS
    says truncated dns "$dns4" 53 large.example.test TXT
    says NOERROR dns-tcp "$dns4" 53 large.example.test TXT
    says NXDOMAIN dns "$dns4" 53 nothing.example.test A
    retry_until trace_has "$(id_of box)" "$is_dns and $was_allowed and .payload.name == \"allowed.example.test\" and .payload.qtype == \"AAAA\" and
        .payload.answers == [\"$allowed6\"] and .payload.server == \"$dns4\""
    retry_until trace_has "$(id_of box)" "$is_dns and $was_allowed and .payload.name == \"alias.example.test\" and (.payload.answers | index(\"$alias4\"))"
    retry_until trace_has "$(id_of box)" "$is_dns and $was_allowed and .payload.name == \"nothing.example.test\""
    remove_box
}

@test "a name at the end of a chain of names is reached by the name that is allowed" {
    use_policy "$(to chain '{ host: alias.example.test, ports: [80, 443] }')"
    start_box
    run -0 inside curl -sSf https://alias.example.test/
    [ "$output" = "alias.example.test by $alias4" ]
    allowed_on_trace "$(at "$alias4" 443 alias.example.test)"
    # The name at its end is not.
    says REFUSED dns "$dns4" 53 end.cdn.test A
    remove_box
}

@test "names that live for a second or not at all can be connected to right after the answer" {
    use_policy "$(to short "{ host: instant.example.test, port: $sink }, { host: second.example.test, port: $sink }")"
    start_box
    says 200 named "$dns4" instant.example.test "$sink" 200
    says 200 named "$dns4" second.example.test "$sink" 200
    remove_box
}

@test "an address that was answered for a name is allowed for that rule's ports, and not beyond the time of the answer" {
    use_policy "$(to short "{ host: second.example.test, port: $sink }")"
    start_box
    says ECONNREFUSED connect "$short4" "$sink"
    says "NOERROR $short4" dns "$dns4" 53 second.example.test A
    says ECONNREFUSED connect "$short4" 80
    RETRY_SECONDS=600 retry_until eval '[ "$(inside net connect '"$short4 $sink"')" = ECONNREFUSED ]'
    remove_box
}

@test "a pattern of names allows each label that fits, and no other name" {
    use_policy "$(to wild '{ host: "*.wild.example.test", port: 443 }')"
    start_box
    run -0 inside curl -sSf https://any.wild.example.test/
    run -0 inside curl -sSf https://Other.wild.example.test/
    says REFUSED dns "$dns4" 53 two.labels.wild.example.test A
    says REFUSED dns "$dns4" 53 evilwild.example.test A
    says REFUSED dns "$dns4" 53 wild.example.test A
    remove_box
}

@test "only the resolvers of the container are asked, also for names that are allowed" {
    use_policy "$(to web "$web")"
    start_box
    refuses dns "$rogue4" 53 allowed.example.test A
    says ECONNREFUSED dns-tcp "$rogue4" 53 allowed.example.test A
    never_arrived "host $rogue4"
    refused_on_trace "$(at "$rogue4" 53)"
    remove_box
}

@test "an allowed address of a rogue resolver is a destination like others, and what it answers opens nothing" {
    use_policy "$(to web "$web")" "$(to rogue "{ cidr: $rogue4, port: 53 }")"
    start_box
    says "NOERROR $other4" dns "$rogue4" 53 allowed.example.test A
    says ECONNREFUSED connect "$other4" 80
    never_arrived "host $other4"
    remove_box
}

@test "DNS over TLS and QUIC to an address of an allowed name are refused" {
    use_policy "$(to web "$web")"
    start_box
    run -0 inside curl -sSf http://allowed.example.test/
    says ECONNREFUSED connect "$allowed4" 853
    refuses udp "$allowed4" 853 quic
    refuses udp "$allowed4" 443 quic
    never_arrived "port 853 or udp port 443"
    remove_box
}

# ---- what is always refused ------------------------------------------------------------------------------------

@test "the metadata address is refused under the widest allow, and recorded" {
    use_policy "$(to world '{ cidr: 0.0.0.0/0 }, { cidr: "::/0" }, { host: "**.example.test" }')"
    start_box
    says ok connect "$other4" "$sink" hello
    says ok connect "$other6" "$sink" hello
    says ECONNREFUSED connect "$metadata4" 80
    says ECONNREFUSED connect "::ffff:$metadata4" 80
    says ECONNREFUSED connect "$metadata6" 80
    run ! inside curl -sSf http://metadata.example.test/
    never_arrived "host $metadata4 or host $metadata6"
    refused_on_trace "$(at "$metadata4" 80)"
    refused_on_trace "$(at "$metadata6" 80)"
    remove_box
}

@test "the metadata address that a rule names is reached" {
    use_policy "$(to metadata "{ cidr: $metadata4, port: 80 }")"
    start_box
    run -0 inside curl -sSf "http://$metadata4/"
    allowed_on_trace "$(at "$metadata4" 80)"
    remove_box
}

@test "a container with CAP_NET_ADMIN is not started under an enforcing policy, with the reason" {
    use_policy "$(to web "$web")"
    run start_box CAP_NET_ADMIN
    [ "$status" -ne 0 ]
    [[ $output == *CAP_NET_ADMIN* ]]
    runtime delete --force "$(id_of box)" || true
}

@test "a container on the host's network is not started under an enforcing policy, with the reason" {
    use_policy "$(to web "$web")"
    make_box box true
    edit_config "$(bundle_of box)" '.linux.namespaces |= map(select(.type != "network"))'
    # The host is the suite's own.
    run in_net "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$status" -ne 0 ]
    [[ $output == *network* ]]
    [[ $output == *host_network* ]]
    runtime delete --force "$(id_of box)" || true
}

@test "a container without any network is watched as well" {
    use_policy "$(to web "$web")"
    make_box box sh -c "net connect $other4 $sink; net connect 127.0.0.1 1; echo over"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *ENETUNREACH*ECONNREFUSED*over ]]
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"network\" and .state == \"on\"))"
}

# ---- limits ----------------------------------------------------------------------------------------------------

@test "the byte over max_bytes_per_call does not leave, and is an anomaly" {
    use_policy "$(to limited "{ cidr: $other4, port: $sink }" "max_bytes_per_call: 20000")"
    start_box
    says ok send "$other4" "$sink" 4000
    says ok send "$other4" "$sink" 4000
    run inside net send "$other4" "$sink" 200000
    [[ $output == @(ECONNRESET|EPIPE) ]]
    retry_until noted '.what == "close" and .bytes == 4000'
    [ "$(bytes_arrived "tcp and src host $box4" | sort -n | tail -n 1)" -le 20000 ]
    retry_until trace_has "$(id_of box)" "$is_egress and .verdict.result == \"anomaly\" and .verdict.policy_rule == \"limited\" and $(at "$other4" "$sink")"
    remove_box
}

@test "max_bytes_total holds over all connections of a trace" {
    use_policy "$(to limited "{ cidr: $other4, port: $sink }" "max_bytes_total: 50000")"
    start_box
    says ok send "$other4" "$sink" 10000
    says ok send "$other4" "$sink" 10000
    tries send "$other4" "$sink" 100000
    tries send "$other4" "$sink" 100000
    retry_until trace_has "$(id_of box)" "$is_egress and .verdict.result == \"anomaly\" and .verdict.policy_rule == \"limited\" and .payload.blocked"
    remove_box
    [ "$(bytes_arrived "tcp and src host $box4" | awk '{ n += $1 } END { print n }')" -le 50000 ]
}

# ---- coming in ---------------------------------------------------------------------------------------------------

# start_listening RULES…: a server inside.
start_listening() {
    make_box box sh -c 'while :; do echo served | nc.openbsd -lN 8000; done'
    start_box_of box 2
}

@test "who comes in is served and recorded, and the answer needs no rule" {
    use_policy "$(to web "$web")"
    start_listening
    retry_until in_net sh -c "nc.openbsd -d $box4 8000 | grep served"
    retry_until trace_has "$(id_of box)" "$is_ingress and .payload.src_ip == \"$gateway4\" and $was_allowed and .payload.protocol == \"tcp\""
    remove_box
    trace_has "$(id_of box)" "$is_ingress and .payload.state == \"closed\" and .payload.bytes_sent > 40"
}

@test "where nobody may come in nobody is served" {
    use_policy "$(to web "$web")"
    sed -i 's/network_ingress: allow/network_ingress: deny/' "$WORLD/policies/net-$BATS_TEST_NUMBER.yaml"
    start_listening
    retry_until inside sh -c 'nc.openbsd -d 127.0.0.1 8000 | grep served'
    run ! in_net nc.openbsd -d -w 2 "$box4" 8000
    run ! in_net nc.openbsd -d -w 2 "$box6" 8000
    never_arrived "tcp and src host $box4 and tcp[tcpflags] & (tcp-syn | tcp-ack) == (tcp-syn | tcp-ack)"
    retry_until trace_has "$(id_of box)" "$is_ingress and .payload.src_ip == \"$gateway4\" and $was_refused"
    remove_box
}

# ---- namespaces --------------------------------------------------------------------------------------------------

# start_joined: the container `second` in the namespace of the box.
start_joined() {
    make_box second sh -c 'trap "exit 0" TERM; sleep 1000000 & wait'
    edit_config "$(bundle_of second)" --arg path "/proc/$(cat "$NOTES/box.pid")/ns/net" \
        '.linux.namespaces |= map(if .type == "network" then .path = $path else . end)'
    start_detached second
}

@test "a container that joins another's network is under the same rules, also when the first one has gone" {
    use_policy "$(to address "{ cidr: $other4, port: $sink }")"
    start_box
    start_joined
    run -0 runtime exec "$(id_of second)" net connect "$other4" "$sink" hello
    run runtime exec "$(id_of second)" net connect "$allowed4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    says ok connect "$other4" "$sink" hello
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    run -0 runtime exec "$(id_of second)" net connect "$other4" "$sink" hello
    run runtime exec "$(id_of second)" net connect "$allowed4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    never_arrived "host $allowed4"
    runtime delete --force "$(id_of second)"
    trace_is_complete "$(id_of second)"
    retry_until unplugged 2
}

@test "a container that would join the network of one under another policy is not started, with the reason" {
    use_policy "$(to address "{ cidr: $other4, port: $sink }")"
    start_box
    use_policy "$(to address "{ cidr: $allowed4, port: $sink }")"
    run start_joined
    [ "$status" -ne 0 ]
    [[ $output == *"under another policy"* ]]
    says ok connect "$other4" "$sink" hello
    runtime delete --force "$(id_of second)" || true
    remove_box
}

# The monitor fails after it has taken the network: where its socket should be there is something else.
@test "a start that fails leaves nothing of the network's behind" {
    use_policy "$(to web "$web")"
    mkdir -p "$WORLD/run/$(id_of box)/control.sock/taken"
    run start_box
    [ "$status" -ne 0 ]
    [[ $output == *control.sock* ]]
    is_gone "$WORLD/run/.net"
    rm -rf "$WORLD/run/$(id_of box)"
    runtime delete --force "$(id_of box)" || true
}

@test "two containers have two networks and two policies" {
    write_net_policy one "$(to address "{ cidr: $other4, port: $sink }")"
    write_net_policy two "$(to address "{ cidr: $allowed4, port: $sink }")"
    configure default_policy one
    start_box
    configure default_policy two
    make_box second sh -c "net connect $allowed4 $sink second; net connect $other4 $sink second; sleep 1000"
    start_box_of second 3
    says ok connect "$other4" "$sink" first
    says ECONNREFUSED connect "$allowed4" "$sink" first
    retry_until contains "$NOTES/second.log" ECONNREFUSED
    [ "$(head -n 1 "$NOTES/second.log")" = ok ]
    retry_until noted ".to == \"$other4\" and .from == \"$box4\""
    retry_until noted ".to == \"$allowed4\" and .from == \"10.77.0.3\""
    never_arrived "(host $other4 and host 10.77.0.3) or (host $allowed4 and host $box4)"
    remove_box
    runtime delete --force "$(id_of second)"
    retry_until unplugged 3
}
