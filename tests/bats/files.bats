#!/usr/bin/env bats
# The file system, by runc, docker and podman: what is outside of the policy is
# refused or held, by whichever way it is reached; what is inside is not touched.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control

files_lib=$BATS_TEST_DIRNAME/lib

setup_file() {
    require git=git sqlite3=sqlite3 gcc=gcc python3=python3
    make_world
    cat >"$WORLD/policies/refusing.yaml" <<END
schema_version: "2.0"
name: refusing
extends: agent-default
on_violation: { low: deny, medium: deny, high: deny, critical: deny }
END
    sed 's/^name: .*/name: bare/; $a floor: off' "$WORLD/policies/refusing.yaml" >"$WORLD/policies/bare.yaml"
    sed 's/^name: .*/name: nameless/; $a exec_of_memfd: allow\nexec_of_deleted: allow' "$WORLD/policies/refusing.yaml" >"$WORLD/policies/nameless.yaml"
    sed 's/^name: .*/name: strictly/; s/agent-default/strict/' "$WORLD/policies/refusing.yaml" >"$WORLD/policies/strictly.yaml"
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() {
    configure default_policy refusing
    configure depth "$(usual_depth)"
    remember_what_is_there
}

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    unmount_below "$WORLD/volumes"
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/volumes"
}

# furnished ENGINE NAME: a container to be, with a repository in its workspace.
furnished() {
    prepare "$1" "$2"
    furnish_workspace "$(workspace_of "$1" "$2")"
}

# judge ENGINE NAME TABLE [OPTION…]: what was said of the table is in $NOTES/said.
judge() {
    /usr/bin/python3 "$files_lib/judge.py" "$3" "$NOTES/said" "$(trace_of "$(watched_id "$1" "$2")")" "${@:4}" >&2
}

# all_attacks_fail ENGINE [OPTION…]
all_attacks_fail() {
    furnished "$1" box
    run_by "$1" box attack reach <"$files_lib/attacks.txt" >"$NOTES/said" 2>&1 || fail "$(cat "$NOTES/said")"
    trace_is_complete "$(watched_id "$1" box)"
    judge "$1" box "$files_lib/attacks.txt" "${@:2}"
}

@test "runc: every attack by every way is refused, and recorded with its true path and its process" {
    all_attacks_fail runc
}

@test "the same under each depth of watching" {
    local depth
    for depth in guard record strict; do
        furnished runc "$depth"
        edit_config "$(bundle_of "$depth")" --arg depth "$depth" '.annotations["io.sandtrace.depth"] = $depth'
        run_by runc "$depth" attack reach <"$files_lib/attacks.txt" >"$NOTES/said" 2>&1 || fail "$(cat "$NOTES/said")"
        trace_is_complete "$(id_of "$depth")"
        trace_has "$(id_of "$depth")" "$(watched_as "$depth")"
        judge runc "$depth" "$files_lib/attacks.txt"
    done
}

watched_as() {
    local says="(.payload.sensors? // [])[] | select(.name == \"files\").detail | contains(\"; depth $1: \")"
    [ "$1" != strict ] || says='(.payload.sensors? // [])[] | select(.name == "files").detail | contains("; depth ") | not'
    echo "$says"
}

@test "docker: every attack by every way is refused, and recorded with its true path and its process" {
    all_attacks_fail docker --lenient
}

@test "podman: every attack by every way is refused, and recorded with its true path and its process" {
    all_attacks_fail podman --lenient
}

@test "without a floor the same attacks are refused, and a file that may not be made is not there" {
    configure default_policy bare
    all_attacks_fail runc
    is_gone "$(bundle_of box)/rootfs/etc/made"
    is_gone "$(workspace_of runc box)/.git/hooks/post-checkout"
}

@test "a namespace or a mount of its own is no way around, whatever the policy says of syscalls" {
    cat >"$WORLD/policies/plain.yaml" <<END
schema_version: "2.0"
name: plain
scope: [/workspace]
defaults: { filesystem: { read: allow, write: allow, exec: allow } }
rules:
  - { id: secrets, type: filesystem, action: deny, severity: medium, paths: [/etc/shadow] }
on_violation: { low: deny, medium: deny, high: deny, critical: deny }
floor: off
END
    configure default_policy plain
    cat >"$NOTES/table" <<END
bind read /etc/shadow syscall:mount -
mount-namespace read /etc/shadow syscall:unshare -
user-namespace read /etc/shadow syscall:unshare -
bind-in-user-namespace read /etc/shadow syscall:unshare -
cloned-namespace read /etc/shadow syscall:clone -
END
    furnished runc box
    edit_config "$(bundle_of box)" '.process.capabilities[] += ["CAP_SYS_ADMIN"]'
    run_by runc box attack reach <"$NOTES/table" >"$NOTES/said" 2>&1 || fail "$(cat "$NOTES/said")"
    trace_is_complete "$(id_of box)"
    judge runc box "$NOTES/table"
}

@test "a permission for one open is not good for another object that has got its name" {
    prepare runc box
    work=$(workspace_of runc box)
    chmod 777 "$work"
    chmod 644 "$(bundle_of box)/rootfs/etc/shadow"
    ln "$(bundle_of box)/rootfs/etc/shadow" "$work/link"
    echo fine >"$work/x"
    chmod 444 "$work/x"
    chown 1000:1000 "$work/x"
    edit_config "$(bundle_of box)" '.process.user = {uid: 1000, gid: 1000}'
    # Allowed by the policy, refused by the file's mode: nothing was opened, by this process.
    run_by runc box sh -c 'cd /workspace; read y <>x; mv link x; read y <x && echo "got $y"' >"$NOTES/said" 2>&1 || true
    run ! contains "$NOTES/said" root:secret
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.payload.path == "/etc/shadow" and .payload.target == "/workspace/x" and .payload.blocked'
}

@test "a mount that the runtime makes after the hook is watched like those before" {
    configure default_policy bare
    echo plain read /etc/shadow = secrets >"$NOTES/table"
    prepare runc box
    edit_config "$(bundle_of box)" '.linux.readonlyPaths += ["/etc"]'
    run_by runc box attack reach <"$NOTES/table" >"$NOTES/said" 2>&1
    trace_is_complete "$(id_of box)"
    judge runc box "$NOTES/table"
    trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "files" and .payload.state == "on" and (.payload.detail | endswith("/etc"))'
}

@test "a mount that comes in from the host later is watched from then on" {
    echo plain read /volume/late/etc/shadow = volume >"$NOTES/table"
    sed 's/^name: .*/name: late/; $a rules: [{ id: volume, type: filesystem, action: deny, paths: ["/volume/**/shadow"] }]' \
        "$WORLD/policies/refusing.yaml" >"$WORLD/policies/late.yaml"
    configure default_policy late
    mkdir -p "$WORLD/volumes/shared/late" "$WORLD/volumes/other/etc"
    echo secret >"$WORLD/volumes/other/etc/shadow"
    mount --bind "$WORLD/volumes/shared" "$WORLD/volumes/shared"
    mount --make-private "$WORLD/volumes/shared"
    mount --make-shared "$WORLD/volumes/shared"
    for engine in docker podman; do
        prepare "$engine" box
        MOUNTS=$WORLD/volumes/shared:/volume:rslave start_by "$engine" box sleep 1000
        id=$(watched_id "$engine" box)
        mount --bind "$WORLD/volumes/other" "$WORLD/volumes/shared/late"
        retry_until trace_has "$id" '.event_type == "sensor" and .payload.name == "files" and (.payload.detail | endswith("/volume/late"))'
        exec_by "$engine" box attack reach <"$NOTES/table" >"$NOTES/said"
        umount "$WORLD/volumes/shared/late"
        judge "$engine" box "$NOTES/table"
        remove_by "$engine" box
        trace_is_complete "$id"
    done
    umount "$WORLD/volumes/shared"
}

# move_mount SOURCE OLD NEW: in one breath, so that the second has the number of the first before anybody looks.
move_mount() {
    /usr/bin/python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None)
source, old, new = (word.encode() for word in sys.argv[1:])
sys.exit(libc.umount2(old, 0) or libc.mount(source, new, None, 4096, None))' "$@"
}

# The warden looks whether work waits for the worker, and its look must not take the news away.
@test "of a hundred mounts that come in one after the other none is missed" {
    configure default_policy refusing
    mkdir -p "$WORLD/volumes/shared" "$WORLD/volumes/other"
    mount --bind "$WORLD/volumes/shared" "$WORLD/volumes/shared"
    mount --make-private "$WORLD/volumes/shared"
    mount --make-shared "$WORLD/volumes/shared"
    prepare docker box
    MOUNTS=$WORLD/volumes/shared:/volume:rslave start_by docker box sleep 1000
    id=$(watched_id docker box)
    mkdir "$WORLD/volumes/shared/"{1..100}
    mount --bind "$WORLD/volumes/other" "$WORLD/volumes/shared/1"
    for n in {2..100}; do
        move_mount "$WORLD/volumes/other" "$WORLD/volumes/shared/$((n - 1))" "$WORLD/volumes/shared/$n"
        retry_until trace_has "$id" ".event_type == \"sensor\" and .payload.name == \"files\" and (.payload.detail | endswith(\"/volume/$n\"))"
    done
    umount "$WORLD/volumes/shared/100"
    umount "$WORLD/volumes/shared"
    remove_by docker box
    trace_is_complete "$id"
}

# reads_of PATH RULE: a table of the ways that lead to it.
reads_of() {
    local way
    for way in plain relative dotdot link middle proc-root proc-cwd fd fd-of-directory passed-fd race race-of-links; do
        echo "$way read $1 = $2"
    done
}

@test "under strict nothing of .git is read and nothing else than installed is run, by any way" {
    configure default_policy strictly
    for engine in runc docker podman; do
        furnished "$engine" box
        { reads_of /workspace/.git/HEAD repository; echo plain list /workspace/.git = repository; } >"$NOTES/table"
        printf '%s /home/agent/tool = -\n' 'plain exec' 'link exec' 'fd exec' >>"$NOTES/table"
        run_by "$engine" box /bin/attack reach <"$NOTES/table" >"$NOTES/said" 2>&1 || fail "$(cat "$NOTES/said")"
        trace_is_complete "$(watched_id "$engine" box)"
        judge "$engine" box "$NOTES/table"
    done
}

@test "strict itself ends a container that reads .git" {
    configure default_policy strict
    for engine in runc docker podman; do
        furnished "$engine" box
        run_by "$engine" box /bin/sh -c 'cat /workspace/.git/HEAD; echo still here' >"$NOTES/said" 2>&1 </dev/null || true
        [ ! -s "$NOTES/said" ] || fail "$(cat "$NOTES/said")"
        trace_is_complete "$(watched_id "$engine" box)"
        trace_has "$(watched_id "$engine" box)" '.payload.path == "/workspace/.git/HEAD" and .verdict.action == "killed" and
            .verdict.policy_rule == "repository" and .payload.process.comm == "cat"'
    done
}

# read_is_held ENGINE
read_is_held() {
    configure default_policy agent-default
    furnished "$1" box
    start_by "$1" box sh -c 'cat /etc/shadow >/workspace/one 2>&1; cat /etc/shadow >/workspace/two 2>&1
        echo evil >>/workspace/.git/config; echo over >/workspace/over; sleep 1000'
    id=$(watched_id "$1" box)
    work=$(workspace_of "$1" box)
    is_paused_for /etc/shadow
    retry_until stands_still "$1" box
    [ ! -s "$work/one" ]
    sandtrace approve "$(sandtrace pending | jq -r .pause_id)" >/dev/null
    retry_until contains "$work/one" root:secret
    is_paused_for /etc/shadow
    sandtrace deny "$(sandtrace pending | jq -r .pause_id)" >/dev/null
    is_paused_for /workspace/.git/config
    retry_until stands_still "$1" box
    run ! contains "$work/two" root:secret
    is_gone "$work/over"
    sandtrace deny "$(sandtrace pending | jq -r .pause_id)" >/dev/null
    retry_until exists "$work/over"
    run ! contains "$work/.git/config" evil
    remove_by "$1" box
    trace_is_complete "$id"
    [ "$(trace_count "$id" '.event_type == "security_pause" and .payload.held and .payload.freeze_us > 0')" -eq 3 ]
    [ "$(trace_count "$id" '.verdict.action == "paused" and .payload.blocked and .payload.path == "/etc/shadow" and .payload.process.comm == "cat"')" -eq 2 ]
}

# is_paused_for PATH: exactly that waits.
is_paused_for() { retry_until eval "[ \"\$(sandtrace pending | jq -r .event.payload.path)\" = $1 ]"; }

@test "runc: what breaks the rules waits, the container stands still, and goes on as a person decides" { read_is_held runc; }

@test "docker: what breaks the rules waits, the container stands still, and goes on as a person decides" { read_is_held docker; }

@test "podman: what breaks the rules waits, the container stands still, and goes on as a person decides" { read_is_held podman; }

# What the trace says once of a kernel before 6.3, which can't keep files in memory from being executed.
kernel_lacks() {
    [ -e /proc/sys/vm/memfd_noexec ] || echo 'exec_of_memfd degraded /proc/sys/vm/memfd_noexec: No such file or directory'
}

@test "who comes in by exec is the container; who copies from outside is not" {
    cat >"$NOTES/table" <<END
plain read /etc/shadow = secrets
middle write /workspace/.git/config = repository
plain unlink /etc/passwd = -
END
    for engine in runc docker podman; do
        furnished "$engine" box
        start_by "$engine" box sleep 1000
        id=$(watched_id "$engine" box)
        exec_by "$engine" box attack reach <"$NOTES/table" >"$NOTES/said"
        judge "$engine" box "$NOTES/table"
        events=$(trace_count "$id" true)
        copy_by "$engine" box:/etc/shadow "$NOTES/copy"
        contains "$NOTES/copy" root:secret
        contains "/proc/$(first_process "$engine" box)/root/etc/shadow" root:secret
        copy_by "$engine" "$NOTES/copy" box:/workspace/copied
        exists "$(workspace_of "$engine" box)/copied"
        remove_by "$engine" box
        trace_is_complete "$id"
        told=$(jq -r 'select(.event_type == "sensor") | [.payload.name, .payload.state, .payload.detail] | join(" ")' "$(trace_of "$id")")
        [ "$told" = "$(kernel_lacks)" ] || fail "$engine: $told"
        # Nothing but the end came after.
        late=$(jq -c "select(.seq > $events and .event_type == \"filesystem\")" "$(trace_of "$id")")
        [ -z "$late" ] || fail "$engine: $late"
        rm "$NOTES/copy"
    done
}

# with_machines_programs NAME: the runtime's own among them.
with_machines_programs() {
    edit_config "$(bundle_of "$1")" '.mounts += [["/usr", "/usr"], ["/usr/lib", "/lib"], ["/usr/lib64", "/lib64"] |
        {source: .[0], destination: .[1], type: "bind", options: ["rbind", "ro"]}]'
}

@test "who came in by exec and becomes the runtime's own program makes nothing either, where there is no floor" {
    configure default_policy bare
    furnished runc box
    with_machines_programs box
    start_by runc box sleep 1000
    exec_by runc box sh -c "exec $(command -v runc) --log /etc/made list" >"$NOTES/said" 2>&1 || true
    [ ! -e "$(bundle_of box)/rootfs/etc/made" ] || fail "$(cat "$NOTES/said")"
    trace_has "$(id_of box)" '.payload.path == "/etc/made" and .payload.blocked and (.payload.process.exe | endswith("/runc"))'
}

@test "who came in by exec and becomes the runtime's own program is still the container" {
    furnished runc box
    with_machines_programs box
    mkdir "$(workspace_of runc box)/odd"
    ln -s /etc/shadow "$(workspace_of runc box)/odd/config.json"
    start_by runc box sleep 1000
    exec_by runc box sh -c "exec $(command -v runc) run --bundle /workspace/odd x" >"$NOTES/said" 2>&1 || true
    contains "$NOTES/said" "operation not permitted" || fail "$(cat "$NOTES/said")"
    trace_has "$(id_of box)" '.payload.path == "/etc/shadow" and .payload.blocked and (.payload.process.exe | endswith("/runc"))'
}

@test "what would get around it all is refused by every engine" {
    for engine in runc docker podman; do
        furnished "$engine" box
        run_by "$engine" box attack bypass >"$NOTES/said" 2>&1 </dev/null || true
        [ "$(wc -l <"$NOTES/said")" -ge 14 ]
        run ! grep ' ok$' "$NOTES/said"
        trace_is_complete "$(watched_id "$engine" box)"
    done
}

@test "a program without a name is the container too, and is recorded as what it is" {
    configure default_policy nameless
    furnished runc box
    run_by runc box sh -c 'for as in memfd deleted; do echo plain read /etc/shadow | attack as $as reach; done' >"$NOTES/said"
    [ "$(grep -c 'plain read /etc/shadow EPERM' "$NOTES/said")" -eq 2 ]
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.payload.path == "/etc/shadow" and .payload.blocked and (.payload.process.exe | startswith("/memfd:attack"))'
    trace_has "$(id_of box)" '.payload.path == "/etc/shadow" and .payload.blocked and (.payload.process.exe | startswith("/workspace/attack-copy"))'
    trace_has "$(id_of box)" '.payload.op == "exec" and .payload.path == "/workspace/attack-copy"'
}

@test "who a rule asks for is looked at each time, however much it has opened before" {
    sed 's/^name: .*/name: asking/' "$WORLD/policies/refusing.yaml" >"$WORLD/policies/asking.yaml"
    echo 'rules: [{ id: from-tmp, type: match, action: deny, match: { event_type: filesystem, path: /workspace/plan, process.cwd: /tmp } }]' \
        >>"$WORLD/policies/asking.yaml"
    configure default_policy asking
    furnished runc box
    run_by runc box sh -c 'echo steps >/workspace/plan; cd /workspace; for i in 1 2 3 4 5 6 7 8; do read line </workspace/plan; done
        cd /tmp; read line </workspace/plan || echo refused' >"$NOTES/said" 2>"$NOTES/complained"
    grep -qx refused "$NOTES/said" || fail "$(cat "$NOTES/said" "$NOTES/complained")"
    [ "$(grep -c 'not permitted' "$NOTES/complained")" -eq 1 ]
    trace_has "$(id_of box)" '.payload.path == "/workspace/plan" and .payload.blocked and .payload.process.cwd == "/tmp"'
}

@test "a process that has become another program is recorded as that, from its first open on" {
    configure depth strict
    ST_DEPTH=strict furnished runc box
    run_by runc box sh -c 'echo plain read /workspace/b >/workspace/orders; echo >/workspace/b
        for i in 1 2 3 4 5 6 7 8; do read line </workspace/a$i; done 2>/dev/null; exec attack reach </workspace/orders' >"$NOTES/said"
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.payload.path == "/workspace/orders" and .payload.op == "open" and .payload.process.argv[0] == "sh"'
    trace_has "$(id_of box)" '.payload.path == "/workspace/b" and .payload.op == "open" and .payload.process.exe == "/bin/attack"'
    run ! trace_has "$(id_of box)" '.payload.path == "/workspace/b" and .payload.op == "open" and .payload.process.exe != "/bin/attack"'
}

@test "under strict a program can't be run from memory" {
    configure default_policy strictly
    furnished runc box
    run_by runc box /bin/attack as memfd list >"$NOTES/said" 2>&1 || true
    [ "$(cat "$NOTES/said")" = 'memfd EPERM' ] || fail "$(cat "$NOTES/said")"
}

@test "no file system of the host's is ever marked as a whole" {
    for engine in runc docker podman; do
        furnished "$engine" box
        start_by "$engine" box sleep 1000
        worker=$(state_of "$(watched_id "$engine" box)" worker)
        marks=$(cat /proc/"$worker"/fdinfo/* 2>/dev/null | grep '^fanotify [a-z]')
        grep -q '^fanotify mnt_id:' <<<"$marks"
        while read -r device; do
            # As the kernel writes it: the major number shifted by 20.
            device=$((16#$device >> 20)):$((16#$device & 0xfffff))
            awk -v d="$device" -v w="$WORLD/" '$3 == d && index($5, w) != 1 { exit 1 }' /proc/self/mountinfo ||
                fail "$device is the host's"
        done < <(sed -n 's/^fanotify sdev:\([0-9a-f]*\) .*/\1/p' <<<"$marks")
        [ "$engine" = runc ] || grep -q '^fanotify sdev:' <<<"$marks"
    done
}

@test "by Podman's hooks directory alone every attack is refused as with the shim, in what is exec'ed too" {
    install_hooks
    PODMAN_RUN=by_hooks all_attacks_fail podman --lenient
    for sensor in files mutations floor; do
        trace_has "$(podman_id box)" "$is_start and (.payload.sensors | any(.name == \"$sensor\" and .state == \"on\"))"
    done
    podman rm box >/dev/null
    PODMAN_RUN=by_hooks start_by podman box sleep 1000
    run ! podman exec box rm /etc/passwd
    trace_has "$(podman_id box)" '.payload.op == "delete" and .payload.path == "/etc/passwd" and .payload.blocked'
}

@test "by a hooks directory without that stage opens are decided, nothing is left of a file that may not be made, and the trace says what is missing" {
    install_hooks
    remove_precreate_hook
    furnished podman box
    volume=(-v "$(workspace_of podman box):/workspace")
    { reads_of /etc/shadow secrets; sed -n '/^[a-z-]* \(write\|both\|overwrite\|create\) /p' "$files_lib/attacks.txt"; } >"$NOTES/table"
    by_hooks -i --name box "${volume[@]}" localhost/box attack reach <"$NOTES/table" >"$NOTES/said" 2>&1 || fail "$(cat "$NOTES/said")"
    id=$(podman_id box)
    trace_is_complete "$id"
    judge podman box "$NOTES/table" --lenient
    is_gone "$(workspace_of podman box)/.git/hooks/post-checkout"
    podman diff --format json box | jq -e '[.. | strings | select(endswith("/etc/made") or endswith("/opt"))] == []'
    trace_has "$id" "$is_start and (.payload.sensors | any(.name == \"files\" and .kind == \"fanotify\" and .state == \"on\"))"
    trace_has "$id" "$is_start and (.payload.sensors | any(.name == \"mutations\" and .state == \"degraded\" and (.detail | contains(\"without the shim\"))))"
    trace_has "$id" "$is_start and (.payload.sensors | any(.name == \"floor\" and .state == \"off\"))"
}

# listed LIST PATH: the size that the last summary's list has for it; nothing where it has none.
listed() { trace_value "$id" '.event_type == "filesystem_summary"' ".payload.$1[] | select(.path == \"$2\") | .size"; }

@test "at the end the trace sums up what was made, changed and removed, with sizes" {
    for engine in runc docker podman; do
        furnished "$engine" box
        run_by "$engine" box sh -c 'cd /workspace; printf 12345 >made; printf 123 >>file; echo gone >gone; rm gone; rm .git/description
            mkdir dir; printf 1234567 >dir/a; mv dir moved; printf 12 >tmp; mv tmp made2; cat file >/dev/null
            exec 3>open; printf 1234 >&3; echo evil >>/etc/hosts; rm /etc/passwd; true' </dev/null >"$NOTES/said" 2>&1
        id=$(watched_id "$engine" box)
        trace_is_complete "$id"
        [ "$(trace_count "$id" '.event_type == "filesystem_summary"')" -eq 1 ]
        [ "$(listed files_created /workspace/made)" = 5 ]
        [ "$(listed files_created /workspace/made2)" = 2 ]
        [ "$(listed files_created /workspace/moved/a)" = 7 ]
        [ "$(listed files_created /workspace/open)" = 4 ]
        [ "$(listed files_modified /workspace/file)" = 11 ]
        [ "$(listed files_deleted /workspace/.git/description)" -gt 10 ]
        [ "$(trace_value "$id" '.event_type == "filesystem_summary"' '[.payload.files_created[], .payload.files_modified[] | .path] | sort | join(" ")')" = \
            '/workspace/file /workspace/made /workspace/made2 /workspace/moved /workspace/moved/a /workspace/open' ]
        [ "$(trace_value "$id" '.event_type == "filesystem_summary"' .payload.total_bytes_written)" -eq $((5 + 2 + 7 + 4 + 11)) ]
    done
}

# The host's programs, without its configuration.
host_programs='/usr:/usr:ro /usr/lib:/lib:ro /usr/lib64:/lib64:ro'

# daily_work_is_not_touched ENGINE empty|repository
daily_work_is_not_touched() {
    configure default_policy agent-default
    prepare "$1" box
    [ "$2" = empty ] || furnish_workspace "$(workspace_of "$1" box)"
    MOUNTS=$host_programs run_by "$1" box /usr/bin/bash -s "$2" <"$files_lib/benign.sh" >"$NOTES/said" 2>&1 3>&- &
    local job=$!
    RETRY_SECONDS=300 retry_until ended_or_paused "$job" || true
    no_alarm "$(watched_id "$1" box)"
    wait "$job" || fail "$(tail -n 20 "$NOTES/said")"
    contains "$NOTES/said" benign
    trace_is_complete "$(watched_id "$1" box)"
}

# A container that is paused would wait for a person: that is the end of such a test.
ended_or_paused() { has_ended "$1" || [ -n "$(sandtrace pending)" ]; }

# no_alarm ID: nothing was refused, nothing paused.
no_alarm() {
    jq -c 'select(.verdict.result != "allow" or .event_type == "security_pause") |
        [.payload.op, .payload.path, .payload.name, .payload.process.argv, .verdict.policy_rule]' "$(trace_of "$1")" >"$NOTES/alarms"
    [ ! -s "$NOTES/alarms" ] || fail "$(head -n 20 "$NOTES/alarms")"
}

@test "runc: a project that begins in an empty workspace raises no alarm" { daily_work_is_not_touched runc empty; }

@test "runc: work in a repository that was there, with compiler, tar, database and server, raises no alarm" {
    daily_work_is_not_touched runc repository
}

@test "docker: a project that begins in an empty workspace raises no alarm" { daily_work_is_not_touched docker empty; }

@test "docker: work in a repository that was there, with compiler, tar, database and server, raises no alarm" {
    daily_work_is_not_touched docker repository
}

@test "podman: a project that begins in an empty workspace raises no alarm" { daily_work_is_not_touched podman empty; }

@test "podman: work in a repository that was there, with compiler, tar, database and server, raises no alarm" {
    daily_work_is_not_touched podman repository
}

@test "a file's name is recorded to the byte, and forges nothing" {
    furnished runc box
    long=$(printf 'n%.0s' $(seq 250))
    run_by runc box sh -c 'cd /workspace
        n=$(printf "a\nevil\042,\042seq\042:1}\n{\042seq\042:2}"); echo x >"$n"; cat "$n" >/dev/null
        n=$(printf "\033[2J\033]0;title\007\r"); echo x >"$n"; rm "$n"
        n=$(printf "caf\303\251 \377\376\200"); echo x >"$n"; mkdir "$n.d"
        n=$(printf "/root/.ssh/\n\377"); cat "$n"; rm "$n"
        i=0; while [ $i -lt 15 ]; do mkdir '"$long"'; cd '"$long"'; i=$((i+1)); done; echo x >deep; cat deep >/dev/null; rm deep; true' >"$NOTES/said" 2>&1 || true
    trace_is_complete "$(id_of box)"
    id=$(id_of box)
    trace_has "$id" '.payload.op == "create" and .payload.path == "/workspace/a\nevil\",\"seq\":1}\n{\"seq\":2}"'
    trace_has "$id" '.payload.op == "delete" and .payload.path == "/workspace/\u001b[2J\u001b]0;title\u0007\r"'
    trace_has "$id" '.payload.op == "create" and .payload.path == "/workspace/café ���" and (.payload.path_b64 | @base64d | startswith("/workspace/caf"))'
    [ "$(trace_value "$id" '.payload.op == "create" and .payload.path_b64' .payload.path_b64 | base64 -d | od -An -c | tr -d ' \n')" = \
        "$(printf '/workspace/caf\303\251 \377\376\200.d' | od -An -c | tr -d ' \n')" ]
    trace_has "$id" '.payload.op == "create" and (.payload.path | endswith("/deep")) and (.payload.path | length) == '$((10 + 15 * 251 + 5))
    trace_has "$id" '.payload.op == "delete" and (.payload.path | endswith("/deep"))'
    # Each line is one event, and they are numbered without a gap.
    jq -es 'map(.seq) == [range(1; length + 1)]' "$(trace_of "$id")"
    LC_ALL=C run ! grep -aP '[\x00-\x09\x0b-\x1f\x7f]' "$(trace_of "$id")"
}

@test "a path that is longer than any path may be is not a way around" {
    furnished runc box
    (cd "$(workspace_of runc box)" && "$ST_BUILDDIR/tests/attack/attack" deep sh -c 'echo fine >file; ln -s /etc/shadow link; ln -s /etc/hosts hosts')
    run_by runc box sh -c 'cd /workspace; attack deep sh -c "cat file; cat link; echo evil >>hosts; echo evil >made; rm file"' >"$NOTES/said" 2>&1 || true
    run ! contains "$NOTES/said" root:secret
    run ! contains "$(bundle_of box)/rootfs/etc/hosts" evil
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.payload.path == "/etc/shadow" and .payload.blocked'
    trace_has "$(id_of box)" '.payload.path == "/etc/hosts" and .payload.blocked'
    # What has no path that could be judged is refused, and recorded without one.
    # Where only what may be refused is asked about nobody asks about reading.
    [ "$(trace_count "$(id_of box)" '.payload.blocked and .payload.path == null and (.verdict.reason | startswith("not a path"))')" -eq \
        "$(asked_about_all && echo 4 || echo 2)" ]
}

@test "an open for reading is never taken for one for writing, however many there are at once" {
    configure depth strict
    ST_DEPTH=strict prepare runc box
    run_by runc box sh -c 'for p in 1 2 3 4; do (i=0; while [ $i -lt 2000 ]; do read x </etc/passwd || echo refused; i=$((i+1)); done) & done; wait' >"$NOTES/said"
    trace_is_complete "$(id_of box)"
    # Repeated ones are folded, with their number.
    [ "$(jq -s 'map(select(.payload.path == "/etc/passwd") | .payload.count // 1) | add' "$(trace_of "$(id_of box)")")" -ge 8000 ]
    [ "$(trace_count "$(id_of box)" '.payload.path == "/etc/passwd" and .payload.access != ["read"]')" -eq 0 ]
    [ ! -s "$NOTES/said" ]
}

@test "an open for reading is one also where its thread hardly ever runs" {
    configure depth strict
    ST_DEPTH=strict prepare runc box
    run_by runc box sh -c 'for p in 1 2 3 4 5 6 7 8 9 10 11 12; do (while :; do :; done) & done
        for p in 1 2 3 4; do (i=0; while [ $i -lt 15 ]; do read x </etc/passwd || echo refused; i=$((i+1)); done; echo done >/workspace/done.$p) & renice -n 19 -p $! >/dev/null; done
        until [ -e /workspace/done.1 ] && [ -e /workspace/done.2 ] && [ -e /workspace/done.3 ] && [ -e /workspace/done.4 ]; do sleep 0.1; done
        kill -9 -1' >"$NOTES/said" 2>&1 || true
    trace_is_complete "$(id_of box)"
    for p in 1 2 3 4; do exists "$(workspace_of runc box)/done.$p"; done
    [ "$(jq -s 'map(select(.payload.path == "/etc/passwd") | .payload.count // 1) | add' "$(trace_of "$(id_of box)")")" -ge 60 ]
    [ "$(trace_count "$(id_of box)" '.payload.path == "/etc/passwd" and .payload.access != ["read"]')" -eq 0 ]
    run ! contains "$NOTES/said" refused
}
