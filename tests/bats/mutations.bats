#!/usr/bin/env bats
# Changes to a file system: decided before they happen, by seccomp notification,
# on a floor of mounts that holds when nobody of ours is alive.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control
load lib/attack

setup_file() {
    require getfattr=attr
    make_world
    write_scope_policy refused "$refusing"
    write_scope_policy held "$holding"
    write_scope_policy bare "$refusing" 'floor: off'
    configure default_policy refused
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    configure default_policy refused
    configure on_worker_failure kill
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

# event NAME OP PATH: the jq filter of an event of this container's trace.
is_event() { echo ".event_type == \"filesystem\" and .payload.op == \"$1\" and .payload.path == \"$2\""; }

@test "every call outside of the scope is refused, changes nothing, and is recorded with its true path" {
    run -0 run_target box attack hit /outside
    said=$output
    [ "$(wc -l <<<"$said")" -eq "$(all_calls | wc -l)" ]
    # Those whose arguments are hidden in memory, or that nobody here has a name for, are not there at all.
    [ "$(grep -v ' EACCES$' <<<"$said" | grep -v '^openat2 ENOSYS$' | grep -v '^setxattrat ENOSYS$')" = "" ]
    nothing_outside_changed box
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" '.event_type == "filesystem" and .verdict.result == "deny"')" -eq "$(grep -c EACCES <<<"$said")" ]
    trace_has "$(id_of box)" "$(is_event delete /outside/file) and .payload.blocked and .verdict.action == \"denied\" and
        .payload.process.comm == \"attack\" and .payload.process.container_pid == 1"
    trace_has "$(id_of box)" "$(is_event rename /outside/file) and .payload.target == \"/outside/file.other\""
    trace_has "$(id_of box)" "$(is_event link /outside/file) and .payload.target == \"/outside/file.other\""
    trace_has "$(id_of box)" "$(is_event modify /outside/file)"
    trace_has "$(id_of box)" "$(is_event attrib /outside/link)"
    trace_has "$(id_of box)" "$(is_event create /outside/new)"
}

# kernel_is VERSION: or a later one. fchmodat2 came with 6.6.
kernel_is() { printf '%s\n%s\n' "$1" "$(uname -r)" | sort -VC; }

@test "every call in the scope works, and is recorded" {
    run -0 run_target box attack try /workspace/w
    lacking=$'openat2 ENOSYS\nsetxattrat ENOSYS'
    kernel_is 6.6 || lacking=$(sort <<<"$lacking"$'\nfchmodat2 ENOSYS')
    [ "$(grep -v ' ok$' <<<"$output" | sort)" = "$lacking" ]
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" '.event_type == "filesystem" and .verdict.result == "deny"')" -eq 0 ]
    trace_has "$(id_of box)" "$(is_event create /workspace/w/new) and .verdict.result == \"allow\" and (.payload.blocked | not)"
    trace_has "$(id_of box)" "$(is_event delete /workspace/w/dir)"
    trace_has "$(id_of box)" "$(is_event rename /workspace/w/file) and .payload.target == \"/workspace/w/file.other\""
    trace_has "$(id_of box)" "$(is_event attrib /workspace/w/file)"
}

@test "no other way to write a path leads out of the scope" {
    make_target box attack through /workspace/../outside/file ../outside/file /workspace/out/file out/file \
        //workspace/.//..///outside/file /workspace/chain/file /proc/self/root/outside/file \
        /proc/thread-self/root/outside/file /proc/1/root/outside/file /proc/self/cwd/../outside/file \
        /proc/self/fd/3/file /proc/self/task/1/fd/3/file /dev/fd/3/file
    ln -s /outside "$(rootfs_of box)/workspace/out"
    ln -s ../workspace/./out "$(rootfs_of box)/workspace/chain"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == "fd 3"* ]]
    [ "$(grep -c ' ' <<<"$output")" -eq $((1 + 3 * 13 + 2)) ]
    [ "$(grep -c ' ok$' <<<"$output")" -eq 0 ]
    nothing_outside_changed box
    trace_is_complete "$(id_of box)"
    # unlink and open by each way, and two by a directory's fd; mkdir of what is there fails by itself
    [ "$(trace_count "$(id_of box)" "$(is_event delete /outside/file)")" -eq $((13 + 2)) ]
    [ "$(trace_count "$(id_of box)" "$(is_event open /outside/file) and .payload.access == [\"write\"]")" -eq 13 ]
}

@test "what would get around it all is refused and recorded" {
    run -0 run_target box attack bypass
    [ "$(grep -c ' ok$' <<<"$output")" -eq 0 ]
    nothing_outside_changed box
    trace_is_complete "$(id_of box)"
    for name in io_uring_setup open_by_handle_at name_to_handle_at open_tree move_mount fsopen fsconfig fsmount fspick \
        mount_setattr fanotify_init; do
        trace_has "$(id_of box)" ".event_type == \"syscall\" and .payload.name == \"$name\" and .payload.blocked"
    done
    if [ "$(uname -m)" = x86_64 ]; then
        [[ $output == *$'x32 SYS\n'* && $output == *"i386 SYS"* ]]
    fi
}

@test "a rule of the policy decides about such a syscall, and its use is recorded either way" {
    write_scope_policy syscalls '  - { id: fine, type: syscall, action: allow, names: [name_to_handle_at, sethostname] }' \
        '  - { id: no, type: syscall, action: deny, severity: high, names: [acct] }' "$refusing"
    configure default_policy syscalls
    make_target box sh -c 'attack bypass; hostname other'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" >"$NOTES/out" 2>&1 || true
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.payload.name == "name_to_handle_at" and .verdict.result == "allow" and .verdict.policy_rule == "fine"'
    trace_has "$(id_of box)" '.payload.name == "sethostname" and .verdict.result == "allow"'
    grep -q 'name_to_handle_at EOVERFLOW' "$NOTES/out"
}

@test "a thread that swaps the path changes nothing outside: the floor catches what the check can't" {
    tries=${ST_RACE_TRIES:-1000}
    make_target box sh -c "for call in unlink unlinkat rmdir rename renameat2 link symlink mkdir mknod open_trunc open_creat creat \
        truncate chmod chown lchown utimes setxattr removexattr bind; do attack race \$call /workspace/r /outside/. $tries; done
        mkdir /workspace/s; attack swap /workspace/s /outside $tries"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$(wc -l <<<"$output")" -eq 21 ]
    nothing_outside_changed box
    # The check was passed with one path and the call made with another: that is what was caught.
    caught=$(awk '{ n += $NF } END { print n }' <<<"$output")
    echo "# of $((21 * tries)) tries $caught got past the check, and no further" >&3
    [ "$caught" -gt 0 ]
    rm -f "$(trace_of "$(id_of box)")"
}

@test "without a floor the same thread does get through: the race is real" {
    configure default_policy bare
    make_target box attack race truncate /workspace/r /outside/. 4000
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    run ! nothing_outside_changed box
    rm -f "$(trace_of "$(id_of box)")"
}

@test "a process that an engine execs is watched like the first" {
    make_target box sleep 1000
    start_detached box
    run -0 runtime exec "$(id_of box)" attack hit /outside
    run ! grep ' ok$' <<<"$output"
    run -0 runtime exec "$(id_of box)" attack try /workspace/w unlink mkdir openat_creat
    [ "$output" = $'unlink ok\nmkdir ok\nopenat_creat ok' ]
    nothing_outside_changed box
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$(is_event delete /outside/file) and .payload.blocked"
    trace_has "$(id_of box)" "$(is_event delete /workspace/w/file) and .verdict.result == \"allow\""
}

@test "when worker and warden are both killed nothing outside of the scope can be written, by any call" { nothing_is_written_when_both_are_killed; }

@test "what a person approves succeeds beneath the floor, each kind of call" {
    configure default_policy held
    local calls=(open_wronly open_rdwr open_trunc open_creat creat open_excl open_tmpfile openat_creat truncate mkdir mkdirat mknod mknodat
        symlink symlinkat link linkat rename renameat renameat2 rename_exchange chmod chmod_by_link fchmod fchmodat chown fchown
        utime utimes futimesat utimensat futimens unlink unlinkat rmdir unlinkat_dir)
    # Each finds things as it wants them: made by a container for which that is in the scope.
    for call in "${calls[@]}"; do
        make_target "$call" attack hit /outside "$call"
        start_detached "$call"
    done
    for call in "${calls[@]}"; do
        approve_all "$call"
        [ "$(cat "$NOTES/$call.log")" = "$call ok" ] || fail "$(cat "$NOTES/$call.log")"
        # To open is no change yet.
        [[ $call == open_wronly || $call == open_rdwr || $call == open_tmpfile ]] || run ! nothing_outside_changed "$call"
        trace_is_complete "$(id_of "$call")"
    done
}

@test "approved calls are made with the task's own credentials and umask" {
    configure default_policy held
    make_target box sh -c 'umask 027; mkdir /outside/made; echo data >/outside/written; echo $? >/workspace/rc; cat /outside/written'
    chmod 777 "$(rootfs_of box)/outside" "$(rootfs_of box)/workspace"
    edit_config "$(bundle_of box)" '.process.user = {uid: 1234, gid: 4321}'
    start_detached box
    approve_all box
    [ "$(stat -c %u:%g:%a "$(rootfs_of box)/outside/made")" = 1234:4321:750 ]
    [ "$(stat -c %u:%g:%a "$(rootfs_of box)/outside/written")" = 1234:4321:640 ]
    [ "$(cat "$(rootfs_of box)/workspace/rc")" = 0 ]
}

@test "an approval is no more than the person saw: what the task may not do by itself it may not do by us" {
    configure default_policy held
    make_target box sh -c 'mkdir /outside/made 2>/workspace/err; echo $? >/workspace/rc'
    chmod 755 "$(rootfs_of box)/outside"
    chmod 777 "$(rootfs_of box)/workspace"
    edit_config "$(bundle_of box)" '.process.user = {uid: 1234, gid: 4321}'
    start_detached box
    approve_all box
    is_gone "$(rootfs_of box)/outside/made"
    [ "$(cat "$(rootfs_of box)/workspace/rc")" = 1 ]
}

@test "deny refuses what is held, once, and the container goes on" {
    configure default_policy held
    make_target box sh -c 'rm /outside/file; echo $? >/workspace/rc; sleep 1000'
    start_detached box
    sandtrace deny "$(held box)"
    retry_until exists "$(rootfs_of box)/workspace/rc"
    [ "$(cat "$(rootfs_of box)/workspace/rc")" = 1 ]
    nothing_waits
    [ "$(trace_count "$(id_of box)" "$is_pause")" -eq 1 ]
    nothing_outside_changed box
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "approve --always lets the same use go by from then on, beneath the floor too" {
    configure default_policy held
    make_target box sh -c 'for i in 1 2 3; do echo $i >>/outside/log; done; echo done >/workspace/rc; sleep 1000'
    start_detached box
    sandtrace approve "$(held box)" --always
    retry_until exists "$(rootfs_of box)/workspace/rc"
    [ "$(cat "$(rootfs_of box)/outside/log")" = $'1\n2\n3' ]
    [ "$(trace_count "$(id_of box)" "$is_pause")" -eq 1 ]
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "hooks of a repository that is there at the start are guarded by a mount of their own" {
    write_scope_policy guarded '  - { id: hooks, type: filesystem, action: deny, severity: high, access: [write], paths: ["/**/.git/hooks/**", "/**/.git/config"] }' \
        "$refusing"
    configure default_policy guarded
    make_target box sh -c 'cat /proc/self/mountinfo; echo x >/workspace/.git/hooks/evil; echo y >>/workspace/.git/config
        mkdir /workspace/.git/objects; echo z >/workspace/.git/objects/z && echo fine'
    mkdir -p "$(rootfs_of box)/workspace/.git/hooks"
    echo '[core]' >"$(rootfs_of box)/workspace/.git/config"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *fine* ]]
    [ "$(grep -c ' /workspace/.git/\(hooks\|config\) ro[, ]' <<<"$output")" -eq 2 ] || fail "$output"
    is_gone "$(rootfs_of box)/workspace/.git/hooks/evil"
    [ "$(cat "$(rootfs_of box)/workspace/.git/config")" = '[core]' ]
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$(is_event create /workspace/.git/hooks/evil) and .verdict.policy_rule == \"hooks\""
}

@test "a directory of the scope that is missing is made; one that is a link out of it is refused" {
    make_target box sh -c 'echo x >/workspace/a && echo fine'
    rm -rf "$(rootfs_of box)/workspace"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = fine ]
    [ "$(stat -c %u:%a "$(rootfs_of box)/workspace")" = 0:755 ]
    trace_is_complete "$(id_of box)"
    rm -rf "$(rootfs_of box)/workspace"
    ln -s /etc "$(rootfs_of box)/workspace"
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"/workspace is in the policy's scope, but in the image it is a symbolic link to /etc; "* ]]
}

@test "a container that could mount the floor away does not start, and is told why" {
    make_target box true
    edit_config "$(bundle_of box)" '.process.capabilities.bounding += ["CAP_SYS_ADMIN"]'
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"CAP_SYS_ADMIN"*"floor: off"* ]]
    is_gone "$(trace_of "$(id_of box)")"
}

@test "a profile with a listener of its own is refused, and is left alone in audit mode" {
    make_target box true
    edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/run/x.sock",
        syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}'
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"a listener of its own"*"audit mode"* ]]
    configure default_policy audit-only
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output != *"a listener of its own"* ]]
    [ "$(jq -c .linux.seccomp "$(bundle_of box)/config.json")" = \
        '{"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/run/x.sock","syscalls":[{"names":["mkdir"],"action":"SCMP_ACT_NOTIFY"}]}' ]
    rm -rf "$WORLD"/run/"$(id_of box)"
}

@test "a bundle that is run again under another policy is as it was before" {
    make_target box sh -c 'echo x >/workspace/a; echo y >/outside/b && echo free'
    # shellcheck disable=SC2046 # as many words
    edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
        syscalls: [{names: ["mkdir", "getcwd"], action: "SCMP_ACT_ALLOW"}, {names: ["vhangup"], action: "SCMP_ACT_KILL"}]} |
        .linux.seccomp.syscalls[0].names += $ARGS.positional' --args -- $(syscall_names)
    cp "$(bundle_of box)/config.json" "$NOTES/original"
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"can't create /outside/b"* && $output != *free* ]]
    cp "$(bundle_of box)/config.json" "$NOTES/first"
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"can't create /outside/b"* ]]
    [ "$(jq -S '.linux.seccomp, .mounts, .root' "$NOTES/first")" = "$(jq -S '.linux.seccomp, .mounts, .root' "$(bundle_of box)/config.json")" ]
    configure default_policy audit-only
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = free ]
    trace_is_complete "$(id_of box)"
    # Without us at all it is as it was in every way.
    configure allow_disable true
    edit_config "$(bundle_of box)" '.annotations = {"io.sandtrace.disable": "true"}'
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = free ]
    configure allow_disable false
    for what in '.root.readonly' '[.mounts[] | .options |= map(select(. != "rw"))]' \
        '.linux.seccomp | del(.syscalls)' '[.linux.seccomp.syscalls[] | .action as $a | .names[] | [., $a]] | sort'; do
        [ "$(jq -S "$what" "$NOTES/original")" = "$(jq -S "$what" "$(bundle_of box)/config.json")" ]
    done
}

@test "the start record says what is notified and what holds" {
    run -0 run_target box true
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"mutations\" and .kind == \"seccomp\" and .state == \"on\"))"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"floor\" and .kind == \"mount\" and .state == \"on\"))"
    configure default_policy audit-only
    run -0 run_target other true
    trace_has "$(id_of other)" "$is_start and (.payload.sensors | any(.name == \"mutations\" and .state == \"off\"))"
}
