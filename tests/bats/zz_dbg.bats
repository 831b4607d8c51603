#!/usr/bin/env bats
# The network, by runc: what a policy allows works at once and is recorded with its name, its bytes and who did it;
# what it does not allow never arrives on the other side. network_control.bats shows that without us it does.
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
    retry_until unplugged 3
    configure on_worker_failure kill
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

web='{ host: allowed.example.test, ports: [80, 443, 8080] }'

# reaches PROGRAM COMMAND…: it works at the first time, and the trace has both ends of the flow with its name and who
# it was.
reaches() {
    use_policy "$(to web "$web")"
    use_policy "$(to web "$web")"; start_box
    run -0 inside "${@:2}"
    allowed_on_trace ".payload.dst_host == \"allowed.example.test\" and (.payload.process.exe | startswith(\"$1\")) and .verdict.policy_rule == \"web\""
    trace_has "$(id_of box)" "$is_dns and .payload.name == \"allowed.example.test\" and $was_allowed and (.payload.process.exe | startswith(\"$1\"))"
    remove_box
    trace_has "$(id_of box)" "$is_closed and .payload.dst_host == \"allowed.example.test\" and .payload.bytes_sent > 100 and
        .payload.bytes_received > 100 and .payload.packets_sent > 2 and .payload.packets_received > 2 and .payload.duration_ms >= 0"
    [ "$(trace_count "$(id_of box)" '.payload.blocked')" -eq 0 ]
}

@test "dbg" {
    use_policy "$(to web "$web")"; start_box
    PID=$(cat "$NOTES/box.pid"); nsenter --net=/proc/$PID/ns/net ip -s link show eth0 >&3; nsenter --net=/proc/$PID/ns/net nft -nn list chains >&3 2>&1 || true; cat /proc/$PID/root/etc/resolv.conf >&3
    inside curl -sSf http://allowed.example.test/ || true
    remove_box || true
    jq -c '[.event_type,.payload.name,.payload.state,.payload.dst_ip,.payload.dst_port,.payload.answers,.payload.detail,.payload.blocked,.verdict.result,.verdict.reason]' "$WORLD"/log/*.jsonl | grep -v filesystem >&3
    false
}
