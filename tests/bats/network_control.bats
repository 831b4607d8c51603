#!/usr/bin/env bats
# The suite's own network, without us: by plain runc everything arrives that network.bats and network_attacks.bats say
# never does. Without this "nothing has arrived" would prove nothing.
# shellcheck disable=SC2154 # words of bats and the libraries
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
    nothing_left_behind
    forget_packets
}

# attacks WORD ARGUMENT…: the program inside says this.
attacks() {
    run plainly_inside net "${@:2}"
    [ "$output" = "$1" ] || fail "net ${*:2} says $output, not $1"
}

@test "control: every client reaches a name by every way" {
    plain_box
    for family in -4 -6; do
        run -0 plainly_inside curl "$family" -sS http://allowed.example.test/
        run -0 plainly_inside curl "$family" -sS https://allowed.example.test/
    done
    [[ $output == "allowed.example.test by $allowed6" ]]
    run -0 plainly_inside /bin/wget -qO- http://allowed.example.test:8080/
    run -0 plainly_inside /usr/bin/wget -qO- http://allowed.example.test/
    run -0 plainly_inside /usr/bin/python3 -c 'import urllib.request; print(urllib.request.urlopen("https://allowed.example.test/").read())'
    run -0 plainly_inside node -e 'require("http").get("http://allowed.example.test/", r => r.pipe(process.stdout))'
    run -0 plainly_inside git clone -q http://allowed.example.test/project.git /tmp/project
    run -0 plainly_inside sh -c "echo hello | nc.openbsd -N allowed.example.test $sink"
    [ "$output" = hello ]
    arrived "tcp port 443 and dst host $allowed6"
    retry_until served '.sni == "allowed.example.test" and .port == 443'
    retry_until noted '.what == "close" and .bytes == 6'
}

@test "control: the name server knows every kind of name" {
    plain_box
    attacks "NOERROR $allowed4" dns "$dns4" 53 allowed.example.test A
    attacks "NOERROR $allowed6" dns "$dns6" 53 allowed.example.test AAAA
    attacks "NOERROR $allowed4" dns-tcp "$dns4" 53 allowed.example.test A split
    attacks "NOERROR $alias4" dns "$dns4" 53 alias.example.test A
    attacks "NOERROR $short4" dns "$dns4" 53 instant.example.test A
    attacks "NOERROR $short4" dns "$dns4" 53 second.example.test A
    attacks "NOERROR $wild4" dns "$dns4" 53 any.wild.example.test A
    attacks "NOERROR $shared4" dns "$dns4" 53 shared-evil.example.test A
    attacks NOERROR dns "$dns4" 53 service.example.test HTTPS
    attacks truncated dns "$dns4" 53 large.example.test TXT
    attacks NOERROR dns-tcp "$dns4" 53 large.example.test TXT
    attacks NXDOMAIN dns "$dns4" 53 nothing.example.test A
    attacks "NOERROR $other4" dns "$rogue4" 53 allowed.example.test A
    attacks "NOERROR $moving4" dns "$dns4" 53 moving.example.test A
    move_name "$other4"
    attacks "NOERROR $other4" dns "$dns4" 53 moving.example.test A
    move_name "$moving4"
    retry_until asked alias.example.test
}

@test "control: what an attack sends arrives" {
    plain_box CAP_NET_RAW
    attacks ok connect "$other4" "$sink" hello
    attacks ok connect "$other6" "$sink" hello
    attacks ok connect "::ffff:$other4" "$sink" hello
    attacks ok connect 3325256715 "$sink" decimal
    attacks ok connect 0xc633640b "$sink" hexadecimal
    attacks ok connect "$metadata4" 80
    attacks ok connect "$metadata6" 80
    attacks ok udp "$other4" "$sink" datagram
    attacks ok udp "$other6" "$sink" datagram6
    attacks ok udp-connected "$other4" "$sink" datagram-connected
    attacks 2 sendmmsg many "$sink" "$other4" "$allowed4"
    attacks ok mark 1 "$other4" "$sink"
    attacks ok raw-udp "$other4" "$sink" by-hand
    attacks ok raw-pieces "$other4" "$sink" in-two-pieces
    attacks ok raw-syn "$other4" "$sink"
    attacks ok raw-ip "$other4" 253 unknown-protocol
    for way in plain direct marked; do attacks ok packet "$way" eth0 "$other4" "$sink" "frame-$way"; done
    attacks ok fastopen "$other4" "$sink" with-the-first-packet
    attacks ok sctp "$other4" "$sink"
    attacks ok ping "$other4" carried-by-icmp
    attacks ok ping "$other6" carried-by-icmp6
    for text in decimal hexadecimal with-the-first-packet; do retry_until noted ".what == \"data\" and (.text | startswith(\"$text\"))"; done
    for text in datagram datagram6 datagram-connected many by-hand in-two-pieces frame-plain frame-direct frame-marked; do
        retry_until noted ".what == \"datagram\" and .text == \"$text\""
    done
    arrived "ip proto 253 and dst host $other4"
    arrived "sctp and dst host $other4"
    arrived "icmp and dst host $other4"
    arrived "icmp6 and dst host $other6"
    # In the SYN: flags and length.
    arrived "tcp[tcpflags] & tcp-syn != 0 and dst host $other4 and ip[2:2] > 80"
}

@test "control: names on the wire, many connections, and what is sent on one" {
    plain_box CAP_NET_RAW
    attacks ok hello "$shared4" 443 shared-good.example.test 1
    attacks ok hello "$shared4" 443 shared-good.example.test 9
    attacks ok hello "$shared4" 443 - 1
    attacks ok hello "$shared4" 443 shared-good.example.test 1 encrypted
    attacks ok send "$other4" "$sink" 100000
    attacks 5 requests "$shared4" 80 shared-good.example.test 5 shared-evil.example.test
    attacks 500 burst "$other4" "$sink" 500
    attacks 500 named "$dns4" allowed.example.test "$sink" 500
    attacks ok own-resolver allowed.example.test "$other4" "$sink"
    attacks ok spoof "$dns4" allowed.example.test "$other4" "$sink"
    run -0 plainly_inside sh -c "net halfopen $nobody4 80 2000 </dev/null"
    [ "$output" = 2000 ]
    retry_until served '.host == "shared-evil.example.test" and .port == 80'
    retry_until noted '.what == "close" and .bytes == 100000'
    arrived "dst host $nobody4 and tcp[tcpflags] & tcp-syn != 0"
}

@test "control: a flow goes on, and a server inside is reached" {
    make_box box net pulse tcp "$other4" "$sink"
    start_box_of box 2 plain_runc
    retry_until noted '.what == "data" and (.text | startswith("pulse"))'
    retry_until contains "$NOTES/box.log" ok
    plain_runc delete --force "$(id_of box)"
    rm -rf "$(bundle_of box)"
    retry_until unplugged 2
    make_box box sh -c 'while :; do echo served | nc.openbsd -lN 8000; done'
    start_box_of box 2 plain_runc
    retry_until in_net sh -c "nc.openbsd -d $box4 8000 | grep served"
}
