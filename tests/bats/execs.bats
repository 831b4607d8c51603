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
    box runc 'execs disguised /bin/execs plain /bin/execs say hello'
    said 'disguised ok'
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
