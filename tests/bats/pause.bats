#!/usr/bin/env bats
# The order of a violation under pressure: many at once, floods, and a monitor
# that dies at each of its steps.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control

setup_file() {
    make_world
    write_policy held
    write_policy refusing 'on_violation: { low: deny, medium: deny, high: deny, critical: deny }'
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() {
    configure default_policy held
    remember_what_is_there
}

teardown() {
    rm -f "$WORLD/run/.fault"
    remove_all_containers
    configure monitor "$WORLD/bin/sandtrace-monitor"
    configure on_worker_failure kill
    configure host_pid refuse
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

# make_storm NAME ARGUMENT…: a container that runs tests/attack/storm; what it prints is in said_by NAME.
make_storm() {
    local name=$1
    shift
    make_container "$name" sh -c 'storm "$@" >/workspace/said.new && mv /workspace/said.new /workspace/said; sleep 1000' sh "$@"
    cp "$ST_BUILDDIR/tests/attack/storm" "$(bundle_of "$name")/rootfs/bin/storm"
    echo secret >"$(bundle_of "$name")/rootfs/etc/shadow"
    echo fine >"$(bundle_of "$name")/rootfs/workspace/fine"
}

has_a_pause() { [ -n "$(pauses "$1")" ]; }

said_by() { cat "$(work_of "$1")/said"; }

worker_rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(state_of "$(id_of "$1")" worker)/status"; }

@test "twenty threads that break the rule in the same moment are all held, and each gets its own answer" {
    make_storm box volley 20 /etc/shadow
    start_detached box
    n=0
    # The first one to be seen stops the others, before they ask or while they do: all of them come.
    until [ -e "$(work_of box)/said" ]; do
        for pause in $(pauses box); do
            verb=approve
            [ $((n++ % 2)) -eq 0 ] || verb=deny
            sandtrace "$verb" "$pause" >/dev/null
        done
    done
    [ "$(said_by box)" = '{"let":10,"refused":10}' ]
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" '.event_type == "security_pause"')" -eq 20 ]
    [ "$(trace_count "$(id_of box)" '.event_type == "security_resume" and .payload.decision == "allow-once"')" -eq 10 ]
    [ "$(trace_count "$(id_of box)" '.event_type == "security_resume" and .payload.decision == "deny"')" -eq 10 ]
}

start_volley() {
    make_storm box volley 20 /etc/shadow
    start_detached box
    retry_until has_a_pause box
}

@test "a container that is deleted by force while its threads break the rule ends" {
    start_volley
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

# Its first thread ends, and says so in /proc as a process would that is being killed.
@test "a container whose first thread has ended alone is watched, held and ended like any other" {
    make_container box storm headless /etc/shadow /workspace/went-on
    cp "$ST_BUILDDIR/tests/attack/storm" "$(bundle_of box)/rootfs/bin/storm"
    echo secret >"$(bundle_of box)/rootfs/etc/shadow"
    start_detached box
    pause=$(held box)
    is_halted box
    is_gone "$(work_of box)/went-on"
    sandtrace deny "$pause"
    retry_until exists "$(work_of box)/went-on"
    runtime delete --force "$(id_of box)" # runc takes it for stopped, and does not kill what is
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"kill\" and .payload.by.how == \"engine\""
}

# The end of the first process ends no other where the pid namespace is not the container's own.
@test "a process whose first thread has ended alone is killed with its container" {
    make_container box sh -c 'storm headless /workspace /workspace/stays & exec sleep 1000'
    cp "$ST_BUILDDIR/tests/attack/storm" "$(bundle_of box)/rootfs/bin/storm"
    edit_config "$(bundle_of box)" '.linux.namespaces |= map(select(.type != "pid"))'
    configure host_pid allow
    start_detached box
    retry_until exists "$(work_of box)/stays"
    sandtrace kill "$(id_of box)"
    trace_is_complete "$(id_of box)"
    runtime delete "$(id_of box)"
    run pgrep -f "storm headless /workspace /workspace/stays"
    [ -z "$output" ]
}

# Past us: by runc on v1, where a signal alone ends nothing that is frozen; by the signal on v2, where runc
# waits for a group to stand still that has something held in it.
@test "a container that is killed past us while its threads break the rule ends" {
    start_volley
    init=$(state_of "$(id_of box)" pid)
    if is_frozen_by_v1 box; then
        plain_runc kill "$(id_of box)" KILL
    else
        kill -KILL "$init"
    fi
    retry_until has_ended "$init"
    runtime delete "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "in a flood of opens every violation is recorded, memory is bounded, and the host goes on" {
    configure default_policy refusing
    make_storm box flood 8 "${ST_FLOOD_SECONDS:-4}" "${ST_FLOOD_EVERY:-500}" /workspace/fine /etc/shadow
    start_detached box
    most=0
    answered=0
    until [ -e "$(work_of box)/said" ]; do
        [ "$(sandtrace ps | jq -r .status)" = watching ]
        answered=$((answered + 1))
        rss=$(worker_rss box)
        [ "$rss" -le "$most" ] || most=$rss
    done
    echo "# $(said_by box), worker at most $most kB, asked $answered times" >&3
    [ "$most" -lt 32768 ]
    [ "$answered" -gt 0 ]
    violations=$(said_by box | jq .violations)
    [ "$violations" -gt 0 ]
    [ "$(said_by box | jq .let)" -eq 0 ]
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    [ "$(trace_count "$(id_of box)" '.verdict.policy_rule == "secrets" and .verdict.action == "denied"')" -eq "$violations" ]
    [ "$(trace_count "$(id_of box)" '.event_type == "sensor" and .payload.state == "overflow"')" -eq 0 ]
}

# dies_at "POINT[ wait]": a container breaks the rule while its worker is to die (wait) at this point of the
# sequence.
dies_at() {
    configure monitor "$ST_BUILDDIR/tests/attack/monitor-with-faults"
    echo "$1" >"$WORLD/run/.fault"
    # Where it dies at the first use of all, there is nothing left to start.
    start_reader box 'look 1; sleep 1000' || [ "$1" = let ]
    # Not by the runtime: on v2 it waits for what is held.
    init=$(state_of "$(id_of box)" pid 2>/dev/null) || true
}

# never_let_unrecorded NAME: it has read the secret only where the trace says that it was allowed to.
never_let_unrecorded() {
    ! looked "$1" 1 yes || trace_has "$(id_of "$1")" '.payload.decision == "allow-once"'
    run -0 sandtrace verify "$(trace_of "$(id_of "$1")")"
}

@test "a worker that dies at any step of a violation lets nothing by, and the container ends with it" {
    for point in let seen asked answered frozen recorded paused; do
        dies_at "$point"
        retry_until runtime_status_is box stopped
        run -0 is_gone "$(work_of box)/looked.1"
        trace_is_complete "$(id_of box)"
        trace_has "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost"'
        never_let_unrecorded box
        runtime delete --force "$(id_of box)"
        rm -rf "$(bundle_of box)" "$WORLD"/log/*
    done
}

@test "with on_worker_failure: pause it stays frozen, and its monitor knows" {
    configure on_worker_failure pause
    for point in seen asked answered frozen recorded paused; do
        dies_at "$point"
        retry_until trace_has "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost"'
        retry_until is_frozen box
        [ "$(sandtrace ps | jq -r .status)" = unwatched ]
        ! looked box 1 yes
        sandtrace kill "$(id_of box)"
        retry_until has_ended "$init"
        runtime delete "$(id_of box)"
        trace_is_complete "$(id_of box)"
        never_let_unrecorded box
        rm -rf "$(bundle_of box)" "$WORLD"/log/*
    done
}

@test "a worker that dies in the middle of a decision leaves nothing that is not recorded" {
    for point in decided thawed; do
        dies_at "$point"
        sandtrace approve "$(held box)" || true
        retry_until has_ended "$init"
        trace_is_complete "$(id_of box)"
        trace_has "$(id_of box)" '.payload.decision == "allow-once"'
        runtime delete --force "$(id_of box)"
        rm -rf "$(bundle_of box)" "$WORLD"/log/*
    done
}

# On v1 one that is killed stays in the kernel (D) until what it held is let go or killed.
is_dead() { has_ended "$1" || [ "$(process_state "$1")" = D ]; }

nobody_watches() {
    is_dead "$(state_of "$(id_of "$1")" worker)" && is_dead "$(state_of "$(id_of "$1")" warden)"
}

@test "when worker and warden die together after the freeze was asked for it stands, and ps says so" {
    for point in asked frozen recorded paused; do
        dies_at "$point wait"
        retry_until is_halted box
        kill_together "$(state_of "$(id_of box)" warden)" "$(state_of "$(id_of box)" worker)"
        retry_until nobody_watches box
        is_halted box
        is_gone "$(work_of box)/looked.1"
        [[ $(sandtrace ps | jq -r .status) == @(lost|"no answer") ]]
        plain_runc delete --force "$(id_of box)"
        is_gone "$(work_of box)/looked.1"
        rm -rf "$(bundle_of box)" "$WORLD"/log/* "$WORLD/run/$(id_of box)" "$WORLD"/run/.notify/*
    done
}
