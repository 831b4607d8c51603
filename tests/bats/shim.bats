#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031,SC2016,SC2001 # each test is a subshell of its own
# sandtrace-runtime with the real runc underneath. The hook is a recorder of what it is given, so that what is tested
# here is the shim alone; containers with the real hook and monitor are tested elsewhere.

setup_file() {
    local program
    for program in runc busybox python3; do
        command -v "$program" >/dev/null || {
            echo "$program is missing: apt-get install runc busybox-static python3" >&2
            return 1
        }
    done
    [ "$(id -u)" = 0 ] || { echo "these tests need root" >&2; return 1; }
}

setup() {
    WORK=$(mktemp -d)
    ID=shim-$BATS_TEST_NUMBER-$$
    SHIM=${ST_BUILDDIR:?}/sandtrace-runtime
    BUNDLE=$WORK/bundle
    mkdir -p "$BUNDLE/rootfs/bin" "$BUNDLE/rootfs/proc" "$BUNDLE/rootfs/sys" "$BUNDLE/rootfs/dev" "$WORK/hooks"
    cp "$(command -v busybox)" "$BUNDLE/rootfs/bin/busybox"
    ln -s busybox "$BUNDLE/rootfs/bin/sh"
    (cd "$BUNDLE" && runc spec)
    spec "c['process']['terminal'] = False; c['linux']['cgroupsPath'] = '/sandtrace-$ID'"
    be_sandbox "$ID"
    write_hook 0
    write_configuration ""
    export SANDTRACE_CONFIG=$WORK/sandtrace.yaml
}

teardown() {
    runc --root "$WORK/root" delete --force "$ID" 2>/dev/null || true
    umount "$BUNDLE" 2>/dev/null || true
    rm -rf --one-file-system "$WORK"
}

# spec STATEMENT: change config.json with a statement of Python over c.
spec() {
    python3 - "$BUNDLE/config.json" "$1" <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(c, open(sys.argv[1], "w"), indent=1)
END
}

# be_sandbox ID: a pod's sandbox is watched lightly: the kernel is not told to ask a monitor, of which there is none here.
be_sandbox() {
    spec "c['annotations'] = {'io.kubernetes.cri.container-type': 'sandbox', 'io.kubernetes.cri.sandbox-id': '$1'}"
}

# write_hook STATUS: a recorder that leaves its arguments, environment and stdin and ends with STATUS. There is no monitor to
# wait for it.
write_hook() {
    cat >"$WORK/sandtrace-hook" <<END
#!/bin/busybox sh
printf '%s\n' "\$*" >>"$WORK/hooks/calls"
/bin/busybox env >"$WORK/hooks/env.\$1"
/bin/busybox cat >"$WORK/hooks/state.\$1"
[ $1 = 0 ] || echo "the monitor can not watch this" >&2
exit $1
END
    chmod 755 "$WORK/sandtrace-hook"
}

write_configuration() {
    cat >"$WORK/sandtrace.yaml" <<END
runtime: runc
hook: $WORK/sandtrace-hook
monitor: $WORK/sandtrace-monitor
state_dir: $WORK/state
policy_dirs: [$(cd "${ST_SRCDIR:?}/policies" && pwd)]
default_policy: audit-only
$1
END
}

shim() {
    "$SHIM" --root "$WORK/root" "$@"
}

@test "a container runs, and its hook is called once" {
    spec 'c["process"]["args"] = ["sh", "-c", "echo hello"]'
    run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 0 ]
    [ "$output" = hello ]
    [ "$(cat "$WORK/hooks/calls")" = "create --config $WORK/sandtrace.yaml --standby $WORK/state/.standby --timeout 30000" ]
    python3 - "$WORK/hooks/state.create" "$ID" "$BUNDLE" <<'END'
import json, sys
s = json.load(open(sys.argv[1]))
assert s["id"] == sys.argv[2] and s["bundle"] == sys.argv[3] and s["pid"] > 1, s
END
}

@test "hooks run with an environment of their own" {
    spec 'c["process"]["env"] = ["LD_PRELOAD=/evil.so", "PATH=/bin"]'
    spec 'c["process"]["args"] = ["sh", "-c", "true"]'
    SECRET=x SANDTRACE_STATE_DIR=$WORK/state run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 0 ]
    grep -qx "SANDTRACE_STATE_DIR=$WORK/state" "$WORK/hooks/env.create"
    grep -qx "PATH=/usr/sbin:/usr/bin:/sbin:/bin" "$WORK/hooks/env.create"
    ! grep -q "SECRET\|LD_PRELOAD\|SANDTRACE_CONFIG" "$WORK/hooks/env.create"
}

@test "the monitor that is started ahead has no environment and no file of the engine's" {
    cat >"$WORK/sandtrace-monitor" <<END
#!/bin/busybox sh
/bin/busybox tr '\\0' '\\n' </proc/\$\$/environ >"$WORK/hooks/environ"
/bin/busybox ls -l /proc/\$\$/fd >"$WORK/hooks/fds.new"
/bin/busybox mv "$WORK/hooks/fds.new" "$WORK/hooks/fds"
END
    chmod 755 "$WORK/sandtrace-monitor"
    spec 'c["process"]["args"] = ["sh", "-c", "true"]'
    SECRET=x run shim run --bundle "$BUNDLE" "$ID" 7>"$WORK/hooks/engine"
    [ "$status" -eq 0 ]
    until [ -e "$WORK/hooks/fds" ]; do busybox sleep 0.02; done
    [ ! -s "$WORK/hooks/environ" ]
    run ! grep -q hooks/engine "$WORK/hooks/fds"
    grep -q "0 -> /dev/null" "$WORK/hooks/fds"
}

@test "the exit status of the container comes through" {
    spec 'c["process"]["args"] = ["sh", "-c", "exit 42"]'
    cd "$BUNDLE"
    run shim run "$ID"
    [ "$status" -eq 42 ]
}

@test "stdin goes to the container" {
    spec 'c["process"]["args"] = ["busybox", "cat"]'
    run bash -c "head -c 200000 /dev/zero | tr '\0' x | '$SHIM' --root '$WORK/root' run -b '$BUNDLE' '$ID' | wc -c"
    [ "$status" -eq 0 ]
    [ "$output" -eq 200000 ]
}

@test "a signal to the shim's pid reaches the container" {
    spec 'c["process"]["args"] = ["sh", "-c", "trap \"exit 7\" TERM; echo ready; while :; do busybox sleep 0.05; done"]'
    "$SHIM" --root "$WORK/root" run --bundle "$BUNDLE" "$ID" >"$WORK/out" 3>&- &
    local pid=$! code=0
    until grep -q ready "$WORK/out"; do
        kill -0 "$pid"
        busybox sleep 0.02
    done
    kill -TERM "$pid"
    wait "$pid" || code=$?
    [ "$code" -eq 7 ]
}

@test "create, state, start, exec, kill and delete work as with runc" {
    spec 'c["process"]["args"] = ["busybox", "sleep", "1000"]'
    shim create --bundle "$BUNDLE" --pid-file "$WORK/pid" "$ID" </dev/null >/dev/null 2>&1 3>&-
    [ "$(readlink "/proc/$(cat "$WORK/pid")/exe")" ]
    for command in state "ps --format json" "list -q"; do
        # shellcheck disable=SC2086
        case $command in list*) set -- $command ;; *) set -- $command "$ID" ;; esac
        [ "$(shim "$@")" = "$(runc --root "$WORK/root" "$@")" ]
    done
    shim start "$ID"
    run shim exec "$ID" sh -c 'echo inside; exit 3'
    [ "$status" -eq 3 ]
    [ "$output" = inside ]
    shim kill "$ID" KILL
    until [ "$(runc --root "$WORK/root" state "$ID" | python3 -c 'import json,sys; print(json.load(sys.stdin)["status"])')" = stopped ]; do
        busybox sleep 0.02
    done
    shim delete "$ID"
    run shim state "$ID"
    [ "$status" -ne 0 ]
    [[ $output == *"does not exist"* ]]
}

@test "every byte of config.json but our hooks stays, and a second run changes nothing" {
    spec 'c["process"]["args"] = ["sh", "-c", "true"]; c["future"] = {"n": 123456789012345678901234567890, "e": [], "u": "\u00e9\ud800"}'
    cp "$BUNDLE/config.json" "$WORK/before.json"
    chmod 0640 "$BUNDLE/config.json"
    chown 123:456 "$BUNDLE/config.json"
    shim run --bundle "$BUNDLE" "$ID"
    [ "$(stat -c '%a %u %g' "$BUNDLE/config.json")" = "640 123 456" ]
    python3 - "$WORK/before.json" "$BUNDLE/config.json" <<'END'
import sys
before, after = (open(p, "rb").read() for p in sys.argv[1:])
start = after.index(b',"hooks":{')
cut = len(after) - len(before)
assert cut > 0 and after[:start] + after[start + cut:] == before, "more than the hooks was changed"
END
    cp "$BUNDLE/config.json" "$WORK/once.json"
    inode=$(stat -c %i "$BUNDLE/config.json")
    shim run --bundle "$BUNDLE" "$ID"
    cmp "$WORK/once.json" "$BUNDLE/config.json"
    [ "$(stat -c %i "$BUNDLE/config.json")" = "$inode" ]
    [ "$(ls -A "$BUNDLE")" = "config.json
rootfs" ]
}

@test "hooks of others stay before ours" {
    for name in one two; do
        printf '#!/bin/sh\necho %s >>%s\n' "$name" "$WORK/hooks/calls" >"$WORK/$name"
        chmod 755 "$WORK/$name"
    done
    spec "c['hooks'] = {'prestart': [{'path': '$WORK/one'}], 'createRuntime': [{'path': '$WORK/two'}]}"
    spec 'c["process"]["args"] = ["sh", "-c", "true"]'
    shim run --bundle "$BUNDLE" "$ID"
    [ "$(cut -d' ' -f1 "$WORK/hooks/calls")" = "one
two
create" ]
}

@test "a container may be called create" {
    spec 'c["process"]["args"] = ["sh", "-c", "echo hello"]'
    ID=create
    be_sandbox "$ID"
    cd "$BUNDLE"
    run shim run -- create
    [ "$status" -eq 0 ]
    [ "$output" = hello ]
    grep -q '^create' "$WORK/hooks/calls"
}

@test "a hook that fails keeps the container from starting, and its words are shown" {
    write_hook 1
    spec 'c["process"]["args"] = ["sh", "-c", "echo started"]'
    run shim --log "$WORK/log" --log-format json run --bundle "$BUNDLE" "$ID"
    [ "$status" -ne 0 ]
    [[ $output == *"the monitor can not watch this"* ]]
    [[ $output != *started* ]]
    grep -q "the monitor can not watch this" "$WORK/log"
}

@test "a config.json that can not be read is refused with its place, and left alone" {
    printf '{"ociVersion":"1.0.2",\n "process": }' >"$BUNDLE/config.json"
    cp "$BUNDLE/config.json" "$WORK/before.json"
    run shim --log "$WORK/log" --log-format json create --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 1 ]
    [[ $output == "sandtrace-runtime: $BUNDLE/config.json: line 2, column "* ]]
    cmp "$WORK/before.json" "$BUNDLE/config.json"
    python3 - "$WORK/log" <<'END'
import datetime, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) == 1 and lines[0]["level"] == "error" and "line 2, column" in lines[0]["msg"], lines
datetime.datetime.strptime(lines[0]["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
END
}

@test "the log is written in runc's text format too" {
    run shim --log "$WORK/log" create --bundle "$WORK/none" "$ID"
    [ "$status" -eq 1 ]
    [[ $(cat "$WORK/log") =~ ^time=\"[0-9TZ:.-]+\"\ level=error\ msg=\"sandtrace-runtime:\ bundle\  ]]
}

@test "a key that runc would take for hooks is refused" {
    spec 'c["Hooks"] = {}'
    run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 1 ]
    [[ $output == *'runc would take it for `hooks`'* ]]
}

@test "an unwatched container runs only where the configuration allows it" {
    spec 'c["process"]["args"] = ["sh", "-c", "echo hello"]; c["annotations"] = {"io.sandtrace.disable": "true"}'
    run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 1 ]
    [[ $output == *"set allow_disable: true"* ]]
    write_configuration "allow_disable: true"
    run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 0 ]
    [ "$output" = hello ]
    [ ! -e "$WORK/hooks/calls" ]
}

@test "a bundle that was watched before is let go where it is disabled now" {
    spec 'c["process"]["args"] = ["sh", "-c", "true"]'
    shim run --bundle "$BUNDLE" "$ID"
    rm "$WORK/hooks/calls"
    write_configuration "allow_disable: true"
    spec 'c["annotations"] = {"io.sandtrace.disable": "true"}'
    shim run --bundle "$BUNDLE" "$ID"
    [ ! -e "$WORK/hooks/calls" ]
}

@test "a policy that may not be named so stops the container" {
    spec 'c["annotations"] = {"io.sandtrace.policy": "../../etc/passwd"}'
    run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 1 ]
    [[ $output == *"annotation io.sandtrace.policy"*"no policy's name"* ]]
}

@test "a read-only bundle is refused unless it is as it should be already" {
    spec 'c["process"]["args"] = ["sh", "-c", "echo hello"]'
    mount --bind "$BUNDLE" "$BUNDLE"
    mount -o remount,bind,ro "$BUNDLE"
    run shim run --bundle "$BUNDLE" "$ID"
    mount -o remount,bind,rw "$BUNDLE"
    [ "$status" -eq 1 ]
    [[ $output == *"Read-only file system"* ]]
    run shim run --bundle "$BUNDLE" "$ID"
    [ "$status" -eq 0 ]
    mount -o remount,bind,ro "$BUNDLE"
    run shim run --bundle "$BUNDLE" "$ID"
    umount "$BUNDLE"
    [ "$status" -eq 0 ]
    [ "$output" = hello ]
}

@test "with a broken configuration nothing starts, but what runs can be stopped" {
    spec 'c["process"]["args"] = ["busybox", "sleep", "1000"]'
    shim run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
    echo 'runtme: x' >>"$WORK/sandtrace.yaml"
    run shim --log "$WORK/log" run --bundle "$BUNDLE" "$ID-2"
    [ "$status" -eq 1 ]
    [[ $output == *"sandtrace.yaml:8:1: unknown key \`runtme\`; did you mean \`runtime\`?"* ]]
    rm "$WORK/log"
    run shim --log "$WORK/log" delete --force "$ID"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    grep -q 'level=warning.*unknown key' "$WORK/log"
}

@test "the answer to --version has both names and stays readable for engines" {
    run "$SHIM" --version
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "runc version "* ]]
    [[ ${lines[-1]} == "sandtrace-runtime: "* ]]
    [[ ${lines[-1]} != *version* ]]
    [ "$(printf '%s\n' "${lines[@]:0:${#lines[@]}-1}")" = "$(runc --version)" ]
}

@test "the answer to features is runc's with one more annotation" {
    run "$SHIM" features
    [ "$status" -eq 0 ]
    python3 - "$output" "$(runc features)" <<'END'
import json, sys
ours, theirs = map(json.loads, sys.argv[1:])
assert ours["annotations"].pop("io.sandtrace.version")
assert ours == theirs
END
}

@test "features of a runtime that has none fail in its own words" {
    SANDTRACE_RUNTIME=crun run "$SHIM" features
    [ "$status" -eq 1 ]
    [ "$output" = "unknown command features" ]
}

@test "help is the runtime's own, and names us after it" {
    run "$SHIM" --help
    [ "$status" -eq 0 ]
    [[ $output == *"runc - Open Container Initiative runtime"*sandtrace-runtime* ]]
}

@test "runc's own errors come through unchanged" {
    for line in "create" "create a b" "state nosuch" "frobnicate" "--foo state x" "kill" "run --foo"; do
        # shellcheck disable=SC2086
        run runc --root "$WORK/root" $line
        local expected=$output code=$status
        # shellcheck disable=SC2086
        run shim $line
        [ "$status" -eq "$code" ]
        diff <(sed 's/time="[^"]*"//; s|[^ ]*runc:|runc:|' <<<"$output") <(sed 's/time="[^"]*"//; s|[^ ]*runc:|runc:|' <<<"$expected")
    done
}

@test "a shim that is called runc itself finds the real one behind it" {
    mkdir "$WORK/path"
    ln -s "$SHIM" "$WORK/path/runc"
    write_configuration ""
    PATH=$WORK/path:$PATH run runc --version
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "runc version "* ]]
    [[ ${lines[-1]} == "sandtrace-runtime: "* ]]
}

@test "a runtime that is the shim itself is refused" {
    SANDTRACE_RUNTIME=$SHIM run "$SHIM" state x
    [ "$status" -eq 1 ]
    [[ $output == *"this is sandtrace-runtime itself"* ]]
}
