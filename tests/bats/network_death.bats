#!/usr/bin/env bats
# The network when we die: what was approved stops, nothing new begins; and while we live nothing is disturbed.
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
    [ -z "${nobody_is_left:-}" ] || clear_what_is_dead
    remove_all_containers
    retry_until unplugged 2
    configure on_worker_failure kill
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

# start_pulse tcp|udp|new ADDRESS: a flow that is approved and goes on, by a program that wants nothing but the network.
start_pulse() {
    use_policy "$(to address "{ cidr: $other4, port: $sink }, { cidr: \"$other6\", port: $sink }")"
    make_box box net pulse "$1" "$2" "$sink"
    start_box_of box 2
    retry_until contains "$NOTES/box.log" ok
}

# goes_on: the program runs, whatever becomes of its packets.
switches() { sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$(cat "$NOTES/box.pid")/status"; }
switches_more_than() { [ "$(switches)" -gt "$1" ]; }
goes_on() { retry_until switches_more_than "$(($(switches) + 20))"; }

# What nobody is left to clear away.
clear_what_is_dead() {
    plain_runc delete --force "$(id_of box)"
    rm -rf "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/* "$(trace_of "$(id_of box)")"
}

# flow_ends_with_us tcp|udp|new ADDRESS OWN: both dead, what is approved stops when the switch falls, and nothing leaves again.
flow_ends_with_us() {
    nobody_is_left=yes
    start_pulse "$1" "$2"
    time=$(kill_both)
    goes_on
    retry_until is_silent "src host $3 and port $sink"
    late=$(packets_after "$(awk -v t="$time" 'BEGIN { printf "%.6f", t + 2.2 }')" "src host $3 and port $sink")
    [ -z "$late" ] || fail "$(head -n 3 <<<"$late")"
    goes_on
}

@test "worker and warden killed: an approved TCP flow stops within the two seconds of the dead-man's switch" {
    flow_ends_with_us tcp "$other4" "$box4"
}

@test "worker and warden killed: an approved UDP flow stops within the two seconds of the dead-man's switch" {
    flow_ends_with_us udp "$other4" "$box4"
}

@test "worker and warden killed: an approved IPv6 flow stops within the two seconds of the dead-man's switch" {
    flow_ends_with_us tcp "$other6" "$box6"
}

@test "worker and warden killed: no new flow begins" { flow_ends_with_us new "$other4" "$box4"; }

@test "worker killed: the container ends, and nothing leaves after it" {
    start_pulse tcp "$other4"
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until runtime_status_is box stopped
    time=$(now)
    trace_is_complete "$(id_of box)"
    [ -z "$(packets_after "$time" "src host $box4 and port $sink")" ]
}

@test "worker killed, and the container only paused: thawed by somebody else, it still sends nothing" {
    configure on_worker_failure pause
    start_pulse tcp "$other4"
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until is_frozen box
    time=$(now)
    thaw_cgroups_of_world
    goes_on
    retry_until is_silent "src host $box4 and port $sink"
    late=$(packets_after "$time" "src host $box4 and port $sink")
    [ -z "$late" ] || fail "$(head -n 3 <<<"$late")"
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "while we live, a flow is not disturbed by the renewal of the dead-man's switch" {
    use_policy "$(to address "{ cidr: $other4, port: $sink }")"
    start_box
    # Ten renewals: a datagram each millisecond, none is lost and none is told EPERM.
    run -0 inside /usr/bin/python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('$other4', $sink))
end = time.monotonic() + 10
n = 0
while time.monotonic() < end:
    s.send(b'steady'); n += 1; time.sleep(0.001)
print(n)"
    sent=$output
    retry_until eval '[ "$(count_noted ".text == \"steady\"")" -eq '"$sent"' ]'
    remove_box
}
