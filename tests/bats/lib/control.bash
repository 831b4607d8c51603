# Containers that are held, and the people who decide about them.

control_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# write_policy NAME [LINE…]: reading /etc/shadow is a critical violation, which pauses and holds.
write_policy() {
    local name=$1
    shift
    cat >"$WORLD/policies/$name.yaml" <<END
schema_version: "2.0"
name: $name
mode: enforce
scope: [/workspace, /tmp]
floor: off
defaults:
  filesystem: { read: allow, write: allow, exec: allow }
rules:
  - id: secrets
    type: filesystem
    action: deny
    severity: critical
    paths: [/etc/shadow, "/root/.ssh/**"]
END
    printf '%s\n' "$@" >>"$WORLD/policies/$name.yaml"
}

# make_reader NAME SCRIPT: a container whose script may call `look N`: read the secret, say in
# /workspace/looked.N what came of it.
make_reader() {
    make_container "$1" sh -c "look() { cat /etc/shadow >/workspace/got.\$1 2>/workspace/err.\$1 && echo yes >/workspace/looked.\$1 || echo no >/workspace/looked.\$1; }
$2"
    echo 'root:secret' >"$(bundle_of "$1")/rootfs/etc/shadow"
}

# start_reader NAME SCRIPT: and run it.
start_reader() {
    make_reader "$@"
    start_detached "$1"
}

# talk ARGUMENT…: the other end of a monitor's sockets. Not by a python of somebody's home, which another user can't start.
talk() { /usr/bin/python3 "$control_lib/talk.py" "$@"; }

work_of() { echo "$(bundle_of "$1")/rootfs/workspace"; }

# looked NAME N WORD: what came of a look.
looked() { [ "$(cat "$(work_of "$1")/looked.$2" 2>/dev/null)" = "$3" ]; }

socket_of() { echo "$WORLD/run/$(id_of "$1")/control.sock"; }

# ask NAME LINE…: by the socket, without our own client.
ask() {
    local name=$1
    shift
    talk ask "$(socket_of "$name")" "$@"
}

# pauses [NAME]: ids of what waits, one a line.
pauses() { sandtrace pending ${1:+"$(id_of "$1")"} | jq -r .pause_id; }

# waits NAME [N]: so many operations of it wait (1).
waits() { [ "$(pauses "$1" | grep -c .)" -eq "${2:-1}" ]; }

nothing_waits() { [ -z "$(sandtrace pending)" ]; }

# held NAME: wait until one operation is; its id.
held() { retry_until waits "$1" && pauses "$1"; }

# on_terminal COMMAND: with a terminal for standard output; what it shows, without carriage returns.
on_terminal() { TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r'; }

# Of the trace: decisions and pauses.
# shellcheck disable=SC2034 # used by those who load this
is_pause='.event_type == "security_pause"'
# shellcheck disable=SC2034
is_resume='.event_type == "security_resume"'
