#!/usr/bin/env bats
# A violation on the network, as the policy has it: held until a person decides, killed, or in audit mode only recorded.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/net
load lib/control

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
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

web='{ host: allowed.example.test, ports: [80, 443, 8080] }'

holding='on_violation: { low: pause, medium: pause, high: pause, critical: pause }
pause: { hold: true, timeout: 0 }'

# start_client COMMAND…: in the box, meanwhile; what it says is in $NOTES/client.
start_client() {
    inside "$@" >"$NOTES/client" 2>&1 3>&- </dev/null &
    client=$!
}

# client_ends CODE
client_ends() {
    local code=0
    wait "$client" || code=$?
    [ "$code" -eq "$1" ] || fail "the client ended with $code: $(cat "$NOTES/client")"
}

@test "what is held has not left; approved, the application sees only a slow connect" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client curl -sSf "http://$other4:8080/"
    pause=$(held box)
    [ "$(sandtrace pending | jq -r .event.payload.dst_ip)" = "$other4" ]
    is_halted box
    never_arrived "host $other4"
    sandtrace approve "$pause"
    client_ends 0
    [ "$(cat "$NOTES/client")" = "$other4 by $other4" ]
    # The destination is open for this run.
    run -0 inside curl -sSf "http://$other4:8080/"
    # And no other.
    start_client curl -sSf "http://$other4:80/"
    sandtrace deny "$(held box)"
    client_ends 7
    never_arrived "host $other4 and port 80"
    trace_has "$(id_of box)" "$is_pause and .payload.held"
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"allow-once\""
    remove_box
}

@test "denied, what was held is refused at once and never arrives" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client curl -sS "http://$other4/"
    sandtrace deny "$(held box)"
    client_ends 7
    contains "$NOTES/client" "connect to"
    never_arrived "host $other4"
    remove_box
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"deny\""
}

@test "a datagram that is held goes on when it is approved" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client sh -c "echo held-datagram | nc.openbsd -u -N -w 1 $other4 $sink"
    pause=$(held box)
    never_arrived "udp and host $other4"
    sandtrace approve "$pause"
    retry_until noted '.text | startswith("held-datagram")'
    wait "$client" || true
    remove_box
}

@test "a query that is held goes on when it is approved, and so does the connection" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client curl -sSf "http://other.example.test/"
    retry_until waits box 2 # A and AAAA
    run ! name_arrived other.example.test
    for pause in $(pauses box); do sandtrace approve --always "$pause"; done
    until has_ended "$client"; do for pause in $(pauses box); do sandtrace approve "$pause" || true; done; done
    client_ends 0
    remove_box
}

@test "approved, a destination stays open as long as the container runs" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client curl -sSf "http://$other4/"
    sandtrace approve "$(held box)"
    client_ends 0
    run -0 inside curl -sSf "http://$other4/"
    nothing_waits
    remove_box
}

@test "approved for good, a destination stays open when the container is started again, under the same policy" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client curl -sSf "http://$other4/"
    sandtrace approve --always "$(held box)"
    client_ends 0
    remove_box
    trace_has "$(id_of box)" '.event_type == "policy_change" and .payload.change == "grant" and .payload.scope == "trace"'
    start_box_of box 2
    trace_has "$(id_of box)" '.event_type == "policy_change" and .payload.change == "grant" and .payload.recalled'
    run -0 inside curl -sSf "http://$other4/"
    nothing_waits
    remove_box
    # Another policy has not been asked.
    use_policy "$(to web "$web")" "$(to more "{ cidr: $allowed4, port: $sink }")" -- "$holding"
    start_box_of box 2
    start_client curl -sSf "http://$other4/"
    sandtrace deny "$(held box)"
    client_ends 7
    remove_box
}

@test "approved once, a destination is asked about when the container is started again" {
    use_policy "$(to web "$web")" -- "$holding"
    start_box
    start_client curl -sSf "http://$other4/"
    sandtrace approve "$(held box)"
    client_ends 0
    remove_box
    start_box_of box 2
    start_client curl -sSf "http://$other4/"
    sandtrace deny "$(held box)"
    client_ends 7
    remove_box
}

@test "where a violation kills, the container ends and nothing has arrived" {
    use_policy "$(to web "$web")" -- 'on_violation: { low: kill, medium: kill, high: kill, critical: kill }'
    start_box
    run ! inside net connect "$other4" "$sink" secret
    retry_until runtime_status_is box stopped
    never_arrived "host $other4"
    remove_box
    trace_has "$(id_of box)" "$is_egress and .verdict.action == \"killed\""
}

@test "in audit mode everything arrives, and what would have been refused is recorded as that" {
    use_policy "$(to web "$web")" -- 'mode: audit'
    start_box CAP_NET_ADMIN CAP_NET_RAW
    says ok connect "$other4" "$sink" hello
    says ok udp "$other4" "$sink" hello
    says "NOERROR $other4" dns "$dns4" 53 other.example.test A
    says "NOERROR $other4" dns "$rogue4" 53 any.test A
    says ok packet plain eth0 "$other4" "$sink" frame
    retry_until noted '.text == "frame"'
    retry_until trace_has "$(id_of box)" "$is_attempt and $(at "$other4" "$sink") and .verdict.result == \"deny\" and .verdict.action == \"none\" and (.payload.blocked | not)"
    retry_until trace_has "$(id_of box)" "$is_dns and .payload.name == \"other.example.test\" and .verdict.result == \"deny\" and (.payload.blocked | not)"
    remove_box
}
