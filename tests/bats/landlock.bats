#!/usr/bin/env bats
# `floor: landlock`: a small program before the command of a container, and before each that is put into it
# later, keeps all that follows from changing anything outside of the scope, also where it may mount.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control
load lib/attack

setup_file() {
    require getfattr=attr docker-init=tini script=bsdutils
    "$ST_BUILDDIR/src/shim/landlock-helper" sandtrace-landlock -- true || fail "this suite needs a kernel with Landlock ABI 3 (Linux 6.2)"
    make_world
    write_scope_policy refused '  - { id: terminal, type: filesystem, paths: [/dev/tty] }' "$refusing" 'floor: landlock'
    write_scope_policy held "$holding" 'floor: landlock'
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() {
    configure default_policy refused
    remember_what_is_there
}

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    configure on_worker_failure kill
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/volumes"
}

# Names of calls that Landlock has no say in.
attributes='chmod|fchmod|chown|lchown|fchown|utime|futimes|xattr|setxattrat'

# but those calls whose arguments are hidden in memory, or that this kernel has not.
not_there() { grep -vE '^(openat2|setxattrat) ENOSYS$'; }

# without_landlock COMMAND…: as on a kernel that has none.
without_landlock() {
    /usr/bin/python3 - "$@" <<'END'
import ctypes, os, struct, sys
LANDLOCK_CREATE_RULESET, ENOSYS = 444, 38
code = [(0x20, 0, 0, 0), (0x15, 0, 1, LANDLOCK_CREATE_RULESET), (0x06, 0, 0, 0x00050000 | ENOSYS), (0x06, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
class Program(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(Program(len(code), ctypes.addressof(text))), 0, 0):
    sys.exit("no filter")
os.execvp(sys.argv[1], sys.argv[1:])
END
}

@test "every call outside of the scope is refused, every one in it works, and the start record says what holds" {
    run -0 run_target box attack hit /outside
    [ "$(grep -v ' EACCES$' <<<"$output" | not_there)" = "" ]
    nothing_outside_changed box
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"floor\" and .kind == \"landlock\" and .state == \"on\" and
        (.detail | contains(\"extended attributes\")))) and .payload.container.args == [\"attack\", \"hit\", \"/outside\"]"
    run -0 run_target other attack try /workspace/w
    [ "$(grep -v ' ok$' <<<"$output" | not_there)" = "" ]
    [ "$(jq .root.readonly "$(bundle_of other)/config.json")" = false ]
    [ "$(jq '[.mounts[] | select(.destination == "/workspace")] | length' "$(bundle_of other)/config.json")" -eq 0 ]
}

@test "a thread that swaps the path changes nothing outside: Landlock catches what the check can't" {
    tries=${ST_RACE_TRIES:-1000}
    make_target box sh -c "for call in unlink unlinkat rmdir rename renameat2 link symlink mkdir mknod open_trunc open_creat creat \
        truncate bind; do attack race \$call /workspace/r /outside/. $tries; done"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$(wc -l <<<"$output")" -eq 14 ]
    nothing_outside_changed box
    # Both refuse with the same error; what the check refused is in the trace, the rest is what was caught.
    trace_is_complete "$(id_of box)"
    refused=$(awk '{ n += $5 } END { print n }' <<<"$output")
    checked=$(jq -s 'map(select(.verdict.result == "deny") | .payload.count // 1) | add // 0' "$(trace_of "$(id_of box)")")
    echo "# of $((14 * tries)) tries $((refused - checked)) got past the check, and no further" >&3
    [ "$refused" -gt "$checked" ]
    run -0 run_target other sh -c "mkdir /workspace/s; attack swap /workspace/s /outside $tries"
    nothing_outside_changed other
}

@test "when worker and warden are both killed nothing outside of the scope can be written, by any call" { nothing_is_written_when_both_are_killed; }

@test "Landlock alone refuses every call but those about attributes, which it has no say in" {
    make_target box true
    run -0 "$ST_BUILDDIR/src/shim/landlock-helper" sandtrace-landlock "+$(rootfs_of box)/workspace" -- \
        "$ST_BUILDDIR/tests/attack/attack" hit "$(rootfs_of box)/outside"
    [ "$(grep ' ok$' <<<"$output" | grep -Ev "$attributes")" = "" ]
    [ "$(grep -Ev " (EACCES|EXDEV|EINVAL)\$" <<<"$output" | grep -Ev "$attributes")" = "" ]
}

@test "what a person approves succeeds beneath the floor, each kind of call" {
    configure default_policy held
    local calls=(open_wronly open_trunc open_creat open_tmpfile truncate mkdir mknod symlink link rename chmod chown utimensat unlink rmdir)
    for call in "${calls[@]}"; do
        make_target "$call" attack hit /outside "$call"
        start_detached "$call"
    done
    for call in "${calls[@]}"; do
        approve_all "$call"
        [ "$(cat "$NOTES/$call.log")" = "$call ok" ] || fail "$(cat "$NOTES/$call.log")"
        [[ $call == open_wronly || $call == open_tmpfile ]] || run ! nothing_outside_changed "$call"
        trace_is_complete "$(id_of "$call")"
    done
}

@test "approve --always lets the same use go by from then on, and a rule with a wildcard from the start" {
    write_scope_policy held '  - { id: logs, type: filesystem, paths: ["/var/*/log"] }' "$holding" 'floor: landlock'
    configure default_policy held
    make_target box sh -c 'echo a >/var/tmp/log; for i in 1 2 3; do echo $i >>/outside/log; done; echo done >/workspace/rc; sleep 1000'
    start_detached box
    sandtrace approve "$(held box)" --always
    retry_until exists "$(rootfs_of box)/workspace/rc"
    [ "$(cat "$(rootfs_of box)/outside/log")" = $'1\n2\n3' ]
    [ "$(cat "$(rootfs_of box)/var/tmp/log")" = a ]
    [ "$(trace_count "$(id_of box)" "$is_pause")" -eq 1 ]
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "what is put into a container later stands on the same floor: by words, by a file, with fds of its own" {
    make_target box sleep 1000
    start_detached box
    run -0 runtime exec "$(id_of box)" attack hit /outside
    run ! grep ' ok$' <<<"$output"
    run -0 runtime exec --cwd /workspace --env A=b -- "$(id_of box)" sh -c 'echo $A >x; cat x; grep NoNewPrivs: /proc/self/status' 3<&-
    [ "$output" = $'b\nNoNewPrivs:\t1' ]
    jq '{args: ["sh", "-c", "cat <&3; attack race truncate /workspace/r /outside/. 500"], cwd: "/", user: {uid: 0, gid: 0}, env: ["PATH=/bin"]}' \
        -n >"$NOTES/process"
    echo three >"$NOTES/three"
    run -0 runtime exec --preserve-fds 1 --process "$NOTES/process" "$(id_of box)" 3<"$NOTES/three"
    [[ $output == three$'\n'"truncate ok "* ]]
    run -0 runtime exec --process=/dev/stdin "$(id_of box)" 3<"$NOTES/three" <<<'{"args": ["sh", "-c", "ls /proc/self/fd; echo in"], "cwd": "/", "env": ["PATH=/bin"]}'
    [ "$output" = $'0\n1\n2\n3\nin' ] # the last is of who looks
    nothing_outside_changed box
    # Nobody gets in past it: not by a key that runc alone would understand, nor where the record can't be read.
    run ! runtime exec --process=/dev/stdin "$(id_of box)" <<<'{"args": ["true"], "Args": ["sh"], "cwd": "/"}'
    [[ $output == *'key `Args`: runc would take it for `args`'* ]]
    cp "$WORLD/root/$(id_of box)/state.json" "$NOTES/state"
    echo '{' >"$WORLD/root/$(id_of box)/state.json"
    run ! runtime exec "$(id_of box)" true
    [[ $output == *"the runtime's record "* ]]
    rm "$WORLD/root/$(id_of box)/state.json"
    run ! runtime exec "$(id_of box)" true
    [[ $output == *"stands on Landlock's floor, but the runtime's record of it was not found"* ]]
    cp "$NOTES/state" "$WORLD/root/$(id_of box)/state.json"
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "a command is found as the runtime would find it, with the same exit codes" {
    make_target box nosuch
    run -127 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = 'sandtrace: exec: "nosuch": executable file not found in $PATH' ]
    try() { edit_config "$(bundle_of box)" '.process.args = $ARGS.positional' --args -- "$@" && runtime run --bundle "$(bundle_of box)" "$(id_of box)"; }
    run -127 try /bin/nosuch
    [ "$output" = 'sandtrace: exec: "/bin/nosuch": no such file or directory' ]
    run -126 try /etc/passwd
    [ "$output" = 'sandtrace: exec: "/etc/passwd": permission denied' ]
    run -126 try /etc
    run -127 try ''
    # The first of PATH that can be run; what can't be is passed over, as are directories that are not absolute.
    mkdir "$(rootfs_of box)/one" "$(rootfs_of box)/two" "$(rootfs_of box)/bin/tool"
    echo no >"$(rootfs_of box)/one/tool"
    printf '#!/bin/sh\necho "$0 $*"\n' | tee "$(rootfs_of box)/two/tool" >"$(rootfs_of box)/workspace/tool"
    chmod +x "$(rootfs_of box)/two/tool" "$(rootfs_of box)/workspace/tool"
    edit_config "$(bundle_of box)" '.process.env = ["PATH=/nowhere", "PATH=::workspace:/nowhere:/bin:/one:/two"]'
    run -0 try tool 'a b' --
    [ "$output" = '/two/tool a b --' ]
    edit_config "$(bundle_of box)" '.process.env = ["A=b"]'
    run -127 try tool
    trace_is_complete "$(id_of box)"
}

@test "docker and podman: run and exec, input, exit codes, a terminal, another user, a read-only root" {
    for engine in docker podman; do
        for name in box piped missing plain; do prepare $engine $name; done
        start_by $engine box sleep 1000
        run -0 exec_by $engine box sh -c 'cat >/workspace/said; cat /workspace/said; attack race truncate /workspace/r /etc/. 300; echo x >/etc/hosts' <<<hello || true
        [[ $output == hello* ]]
        run ! exec_by $engine box sh -c 'echo x >/etc/new'
        run -7 exec_by $engine box sh -c 'exit 7'
        run -127 exec_by $engine box nosuch
        remove_by $engine box
        run -0 run_by $engine piped sh -c 'cat; test ! -t 0 && cat /proc/1/comm; true' <<<hello
        [ "$output" = $'hello\nsh' ]
        remove_by $engine piped
        run -127 run_by $engine missing nosuch
        [[ $output == *'exec: "nosuch": executable file not found in $PATH'* ]]
        remove_by $engine missing
        run -126 run_by $engine plain /etc/passwd
        remove_by $engine plain
    done
    run -0 docker run --network none --rm -u 1234:4321 --read-only -v "$WORLD/volumes/docker-box:/workspace" localhost/box \
        sh -c 'id -u; grep NoNewPrivs: /proc/self/status; touch /workspace/mine || echo not mine; echo x >/tmp/x || echo read-only'
    [[ $output == *1234*NoNewPrivs:*1*"not mine"*read-only* ]]
    run -0 docker run --network none --rm --init localhost/box sh -c 'cat /proc/1/comm; echo x >/etc/new || echo no'
    [[ $output == *init*no* ]]
    run -0 script -qec 'docker run --network none --rm -it localhost/box sh -c "test -t 0 && test -t 1 && echo terminal >/dev/tty"' /dev/null
    [[ $output == *terminal* ]]
}

@test "a container that may mount starts on it, and can neither mount nor change what is outside" {
    write_scope_policy mounting '  - { id: fine, type: syscall, action: allow, names: [mount, umount2, unshare, pivot_root] }' \
        "$refusing" 'floor: landlock'
    configure default_policy mounting
    make_target box sh -c 'exec 2>&1; mkdir /workspace/m; mount -t tmpfs none /workspace/m || echo no tmpfs; mount -o bind /outside /workspace/m || echo no bind
        unshare -m mount -o bind /outside /tmp; grep NoNewPrivs: /proc/self/status
        attack hit /outside'
    edit_config "$(bundle_of box)" '.process.capabilities[] += ["CAP_SYS_ADMIN"] | .process.noNewPrivileges = false'
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"no tmpfs"*"no bind"*"unshare: can't mount none on /"*$'NoNewPrivs:\t0'* ]]
    run ! grep ' ok$' <<<"$output"
    nothing_outside_changed box
    trace_is_complete "$(id_of box)"
    # Not by the check, which let it go on.
    trace_has "$(id_of box)" '.event_type == "syscall" and .payload.name == "mount" and .verdict.result == "allow"'
}

@test "between two directories of the scope things are renamed as on one file system" {
    run -0 run_target box sh -c 'echo x >/workspace/a; mv /workspace/a /tmp/b; ln /tmp/b /workspace/c; attack try /tmp/d rename link; stat -c %h /workspace/c'
    [ "$output" = $'rename ok\nlink ok\n2' ]
    trace_is_complete "$(id_of box)"
}

@test "a link in the place of a directory of the scope opens nothing" {
    write_scope_policy nested '  - { id: below, type: filesystem, paths: ["/workspace/deep/**"] }' "$refusing" 'floor: landlock'
    sed -i 's,^scope: .*,scope: [/workspace/deep],' "$WORLD/policies/nested.yaml"
    configure default_policy nested
    make_target box sleep 1000
    mkdir "$(rootfs_of box)/workspace/deep"
    start_detached box
    run -0 runtime exec "$(id_of box)" attack try /workspace/deep mkdir
    # By somebody for whom it is no floor: another container with the same volume, say.
    mv "$(rootfs_of box)/workspace/deep" "$(rootfs_of box)/workspace/gone"
    ln -s /outside "$(rootfs_of box)/workspace/deep"
    run -0 runtime exec "$(id_of box)" attack race open_creat /workspace/deep /outside/. 300
    [[ $output == *$'\n'"open_creat ok 0 refused "* ]]
    nothing_outside_changed box
    runtime delete --force "$(id_of box)"
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"/workspace/deep is in the policy's scope, but in the image it is a symbolic link to /outside; "* ]]
    trace_is_complete "$(id_of box)"
}

@test "the helper can't be written, not even by root of the host, and the command does not have it" {
    make_target box sh -c 'for fd in /proc/$$/fd/*; do readlink $fd; done'
    # Between create and start it is there to be seen.
    runtime create --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/out" 2>&1 3>&-
    pid=$(init_pid_of box)
    [[ $(readlink "/proc/$pid/fd/3") == "/memfd:sandtrace-landlock"* ]]
    run ! sh -c ": >/proc/$pid/fd/3"
    run ! sh -c "echo x 1<>/proc/$pid/fd/3"
    cmp "/proc/$pid/fd/3" "$ST_BUILDDIR/src/shim/landlock-helper"
    runtime start "$(id_of box)"
    retry_until runtime_status_is box stopped
    [ "$(wc -l <"$NOTES/out")" -eq 3 ] # input, output, errors
    run ! grep memfd "$NOTES/out"
    runtime delete "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "what is guarded within the scope has a mount of its own, as on a floor of mounts" {
    write_scope_policy guarded '  - { id: hooks, type: filesystem, action: deny, severity: high, access: [write], paths: ["/**/.git/hooks/**"] }' \
        "$refusing" 'floor: landlock'
    configure default_policy guarded
    make_target box sh -c 'cat /proc/self/mountinfo; attack race rename /workspace/r /workspace/.git/hooks 500; echo z >/workspace/.git/z && echo fine'
    mkdir -p "$(rootfs_of box)/workspace/.git/hooks"
    touch "$(rootfs_of box)/workspace/.git/hooks/file"
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *' /workspace/.git/hooks ro'[,\ ]*fine* ]] || fail "$output"
    [ "$(ls "$(rootfs_of box)/workspace/.git/hooks")" = file ]
    trace_is_complete "$(id_of box)"
}

@test "a bundle that is run again under another policy is as it was before" {
    make_target box sh -c 'echo y >/outside/b && echo free'
    cp "$(bundle_of box)/config.json" "$NOTES/original"
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"can't create /outside/b"* && $output != *free* ]]
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"can't create /outside/b"* ]]
    [ "$(jq '.process.args | map(select(. == "sandtrace-landlock")) | length' "$(bundle_of box)/config.json")" -eq 1 ]
    configure default_policy audit-only
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$output" = free ]
    # An audit has its listener; all else is as it was.
    [ "$(jq -S 'del(.hooks)' "$NOTES/original")" = "$(jq -S 'del(.hooks, .linux.seccomp)' "$(bundle_of box)/config.json")" ]
    trace_is_complete "$(id_of box)"
    # Without us at all there is nothing left of us, the listener neither.
    configure allow_disable true
    edit_config "$(bundle_of box)" '.annotations = {"io.sandtrace.disable": "true"}'
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    configure allow_disable false
    [ "$output" = free ]
    [ "$(jq -S 'del(.hooks)' "$NOTES/original")" = "$(jq -S 'del(.hooks, .annotations)' "$(bundle_of box)/config.json")" ]
}

@test "where the floor can't be laid nothing starts, and the message says why and what to write" {
    make_target box true
    run ! without_landlock "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *'Landlock is not in this kernel, or not enabled'*'write `floor: mount`'* ]]
    is_gone "$(trace_of "$(id_of box)")"
    edit_config "$(bundle_of box)" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{names: ["landlock_restrict_self"], action: "SCMP_ACT_ERRNO", errnoRet: 38}]}'
    run -125 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"the container's floor could not be laid: landlock_restrict_self: function not implemented" ]]
    edit_config "$(bundle_of box)" 'del(.mounts[] | select(.destination == "/proc"))'
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *'`floor: landlock` needs a /proc'* ]]
    ln -s "$(command -v runc)" "$WORLD/other"
    run ! env SANDTRACE_RUNTIME="$WORLD/other" "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *'it needs runc, '* ]]
    trace_is_complete "$(id_of box)"
}

@test "by a hooks directory alone it is refused: nobody would lay it for what is put into the container later" {
    install_hooks
    run ! by_hooks --name box localhost/box true
    make_target box true
    cd "$(bundle_of box)"
    run -1 sandtrace-hook precreate --config "$SANDTRACE_CONFIG" <config.json
    [[ $output == *'`floor: landlock`, but a hook can'"'"'t put anything before'*'write `floor: mount`' ]]
}
