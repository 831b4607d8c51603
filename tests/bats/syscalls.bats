#!/usr/bin/env bats
# What a container asks of the kernel besides files: each syscall of the boundary, refused and let by, is on
# the trace with its arguments and who asked; a profile's own refusals too.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/attack

setup_file() {
    make_world
    write_policies
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    configure on_worker_failure kill
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/volumes"
}

write_policies() {
    write_scope_policy refusing 'floor: off' "$refusing"
    sed -i 's/syscall: allow/syscall: deny/' "$WORLD/policies/refusing.yaml"
    # What gets around the watch is let by only where a rule names it.
    write_scope_policy letting "  - { id: fine, type: syscall, action: allow, names: [$(names_of_bypasses)] }" 'floor: off' "$refusing"
    write_scope_policy plain 'floor: off' "$refusing"
    # Without a word of processes 4096 tasks are what a container gets.
    write_scope_policy crowded 'floor: off' "$refusing" 'process_limits: { max_processes: 20000 }'
    write_scope_policy holding '  - { id: held, type: syscall, action: deny, severity: high, names: [mount, chroot] }' 'floor: off' "$holding" 'process_limits: { max_processes: 20000 }'
    write_scope_policy watching 'floor: off'
    sed -i 's/mode: enforce/mode: audit/; s/syscall: allow/syscall: deny/' "$WORLD/policies/watching.yaml"
}

names_of_bypasses() {
    echo 'mount, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, setns, io_uring_setup, fanotify_init, open_by_handle_at, name_to_handle_at'
}

calls() { "$ST_BUILDDIR/tests/attack/ask" list; }

# make_asker NAME COMMAND…: a container of a user who is not root, with the program in it.
make_asker() {
    make_container "$@"
    cp "$ST_BUILDDIR/tests/attack/ask" "$(rootfs_of "$1")/bin/ask"
    edit_config "$(bundle_of "$1")" '.process.user = {uid: 1000, gid: 1000}'
}

# ask_by POLICY COMMAND…: to its end; what it says.
ask_by() {
    configure default_policy "$1"
    shift
    make_asker box "$@"
    cp "$(bundle_of box)/config.json" "$NOTES/plain.json"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null
}

# plainly_asked: the same container without us; what it says.
plainly_asked() {
    cp "$NOTES/plain.json" "$(bundle_of box)/config.json"
    plain_runc run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null
}

# is_call NAME: the jq filter.
is_call() { echo ".event_type == \"syscall\" and .payload.name == \"$1\""; }
by_asker='.payload.process.comm == "ask" and .payload.process.exe == "/bin/ask" and .payload.process.uid == 1000'
was_let='.verdict.result == "allow" and (.payload.blocked | not)'
was_refused='.verdict.result == "deny" and .payload.blocked and .verdict.action == "denied"'

# each_call_is_on_the_trace FILTER
each_call_is_on_the_trace() {
    local name
    for name in $(calls); do
        trace_has "$(id_of box)" "$(is_call "$name") and $by_asker and $1"
    done
}

# has_args NAME JSON: among what was decoded.
has_args() { trace_has "$(id_of box)" "$(is_call "$1") and .payload.args == $2"; }

@test "each syscall of the boundary is refused with EPERM, and on the trace with who asked" {
    run -0 ask_by refusing ask plain
    [ "$(wc -l <<<"$output")" -eq "$(calls | wc -l)" ]
    [ "$(grep -v ' EPERM$' <<<"$output")" = "" ] || fail "$output"
    trace_is_complete "$(id_of box)"
    each_call_is_on_the_trace "$was_refused"
    [ "$(trace_count "$(id_of box)" '.event_type == "syscall"')" -eq "$(calls | wc -l)" ]
}

@test "from a second thread too" {
    run -0 ask_by refusing ask thread
    [ "$(grep -c ' EPERM$' <<<"$output")" -eq "$(calls | wc -l)" ] || fail "$output"
    trace_is_complete "$(id_of box)"
    each_call_is_on_the_trace "$was_refused"
}

@test "and by the functions of the C library" {
    run -0 ask_by refusing ask libc
    [ "$(grep -c ' EPERM$' <<<"$output")" -eq 12 ] || fail "$output"
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$(is_call socket) and .payload.args.family == \"alg\""
}

@test "the same calls, let by, get the kernel's own answer and are on the trace" {
    run -0 ask_by letting ask plain
    said=$output
    trace_is_complete "$(id_of box)"
    each_call_is_on_the_trace "$was_let"
    run -0 plainly_asked
    [ "$output" = "$said" ] || diff <(echo "$output") <(echo "$said")
}

@test "arguments are decoded" {
    run -0 ask_by refusing ask plain mount unshare clone ptrace setns socket bpf keyctl capset setresuid sethostname \
        perf_event_open personality reboot add_key quotactl adjtimex move_mount memfd_create memfd_secret
    trace_is_complete "$(id_of box)"
    has_args mount '{"flags": ["bind", "rec"], "fstype": "no\"fs", "source": "/etc", "target": "/nowhere"}'
    has_args memfd_create '{"flags": ["cloexec", "exec"], "name": "program"}'
    has_args memfd_secret '{"flags": "0x1"}'
    has_args unshare '{"flags": ["newuts"]}'
    has_args clone '{"flags": ["thread", "newipc"]}'
    has_args ptrace '{"pid": 999999, "request": "attach"}'
    has_args setns '{"fd": -1, "type": ["newnet"]}'
    has_args socket '{"family": "netlink", "protocol": "route", "type": "raw"}'
    has_args bpf '{"cmd": "prog_load", "size": 0}'
    has_args keyctl '{"key": "0x0", "operation": "join_session_keyring"}'
    has_args capset '{"caps": {"effective": [], "inheritable": [], "permitted": []}}'
    has_args setresuid '{"effective": 0, "real": -1, "saved": -1}'
    has_args sethostname '{"name": "host"}'
    has_args perf_event_open '{"cpu": -1, "pid": 0, "type": "hardware"}'
    has_args personality '{"persona": ["addr_no_randomize"]}'
    has_args reboot '{"cmd": "power_off"}'
    has_args add_key '{"description": "description", "keyring": -1, "type": "user"}'
    has_args quotactl '{"cmd": "sync", "id": 0, "special": null}'
    has_args adjtimex '{"modes": []}'
    has_args move_mount '{"flags": ["from_empty_path"], "from_dir": -1, "from_path": "/nowhere", "to_dir": "cwd", "to_path": "/there"}'
    trace_has "$(id_of box)" "$(is_call mount) and .payload.capability == \"CAP_SYS_ADMIN\""
    trace_has "$(id_of box)" "$(is_call ptrace) and (.payload | has(\"capability\") | not)"
}

@test "what crosses nothing is no event: root stays root, a user stays one, usual sockets, questions" {
    configure default_policy refusing
    make_container box sh -c 'busybox true; ask libc >/dev/null'
    cp "$ST_BUILDDIR/tests/attack/ask" "$(rootfs_of box)/bin/ask"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" "$(is_call setuid) or $(is_call setgid)")" -eq 0 ]
    # They were let by, and counted.
    [ "$(stop_value "$(id_of box)" '.payload.syscalls.setuid | .permitted > 0 and .refused == 0')" = true ]
}

@test "the last record counts them by name" {
    configure default_policy plain
    make_asker box sh -c 'ask times chroot 25; ask plain chroot mount'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" >"$NOTES/out"
    trace_is_complete "$(id_of box)"
    [ "$(stop_value "$(id_of box)" '.payload.syscalls.chroot | "\(.permitted) \(.refused)"')" = "26 0" ]
    [ "$(stop_value "$(id_of box)" '.payload.syscalls.mount | "\(.permitted) \(.refused)"')" = "0 1" ]
    # Repeated ones are folded into records that add up.
    [ "$(jq -s "map(select($(is_call chroot)) | .payload.count // 1) | add" "$(trace_of "$(id_of box)")")" -eq 26 ]
}

@test "a held call waits for a person, who sees its arguments" {
    configure default_policy holding
    make_asker box ask plain chroot
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" >"$NOTES/out" 2>&1 </dev/null &
    job=$!
    retry_until exists "$WORLD/run/$(id_of box)/control.sock"
    retry_until has_pending
    sandtrace pending "$(id_of box)" | jq -e '.event.payload.args.path == "/nowhere"' >/dev/null ||
        sandtrace pending "$(id_of box)" | grep -q /nowhere
    sandtrace approve "$(sandtrace pending "$(id_of box)" | jq -r .pause_id)" >/dev/null
    wait "$job"
    # The kernel's own answer.
    [ "$(cat "$NOTES/out")" = "chroot ENOENT" ]
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.event_type == "security_resume" and .payload.decision == "allow-once"'
    [ "$(stop_value "$(id_of box)" '.payload.syscalls.chroot.permitted')" -eq 1 ]
}

has_pending() { [ -n "$(sandtrace pending "$(id_of box)")" ]; }

# ---- the container's own profile ----

@test "what a profile refuses is refused as it says, and on the trace, whatever the policy says" {
    configure default_policy letting
    make_asker box ask plain mount chroot keyctl ptrace personality
    edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
        {names: ["mount", "chroot"], action: "SCMP_ACT_ERRNO", errnoRet: 95}, {names: ["keyctl"], action: "SCMP_ACT_ERRNO"}]}'
    cp "$(bundle_of box)/config.json" "$NOTES/config.json"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"mount EOPNOTSUPP"* && $output == *"chroot EOPNOTSUPP"* && $output == *"keyctl EPERM"* ]] || fail "$output"
    [[ $output == *"ptrace ESRCH"* && $output == *"personality ok"* ]] || fail "$output"
    trace_is_complete "$(id_of box)"
    for name in mount chroot keyctl; do
        trace_has "$(id_of box)" "$(is_call "$name") and $was_refused and (.verdict.reason | contains(\"own seccomp profile\"))"
    done
    trace_has "$(id_of box)" "$(is_call ptrace) and $was_let"
    # Run again it is as it was: the note leads back.
    configure default_policy plain
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"chroot EOPNOTSUPP"* && $output == *"keyctl EPERM"* ]] || fail "$output"
    run -0 jq -c '.linux.seccomp.listenerMetadata | ltrimstr("sandtrace:1 ") | fromjson | .refused | map(.name) | sort' "$(bundle_of box)/config.json"
    [ "$output" = '["chroot","keyctl","mount"]' ]
}

@test "a profile that refuses all but what it lists is told of as well" {
    configure default_policy plain
    make_asker box ask plain mount bpf unshare
    # shellcheck disable=SC2046 # one word a name
    edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", defaultErrnoRet: 13, architectures: ["SCMP_ARCH_X86_64"],
        syscalls: [{names: ($ARGS.positional - ["mount", "bpf", "unshare"]), action: "SCMP_ACT_ALLOW"}]}' --args -- $(syscall_names)
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = $'mount EACCES\nbpf EACCES\nunshare EACCES' ] || fail "$output"
    trace_is_complete "$(id_of box)"
    for name in mount bpf unshare; do trace_has "$(id_of box)" "$(is_call "$name") and $was_refused"; done
}

@test "a profile that permits a call first and refuses it later permits it: it is asked about, and as it was when nobody asks" {
    # As podman's has setns.
    for policy in letting refusing; do
        configure default_policy "$policy"
        make_asker box ask plain setns bpf
        # shellcheck disable=SC2046 # one word a name
        edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", defaultErrnoRet: 38, architectures: ["SCMP_ARCH_X86_64"], syscalls: [
            {names: ($ARGS.positional - ["bpf"]), action: "SCMP_ACT_ALLOW"}, {names: ["setns", "bpf"], action: "SCMP_ACT_ERRNO", errnoRet: 1}]}' --args -- $(syscall_names)
        cp "$(bundle_of box)/config.json" "$NOTES/plain.json"
        run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
        said=$output
        trace_is_complete "$(id_of box)"
        trace_has "$(id_of box)" "$(is_call bpf) and $was_refused and (.verdict.reason | contains(\"own seccomp profile\"))"
        trace_has "$(id_of box)" "$(is_call setns) and $([ "$policy" = letting ] && echo "$was_let" || echo "$was_refused")"
        [[ $said == *$'bpf EPERM' ]]
        [[ $policy == letting || $said == $'setns EPERM\n'* ]]
        run -0 plainly_asked
        [[ $output != *'setns EPERM'* ]]
        [ "$policy" = refusing ] || [ "$output" = "$said" ] || fail "$output: $said"
        remove_all_containers
    done
}

# profile_refuses ENGINE: of what is tried below.
profile_refuses() {
    echo bpf perf_event_open init_module kexec_load open_by_handle_at swapon settimeofday
    [ "$1" = podman ] || echo mount umount2 unshare setns clone keyctl add_key pivot_root reboot
}

@test "under the profiles of docker and podman refused and permitted use are on the trace" {
    for engine in docker podman; do
        configure default_policy plain
        prepare "$engine" box
        # shellcheck disable=SC2046 # one word a name
        MOUNTS="$ST_BUILDDIR/tests/attack/ask:/bin/ask:ro" run -0 run_by "$engine" box \
            ask plain $(profile_refuses "$engine") mount ptrace chroot capset personality
        said=$output
        [[ $said == *"mount EPERM"* && $said == *"bpf EPERM"* ]] || fail "$engine: $said"
        id=$(watched_id "$engine" box)
        trace_is_complete "$id"
        for name in $(profile_refuses "$engine"); do
            trace_has "$id" "$(is_call "$name") and $was_refused and (.verdict.reason | contains(\"own seccomp profile\"))"
        done
        trace_has "$id" "$(is_call mount) and $was_refused and .payload.args.target == \"/nowhere\""
        for name in ptrace chroot capset; do trace_has "$id" "$(is_call "$name") and $was_let"; done
        # What was granted, and its first use.
        trace_has "$id" "$is_start and (.payload.container.capabilities.bounding | index(\"CAP_SYS_CHROOT\"))"
        trace_has "$id" "$(is_call chroot) and $was_let and .payload.capability == \"CAP_SYS_CHROOT\""
        trace_has "$id" "$is_start and (.payload.sensors | any(.name == \"syscalls\" and .state == \"on\"))"
        remove_by "$engine" box
    done
}

@test "by docker and podman each syscall of the boundary is refused, and on the trace with who asked" {
    for engine in docker podman; do
        configure default_policy refusing
        prepare "$engine" box
        AS=1000:1000 MOUNTS="$ST_BUILDDIR/tests/attack/ask:/bin/ask:ro" run -0 run_by "$engine" box ask plain
        [ "$(grep -cE ' (EPERM|ENOSYS)$' <<<"$output")" -eq "$(calls | wc -l)" ] || fail "$engine: $output"
        id=$(watched_id "$engine" box)
        trace_is_complete "$id"
        # But for what their profiles decide by arguments that are not ours (docs/syscalls.md).
        for name in $(calls | grep -vx personality); do trace_has "$id" "$(is_call "$name") and $by_asker and $was_refused"; done
        remove_by "$engine" box
    done
}

@test "sockets of unusual families are on the trace, those that lead past every rule are refused" {
    for engine in runc docker podman; do
        configure default_policy plain
        prepare "$engine" box
        # inet, inet6, local; netlink: route, audit; vsock, xdp, packet
        MOUNTS="$ST_BUILDDIR/tests/attack/ask:/bin/ask:ro" run -0 run_by "$engine" box sh -c 'ask socket 2 1 0; ask socket 10 2 0; ask socket 1 1 0
            ask socket 16 3 0; ask socket 16 3 9; ask socket 40 1 0; ask socket 44 3 0; ask socket 17 3 0'
        [[ $output == $'2 ok\n10 ok\n1 ok\n16 ok\n16 ok\n40 EPERM\n44 EPERM\n17 '* ]] || fail "$engine: $output"
        id=$(watched_id "$engine" box)
        trace_is_complete "$id"
        trace_has "$id" "$(is_call socket) and $was_let and .payload.args == {\"family\": \"netlink\", \"protocol\": \"route\", \"type\": \"raw\"}"
        for family in vsock xdp; do trace_has "$id" "$(is_call socket) and $was_refused and .payload.args.family == \"$family\""; done
        trace_has "$id" "$(is_call socket) and .payload.args.protocol == \"audit\" and $was_let"
        trace_has "$id" "$(is_call socket) and .payload.args.family == \"packet\" and .payload.capability == \"CAP_NET_RAW\""
        [ "$(trace_count "$id" "$(is_call socket) and (.payload.args.family | . == \"inet\" or . == \"inet6\" or . == \"unix\")")" -eq 0 ]
        remove_by "$engine" box
    done
}

# condition_profile RULE…: all syscalls are permitted, but sockets by these rules only.
condition_profile() {
    local rules
    rules=$(printf '%s,' "$@")
    # shellcheck disable=SC2046 # one word a name
    edit_config "$(bundle_of box)" ".linux.seccomp = {defaultAction: \"SCMP_ACT_ERRNO\", defaultErrnoRet: 38, architectures: [\"SCMP_ARCH_X86_64\"],
        syscalls: [{names: (\$ARGS.positional - [\"socket\"]), action: \"SCMP_ACT_ALLOW\"}, ${rules%,}]}" --args -- $(syscall_names)
}

@test "conditions on sockets that profiles of engines have are kept, by us" {
    configure default_policy plain
    make_asker box sh -c 'ask socket 2 1 0; ask socket 16 3 0; ask socket 16 3 9; ask socket 38 5 0'
    condition_profile '{names: ["socket"], action: "SCMP_ACT_ERRNO", errnoRet: 22, args: [{index: 0, value: 16, op: "SCMP_CMP_EQ"}, {index: 2, value: 9, op: "SCMP_CMP_EQ"}]}' \
        '{names: ["socket"], action: "SCMP_ACT_ALLOW", args: [{index: 2, value: 9, op: "SCMP_CMP_NE"}]}' \
        '{names: ["socket"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: 16, op: "SCMP_CMP_NE"}]}'
    for _ in once again; do
        run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
        [[ $output == $'2 ok\n16 ok\n16 EINVAL\n38 '* ]] || fail "$output"
    done
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$(is_call socket) and $was_refused and .payload.args.protocol == \"audit\" and (.verdict.reason | contains(\"own seccomp profile\"))"
    trace_has "$(id_of box)" "$(is_call socket) and .payload.args.family == \"alg\" and $was_let"
    # Others are kept by the kernel, and the trace says that it is blind there.
    remove_all_containers
    make_asker box sh -c 'ask socket 2 1 0; ask socket 16 3 0'
    condition_profile '{names: ["socket"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: 2, op: "SCMP_CMP_EQ"}]}'
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = $'2 ok\n16 ENOSYS' ] || fail "$output"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"syscalls\" and .state == \"degraded\" and (.detail | contains(\"socket\"))))"
}

@test "an exec into a container is covered too" {
    for engine in runc docker podman; do
        configure default_policy refusing
        prepare "$engine" box
        MOUNTS="$ST_BUILDDIR/tests/attack/ask:/bin/ask:ro" start_by "$engine" box sleep 1000
        run -0 exec_by "$engine" box ask plain chroot ptrace
        [ "$output" = $'chroot EPERM\nptrace EPERM' ] || fail "$engine: $output"
        id=$(watched_id "$engine" box)
        remove_by "$engine" box
        trace_is_complete "$id"
        for name in chroot ptrace; do trace_has "$id" "$(is_call "$name") and $was_refused"; done
    done
}

# ---- audit ----

@test "under audit nothing is refused, and all of it is on the trace" {
    run -0 ask_by watching ask plain
    said=$output
    trace_is_complete "$(id_of box)"
    each_call_is_on_the_trace '(.payload.blocked | not)'
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"syscalls\" and .kind == \"seccomp\" and .state == \"on\"))"
    run -0 plainly_asked
    [ "$output" = "$said" ] || diff <(echo "$output") <(echo "$said")
}

@test "under audit calls of other architectures are on the trace by their names, and go on" {
    [ "$(uname -m)" = x86_64 ] || return 0 # there are no others
    run -0 ask_by watching ask foreign
    said=$output
    trace_is_complete "$(id_of box)"
    for name in chroot memfd_create; do
        [ "$(trace_count "$(id_of box)" "$(is_call "$name") and $by_asker and (.payload.blocked | not) and (.payload | has(\"args\") | not)")" -eq 2 ]
    done
    run -0 plainly_asked
    [ "$output" = "$said" ] || diff <(echo "$output") <(echo "$said")
}

@test "under audit a profile's own listener is left alone, and the trace says so" {
    configure default_policy watching
    make_asker box true
    edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/run/nobody.sock"}'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"syscalls\" and .state == \"degraded\"))"
    [ "$(jq -c .linux.seccomp "$(bundle_of box)/config.json")" = '{"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/run/nobody.sock"}' ]
}

# ---- what must not upset it ----

# start_asker SCRIPT: it waits until told; $job is its runtime, $worker who answers it.
start_asker() {
    make_asker box sh -c "read line </workspace/go; $1"
    mkfifo -m 666 "$(rootfs_of box)/workspace/go"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/out" 2>&1 3>&- &
    job=$!
    retry_until is_watched "$(id_of box)"
    worker=$(state_of "$(id_of box)" worker)
}

let_go() { echo go >"$(rootfs_of box)/workspace/go"; }

asked_once() { trace_has "$(id_of box)" "$(is_call mount)" 2>/dev/null; }

count_open() { find "/proc/$worker/fd" -type l | wc -l; }

@test "who dies while it asks leaves nothing behind, and the rest is answered" {
    configure default_policy plain
    start_asker 'ask plain chroot mount >/dev/null; read line </workspace/go; ask dying chroot 400; ask plain chroot mount; read line </workspace/go'
    let_go
    retry_until asked_once
    open=$(count_open)
    let_go
    retry_until contains "$NOTES/out" 'mount EPERM'
    # The tasks that were seen last are kept, at most 64 of them.
    [ "$(count_open)" -le $((open + 64)) ]
    let_go
    wait "$job"
    [ "$(cat "$NOTES/out")" = $'died 400\nchroot ENOENT\nmount EPERM' ]
    trace_is_complete "$(id_of box)"
    [ "$(trace_value "$(id_of box)" "$is_start" .payload.monitor.worker)" = "$worker" ]
    [ "$(trace_count "$(id_of box)" '.event_type == "sensor" and .payload.name == "worker"')" -eq 0 ]
}

@test "ten thousand tasks that ask at once are all answered, by the same worker" {
    run -0 ask_by crowded ask many chroot 10000
    [ "$output" = $'started 10000\nENOENT 10000' ] || fail "$output"
    trace_is_complete "$(id_of box)"
    [ "$(stop_value "$(id_of box)" .payload.syscalls.chroot.permitted)" -eq 10000 ]
    [ "$(trace_count "$(id_of box)" '.event_type == "sensor" and .payload.name == "worker"')" -eq 0 ]
}

@test "ten thousand that are held: what there is no room for waits in the kernel, and a kill ends it all" {
    configure default_policy holding
    start_asker 'ask many chroot 10000'
    let_go
    retry_until has_pending
    [ "$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$worker/status")" -lt 16384 ]
    sandtrace kill "$(id_of box)" >/dev/null
    wait "$job" || true
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" '.event_type == "sensor" and .payload.name == "worker"')" -eq 0 ]
    [ "$(stop_value "$(id_of box)" '.payload.syscalls.chroot.permitted')" -eq 0 ]
}

@test "without a monitor every one of them fails" {
    configure default_policy letting
    configure on_worker_failure pause
    start_asker 'ask plain'
    kill_together "$(state_of "$(id_of box)" warden)" "$worker"
    thaw_cgroups_of_world
    let_go
    wait "$job" || true
    configure on_worker_failure kill
    [ "$(grep -c ' ENOSYS$' "$NOTES/out")" -eq "$(calls | wc -l)" ] || fail "$(cat "$NOTES/out")"
    rm -rf "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/*
}

@test "a syscall that nobody knows does not exist" {
    run -0 ask_by letting sh -c 'ask number 999; ask number 0x3fffffff; ask number -1; ask plain chroot'
    [ "$output" = $'999 ENOSYS\n0x3fffffff ENOSYS\n-1 ENOSYS\nchroot ENOENT' ] || fail "$output"
    trace_is_complete "$(id_of box)"
}
