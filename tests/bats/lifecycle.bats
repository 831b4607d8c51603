#!/usr/bin/env bats
# The monitor's life beside a container of runc: it ends when the container
# ends, however that happens, and the container never runs on unwatched.
bats_require_minimum_version 1.5.0
load lib/world
load lib/container

setup_file() { make_world; }

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    configure on_worker_failure kill
    configure worker_grace 5s
    configure default_policy audit-only
    release_worker
    [ ! -d "$NOTES/hold" ] || finish_hold 1
    remove_all_containers
    remove_hang_group
    remove_starving_group
}

kernel_is_at_least() { [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]; }

monitor_has_ended() { has_ended "$1" && has_ended "$2"; }

# sealed_and_gone NAME WARDEN WORKER: the monitor went and sealed the trace.
sealed_and_gone() {
    retry_until monitor_has_ended "$2" "$3"
    trace_is_complete "$(id_of "$1")"
    is_gone "$WORLD/run/$(id_of "$1")"
}

# The monitor of this world that waits for its hook.
standby_pid() {
    local pid
    for pid in $(pgrep -f "^sandtrace-monitor 3 4 5"); do
        [ "$(readlink "/proc/$pid/exe")" != "$WORLD/bin/sandtrace-monitor" ] || echo "$pid"
    done
}
standby_waits() { [ -n "$(find "$WORLD/run/.standby" -type s)" ] && [ -n "$(standby_pid)" ]; }

# watched_pids NAME: sets warden and worker.
watched_pids() {
    is_watched "$(id_of "$1")"
    warden=$(state_of "$(id_of "$1")" warden)
    worker=$(state_of "$(id_of "$1")" worker)
    is_running "$warden"
}

@test "what has ended can be run again at once, under the same ID and with all that enforces" {
    configure default_policy agent-default
    make_container box true
    for _ in $(seq 10); do runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null; done
}

@test "a bundle that names its policy names the same one when it is run again" {
    configure default_policy strict
    make_container named true
    edit_config "$(bundle_of named)" '.annotations."io.sandtrace.policy" = "agent-default"'
    # What was freed is overwritten, so that nobody goes on reading it unnoticed.
    for _ in 1 2; do MALLOC_PERTURB_=165 runtime run --bundle "$(bundle_of named)" "$(id_of named)" </dev/null; done
    [ "$(jq -rs 'map(select(.event_type == "lifecycle" and .payload.op == "start").payload.policy.name) | join(" ")' \
        "$(trace_of "$(id_of named)")")" = "agent-default agent-default" ]
}

@test "a container that exits by itself passes its code and leaves a sealed trace" {
    make_container box sh -c 'exit 7'
    run -7 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_is_complete "$(id_of box)"
    code=$(stop_value "$(id_of box)" .payload.exit_code)
    # Before 6.15 only who is quicker than the runtime, its parent, sees the code: it is not known, never wrong.
    [ "$code" = 7 ] || { [ "$code" = null ] && ! kernel_is_at_least 6.15; }
    nothing_left_behind
}

@test "create, start, kill and delete one after the other leave a sealed trace" {
    make_container box sleep 1000
    runtime create --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >/dev/null 2>&1
    watched_pids box
    runtime start "$(id_of box)"
    runtime kill "$(id_of box)" KILL
    retry_until runtime_status_is box stopped
    runtime delete "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    nothing_left_behind
}

@test "kill -9 of the container's first process ends the monitor" {
    start_ticking box
    watched_pids box
    kill -KILL "$(init_pid_of box)"
    sealed_and_gone box "$warden" "$worker"
    runtime delete "$(id_of box)"
    nothing_left_behind
}

@test "delete --force of a running container ends the monitor" {
    start_ticking box
    watched_pids box
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    nothing_left_behind
}

@test "an engine that is killed takes neither the container nor its monitor with it" {
    make_ticking box
    start_daemon engine "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of box)" "$(id_of box)"
    retry_until exists "$(ticks_of box)"
    watched_pids box
    kill -KILL "$(daemon_pid engine)"
    retry_until has_ended "$(daemon_pid engine)"
    is_ticking box
    is_watched "$(id_of box)"
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    nothing_left_behind
}

@test "a bundle that is deleted under the container does not hold the monitor" {
    start_ticking box
    watched_pids box
    pid=$(init_pid_of box)
    retry_until rm -rf "$(bundle_of box)" # which it fills meanwhile
    is_watched "$(id_of box)"
    kill -KILL "$pid"
    sealed_and_gone box "$warden" "$worker"
    runtime delete "$(id_of box)"
    nothing_left_behind
}

# Each exec brings a filter of its own, which ends while others come.
@test "a worker lives through many who come and go by exec at the same time" {
    configure default_policy agent-default
    start_ticking box
    watched_pids box
    for _ in 1 2 3 4; do
        (for _ in $(seq 25); do runtime exec "$(id_of box)" true || true; done) 3>&- &
    done
    wait
    [ "$(state_of "$(id_of box)" worker)" = "$worker" ]
    is_running "$worker"
    is_ticking box
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    [ "$(trace_count "$(id_of box)" '.event_type == "sensor" and .payload.state == "lost"')" -eq 0 ]
}

@test "a monitor whose poststop hook is never called ends all the same" {
    make_ticking box
    edit_config "$(bundle_of box)" --arg hook "$WORLD/bin/sandtrace-hook" --arg config "$SANDTRACE_CONFIG" \
        '.hooks.createRuntime = [{path: $hook, args: ["sandtrace-hook", "create", "--config", $config]}]'
    start_detached box plain_runc
    watched_pids box
    kill -KILL "$(init_pid_of box)"
    sealed_and_gone box "$warden" "$worker"
    plain_runc delete "$(id_of box)"
    nothing_left_behind
}

@test "a monitor that was started ahead ends with a runtime that makes no container" {
    make_container never true
    edit_config "$(bundle_of never)" '.mounts += [{destination: "/x", type: "bind", source: "/no/such/place", options: ["bind"]}]'
    run -1 runtime run --bundle "$(bundle_of never)" "$(id_of never)"
    [ ! -e "$(trace_of "$(id_of never)")" ]
    nothing_left_behind
}

@test "a hook that finds no monitor that waits starts one" {
    mkdir -p "$WORLD/run/.standby" && chmod 700 "$WORLD/run/.standby"
    mv "$WORLD/run/.standby" "$NOTES/standby"
    echo "no directory" >"$WORLD/run/.standby"
    make_container box sh -c 'exit 3'
    run -3 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    rm "$WORLD/run/.standby"
    mv "$NOTES/standby" "$WORLD/run/.standby"
    trace_is_complete "$(id_of box)"
    nothing_left_behind
}

# hold_before_hook NAME: starts the container; its monitor waits, and the runtime stands in front of our hook.
hold_before_hook() {
    rm -rf "$NOTES/hold"
    mkdir "$NOTES/hold"
    printf '#!/bin/sh\ncd "%s"\nuntil [ -e go ]; do sleep 0.02; done\nexit "$(cat go)"\n' "$NOTES/hold" >"$NOTES/hold/hook"
    chmod 755 "$NOTES/hold/hook"
    edit_config "$(bundle_of "$1")" --arg hook "$NOTES/hold/hook" '.hooks.createRuntime = [{path: $hook}]'
    start_daemon "runtime-$BATS_TEST_NUMBER" "$RUNTIME" --root "$WORLD/root" run --bundle "$(bundle_of "$1")" "$(id_of "$1")"
    retry_until standby_waits
}

let_hook_come() { finish_hold 0; }

# finish_hold CODE: how what stands in front of our hook ends.
finish_hold() {
    echo "$1" >"$NOTES/hold/code"
    mv "$NOTES/hold/code" "$NOTES/hold/go"
}

hook_is_held() { pgrep -P "$(daemon_pid "runtime-$BATS_TEST_NUMBER")" -f "$NOTES/hold/hook"; }

@test "a monitor that was killed while it waited is replaced by the hook" {
    make_container box sh -c 'exit 3'
    hold_before_hook box
    kill -KILL "$(standby_pid | head -n 1)"
    let_hook_come
    retry_until has_ended "$(daemon_pid "runtime-$BATS_TEST_NUMBER")"
    retry_until is_sealed "$(id_of box)"
    trace_is_complete "$(id_of box)"
    rm -rf "$NOTES/hold" "$WORLD/run/.standby/"*
    nothing_left_behind
}

two_wait() { [ "$(standby_pid | wc -l)" -eq 2 ]; }

@test "a container whose worker was killed while it waited does not start" {
    make_container unborn touch /was-here
    hold_before_hook unborn
    retry_until two_wait
    kill -KILL "$(standby_pid | tail -n 1)"
    let_hook_come
    retry_until has_ended "$(daemon_pid "runtime-$BATS_TEST_NUMBER")"
    contains "$NOTES/runtime-$BATS_TEST_NUMBER.log" "the worker ended before it was ready"
    [ ! -e "$(bundle_of unborn)/rootfs/was-here" ]
    [ ! -e "$(trace_of "$(id_of unborn)")" ]
    rm -rf "$NOTES/hold"
    nothing_left_behind
}

# init_has_rules: some child of the runtime is in a network in which our rules are.
init_has_rules() {
    local pid
    for pid in $(pgrep -P "$(daemon_pid "runtime-$BATS_TEST_NUMBER")"); do
        ! nsenter --net="/proc/$pid/ns/net" nft list tables | grep -q "inet sandtrace$" || return 0
    done
    return 1
}

# hold_with_rules NAME: one who comes late on a busy machine, when the runtime's children are born already, leaves the rules
# to the hook: then once more.
hold_with_rules() {
    hold_before_hook "$1"
    for _ in 1 2 3 4; do
        ! RETRY_SECONDS=10 retry_until init_has_rules || return 0
        finish_hold 1
        retry_until has_ended "$(daemon_pid "runtime-$BATS_TEST_NUMBER")"
        hold_before_hook "$1"
    done
    retry_until init_has_rules
}

@test "the rules of a container's own network are there before the hook is called, and go when it does not start" {
    require nft=nftables
    make_container box sh -c 'exit 3'
    hold_with_rules box
    hook_is_held
    [ ! -e "$WORLD/run/.net" ]
    finish_hold 1
    retry_until has_ended "$(daemon_pid "runtime-$BATS_TEST_NUMBER")"
    rm -rf "$NOTES/hold"
    nothing_left_behind
}

@test "a monitor that waits is told by the hook where the small one is not installed" {
    mv "$WORLD/bin/sandtrace-knock" "$NOTES/knock"
    make_container box sh -c 'exit 3'
    run -3 runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    mv "$NOTES/knock" "$WORLD/bin/sandtrace-knock"
    jq -e --arg hook "$WORLD/bin/sandtrace-hook" '.hooks.createRuntime[0].path == $hook' "$(bundle_of box)/config.json"
    trace_is_complete "$(id_of box)"
    run -3 runtime run --bundle "$(bundle_of box)" "$(id_of box)-2"
    jq -e --arg knock "$WORLD/bin/sandtrace-knock" '.hooks.createRuntime | map(.path) == [$knock]' "$(bundle_of box)/config.json"
    trace_is_complete "$(id_of box)-2"
    nothing_left_behind
}

@test "a small hook that finds nobody, and no hook beside it, refuses" {
    mkdir "$NOTES/alone"
    cp "$WORLD/bin/sandtrace-knock" "$NOTES/alone/"
    run -1 "$NOTES/alone/sandtrace-knock" create --standby "$NOTES/alone" --timeout 1000 <<<'{"id":"a","pid":4711}'
    [[ $output == *"sandtrace-hook, which belongs beside sandtrace-knock, can not be run"* ]]
    rm -r "$NOTES/alone"
}

@test "a small hook leaves a state that is long or unusual to the other, whole" {
    cat >"$NOTES/sandtrace-hook" <<'END'
#!/bin/sh
cat
echo "$@"
END
    chmod 755 "$NOTES/sandtrace-hook"
    cp "$WORLD/bin/sandtrace-knock" "$NOTES/"
    local long
    long=$(head -c 200000 /dev/zero | tr '\0' x)
    for state in "{\"pid\":5,\"a\":\"$long\"}" '{"p\u0069d":5}' ''; do
        run -0 "$NOTES/sandtrace-knock" create --standby "$NOTES" --timeout 1000 < <(printf '%s\n' "$state")
        [ "$output" = "$state"$'\n'"create --standby $NOTES --timeout 1000" ]
    done
    rm "$NOTES/sandtrace-hook" "$NOTES/sandtrace-knock"
}

@test "a second container of the same ID is refused while the first one runs" {
    start_ticking box
    watched_pids box
    cp -a "$(bundle_of box)" "$(bundle_of other)"
    run runtime run --detach --bundle "$(bundle_of other)" "$(id_of box)"
    [ "$status" -ne 0 ]
    is_watched "$(id_of box)"
    is_ticking box
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    nothing_left_behind
}

# frozen_after SIGNAL: frozen (how soon is printed), and no tick after that.
frozen_after() {
    local ms ticks
    kill -"$1" "$worker"
    ms=$(milliseconds_until is_frozen box)
    echo "# frozen after $ms ms" >&3
    ticks=$(count_ticks box)
    retry_until trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "worker" and .payload.state == "lost"'
    trace_has "$(id_of box)" '.payload.name == "worker" and .payload.frozen == true'
    is_frozen box
    [ "$(count_ticks box)" -eq "$ticks" ]
}

@test "with on_worker_failure: pause a worker that is killed leaves the container frozen" {
    configure on_worker_failure pause
    start_ticking box
    watched_pids box
    frozen_after KILL
    [ "$(state_of "$(id_of box)" status)" = unwatched ]
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    nothing_left_behind
}

@test "with on_worker_failure: pause a worker that is stopped leaves the container frozen" {
    configure on_worker_failure pause
    start_ticking box
    watched_pids box
    frozen_after STOP
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    nothing_left_behind
}

# ended_after SIGNAL: by default a container that lost its worker is frozen, recorded and killed.
ended_after() {
    local init
    init=$(init_pid_of box)
    kill -"$1" "$worker"
    retry_until has_ended "$init"
    sealed_and_gone box "$warden" "$worker"
    trace_has "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost" and .payload.frozen == true'
    [ "$(trace_value "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost"' .payload.freeze_us)" -lt 1000000 ]
    runtime delete "$(id_of box)"
    nothing_left_behind
}

@test "by default a container whose worker is killed is frozen, recorded and killed" {
    start_ticking box
    watched_pids box
    ended_after KILL
}

@test "by default a container whose worker is stopped is frozen, recorded and killed" {
    start_ticking box
    watched_pids box
    ended_after STOP
}

@test "a container whose warden is killed is frozen by the worker, recorded and killed" {
    start_ticking box
    watched_pids box
    init=$(init_pid_of box)
    kill -KILL "$warden"
    retry_until has_ended "$init"
    sealed_and_gone box "$warden" "$worker"
    trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "warden" and .payload.state == "lost"'
    runtime delete "$(id_of box)"
    nothing_left_behind
}

# hang_worker, release_worker: in a frozen group of our own it neither runs nor tells anybody.
hang_group() { echo "$(findmnt -n -o TARGET -t cgroup2 | head -n 1)/$WORLD_NAME-hang"; }

hang_worker() {
    mkdir -p "$(hang_group)"
    echo "$worker" >"$(hang_group)/cgroup.procs"
    echo 1 >"$(hang_group)/cgroup.freeze"
}

release_worker() {
    [ ! -d "$(hang_group)" ] || echo 0 >"$(hang_group)/cgroup.freeze"
}

remove_hang_group() { [ ! -d "$(hang_group)" ] || rmdir "$(hang_group)"; }

# give_work NAME [TIMES]: a request that waits for the worker, one after the other.
give_work() {
    start_daemon "asker-$BATS_TEST_NUMBER" python3 -c '
import socket, sys
for i in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b"{\"request\":\"status\"}\n")
    s.recv(4096)
    s.close()' "$WORLD/run/$(id_of "$1")/control.sock" "${2:-1}"
}

@test "a worker that hangs while work waits has the container frozen until it comes back" {
    configure worker_grace 10m
    start_ticking box
    watched_pids box
    hang_worker
    give_work box
    retry_until is_halted box
    release_worker
    retry_until trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "worker" and .payload.state == "stalled"'
    is_ticking box
    runtime delete --force "$(id_of box)"
    sealed_and_gone box "$warden" "$worker"
    remove_hang_group
    nothing_left_behind
}

@test "a worker that hangs for longer than its grace is ended, recorded, and the container with it" {
    configure worker_grace 200ms
    start_ticking box
    watched_pids box
    init=$(init_pid_of box)
    hang_worker
    give_work box
    retry_until has_ended "$init"
    sealed_and_gone box "$warden" "$worker"
    trace_has "$(id_of box)" '.payload.name == "worker" and .payload.state == "lost" and (.payload.detail | startswith("stood still"))'
    runtime delete "$(id_of box)"
    remove_hang_group
    nothing_left_behind
}

# A group of our own that is given a thousandth of one processor, and in it one that takes all of that: a worker that is
# there is ready to run, and hardly ever does. The host has its processors for itself.
processor_groups() {
    local v2
    v2=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
    if grep -qw cpu "$v2/cgroup.controllers"; then echo "$v2"; else echo "$WORLD/processor-groups"; fi
}

starving_group() { echo "$(processor_groups)/$WORLD_NAME-starving"; }

# Where the old hierarchy has the controller, it is seen in a place of our own: the host may show it nowhere.
make_starving_group() {
    local groups
    groups=$(processor_groups)
    if [ "$groups" = "$WORLD/processor-groups" ]; then
        mkdir "$groups"
        mount -t cgroup -o cpu none "$groups"
    else
        echo +cpu >"$groups/cgroup.subtree_control"
    fi
    mkdir "$(starving_group)"
    give_processor 1000
    start_daemon hog nice -n -20 taskset -c "$(one_processor)" sh -c 'echo $$ >"$1/cgroup.procs"; while :; do :; done' sh "$(starving_group)"
}

one_processor() { taskset -c -p $$ | grep -o '[0-9]*$'; }

# give_processor MICROSECONDS of each second; none: as much as there is.
give_processor() {
    if [ -e "$(starving_group)/cpu.max" ]; then
        echo "${1:-max} 1000000" >"$(starving_group)/cpu.max"
    else
        echo 1000000 >"$(starving_group)/cpu.cfs_period_us"
        echo "${1:--1}" >"$(starving_group)/cpu.cfs_quota_us"
    fi
}

end_starving() {
    [ ! -d "$(starving_group)" ] || give_processor
    [ ! -e "$NOTES/daemons/hog" ] || stop_daemon hog
}

remove_starving_group() {
    end_starving
    [ ! -d "$(starving_group)" ] || rmdir "$(starving_group)"
    ! mountpoint -q "$WORLD/processor-groups" || umount "$WORLD/processor-groups"
}

# In its first seconds it leaves the groups that it was born in, this one too.
starved() {
    echo "$worker" >"$(starving_group)/cgroup.procs"
    is_halted "$1"
}

# An overloaded host: another worker would wait as long as this one. The warden looks at it ten times a second, here for twice the grace that it has.
@test "a worker that is given no processor has the container frozen, and is not taken for hung" {
    configure worker_grace 3s
    start_ticking hungry
    watched_pids hungry
    make_starving_group
    taskset -c -p "$(one_processor)" "$worker" >/dev/null
    chrt -i -p 0 "$worker"
    give_work hungry 1000000
    retry_until starved hungry
    retry_until woken_more_than "$warden" $(($(woken "$warden") + 60))
    is_halted hungry
    end_starving
    retry_until trace_has "$(id_of hungry)" '.event_type == "sensor" and .payload.name == "worker" and .payload.state == "stalled"'
    is_ticking hungry
    trace_has_no "$(id_of hungry)" '.payload.name == "worker" and .payload.state == "lost"'
    runtime delete --force "$(id_of hungry)"
    sealed_and_gone hungry "$warden" "$worker"
    remove_starving_group
    nothing_left_behind
}

# memory_of WORD…: KB of it that warden and worker have together.
memory_of() {
    local words
    words=$(IFS='|' && echo "$*")
    awk -v words="^($words):" '$1 ~ words { sum += $2 } END { print sum + 0 }' \
        "/proc/$warden/smaps_rollup" "/proc/$worker/smaps_rollup"
}

is_small() { [ "$(memory_of Pss)" -le 2048 ] && [ "$(memory_of Private_Clean Private_Dirty)" -le 512 ]; }

woken() { status_of "$1" voluntary_ctxt_switches; }

woken_more_than() { [ "$(woken "$1")" -gt "$2" ]; }

# As it is shipped: an own network, and the dead man's switch that is renewed each second.
@test "an idle monitor is small, and wakes up for nothing but the dead man's switch" {
    configure default_policy agent-default
    sync "$WORLD"/bin/sandtrace-monitor # pages that are not written yet count as its own
    make_container box sleep 1000
    start_detached box
    watched_pids box
    retry_until is_small || { memory_of Pss; memory_of Private_Clean Private_Dirty; false; }
    by_warden=$(woken "$warden") by_worker=$(woken "$worker") began=$SECONDS
    retry_until woken_more_than "$worker" $((by_worker + 4))
    [ $((SECONDS - began)) -ge 3 ]
    [ "$(woken "$warden")" = "$by_warden" ]
    is_small
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
}

@test "a bundle that was run before, and changed since, keeps to the policy that its annotation names" {
    make_container box true
    edit_config "$(bundle_of box)" '.annotations["io.sandtrace.policy"] = "agent-default"'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    edit_config "$(bundle_of box)" '.hostname = "another"'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    trace_is_complete "$(id_of box)"
    nothing_left_behind
}
