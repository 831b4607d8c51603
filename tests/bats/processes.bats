#!/usr/bin/env bats
# Processes: their limits are decided before one is begun; who began whom is known whatever becomes of them.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control
load lib/attack

limits='max_depth: 4, max_children: 30, max_processes: 64, max_forks_per_second: unlimited'

setup_file() {
    require cc=gcc
    make_world
    write_limits limited "$limits"
    write_limits asked "$limits, before: true"
    write_limits refused "$limits, before: true" "$refusing"
    write_limits free 'max_depth: unlimited, max_children: unlimited, max_processes: unlimited, max_forks_per_second: unlimited'
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() {
    configure default_policy limited
    configure process_events auto
    remember_what_is_there
}

teardown() {
    remove_all_containers
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

# write_limits NAME LIMITS [LINE…]: by default a violation pauses, and waits.
write_limits() {
    local name=$1 limits=$2
    shift 2
    [ $# -gt 0 ] || set -- 'pause: { hold: true, timeout: 0 }'
    write_policy "$name" "process_limits: { $limits }" "$@"
}

# make_forker NAME ARGUMENT…: a container of tests/attack/forks, what it says in /workspace/said.
make_forker() {
    local name=$1
    shift
    make_container "$name" sh -c "exec forks $* >/workspace/said 2>&1"
    cp "$ST_BUILDDIR/tests/attack/forks" "$(rootfs_of "$name")/bin/forks"
}

start_forker() { make_forker "$@" && start_detached "$1"; }

run_forker() { make_forker "$@" && runtime run --bundle "$(bundle_of "$1")" "$(id_of "$1")" </dev/null; }

said() { cat "$(rootfs_of "$1")/workspace/said"; }

says() { [ "$(said "$1" | tail -n 1)" = "$2" ]; }

tasks_of() { wc -l <"/sys/fs/cgroup/freezer/$WORLD_NAME/$1/cgroup.procs"; }

# limit_event OP: the jq filter of a process too many.
limit_event() { echo ".event_type == \"process\" and .payload.op == \"$1\" and .verdict.result == \"deny\" and .verdict.policy_rule == \"process_limits\" and .verdict.severity == \"high\""; }

# nothing_went_wrong NAME: no violation in its trace.
nothing_went_wrong() {
    trace_is_complete "$(id_of "$1")"
    [ "$(trace_count "$(id_of "$1")" '.verdict.result != "allow" or .event_type == "security_pause"')" -eq 0 ] ||
        { jq -c 'select(.verdict.result != "allow")' "$(trace_of "$(id_of "$1")")" >&2; return 1; }
}

# of_children HOW: the 31st child of one process does not come to be.
of_children() {
    configure default_policy asked
    start_forker box children 35 "$1"
    held box
    is_frozen box
    says box '30 ok'
    [ "$(tasks_of box)" -eq 31 ]
    trace_has "$(id_of box)" "$(limit_event fork_limit) and .payload.children == 31 and .payload.processes == 32 and .payload.depth == 1 and
        .payload.blocked and .verdict.action == \"paused\" and .payload.process.exe == \"/bin/forks\""
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

# by_then WHAT: how many there were when it stood still.
by_then() { echo "# $1: $(tasks_of box) processes when it stood still" >&3; }

@test "of 35 children with a limit of 30 the 31st is recorded, and nothing runs any more" {
    start_forker box children 35 slowly
    retry_until is_frozen box
    by_then 'a limit of 30 children'
    [ "$(tasks_of box)" -lt 36 ]
    trace_has "$(id_of box)" "$(limit_event fork_limit) and .payload.children == 31 and .payload.processes == 32 and .payload.depth == 1 and
        (.payload.blocked | not) and .verdict.action == \"paused\" and .payload.process.exe == \"/bin/forks\""
    trace_has "$(id_of box)" "$is_pause and (.payload.held | not)"
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "where a violation is to be refused and can't be any more, it stands still" {
    write_limits late "$limits" "$refusing"
    configure default_policy late
    start_forker box deep 8 stay
    retry_until is_frozen box
    trace_has "$(id_of box)" "$(limit_event depth_limit) and .payload.depth == 5 and .verdict.action == \"paused\" and (.payload.process.ancestry | length) == 4"
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "who is let go on stands still again at the next one too many" {
    start_forker box children 100000 slowly
    sandtrace approve "$(held box)" >/dev/null
    sandtrace approve "$(held box)" >/dev/null
    held box
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" "$is_pause")" -eq 3 ]
}

@test "always is for this program, for the rest of this run" {
    start_forker box children 70 slowly
    sandtrace approve "$(held box)" --always >/dev/null
    retry_until says box '70 ok'
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" "$is_pause")" -eq 1 ]
}

@test "a policy can have it asked before: of 35 children with a limit of 30 the 31st is held before it is there" { of_children fork; }
@test "so it is by vfork" { of_children vfork; }
@test "by the syscall itself" { of_children syscall; }
@test "and by clone" { of_children clone; }

@test "a person lets one more be; the next is asked about again, and refused" {
    configure default_policy asked
    start_forker box children 35
    sandtrace approve "$(held box)" >/dev/null
    retry_until says box '31 ok'
    sandtrace deny "$(held box)" >/dev/null
    retry_until says box '32 EAGAIN'
    [ "$(tasks_of box)" -eq 32 ]
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" "$(limit_event fork_limit)")" -eq 3 ]
}

@test "where a violation is refused the program is told to try again later, and goes on" {
    configure default_policy refused
    run run_forker box children 35
    [ "$(said box | grep -c ' ok$')" -eq 30 ]
    [ "$(said box | grep -c ' EAGAIN$')" -eq 5 ]
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" "$(limit_event fork_limit) and .verdict.action == \"denied\"")" -eq 5 ]
    [ "$(stop_value "$(id_of box)" .payload.processes.most_children)" -eq 30 ]
    [ "$(stop_value "$(id_of box)" .payload.processes.forks)" -eq 30 ]
    [ "$(stop_value "$(id_of box)" .payload.processes.most_depth)" -eq 1 ]
}

@test "threads that fork in the same moment do not get past the limit together" {
    configure default_policy refused
    run_forker box race 8 10
    [ "$(said box)" = 'made 30' ]
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" "$(limit_event fork_limit)")" -eq 50 ]
}

@test "children that have ended make room" {
    configure default_policy refused
    make_container box sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    nothing_went_wrong box
    [ "$(stop_value "$(id_of box)" .payload.processes.forks)" -eq 100 ]
    [ "$(stop_value "$(id_of box)" .payload.processes.most_at_once)" -le 3 ]
}

@test "a tree that is too deep is held at the first level too many" {
    configure default_policy asked
    start_forker box deep 8
    held box
    [ "$(tasks_of box)" -eq 5 ]
    trace_has "$(id_of box)" "$(limit_event depth_limit) and .payload.depth == 5 and (.payload.process.ancestry | length) == 4"
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "being one's parent's sibling is no way up" {
    configure default_policy refused
    run_forker box sibling 8 || true
    [ "$(said box)" = '5 EAGAIN' ]
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$(limit_event depth_limit) and .payload.depth == 5"
}

@test "processes in all are limited, whoever begins them" {
    configure default_policy refused
    make_container box sh -c 'for i in 1 2 3; do forks children 29 & done; wait'
    cp "$ST_BUILDDIR/tests/attack/forks" "$(rootfs_of box)/bin/forks"
    start_detached box
    retry_until trace_has "$(id_of box)" "$(limit_event fork_limit) and .payload.processes == 65"
    runtime kill "$(id_of box)" KILL
    trace_is_complete "$(id_of box)"
    [ "$(stop_value "$(id_of box)" .payload.processes.most_at_once)" -eq 64 ]
}

@test "forks a second are limited, though none of them stays" {
    write_limits slow 'max_forks_per_second: 100, before: true'
    configure default_policy slow
    start_forker box storm 1000
    held box
    trace_has "$(id_of box)" "$(limit_event fork_limit) and .payload.forks == 101 and .payload.processes < 5"
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

# bomb POLICY COMMAND…: frozen while it is small; the machine answers; nothing is left of it.
bomb() {
    configure default_policy "$1"
    make_container box "${@:2}"
    cp "$ST_BUILDDIR/tests/attack/forks" "$(rootfs_of box)/bin/forks"
    start_detached box
    retry_until is_frozen box
    by_then "a bomb, $1"
    [ "$1" = limited ] || [ "$(tasks_of box)" -le 64 ]
    trace_has "$(id_of box)" '.event_type == "process" and .verdict.severity == "high" and .verdict.action == "paused"'
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
    runtime delete "$(id_of box)"
    nothing_left_behind
}

shell_bomb='f() { f | f & }; f; while :; do sleep 1; done'

@test "a bomb of a program is frozen, and killed afterwards" { bomb limited forks bomb; }
@test "a bomb of a shell is frozen, and killed afterwards" { bomb limited sh -c "$shell_bomb"; }
@test "asked before, a bomb of a program gets no further than the limit" { bomb asked forks bomb; }
@test "nor does one of a shell" { bomb asked sh -c "$shell_bomb"; }

@test "the kernel's own limit stands behind, and leaves room for threads" {
    write_limits wide 'max_depth: unlimited, max_children: unlimited, max_processes: 2000, max_forks_per_second: unlimited'
    configure default_policy wide
    start_forker box children 1
    [ "$(cat "/sys/fs/cgroup/pids/$WORLD_NAME/box/pids.max")" -eq 8000 ]
    runtime kill "$(id_of box)" KILL
    trace_is_complete "$(id_of box)"
}

@test "a limit that the container has already stays, and one of ours goes when the policy does" {
    make_container box true
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$(jq .linux.resources.pids.limit "$(bundle_of box)/config.json")" -eq 4096 ]
    configure default_policy free
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$(jq .linux.resources.pids.limit "$(bundle_of box)/config.json")" = null ]
    configure default_policy limited
    edit_config "$(bundle_of box)" '.linux.resources.pids.limit = 50'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [ "$(jq .linux.resources.pids.limit "$(bundle_of box)/config.json")" -eq 50 ]
    trace_is_complete "$(id_of box)"
}

@test "and leaves what stood there as it was" {
    local resources
    for resources in null '{}' '{"pids":{}}' '{"pids":{"limit":0}}' '{"pids":{"limit":-1}}' '{"devices":[]}'; do
        make_container box true
        edit_config "$(bundle_of box)" "if $resources == null then del(.linux.resources) else .linux.resources = $resources end"
        jq -S .linux.resources "$(bundle_of box)/config.json" >"$NOTES/before"
        configure default_policy limited
        runtime run --bundle "$(bundle_of box)" "$(id_of box)"
        [ "$(jq .linux.resources.pids.limit "$(bundle_of box)/config.json")" -eq 4096 ]
        configure default_policy free
        runtime run --bundle "$(bundle_of box)" "$(id_of box)"
        jq -S .linux.resources "$(bundle_of box)/config.json" | diff "$NOTES/before" -
        rm -rf "$(bundle_of box)"
    done
}

@test "where nobody is asked before, nobody is" {
    configure default_policy free
    run_forker box storm 200
    nothing_went_wrong box
    run ! jq -e '[.linux.seccomp.syscalls[] | select(.action == "SCMP_ACT_NOTIFY") | .names[]] | index("fork")' "$(bundle_of box)/config.json"
    [ "$(stop_value "$(id_of box)" .payload.processes.forks)" -eq 200 ]
}

@test "who an engine execs begins at depth 0 again" {
    make_container box sleep 1000
    cp "$ST_BUILDDIR/tests/attack/forks" "$(rootfs_of box)/bin/forks"
    start_detached box
    run -0 runtime exec "$(id_of box)" forks deep 4
    [ "$output" = '4 ok' ]
    runtime delete --force "$(id_of box)"
    nothing_went_wrong box
    [ "$(stop_value "$(id_of box)" .payload.processes.most_depth)" -eq 4 ]
}

@test "a daemon that forked twice keeps its ancestors, and the name of its program" {
    write_scope_policy scoped "$refusing"
    configure default_policy scoped
    make_container box sh -c 'sh -c "forks daemon /outside /workspace/said"; while :; do sleep 1; done'
    cp "$ST_BUILDDIR/tests/attack/forks" "$(rootfs_of box)/bin/forks"
    start_detached box
    retry_until exists "$(rootfs_of box)/workspace/said"
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    # itself under a false name; then two of the same program, the shell that ran it, and the first process
    trace_has "$(id_of box)" '.payload.path == "/outside" and .verdict.result == "deny" and .payload.process.comm == "kworker" and
        .payload.process.exe == "/bin/forks" and ([.payload.process.ancestry[].comm] == ["forks", "forks", "sh"]) and
        ([.payload.process.ancestry[].exe][0:2] == ["/bin/forks", "/bin/forks"])'
}

@test "the name that a process gives itself changes nothing" {
    configure default_policy asked
    start_forker box masked 'sshd' 35
    held box
    trace_has "$(id_of box)" "$(limit_event fork_limit) and .payload.process.comm == \"sshd\" and .payload.process.exe == \"/bin/forks\" and .payload.path == \"/bin/forks\""
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "each end is recorded, with its code or its signal" {
    make_container box sh -c '(exit 7); sh -c "kill -KILL \$\$"; /bin/true; exit 3'
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_is_complete "$(id_of box)"
    is_exit='.event_type == "process" and .payload.op == "exit"'
    trace_has "$(id_of box)" "$is_exit and .payload.exit_code == 7 and .payload.path == \"/bin/sh\""
    trace_has "$(id_of box)" "$is_exit and .payload.exit_signal == 9 and .payload.path == \"/bin/sh\" and (.payload.process.ancestry | length) == 1"
    trace_has "$(id_of box)" "$is_exit and .payload.exit_code == 0 and .payload.path == \"/bin/true\""
    trace_has "$(id_of box)" "$is_exit and .payload.exit_code == 3 and .payload.path == \"/bin/sh\" and (.payload.process.ancestry // []) == []"
}

# The usual tools of the machine itself, under the policy that agents get.
make_builder() {
    make_container box sh -c "$1"
    edit_config "$(bundle_of box)" '.mounts += ["bin", "lib", "lib64", "usr", "etc/alternatives" | {type: "bind", source: "/\(.)", destination: "/\(.)", options: ["rbind", "ro"]}] |
        .process.env = ["PATH=/usr/bin:/bin", "HOME=/tmp"] | .process.cwd = "/workspace"'
}

# builds SCRIPT: it ends well under agent-default, and nobody was refused anything.
builds() {
    local each
    configure default_policy agent-default
    make_builder "$1"
    mkdir -p "$(rootfs_of box)/workspace/src"
    for each in 1 2 3 4 5 6 7 8; do echo "int f$each(void) { return $each; }" >"$(rootfs_of box)/workspace/src/f$each.c"; done
    printf 'all: $(patsubst %%.c,%%.o,$(wildcard src/*.c))\n%%.o: %%.c\n\tcc -c -o $@ $<\n' >"$(rootfs_of box)/workspace/Makefile"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/out" 2>&1 || { cat "$NOTES/out" >&2; return 1; }
    nothing_went_wrong box
}

@test "make with four jobs is nothing to stop" { builds 'make -j4 && ls src/f8.o'; }

@test "nor is python with threads and what they begin" {
    builds 'python3 -c "
import subprocess, threading
def run():
    for i in range(10): subprocess.run([\"/bin/true\"], check=True)
all = [threading.Thread(target=run) for i in range(8)]
[t.start() for t in all]
[t.join() for t in all]"'
    [ "$(stop_value "$(id_of box)" .payload.processes.forks)" -ge 80 ]
}

@test "nor git" { builds 'git init -q r && cd r && git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m first && git gc -q && git log >/dev/null'; }

@test "nor a shell that gets signals while it forks" {
    builds 'i=0; while [ $i -lt 300 ]; do (true) & (true) & (true) | cat; i=$((i + 1)); done; wait'
    [ ! -s "$NOTES/out" ]
}

@test "in audit mode what is over a limit is recorded, and nothing is changed" {
    configure default_policy audited
    write_limits audited 'max_children: 5'
    sed -i 's/^mode: .*/mode: audit/' "$WORLD/policies/audited.yaml"
    start_forker box children 10
    retry_until says box '10 ok'
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$(limit_event fork_limit) and .payload.children == 6 and .verdict.action == \"none\""
}

@test "where the kernel does not tell, who asks is counted: declared, and the limits hold" {
    configure process_events polled
    of_children fork
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"processes\" and .kind == \"polled\" and .state == \"degraded\"))"
    remove_all_containers
    rm "$(trace_of "$(id_of box)")"
    configure default_policy refused
    run_forker box deep 8 || true
    [ "$(said box)" = '5 EAGAIN' ]
    rm "$(trace_of "$(id_of box)")"
    remove_all_containers
    make_container box sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    nothing_went_wrong box
}

@test "the start record says how processes are watched" {
    make_container box true
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_has "$(id_of box)" "$is_start and (.payload.sensors | any(.name == \"processes\" and .kind == \"bpf\" and .state == \"on\"))"
}
