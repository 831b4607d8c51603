#!/bin/bash
# verify_sandbox_monitor.sh: does the watch hold on this machine? From inside real containers it tries what an agent must not
# do, and looks whether each attempt was stopped by a SECURITY_PAUSE, refused, and recorded in a trace that verifies.
#
#   verify_sandbox_monitor.sh docker|podman|runc|run [--image IMAGE] [--policy NAME] [--runtime NAME]
#
# run is `sandtrace run`, which needs no engine, and slirp4netns for the network of its container.
#
# --image    docker, podman: with sh and cat, and nc, bash, python3 or wget to connect with (default: busybox)
# --policy   the policy to try (default: the one that such containers get anyway)
# --runtime  the engine's name for sandtrace (default: sandtrace; runc: the path of sandtrace-runtime)
#
# Safe on a machine in production: its containers bear names of their own and are removed, the one connection that is tried
# goes to an address that is nobody's (192.0.2.1, RFC 5737), nothing of the host is changed. Traces stay, as evidence.
#
# Exit code: 0 every attempt was stopped, 1 one was not, 2 it could not be tried.
set -euo pipefail

patience=60 # seconds for a container to come to its attempt
name=sandtrace-verify-$$
image=busybox policy='' runtime='' work='' stopped=0 failed=0

die() {
    echo "verify_sandbox_monitor.sh: $*" >&2
    exit 2
}

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }

# ---- the attempts: what is run inside, and what the pause must be about ------------------------------------

# shellcheck disable=SC2016 # run in the container
connect='if command -v nc; then nc -w 5 192.0.2.1 443 </dev/null
elif command -v bash; then bash -c "exec 3<>/dev/tcp/192.0.2.1/443"
elif command -v python3; then python3 -c "import socket; socket.create_connection((\"192.0.2.1\", 443), 5)"
else wget -T 5 -O /dev/null https://192.0.2.1/; fi'

# Where engines put secrets; each container gets one.
secret=/run/secrets/sandtrace-verify
titles=("read $secret" 'write /etc/passwd' 'connect to 192.0.2.1:443')
commands=("cat $secret" 'echo intruder >>/etc/passwd' "$connect")
signs=("\"path\":\"$secret\"" '"path":"/etc/passwd"' '"dst_ip":"192.0.2.1"')

# ---- engines: start ENGINE COMMAND prints the container's ID ------------------------------------------------

start_docker() {
    local words=()
    if [ -n "$policy" ]; then
        docker run --help | grep -q -- --annotation || die "this docker has no --annotation (24.0 has); leave out --policy"
        words=(--annotation "io.sandtrace.policy=$policy")
    fi
    docker run -d --name "$name" -v "$work/secret:$secret:ro" --runtime "${runtime:-sandtrace}" "${words[@]}" "$image" sh -c "$1"
}

start_podman() {
    local words=()
    [ -z "$policy" ] || words=(--annotation "io.sandtrace.policy=$policy")
    podman --runtime "${runtime:-sandtrace}" run -d --name "$name" -v "$work/secret:$secret:ro" "${words[@]}" "$image" sh -c "$1"
}

# A root file system of the host's own programs, read-only, and a network in which a device leads nowhere.
start_runc() {
    make_bundle "$1" || return
    "${runtime:-sandtrace-runtime}" --root "$work/root" run --detach --bundle "$work/bundle" "$name" </dev/null >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; return 1; }
    echo "$name"
}

make_bundle() {
    local dir binds='' annotations='' net script=${1//\\/\\\\}
    script=${script//\"/\\\"}
    net=$(network) || return
    rm -rf "$work/bundle"
    mkdir -p "$work/bundle/rootfs"/{etc,proc,dev,tmp,workspace,usr,run/secrets}
    echo 'root:x:0:0:root:/root:/bin/sh' >"$work/bundle/rootfs/etc/passwd"
    for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$work/bundle/rootfs/$dir"; done
    for dir in "/usr:/usr" "/etc/alternatives:/etc/alternatives" "$work/secret:$secret"; do
        [ ! -e "${dir%%:*}" ] ||
            binds+="{\"destination\": \"${dir#*:}\", \"type\": \"bind\", \"source\": \"${dir%%:*}\", \"options\": [\"rbind\", \"ro\"]},"
    done
    [ -z "$policy" ] || annotations="\"io.sandtrace.policy\": \"$policy\""
    cat >"$work/bundle/config.json" <<END
{"ociVersion": "1.0.2", "root": {"path": "rootfs"}, "annotations": {$annotations},
 "process": {"cwd": "/", "user": {"uid": 0, "gid": 0}, "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], "noNewPrivileges": true,
  "args": ["sh", "-c", "${script//$'\n'/\\n}"]},
 "mounts": [$binds {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}],
 "linux": {"cgroupsPath": "/$name",
  "namespaces": [{"type": "pid"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}, {"type": "network", "path": "/proc/$net/ns/net"}]}}
END
}

# It waits for the command: in the background, and its ID is that of the container whose first process is its child.
start_run() {
    local words=(--user root --network user --bind "$work/secret:$secret:ro") until=$((SECONDS + patience)) runner
    [ -z "$policy" ] || words+=(--policy "$policy")
    mkdir -p "$work/folder"
    (cd "$work/folder" && exec sandtrace run "${words[@]}" -- sh -c "$1") </dev/null >"$work/log" 2>&1 &
    runner=$!
    echo "$runner" >"$work/runner"
    until id_of_run "$runner"; do
        if ! kill -0 "$runner" 2>/dev/null || [ "$SECONDS" -ge "$until" ]; then
            # Ended already: nothing has held it.
            sed -n 's/^sandtrace: \(run-[0-9a-f]*\) ended .*/\1/p' "$work/log" | grep . || { cat "$work/log" >&2; return 1; }
            return
        fi
        sleep 0.05
    done
}

id_of_run() {
    local id pid
    while read -r id pid; do
        [ "$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null)" != "$1" ] || { echo "$id" | tee "$work/id"; return; }
    done < <(sandtrace ps --json | sed -n 's/.*"id":"\(run-[^"]*\)".*"pid":\([0-9]*\).*/\1 \2/p')
    return 1
}

# Returns when it has taken all away.
remove_run() {
    [ ! -s "$work/id" ] || sandtrace kill "$(cat "$work/id")" || true
    [ ! -s "$work/runner" ] || while kill -0 "$(cat "$work/runner")" 2>/dev/null; do sleep 0.05; done
    rm -f "$work/id" "$work/runner"
}

# The pid of who holds it; it ends with us.
network() {
    [ -s "$work/holder" ] || {
        unshare --net sh -c 'ip link set lo up && ip link add nowhere type veth peer name nobody && ip link set nobody up &&
            ip link set nowhere up && ip addr add 198.51.100.2/24 dev nowhere && ip route add default via 198.51.100.1 && ip neigh add 198.51.100.1 lladdr 02:00:00:00:00:01 dev nowhere &&
            echo $$ >"$1.new" && mv "$1.new" "$1" && exec sleep 3600' sh "$work/holder" >/dev/null 2>&1 </dev/null &
        until [ -s "$work/holder" ]; do
            kill -0 $! 2>/dev/null || die "no network of its own could be made (ip, of iproute2, is needed)"
            sleep 0.05
        done
    }
    cat "$work/holder"
}

remove() {
    case $engine in
    docker) docker rm -f "$name" ;;
    podman) podman rm -f -t 0 "$name" ;;
    runc) "${runtime:-sandtrace-runtime}" --root "$work/root" delete --force "$name" ;;
    run) remove_run ;;
    esac >/dev/null 2>&1 || true
}

clean_up() {
    remove
    [ ! -s "$work/holder" ] || kill "$(cat "$work/holder")" 2>/dev/null || true
    rm -rf "$work"
}

# ---- one attempt ---------------------------------------------------------------------------------------------

report() { printf '  %-10s %-36s %s\n' "$@"; }

# Its trace: asked while it is watched.
trace_of() { sandtrace ps --json | sed -n "s/.*\"id\":\"$1\".*\"trace\":\"\([^\"]*\)\".*/\1/p"; }

# Waits for the pause of this container; prints its JSON. 1: it ended, or time is up.
await_pause() {
    local until=$((SECONDS + patience)) pending
    while [ "$SECONDS" -lt "$until" ]; do
        pending=$(sandtrace pending --json "$1" 2>/dev/null) || return 1
        [ -z "$pending" ] || { echo "$pending"; return; }
        sleep 0.1
    done
    return 1
}

# A trace is sealed soon after its container's end.
await_verified() {
    local until=$((SECONDS + patience))
    until sandtrace verify "$1" >"$work/verify" 2>&1; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.1
    done
}

could_not_start() { die "the container could not be started; sandtrace doctor may say why"; }

# attempt TITLE COMMAND SIGN
attempt() {
    local id trace pause pause_id
    id=$("start_$engine" "$2") || could_not_start
    trace=$(trace_of "$id")
    if pause=$(await_pause "$id") && [[ $pause == *"$3"* ]]; then
        pause_id=$(sed -n 's/.*"pause_id":"\([^"]*\)".*/\1/p' <<<"$pause")
        sandtrace deny "$pause_id" --reason verify_sandbox_monitor.sh >/dev/null 2>&1 || pause_id=''
    fi
    remove
    if [ -z "${pause_id:-}" ] && [ "$engine" = run ] && ! grep -q "^sandtrace: $id " "$work/log"; then
        # It has a summary of every command that it ran: there was none to be held.
        cat "$work/log" >&2
        could_not_start
    elif [ -z "${pause_id:-}" ]; then
        report 'NOT HELD' "$1" "no SECURITY_PAUSE came${trace:+; see $trace}"
    elif ! await_verified "$trace" || ! grep -q "\"event_type\":\"security_pause\".*\"pause_id\":\"$pause_id\"" "$trace"; then
        report 'NO RECORD' "$1" "$pause_id was refused, but its trace does not verify: $trace"
    else
        report stopped "$1" "SECURITY_PAUSE $pause_id, refused, recorded in $trace"
        stopped=$((stopped + 1))
        return
    fi
    failed=$((failed + 1))
}

# ---- all of it -----------------------------------------------------------------------------------------------

engine=''
while [ $# -gt 0 ]; do
    case $1 in
    docker | podman | runc | run) engine=$1 ;;
    --image | --policy | --runtime)
        [ $# -gt 1 ] || die "$1 needs a value"
        printf -v "${1#--}" %s "$2"
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die "unknown word '$1'; see --help" ;;
    esac
    shift
done
[ -n "$engine" ] || die "name one of docker, podman, runc, run; see --help"
[ "$(id -u)" -eq 0 ] || die "only root can start containers under watch, and decide about them"
command -v sandtrace >/dev/null || die "sandtrace is not in PATH"
case $engine in
docker | podman) command -v "$engine" >/dev/null || die "$engine is not in PATH" ;;
run)
    [ -z "$runtime" ] || die "--runtime says nothing to sandtrace run"
    command -v slirp4netns >/dev/null || die "slirp4netns is not in PATH; apt-get install slirp4netns"
    ;;
esac

work=$(mktemp -d)
trap clean_up EXIT
echo 'not to be read' >"$work/secret"
[ "$engine" = run ] && by="sandtrace run" || by=$engine
echo "What must not happen in a container, tried by $by:"
for i in "${!titles[@]}"; do attempt "${titles[i]}" "${commands[i]}" "${signs[i]}"; done
echo "$stopped of ${#titles[@]} attempts were stopped."
[ "$failed" -eq 0 ]
