#!/usr/bin/env bats
# Executions: each is decided before it happens, and recorded with the file that the kernel runs and the
# arguments that it gets, whatever a process calls itself.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control

setup_file() {
    make_world
    memfd_noexec=$(cat /proc/sys/vm/memfd_noexec) # of the host: nobody changes it
    export memfd_noexec
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    configure host_pid refuse
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/volumes" "$WORLD"/policies/mine.yaml
}

# policy [LINE…]: everything is allowed but for what the lines say; violations are refused.
policy() {
    cat >"$WORLD/policies/mine.yaml" <<END
schema_version: "2.0"
name: mine
floor: off
defaults: { filesystem: { read: allow, write: allow, exec: allow }, network_egress: allow }
on_violation: { low: deny, medium: deny, high: ${severe:-deny}, critical: deny }
pause: { hold: true, timeout: 0 }
fold: { window: 0s }
END
    printf '%s\n' "$@" >>"$WORLD/policies/mine.yaml"
    configure default_policy mine
}

# prepare_box ENGINE: with a program that knows many ways, in its image and in its workspace.
prepare_box() {
    prepare "$1" box
    cp "$ST_BUILDDIR/tests/attack/execs" "$(workspace_of "$1" box)/execs"
    [ "$1" != runc ] || cp "$ST_BUILDDIR/tests/attack/execs" "$(bundle_of box)/rootfs/bin/execs"
}

# box ENGINE SCRIPT: runs it to its end; what it says is in $NOTES/said, in one go.
box() {
    run_by "$1" box sh -c "$2" </dev/null >"$NOTES/said" 2>&1 || true
    trace_is_complete "$(watched_id "$1" box)"
}

said() { contains "$NOTES/said" "$1" || { cat "$NOTES/said" >&2; fail "it did not say: $1"; }; }

# ran FILTER: an execution that the filter describes is on the trace of the container by runc.
ran() { trace_has "$(id_of box)" ".event_type == \"process\" and .payload.op == \"exec\" and ($1)"; }

count_ran() { trace_count "$(id_of box)" ".event_type == \"process\" and .payload.op == \"exec\" and ($1)"; }

@test "every execution is recorded with the kernel's path and the arguments of the new image" {
    policy
    prepare_box runc
    ln -s /bin/execs "$(bundle_of box)/rootfs/bin/other-name"
    box runc 'cd /bin; execs say first; ./other-name say "sec ond"; ../bin/execs say third'
    said 'sec ond'
    ran '.payload.path == "/bin/sh" and .payload.argv[0:2] == ["sh", "-c"]'
    ran '.payload.path == "/bin/execs" and .payload.argv == ["execs", "say", "first"] and .payload.blocked == false'
    ran '.payload.path == "/bin/execs" and .payload.argv == ["./other-name", "say", "sec ond"]'
    ran '.payload.path == "/bin/execs" and .payload.argv == ["../bin/execs", "say", "third"]'
    ran '.payload.path == "/bin/execs" and .payload.process.exe == "/bin/sh" and .payload.process.cwd == "/bin"'
    [ "$(count_ran '.payload.incomplete')" -eq 0 ]
    run ! trace_has "$(id_of box)" '.event_type == "filesystem" and .payload.path == "/bin/execs" and .payload.op == "exec"'
}

@test "whichever way it is executed, it is one record: by a directory, by an fd, by another thread" {
    policy
    prepare_box runc
    box runc 'for way in at by-fd thread plain; do execs $way /bin/execs say "by $way"; done'
    for way in at by-fd thread plain; do
        said "$way ok"
        [ "$(count_ran ".payload.path == \"/bin/execs\" and .payload.argv == [\"/bin/execs\", \"say\", \"by $way\"]")" -eq 1 ]
    done
}

@test "arguments that are none, too long or not there are cut or said to be incomplete, and the kernel decides" {
    policy
    prepare_box runc
    box runc 'execs no-argv /bin/execs say x; execs long-argv /bin/execs say y; execs bad-argv /bin/execs say z'
    said 'no-argv ok'
    said 'long-argv ok'
    said 'bad-argv EFAULT'
    ran '.payload.path == "/bin/execs" and .payload.argv == [] and (.payload.incomplete | not)'
    ran '.payload.path == "/bin/execs" and (.payload.argv | length) == 3 and (.payload.argv | map(utf8bytelength + 1) | add) == 4097'
    ran '.payload.path == "/bin/execs" and .payload.argv == ["/bin/execs"] and .payload.incomplete == true'
}

@test "a process that calls itself something else is known by its program" {
    policy
    prepare_box runc
    box runc 'execs disguised /bin/execs plain /bin/execs say hello; execs disguised /proc/self/exe say myself; ln -s /bin/sh /tmp/execs; execs plain /tmp/execs -c :'
    said 'disguised ok'
    said myself
    ran '.payload.path == "/bin/execs" and .payload.argv == ["/usr/sbin/sshd", "say", "myself"]'
    ran '.payload.path == "/bin/sh" and .payload.argv == ["/tmp/execs", "-c", ":"]'
    ran '.payload.path == "/bin/execs" and .payload.argv[0] == "/usr/sbin/sshd" and .payload.process.comm == "sshd" and .payload.process.exe == "/bin/execs"'
    ran '.payload.argv == ["/bin/execs", "say", "hello"] and .payload.process.exe == "/bin/execs"'
}

@test "a script is one execution, with its interpreter; the interpreter is a use of its own" {
    policy
    prepare_box runc
    work=$(workspace_of runc box)
    printf '#!  \t/bin/sh -e  \necho one' >"$work/blanks"
    printf '#!/bin/sh\r\necho two\n' >"$work/crlf"
    printf '#!bin/sh\necho three\n' >"$work/relative"
    printf '#!/workspace/blanks\n' >"$work/chain"
    printf '#!/%0300d/sh\necho five\n' 0 >"$work/long"
    printf '#!/bin/sh' >"$work/no-newline"
    printf 'echo seven\n' >"$work/no-line"
    chmod 755 "$work"/*
    box runc 'cd /; for s in blanks crlf relative chain long no-newline no-line; do execs plain /workspace/$s $s; done'
    said 'plain ENOENT'
    ran '.payload.path == "/workspace/blanks" and .payload.interpreter == "/bin/sh" and .payload.argv == ["/workspace/blanks", "blanks"]'
    ran '.payload.path == "/workspace/crlf" and .payload.interpreter == "/bin/sh\r"'
    ran '.payload.path == "/workspace/relative" and .payload.interpreter == "/bin/sh"'
    ran '.payload.path == "/workspace/chain" and .payload.interpreter == "/workspace/blanks"'
    ran '.payload.path == "/workspace/long" and .payload.interpreter == null'
    ran '.payload.path == "/workspace/no-newline" and .payload.interpreter == "/bin/sh"'
    ran '.payload.path == "/workspace/no-line" and .payload.interpreter == null'
    [ "$(count_ran '.payload.path == "/bin/sh"')" -eq 1 ]
    [ "$(count_ran '.payload.path == "/workspace/blanks"')" -eq 1 ]
    trace_has "$(id_of box)" '.event_type == "filesystem" and .payload.op == "exec" and .payload.path == "/bin/sh"'
    trace_has "$(id_of box)" '.event_type == "filesystem" and .payload.op == "exec" and .payload.path == "/workspace/blanks"'
}

@test "an execution after one that failed is not taken for its interpreter" {
    policy
    prepare_box runc
    box runc 'execs after-a-failure /bin/execs say hidden'
    said hidden
    ran '.payload.path == "/workspace/broken"'
    ran '.payload.path == "/bin/execs" and .payload.argv == ["/bin/execs", "say", "hidden"]'
}

@test "a file that is not of the image is recorded with its hash, by runc, docker and podman" {
    policy
    for engine in runc docker podman; do
        prepare_box "$engine"
        box "$engine" 'cp /workspace/execs /tmp/dropped; mv /tmp/dropped /tmp/moved; /tmp/moved say hello; /workspace/execs say again; /bin/attack list'
        said again
        sum=$(sha256sum "$ST_BUILDDIR/tests/attack/execs" | cut -d' ' -f1)
        id=$(watched_id "$engine" box)
        trace_has "$id" ".event_type == \"process\" and .payload.path == \"/tmp/moved\" and .payload.sha256 == \"$sum\" and .payload.new == true"
        trace_has "$id" ".event_type == \"process\" and .payload.path == \"/bin/attack\" and .payload.sha256 == null and .payload.new == null"
        [ "$engine" = runc ] ||
            trace_has "$id" ".event_type == \"process\" and .payload.path == \"/workspace/execs\" and .payload.sha256 == \"$sum\" and .payload.new == null"
    done
}

# ---- rules ----

allow_all_but='rules:
  - { id: loader, type: process, exec: ["/lib*/**", /bin/sh, /bin/busybox] }'

@test "a list of programs by path: no others run, by whichever way" {
    policy "$allow_all_but" '  - { id: ours, type: process, exec: [/bin/execs] }'
    prepare_box runc
    printf '#!/bin/sh\necho script\n' >"$(workspace_of runc box)/script"
    printf '#!/workspace/execs say\n' >"$(bundle_of box)/rootfs/bin/unlisted"
    chmod 755 "$(workspace_of runc box)/script" "$(bundle_of box)/rootfs/bin/unlisted"
    ln -s /workspace/execs "$(bundle_of box)/rootfs/usr/bin/innocent"
    box runc 'for way in plain at by-fd thread; do /bin/execs $way /workspace/execs say hello; done
        /bin/execs plain /usr/bin/innocent say hello; /bin/execs plain /workspace/script; /bin/execs plain /bin/execs say listed'
    said listed
    run ! grep -E 'hello|script' "$NOTES/said"
    [ "$(grep -c EPERM "$NOTES/said")" -eq 6 ]
    [ "$(count_ran '.payload.blocked and .payload.path == "/workspace/execs" and .payload.argv[1:] == ["say", "hello"] and .verdict.action == "denied"')" -eq 5 ]
    ran '.payload.blocked and .payload.path == "/workspace/script" and .payload.interpreter == "/bin/sh"'
    run ! ran '.payload.blocked and .payload.path == "/bin/execs"'
}

@test "a script whose interpreter is not allowed is refused, before anything of it runs" {
    policy "$allow_all_but" '  - { id: ours, type: process, exec: [/bin/execs, "/workspace/*.sh"] }'
    prepare_box runc
    printf '#!/workspace/execs say\n' >"$(workspace_of runc box)/a.sh"
    printf '#!/bin/sh\necho fine\n' >"$(workspace_of runc box)/b.sh"
    chmod 755 "$(workspace_of runc box)"/*.sh
    box runc '/bin/execs plain /workspace/a.sh; /bin/execs plain /workspace/b.sh'
    said 'plain EPERM'
    said fine
    ran '.payload.blocked and .payload.path == "/workspace/a.sh" and .payload.interpreter == "/workspace/execs"'
}

@test "a list of programs by hash: the same content runs under any name, one byte more and it does not" {
    sum=$(sha256sum "$ST_BUILDDIR/tests/attack/execs" | cut -d' ' -f1)
    policy "$allow_all_but" "  - { id: ours, type: process, exec: ['sha256:$sum'] }"
    for engine in runc docker; do
        prepare_box "$engine"
        cp "$ST_BUILDDIR/tests/attack/execs" "$(workspace_of "$engine" box)/changed"
        printf x >>"$(workspace_of "$engine" box)/changed"
        box "$engine" 'cd /workspace; cp execs same; ln execs second; mv same moved; cp execs written
            ./execs say one; ./moved say two; ./second say three; ./execs plain ./changed say four; ./execs written ./written say five
            cp execs /tmp/x; /tmp/x say six; ./execs mapped /tmp/x say seven; ./execs deleted ./execs say eight'
        for word in one two three six; do said "$word"; done
        run ! grep -E 'four|five|seven' "$NOTES/said"
        said 'plain EPERM'
        id=$(watched_id "$engine" box)
        trace_has "$id" ".payload.path == \"/workspace/moved\" and .payload.sha256 == \"$sum\" and .verdict.policy_rule == \"ours\""
        trace_has "$id" '.payload.path == "/workspace/changed" and .payload.blocked and (.payload.sha256 | length) == 64'
        trace_has "$id" '.payload.path == "/workspace/written" and .payload.blocked and .payload.unhashed'
    done
}

@test "content that a rule refuses does not run under any name, nor while somebody writes to it" {
    sum=$(sha256sum "$ST_BUILDDIR/tests/attack/attack" | cut -d' ' -f1)
    policy "rules: [{ id: banned, type: process, action: deny, severity: high, exec: ['sha256:$sum'] }]"
    prepare_box runc
    box runc 'cp /bin/attack /workspace/x; execs plain /bin/attack list; execs plain /workspace/x list; execs written /workspace/x list; execs plain /bin/execs say fine'
    said fine
    [ "$(grep -c EPERM "$NOTES/said")" -eq 3 ]
    [ "$(count_ran '.verdict.policy_rule == "banned" and .payload.blocked')" -eq 3 ]
}

# ---- where a file comes from ----

# Each line puts a program in place in another way; the last word runs it.
droppings='cp /bin/execs /tmp/copied; execs plain /tmp/copied say copied
    cp /bin/execs /tmp/x; mv /tmp/x /tmp/renamed; execs plain /tmp/renamed say renamed
    cp /bin/execs /tmp/x; ln /tmp/x /tmp/linked; execs plain /tmp/linked say linked
    cp /bin/execs /tmp/x; touch -d 2001-01-01 /tmp/x; execs plain /tmp/x say backdated
    cp /bin/execs /workspace/x; execs plain /workspace/x say workspace
    execs deleted /bin/execs say deleted
    chmod 755 /workspace/unarmed; execs plain /workspace/unarmed say armed
    printf "#!/bin/sh\necho scripted\n" >/tmp/script; chmod 755 /tmp/script; execs plain /tmp/script
    printf "#!/tmp/copied say\n" >/tmp/chained; chmod 755 /tmp/chained; execs plain /tmp/chained'

@test "exec_of_new: what was made or changed in this run does not run, however it was put there" {
    policy 'exec_of_new: deny'
    for engine in runc docker podman; do
        prepare_box "$engine"
        cp "$ST_BUILDDIR/tests/attack/execs" "$(workspace_of "$engine" box)/unarmed"
        chmod 644 "$(workspace_of "$engine" box)/unarmed"
        box "$engine" "execs() { /workspace/execs \"\$@\"; }; ${droppings//\/bin\/execs//workspace/execs}
            execs plain /workspace/execs say there-before; /workspace/execs say fine"
        said there-before
        run ! grep -E '^(copied|renamed|linked|backdated|workspace|deleted|armed|scripted)$' "$NOTES/said"
        [ "$(grep -c EPERM "$NOTES/said")" -eq 9 ]
        [ "$(trace_count "$(watched_id "$engine" box)" '.event_type == "process" and .payload.blocked and .payload.new and .verdict.policy_rule == "exec_of_new"')" -eq 9 ]
    done
}

@test "exec_of_new: an interpreter that is new does not run, though the script is of the image" {
    policy 'exec_of_new: deny'
    prepare_box runc
    printf '#!/tmp/interpreter say\n' >"$(bundle_of box)/rootfs/bin/script"
    chmod 755 "$(bundle_of box)/rootfs/bin/script"
    box runc 'cp /bin/execs /tmp/interpreter; execs plain /bin/script'
    said 'plain EPERM'
    ran '.payload.path == "/bin/script" and .payload.interpreter == "/tmp/interpreter" and (.payload.new | not) and (.payload.blocked | not)'
    trace_has "$(id_of box)" '.event_type == "filesystem" and .payload.op == "exec" and .payload.path == "/tmp/interpreter" and .payload.new and .payload.blocked and .verdict.policy_rule == "exec_of_new"'
}

@test "by docker and podman too the interpreter of a script is found, and does not run where it is new" {
    policy 'exec_of_new: deny'
    for engine in docker podman; do
        prepare_box "$engine"
        work=$(workspace_of "$engine" box)
        printf '#!  \t/bin/sh -e  \necho one' >"$work/blanks"
        printf '#!/workspace/blanks\n' >"$work/chain"
        printf '#!/tmp/interpreter say\n' >"$work/script"
        chmod 755 "$work"/*
        box "$engine" 'cp /workspace/execs /tmp/interpreter; cd /workspace; for s in blanks chain script; do ./execs plain ./$s; done'
        said one
        said 'plain EPERM'
        id=$(watched_id "$engine" box)
        was_run='.event_type == "process" and .payload.op == "exec"'
        trace_has "$id" "$was_run and .payload.path == \"/workspace/blanks\" and .payload.interpreter == \"/bin/sh\""
        trace_has "$id" "$was_run and .payload.path == \"/workspace/chain\" and .payload.interpreter == \"/workspace/blanks\""
        trace_has "$id" "$was_run and .payload.path == \"/workspace/script\" and .payload.interpreter == \"/tmp/interpreter\""
        trace_has "$id" '.event_type == "filesystem" and .payload.op == "exec" and .payload.path == "/tmp/interpreter" and .payload.new and .payload.blocked'
    done
}

@test "exec_of_new: what came in by exec in this run is new, what an earlier run left is not" {
    policy 'exec_of_new: deny'
    prepare_box docker
    start_by docker box sleep 1000
    docker exec box cp /workspace/execs /tmp/dropped
    run docker exec box /workspace/execs plain /tmp/dropped say hello
    [[ $output == *EPERM* ]] || fail "$output"
    docker restart -t 0 box >/dev/null
    run docker exec box /workspace/execs plain /tmp/dropped say hello
    [[ $output == *hello* ]] || fail "$output"
    retry_until trace_has "$(watched_id docker box)" '.payload.path == "/tmp/dropped" and (.payload.new | not) and (.payload.sha256 | length) == 64'
}

@test "exec_of_new by a hash that a rule allows: the content is known" {
    sum=$(sha256sum "$ST_BUILDDIR/tests/attack/execs" | cut -d' ' -f1)
    policy 'exec_of_new: deny' 'rules:' "  - { id: known, type: process, exec: ['sha256:$sum'] }" '  - { id: rest, type: process, exec: ["/**"] }'
    prepare_box runc
    box runc 'cp /bin/execs /tmp/x; cp /bin/attack /tmp/y; execs plain /tmp/x say known; execs plain /tmp/y list'
    said known
    said 'plain EPERM'
}

@test "exec_of_deleted: a file that has no name any more does not run; others do" {
    policy 'exec_of_deleted: deny'
    prepare_box runc
    box runc 'execs deleted /bin/execs say gone; execs plain /bin/execs say fine'
    said 'deleted EPERM'
    said fine
    ran '.payload.blocked and .payload.deleted and .payload.path == "/workspace/gone" and .verdict.policy_rule == "exec_of_deleted" and .payload.argv[1:] == ["say", "gone"]'
}

@test "exec_of_memfd: nothing runs from memory, and nothing else is kept from using it" {
    policy 'exec_of_memfd: deny'
    for engine in runc docker podman; do
        prepare_box "$engine"
        box "$engine" '/workspace/execs memfd /workspace/execs say gone; /workspace/execs memfd-by-proc /workspace/execs say gone
            /workspace/execs executable-memfd /workspace/execs say gone; /workspace/execs plain /workspace/execs say fine'
        said 'memfd EACCES'
        said 'memfd-by-proc EACCES'
        said 'executable-memfd EACCES'
        said fine
        run ! grep gone "$NOTES/said"
        id=$(watched_id "$engine" box)
        run ! trace_has "$id" '.payload.name == "exec_of_memfd"'
        [ "$(cat /proc/sys/vm/memfd_noexec)" = "$memfd_noexec" ]
        # That somebody tried is on the trace: who asks for a program, and who runs what is none. A file is no event.
        trace_has "$id" "$(tries memfd_create) and .payload.args == {\"flags\": [\"exec\"], \"name\": \"x\"} and $kept_from_memory"
        trace_has "$id" "$(tries execveat) and .payload.args.program == \"/memfd:x\" and .payload.args.flags == [\"empty_path\"] and $kept_from_memory"
        [ "$(trace_count "$id" '.event_type == "syscall" and (.payload.memfd or .verdict.result == "deny")')" -eq 2 ]
        [ "$(stop_value "$id" '.payload.syscalls.memfd_create | "\(.permitted) \(.refused)"')" = "2 1" ]
    done
}

# tries NAME: the jq filter of such a call, of a program in memory, by the program that knows the ways.
tries() { echo ".event_type == \"syscall\" and .payload.name == \"$1\" and .payload.memfd and .payload.process.comm == \"execs\""; }
kept_from_memory='.payload.blocked and .verdict.result == "deny" and .verdict.policy_rule == "exec_of_memfd" and .verdict.severity == "high" and (.verdict.reason | contains("in memory only"))'

@test "exec_of_memfd: whatever flags and names are used, files in memory are let be, programs are not" {
    policy 'exec_of_memfd: deny'
    prepare_box runc
    # Neither flag, for data, both; a name that is too long, or not there; what is not known; pages that are huge.
    box runc 'for flags in 0 1 3 8 0xb 0x10 0x18; do execs memory $flags x; done; for name in bad long; do execs memory 0 $name; execs memory 0x10 $name; done
        execs memory 0x40 x; execs memory 0x50 x; execs memory 0x54000014 x; execs memory 0x100000010 x
        for way in memfd-checked memfd-shared; do execs $way /bin/execs say gone; done; execs plain /bin/execs say fine'
    sed 's/^memory //' "$NOTES/said" >"$NOTES/memory"
    for line in '0 x ok' '0x1 x ok' '0x3 x ok' '0x8 x ok' '0xb x ok' '0x10 x EACCES' '0x18 x EACCES' '0 bad EFAULT' '0 long EINVAL' \
        '0x10 bad EACCES' '0x10 long EACCES' '0x40 x EINVAL' '0x50 x EACCES' '0x54000014 x EACCES' '0x100000010 x EACCES' \
        'memfd-checked EACCES' 'memfd-shared EACCES' fine; do
        contains "$NOTES/memory" "$line" || fail "$line: $(cat "$NOTES/said")"
    done
    run ! grep gone "$NOTES/said"
    id=$(id_of box)
    trace_has "$id" "$(tries memfd_create) and .payload.args.name == {\"unreadable\": \"0x8\"} and $kept_from_memory"
    trace_has "$id" "$(tries memfd_create) and (.payload.args.name | tostring | length) == 300 and $kept_from_memory"
    trace_has "$id" "$(tries memfd_create) and .payload.args.flags == [\"noexec_seal\", \"exec\"] and $kept_from_memory"
    trace_has "$id" "$(tries memfd_create) and .payload.args.flags == [\"exec\", \"0x40\"] and $kept_from_memory"
    trace_has "$id" "$(tries memfd_create) and .payload.args.flags == [\"hugetlb\", \"exec\", \"0x54000000\"] and $kept_from_memory"
    trace_has "$id" "$(tries execveat) and .payload.args.flags == [\"empty_path\", \"execve_check\"] and $kept_from_memory"
    [ "$(trace_count "$id" "$(tries memfd_create)")" -eq 7 ]
    [ "$(trace_count "$id" "$(tries execveat)")" -eq 2 ]
    [ "$(stop_value "$id" '.payload.syscalls.memfd_create | "\(.permitted) \(.refused)"')" = "10 7" ]
}

@test "exec_of_memfd: a program in memory that is held is there when it is approved, and is not when it is denied" {
    severe=pause policy 'exec_of_memfd: deny'
    prepare_box runc
    start_by runc box sh -c 'cd /workspace; execs memory 0x10 x 3 >full; execs executable-memfd /bin/execs say ran >said; execs memory 0x11 y >denied; sleep 1000'
    pause=$(held box)
    run sandtrace pending "$(id_of box)"
    [[ $output == *exec_of_memfd* && $output == *memfd_create* ]] || fail "$output"
    # It has no room for an fd: it is told so, and not left waiting.
    sandtrace approve "$pause"
    retry_until contains "$(workspace_of runc box)/full" 'memory 0x10 x EMFILE'
    sandtrace approve "$(held box)" # memfd_create
    sandtrace approve "$(held box)" # execveat
    retry_until contains "$(workspace_of runc box)/said" ran
    sandtrace deny "$(held box)"
    retry_until contains "$(workspace_of runc box)/denied" 'memory 0x11 y EACCES'
    trace_has "$(id_of box)" "$(tries execveat) and .payload.args.program == \"/memfd:x\" and .verdict.action == \"paused\""
}

@test "programs from memory that a policy lets run are on the trace" {
    policy
    prepare_box runc
    box runc 'execs executable-memfd /bin/execs say by-fd; execs memfd /bin/execs say plainly; execs memory 1 data'
    said by-fd
    said plainly
    was_let='(.payload.blocked | not) and .verdict.result == "allow"'
    trace_has "$(id_of box)" "$(tries memfd_create) and .payload.args.name == \"x\" and $was_let"
    [ "$(trace_count "$(id_of box)" "$(tries execveat) and .payload.args.program == \"/memfd:x\" and $was_let")" -eq 2 ]
    [ "$(trace_count "$(id_of box)" '.event_type == "syscall" and .payload.name == "memfd_create"')" -eq 1 ]
    [ "$(stop_value "$(id_of box)" '.payload.syscalls.memfd_create.permitted')" -eq 3 ]
}

@test "under audit programs from memory run, and are told of as what enforce would refuse" {
    policy 'exec_of_memfd: deny' 'mode: audit'
    prepare_box runc
    box runc 'execs executable-memfd /bin/execs say ran; execs memory 1 data'
    said ran
    said 'memory 0x1 data ok'
    trace_has "$(id_of box)" "$(tries memfd_create) and (.payload.blocked | not) and .verdict.result == \"deny\" and .verdict.policy_rule == \"exec_of_memfd\""
    trace_has "$(id_of box)" "$(tries execveat) and (.payload.blocked | not) and .verdict.result == \"deny\" and .verdict.policy_rule == \"exec_of_memfd\""
    run ! trace_has "$(id_of box)" '.payload.args.name == "data"'
}

@test "exec_of_memfd in a pid namespace that is the host's: the trace says so, and no file in memory is made that could run" {
    severe=pause policy 'exec_of_memfd: deny'
    configure host_pid allow
    prepare_box runc
    edit_config "$(bundle_of box)" '.linux.namespaces |= map(select(.type != "pid"))'
    box runc 'execs memory 1 data; execs memory 9 sealed; execs plain /bin/execs say fine'
    said fine
    said 'memory 0x1 data EACCES'
    said 'memory 0x9 sealed ok'
    # What ordinary programs do is refused there, but stops nobody.
    trace_has "$(id_of box)" "$(tries memfd_create) and .payload.args.name == \"data\" and .verdict.action == \"denied\" and $kept_from_memory"
    [ "$(trace_count "$(id_of box)" '.event_type == "security_pause"')" -eq 0 ]
    trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "exec_of_memfd" and .payload.state == "degraded"'
    [ "$(cat /proc/sys/vm/memfd_noexec)" = "$memfd_noexec" ]
}

@test "an execution that is held goes on when it is approved, and fails when it is denied" {
    severe=pause policy 'exec_of_new: deny'
    prepare_box runc
    start_by runc box sh -c 'cd /workspace; for n in 1 2; do cp /bin/execs new$n; execs plain ./new$n say ran-$n >said.$n; done; sleep 1000'
    pause=$(held box)
    run sandtrace pending "$(id_of box)"
    [[ $output == *exec_of_new* ]] || fail "$output"
    sandtrace approve "$pause"
    retry_until exists "$(workspace_of runc box)/said.2"
    contains "$(workspace_of runc box)/said.1" ran-1
    pause=$(held box)
    on_terminal "sandtrace pending" >"$NOTES/shown"
    contains "$NOTES/shown" 'exec /workspace/new2 [./new2 say ran-2]'
    contains "$NOTES/shown" 'sha256'
    sandtrace deny "$pause"
    retry_until contains "$(workspace_of runc box)/said.2" EPERM
    ran '.payload.path == "/workspace/new2" and .payload.argv == ["./new2", "say", "ran-2"] and .verdict.action == "paused"'
}

@test "approved for always is this content: what is written there next waits again" {
    severe=pause policy 'exec_of_new: deny'
    prepare_box runc
    start_by runc box sh -c 'cd /workspace; for n in 1 2 3; do cp /bin/execs new; [ $n -lt 3 ] || echo x >>new; execs plain ./new say ran-$n >said.$n; done; sleep 1000'
    pause=$(held box)
    sandtrace approve "$pause" --always
    retry_until exists "$(workspace_of runc box)/said.3"
    contains "$(workspace_of runc box)/said.2" ran-2
    pause=$(held box)
    sandtrace deny "$pause"
    retry_until contains "$(workspace_of runc box)/said.3" EPERM
}

@test "a file that is changed there and back while it is executed never runs as what no rule allows" {
    sum=$(sha256sum "$ST_BUILDDIR/tests/attack/execs" | cut -d' ' -f1)
    policy "$allow_all_but" "  - { id: ours, type: process, exec: ['sha256:$sum'] }"
    for engine in runc docker; do
        prepare_box "$engine"
        # Some rounds, until it came between two changes at least once: a race that always loses shows nothing.
        box "$engine" "cd /workspace; cp execs raced; for n in 1 2 3 4 5 6 7 8 9 10; do ./execs race ./raced ${ST_RACE_TRIES:-300} >round; read -r line <round; echo \"\$line\"; [ \"\${line#good 0 }\" != \"\$line\" ] || break; done"
        run ! grep -v ' evil 0 ' "$NOTES/said"
        [[ $(tail -n 1 "$NOTES/said") == good\ [1-9]* ]] || fail "$(cat "$NOTES/said")"
    done
}

@test "what is executed again and again is recorded whole once, and all others are counted" {
    configure default_policy agent-default
    make_container box sh -c 'cd /tmp; for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; cd /; exec sh -c "/bin/true; exit 0"'
    run -0 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_is_complete "$(id_of box)"
    local ran='.event_type == "process" and .payload.op == "exec" and .payload.path == "/bin/true"'
    trace_has "$(id_of box)" "$ran and .payload.process.cwd == \"/tmp\" and .payload.process.exe == \"/bin/sh\" and (.payload.process.ancestry | length) == 1"
    [ "$(jq -s "[.[] | select($ran) | .payload.count // 1] | add" "$(trace_of "$(id_of box)")")" -eq 11 ]
    # who was started with other arguments is another one
    trace_has "$(id_of box)" "$ran and .payload.process.cwd == \"/\" and .payload.process.argv[2] == \"/bin/true; exit 0\""
    [ "$(trace_count "$(id_of box)" "$ran")" -eq 3 ]
}
