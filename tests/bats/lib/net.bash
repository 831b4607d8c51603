# A network of the suite's own: one namespace with real servers on addresses of its loopback, a recorder that
# sees all that gets there, and a bridge at which containers are plugged in. Engines run in the namespace too
# (in_net), so that their bridges lie in it: nothing is made in the host's network, and all goes with it.
#
#   setup_file()    { make_world; make_net; }
#   teardown_file() { end_net; end_world; }
#
# Containers of runc have a namespace of their own, to which the interface comes between create and start, as
# with docker. What has arrived is said by the recorder (arrived) and by the servers (served, noted).

# shellcheck source=container.bash
source "$(dirname "${BASH_SOURCE[0]}")/container.bash"
net_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# ---- addresses and names: see write_dns -------------------------------------------------------------------

# shellcheck disable=SC2034 # used by those who load this
{
    dns4=198.51.100.53 dns6=2001:db8::53     # dnsmasq, UDP and TCP
    rogue4=198.51.100.54                     # another dnsmasq: every name is at other4
    allowed4=198.51.100.10 allowed6=2001:db8::10
    other4=198.51.100.11 other6=2001:db8::11
    shared4=198.51.100.12                    # two names
    alias4=198.51.100.13                     # at the end of a chain of names
    short4=198.51.100.14                     # one second, no second
    wild4=198.51.100.15
    moving4=198.51.100.16
    metadata4=169.254.169.254 metadata6=fd00:ec2::254
    nobody4=203.0.113.99                     # is routed, and nobody answers
    sink=7000                                # TCP and UDP: net_servers.py
    gateway4=10.77.0.1 gateway6=fd77::1
}
server_addresses="$dns4 $dns6 $rogue4 $allowed4 $allowed6 $other4 $other6 $shared4 $alias4 $short4 $wild4 $moving4 $metadata4 $metadata6"

# in_net COMMAND…: as if its machine were the one of the servers.
in_net() { nsenter --net="$WORLD/netns" "$@"; }

require_net() {
    require ip=iproute2 nsenter=util-linux sysctl=procps dnsmasq=dnsmasq-base nginx=nginx-light tcpdump=tcpdump \
        openssl=openssl curl=curl wget=wget node=nodejs git=git nc.openbsd=netcat-openbsd
    [ -x /usr/bin/python3 ] || fail "missing prerequisites; install them with: apt-get install python3"
}

make_net() {
    require_net
    mkdir -p "$WORLD/servers"
    touch "$WORLD/netns"
    unshare --net="$WORLD/netns" true
    export ENGINE_NETNS=$WORLD/netns
    make_addresses
    make_certificate
    write_dns
    start_servers
    start_recorder
}

make_addresses() {
    local address
    # Forwarding: docker warns in the midst of a program's output where it finds none, and what it finds was left by others.
    in_net sysctl -q net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.accept_dad=0 net.ipv4.tcp_fastopen=1539 \
        net.ipv4.tcp_max_syn_backlog=8192 net.core.somaxconn=8192 net.ipv4.ip_forward=1
    in_net ip link set lo up
    for address in $server_addresses; do in_net ip addr add "$address" dev lo; done
    in_net ip link add plug type bridge
    in_net ip addr add "$gateway4/16" dev plug
    in_net ip addr add "$gateway6/64" dev plug nodad
    in_net ip link set plug up
    in_net ip route add blackhole "$nobody4"
}

# One CA for this world, one certificate for all names, as with a provider who serves many; with all that who checks
# strictly (Python from 3.13 on) wants to see.
make_certificate() (
    cd "$WORLD/servers" || exit
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$WORLD_NAME" \
        -addext keyUsage=critical,keyCertSign,cRLSign -keyout ca.key -out ca.pem >"$NOTES/openssl.log" 2>&1
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=servers -keyout tls.key -out tls.csr >>"$NOTES/openssl.log" 2>&1
    openssl x509 -req -in tls.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out tls.pem -extfile <(
        echo 'subjectAltName=DNS:*.example.test,DNS:*.wild.example.test,DNS:end.cdn.test,DNS:evil.test'
        printf '%s\n' subjectKeyIdentifier=hash authorityKeyIdentifier=keyid basicConstraints=CA:FALSE
    ) >>"$NOTES/openssl.log" 2>&1
)

# All names, by the only server there is (no-daemon: no process of its own for a query by TCP). `moving` can be moved (move_name).
write_dns() {
    local n
    cat >"$WORLD/servers/dnsmasq.conf" <<END2
no-daemon
no-resolv
no-hosts
user=root
bind-interfaces
except-interface=plug
listen-address=$dns4,$dns6
local=/test/
local-ttl=300
log-queries
log-facility=$WORLD/servers/dns.log
addn-hosts=$WORLD/servers/hosts
host-record=allowed.example.test,$allowed4,$allowed6
host-record=other.example.test,$other4,$other6
host-record=four.example.test,$allowed4
host-record=six.example.test,$allowed6
host-record=shared-good.example.test,$shared4
host-record=shared-evil.example.test,$shared4
cname=alias.example.test,hop.example.test
cname=hop.example.test,end.cdn.test
host-record=end.cdn.test,$alias4
host-record=second.example.test,$short4,1
host-record=instant.example.test,$short4,0
address=/wild.example.test/$wild4
host-record=evil.test,$other4
host-record=metadata.example.test,$metadata4
txt-record=text.example.test,some text
dns-rr=service.example.test,65,00010000010003026832000400$(printf '04%02x%02x%02x%02x' ${allowed4//./ })
END2
    # More than one datagram holds.
    for n in $(seq 1 120); do echo "txt-record=large.example.test,record-$n-of-a-long-answer"; done >>"$WORLD/servers/dnsmasq.conf"
    cat >"$WORLD/servers/rogue.conf" <<END2
no-daemon
no-resolv
no-hosts
user=root
bind-interfaces
listen-address=$rogue4
log-queries
log-facility=$WORLD/servers/rogue.log
address=/#/$other4
END2
    move_name_to "$moving4"
}

move_name_to() { echo "$1 moving.example.test" >"$WORLD/servers/hosts"; }

# move_name ADDRESS: from now on moving.example.test is there.
move_name() {
    move_name_to "$1"
    kill -HUP "$(daemon_pid dnsmasq)"
    retry_until name_is_at moving.example.test "$1"
}

name_is_at() { in_net "$ST_BUILDDIR/tests/attack/net" dns "$dns4" 53 "$1" A | grep -qwF "$2"; }

# Web servers of all names at all addresses: who was asked, and by which name, is in the answer and in the log.
write_nginx() {
    mkdir -p "$WORLD/servers/www"
    truncate -s 64M "$WORLD/servers/www/large"
    cat >"$WORLD/servers/nginx.conf" <<END2
daemon off;
user root;
worker_processes 1;
pid $WORLD/servers/nginx.pid;
error_log $WORLD/servers/nginx.err;
events { worker_connections 8192; }
http {
    log_format all escape=json '{"to":"\$server_addr","port":\$server_port,"from":"\$remote_addr","host":"\$host","sni":"\$ssl_server_name","request":"\$request","bytes":\$request_length}';
    access_log $WORLD/servers/web.log all;
    client_body_temp_path $WORLD/servers/body;
    proxy_temp_path $WORLD/servers/proxy;
    fastcgi_temp_path $WORLD/servers/fastcgi;
    uwsgi_temp_path $WORLD/servers/uwsgi;
    scgi_temp_path $WORLD/servers/scgi;
    client_max_body_size 0;
    keepalive_requests 100000;
    ssl_certificate $WORLD/servers/tls.pem;
    ssl_certificate_key $WORLD/servers/tls.key;
    server {
        listen 80 backlog=8192;
        listen [::]:80 backlog=8192;
        listen 8080;
        listen [::]:8080;
        listen 443 ssl backlog=8192;
        listen [::]:443 ssl backlog=8192;
        server_name _;
        root $WORLD/servers/www;
        location / { try_files \$uri @said; }
        location @said { return 200 "\$host by \$server_addr\n"; }
    }
}
END2
}

# A repository that is cloned by HTTP.
make_repository() {
    local dir=$WORLD/servers/www/project.git
    git -c init.defaultBranch=main init -q "$WORLD/servers/project"
    echo content >"$WORLD/servers/project/file"
    git -C "$WORLD/servers/project" add file
    git -C "$WORLD/servers/project" -c user.name=t -c user.email=t@localhost commit -qm first
    git clone -q --bare "$WORLD/servers/project" "$dir"
    git -C "$dir" update-server-info
}

# start_in_net NAME COMMAND…
start_in_net() {
    local name=$1
    shift
    start_daemon "$name" nsenter --net="$WORLD/netns" "$@"
}

start_servers() {
    write_nginx
    make_repository
    start_in_net dnsmasq dnsmasq --conf-file="$WORLD/servers/dnsmasq.conf"
    start_in_net rogue dnsmasq --conf-file="$WORLD/servers/rogue.conf"
    start_in_net nginx nginx -c "$WORLD/servers/nginx.conf" -e "$WORLD/servers/nginx.err"
    # 443 and 853 by UDP: QUIC; 853 by TCP: DNS over TLS.
    start_in_net sink /usr/bin/python3 "$net_lib/net_servers.py" "$WORLD/servers/sink.log" \
        "tcp:$sink" "udp:$sink" tcp:7001 udp:7001 udp:443 udp:853
    start_in_net dot openssl s_server -quiet -accept 853 -cert "$WORLD/servers/tls.pem" -key "$WORLD/servers/tls.key"
    daemon_answers dnsmasq name_is_at allowed.example.test "$allowed4"
    daemon_answers nginx in_net curl -sf "http://$allowed4/"
    daemon_answers sink contains "$WORLD/servers/sink.log" ready
    daemon_answers dot in_net bash -c "exec 5<>/dev/tcp/$allowed4/853"
}

# ---- the recorder: the judge ------------------------------------------------------------------------------

capture_file() { echo "$WORLD/servers/capture"; }

# Everything that comes to or goes from the servers' machine, except among its own addresses.
start_recorder() {
    start_in_net tcpdump tcpdump -i any -Z root -n -U --immediate-mode -B 65536 -s 400 -w "$(capture_file)" \
        "not (ip src net 198.51.100.0/24 and ip dst net 198.51.100.0/24)"
    daemon_answers tcpdump capture_is_complete
    # Or that nothing has arrived would prove nothing.
    read_capture 'udp port 9' | grep -q . || fail "what the recorder has written can't be read"
}

# capture_is_complete: all that has arrived up to now is in the file. It is written in the order of arrival:
# a packet that is sent now stands behind it.
capture_is_complete() { RETRY_SECONDS=10 retry_until is_recorded "end-$RANDOM$RANDOM$RANDOM"; }

# is_recorded WORD: sent, perhaps once more, and there.
is_recorded() {
    in_net bash -c "echo $1 >/dev/udp/127.0.0.1/9" 2>/dev/null
    grep -qaF "$1" "$(capture_file)"
}

# packets FILTER: one line each (twice: by the interface and by its bridge), with its time in seconds.
packets() {
    capture_is_complete
    read_capture "not host 127.0.0.1 and ($1)"
}

# Its end may be half of a packet. As root: a user `tcpdump` is there only where the package has been installed.
read_capture() { tcpdump -r "$(capture_file)" -Z root -n -tt "$1" 2>/dev/null || true; }

# arrived FILTER: such a packet has come to the other side; never_arrived: and none ever did. What a server sends has not
# arrived: it may be meant for a box that has gone.
arrived() { retry_until has_arrived "$1" || fail "nothing has arrived that is: $1"; }
has_arrived() { [ -n "$(packets "inbound and ($1)")" ]; }

never_arrived() {
    local got
    got=$(packets "inbound and ($1)" | head -n 5)
    [ -z "$got" ] || fail "has arrived: $got"
}

# hang_up: what a server has still to say to a box that is gone would come to the next one at that address, whose kernel
# answers it.
hang_up() { in_net ss --tcp --kill state connected >/dev/null; }

# forget_packets: tests start from an empty record.
forget_packets() {
    hang_up
    stop_daemon tcpdump
    ! grep -q '^[1-9][0-9]* packets dropped' "$NOTES/tcpdump.log" || { fail "the recorder has lost packets"; return 1; }
    rm -f "$(capture_file)" "$NOTES/tcpdump.log"
    : >"$WORLD/servers/web.log"
    : >"$WORLD/servers/sink.log"
    : >"$WORLD/servers/dns.log"
    : >"$WORLD/servers/rogue.log"
    start_recorder
}

# served FILTER: the web servers' log has such a request. noted FILTER: that of the sink.
served() { jq -es "any(.[]; $1)" "$WORLD/servers/web.log" >/dev/null || fail "no request served that is: $1"; }
noted() { jq -es "any(.[]; $1)" "$WORLD/servers/sink.log" >/dev/null || fail "nothing noted by the sink that is: $1"; }
count_noted() { jq -s "map(select($1)) | length" "$WORLD/servers/sink.log"; }

# asked NAME: the name server was.
asked() { grep -qiF " $1 from " "$WORLD/servers/dns.log"; }

# ---- containers --------------------------------------------------------------------------------------------

# furnish_net DIR: what clients want to find in a root.
furnish_net() {
    cp "$ST_BUILDDIR/tests/attack/net" "$1/bin/net"
    cp "$WORLD/servers/ca.pem" "$1/etc/ca.pem"
    echo "nameserver $dns4" | tee "$WORLD/servers/resolv.conf" >"$1/etc/resolv.conf"
    printf '127.0.0.1 localhost runc\n::1 localhost\n' >"$1/etc/hosts"
    echo 'hosts: files dns' >"$1/etc/nsswitch.conf"
}

# make_box NAME COMMAND…: a bundle with the host's programs, a namespace of its own, and a resolv.conf that is mounted,
# as engines do it: that of an image is not believed.
make_box() {
    make_container "$@"
    furnish_net "$(bundle_of "$1")/rootfs"
    edit_config "$(bundle_of "$1")" '.mounts += [["/usr", "/usr"], ["/usr/lib", "/lib"], ["/usr/lib64", "/lib64"] |
        {type: "bind", source: .[0], destination: .[1], options: ["rbind", "ro"]}] |
        .mounts += [{type: "bind", source: $resolv, destination: "/etc/resolv.conf", options: ["bind", "ro"]}] |
        .process.rlimits = [{type: "RLIMIT_NOFILE", hard: 16384, soft: 16384}] |
        .process.env += ["CURL_CA_BUNDLE=/etc/ca.pem", "SSL_CERT_FILE=/etc/ca.pem", "HOME=/tmp"]' \
        --arg resolv "$WORLD/servers/resolv.conf"
}

# allow_capability NAME CAPABILITY…
allow_capability() {
    local name=$1
    shift
    edit_config "$(bundle_of "$name")" '.process.capabilities[] |= (. + $ARGS.positional | unique)' --args -- "$@"
}

# plug NAMESPACE N: it gets an interface eth0 with the addresses N of the bridge. A socket that is left with something
# to send keeps its namespace until it gives up: that shall be soon.
plug() {
    local far=p$2
    in_net ip link add "$far" type veth peer name eth0 netns "$1"
    in_net ip link set "$far" master plug up
    nsenter --net="$1" sh -eu -c '
        sysctl -q net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.eth0.accept_dad=0 net.ipv4.tcp_fastopen=5 \
            net.ipv4.tcp_orphan_retries=1
        ip link set lo up
        ip link set eth0 up
        ip addr add "10.77.0.$1/16" dev eth0
        ip addr add "fd77::$1/64" dev eth0 nodad
        ip route add default via "$2"
        ip -6 route add default via "$3"' sh "$2" "$gateway4" "$gateway6"
}

# unplugged N: nothing holds the namespace any more in which the other end was.
unplugged() { ! in_net ip link show "p$1" >/dev/null 2>&1; }

# start_box_of NAME N [RUNTIME-FUNCTION]: a bundle that is there: create, plug, start. Its output is in $NOTES/NAME.log.
start_box_of() {
    local log=$NOTES/$1.log by=${3:-runtime}
    "$by" create --bundle "$(bundle_of "$1")" --pid-file "$NOTES/$1.pid" "$(id_of "$1")" </dev/null >"$log" 2>&1 3>&- ||
        { cat "$log" >&2; return 1; }
    plug "/proc/$(cat "$NOTES/$1.pid")/ns/net" "$2"
    "$by" start "$(id_of "$1")" >>"$log" 2>&1 || { cat "$log" >&2; return 1; }
}

# start_box [CAPABILITY…]: the container `box`, which stays, at 10.77.0.2 and fd77::2; plain_box: by plain runc.
start_box() { start_box_by runtime "$@"; }
plain_box() { start_box_by plain_runc "$@"; }
start_box_by() {
    make_box box sh -c 'trap "exit 0" TERM; sleep 1000000 & wait'
    allow_capability box "${@:2}"
    start_box_of box 2 "$1"
}
# shellcheck disable=SC2034 # used by those who load this
box4=10.77.0.2 box6=fd77::2

# inside COMMAND…: in the box; plainly_inside: not by us.
inside() { runtime exec "$(id_of box)" "$@"; }
plainly_inside() { plain_runc exec "$(id_of box)" "$@"; }

# kill_both: worker and warden of the box, whose processes go on; says when.
kill_both() {
    local worker warden
    worker=$(state_of "$(id_of box)" worker) warden=$(state_of "$(id_of box)" warden)
    kill_together "$warden" "$worker"
    now
    retry_until has_ended "$worker"
    thaw_cgroups_of_world
} 2>>"$NOTES/kill.log"

# remove_box: it ends, its trace is complete, and nothing keeps its namespace.
remove_box() {
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    retry_until unplugged 2
}

# end_net: servers and recorder end; the namespace goes when its last process and its name have gone.
end_net() {
    local name
    [ -n "${WORLD:-}" ] || return 0
    for name in dnsmasq rogue nginx sink dot tcpdump; do
        [ ! -e "$NOTES/daemons/$name" ] || stop_daemon "$name" || true
    done
    umount -l "$WORLD/netns" 2>/dev/null || true
}

# ---- policies ----------------------------------------------------------------------------------------------

# write_net_policy NAME [RULE…]: nothing leaves but what the rules (one line of YAML each) allow; refusals are
# only refused. What follows `--` are lines of their own (on_violation, mode …).
write_net_policy() {
    local name=$1 file=$WORLD/policies/$1.yaml
    shift
    cat >"$file" <<END2
schema_version: "2.0"
name: $name
scope: [/workspace, /tmp]
floor: off
defaults:
  filesystem: { read: allow, write: allow, exec: allow }
  network_egress: deny
  network_ingress: allow
  syscall: allow
END2
    [ $# -eq 0 ] || [ "$1" = -- ] || echo 'rules:' >>"$file"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        echo "  - $1" >>"$file"
        shift
    done
    [ $# -eq 0 ] || shift
    printf '%s\n' "$@" >>"$file"
    grep -q '^on_violation:' "$file" || echo 'on_violation: { low: deny, medium: deny, high: deny, critical: deny }' >>"$file"
    sandtrace policy check "$file" >"$NOTES/check" 2>&1 || { cat "$NOTES/check" >&2; return 1; }
}

# use_policy [RULE…]: for the containers to come.
use_policy() {
    write_net_policy "net-${BATS_TEST_NUMBER:-0}" "$@"
    configure default_policy "net-${BATS_TEST_NUMBER:-0}"
}

# to ID DESTINATION [MORE]: a rule that allows it.
to() { echo "{ id: $1, type: network_egress, destinations: [$2]${3:+, $3} }"; }

# ---- of the trace ------------------------------------------------------------------------------------------

# shellcheck disable=SC2034 # used by those who load this
{
    is_egress='.event_type == "network_egress"'
    is_ingress='.event_type == "network_ingress"'
    is_dns='.event_type == "dns_query"'
    is_attempt='.event_type == "network_egress" and .payload.state == "attempt"'
    is_closed='.event_type == "network_egress" and .payload.state == "closed"'
    was_refused='.payload.blocked and .verdict.result == "deny" and .verdict.action == "denied"'
    was_allowed='(.payload.blocked | not) and .verdict.result == "allow"'
}

# refused_on_trace DESTINATION-FILTER, allowed_on_trace …: of the box, by now or soon.
refused_on_trace() { retry_until trace_has "$(id_of box)" "$is_attempt and $was_refused and $1"; }
allowed_on_trace() { retry_until trace_has "$(id_of box)" "$is_attempt and $was_allowed and $1"; }

# at ADDRESS PORT [NAME]: a filter.
at() { echo "(.payload.dst_ip == \"$1\" and .payload.dst_port == $2${3:+ and .payload.dst_host == \"$3\"})"; }

# trace_sum FILTER: how many events of the box these are, folded ones with their number.
trace_sum() { jq -s "map(select($1) | .payload.count // 1) | add // 0" "$(trace_of "$(id_of box)")"; }

# says WORD ARGUMENT…: the program inside says this; refuses …: it is refused at once, in whatever words of the kernel.
says() {
    run inside net "${@:2}"
    [ "$output" = "$1" ] || fail "net ${*:2} says $output, not $1"
}

refuses() {
    run inside net "$@"
    [[ $output == @(ECONNREFUSED|EPERM|EACCES|ECONNRESET|ENETUNREACH|EHOSTUNREACH) ]] || fail "net $* says $output"
}

# tries ARGUMENT…: whatever it says: a raw socket is not told what becomes of its packets.
tries() { inside net "$@" >"$NOTES/tried" 2>&1 || [ "$(cat "$NOTES/tried")" != '' ]; }

# name_arrived NAME: in a packet to a name server, any one.
name_arrived() { packets 'dst port 53' | grep -qiF " $1. "; }

# text_arrived TEXT: in a packet.
text_arrived() { capture_is_complete && grep -qaF -- "$1" "$(capture_file)"; }

# last_packet FILTER: its time, in seconds; packets_after TIME FILTER: those that came later.
last_packet() { packets "$1" | tail -n 1 | cut -d' ' -f1; }
packets_after() { packets "$2" | awk -v t="$1" '$1 > t'; }

now() { date +%s.%N; }

# is_silent FILTER: no such packet for longer than the dead-man's switch takes.
is_silent() { awk -v last="$(last_packet "$1")" -v now="$(now)" 'BEGIN { exit !(now - last > 3) }'; }

# bytes_arrived FILTER: of each TCP flow, without headers and however often they came: one line each, at least one.
bytes_arrived() {
    packets "$1" | sed -n 's/.* IP6\? \([^ ]*\) > .* seq [0-9]*:\([0-9]*\),.*/\1 \2/p' |
        awk '$2 - 1 > n[$1] { n[$1] = $2 - 1 } END { for (flow in n) print n[flow]; if (length(n) == 0) print 0 }'
}

# ---- another machine, whose network containers share ---------------------------------------------------------

# make_host: a namespace that is the host to whoever runs in it (in_host), with an interface at 10.77.0.9 and fd77::9;
# the servers are on the other side.
make_host() {
    touch "$WORLD/host"
    unshare --net="$WORLD/host" true
    plug "$WORLD/host" 9
}
end_host() { umount -l "$WORLD/host" 2>/dev/null || true; }
in_host() { nsenter --net="$WORLD/host" "$@"; }
# shellcheck disable=SC2034 # used by those who load this
host4=10.77.0.9 host6=fd77::9

# hosted_runtime ARGUMENT…: there; so must be all of it: who is put into such a container stays in the network that the
# runtime is in.
hosted_runtime() { in_host "$RUNTIME" --root "$WORLD/root" "$@"; }

# make_hosted NAME COMMAND…: the bundle of a container in that network; start_hosted NAME: it runs.
make_hosted() {
    make_box "$@"
    edit_config "$(bundle_of "$1")" '.linux.namespaces |= map(select(.type != "network"))'
}
start_hosted() {
    local log=$NOTES/$1.log
    hosted_runtime run --detach --bundle "$(bundle_of "$1")" --pid-file "$NOTES/$1.pid" "$(id_of "$1")" </dev/null >"$log" 2>&1 3>&- ||
        { cat "$log" >&2; return 1; }
}
