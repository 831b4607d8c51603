#!/usr/bin/env bats
# What a person does about a container: see what waits, approve, deny, pause,
# resume, kill, reload, watch; with real containers of runc.
# shellcheck disable=SC2154,SC2016 # words of lib/control and of bats; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control

setup_file() {
    require script=bsdutils python3=python3 setpriv=util-linux
    make_world
    write_policy held
    configure default_policy held
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    local name
    for name in "$NOTES"/daemons/*; do
        [ ! -e "$name" ] || stop_daemon "$(basename "$name")"
    done
    rm -f "$WORLD"/run/bus.d/*
    remove_all_containers
    write_policy held
    sed -i '/^control_group:/d' "$SANDTRACE_CONFIG"
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

# ended NAME: removed by its engine; the trace is whole.
ended() {
    runtime delete --force "$(id_of "$1")"
    trace_is_complete "$(id_of "$1")"
}

@test "approve lets what waits succeed as if nothing had been" {
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    is_halted box
    is_gone "$(work_of box)/looked.1"
    run -0 sandtrace approve "$pause" --reason 'a test'
    jq -e --arg p "$pause" '.ok and .pause_id == $p' <<<"$output"
    retry_until looked box 1 yes
    grep -q root:secret "$(work_of box)/got.1"
    nothing_waits
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"allow-once\" and .payload.reason == \"a test\" and
        .payload.by.uid == 0 and .payload.by.name == \"$(id -un)\" and .payload.by.how == \"control\""
    ended box
}

@test "approve --always is asked once: the second use goes by, and the change is recorded" {
    start_reader box 'look 1; look 2; look 3; sleep 1000'
    sandtrace approve "$(held box)" --always
    retry_until looked box 3 yes
    [ "$(trace_count "$(id_of box)" "$is_pause")" -eq 1 ]
    trace_has "$(id_of box)" '.event_type == "policy_change" and .payload.change == "grant" and .payload.scope == "run"'
    ended box
    [ "$(jq -s 'map(select(.payload.path == "/etc/shadow" and .verdict.result == "allow") | .payload.count // 1) | add' \
        "$(trace_of "$(id_of box)")")" -eq 2 ]
}

@test "deny refuses what waits, and the container goes on" {
    start_reader box 'look 1; sleep 1000'
    sandtrace deny "$(held box)"
    retry_until looked box 1 no
    grep -qi 'denied\|not permitted' "$(work_of box)/err.1"
    [ ! -s "$(work_of box)/got.1" ]
    run ! is_frozen box
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"deny\""
    ended box
}

@test "kill ends a container that is held" {
    start_reader box 'look 1; sleep 1000'
    held box
    sandtrace kill "$(id_of box)" --reason enough
    retry_until runtime_status_is box stopped
    is_gone "$(work_of box)/looked.1"
    retry_until is_sealed "$(id_of box)"
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"kill\" and .payload.reason == \"enough\""
    [ "$(stop_value "$(id_of box)" .payload.exit_signal)" = 9 ]
    ended box
}

@test "kill ends a container in which nothing waits, and says who did it" {
    start_ticking box
    sandtrace kill "$(id_of box)"
    retry_until is_sealed "$(id_of box)"
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"kill\" and .payload.pause_id == null and .payload.by.uid == 0"
    ended box
}

@test "a pause that nobody decides ends by itself, as the policy says" {
    for decision in deny:no resume:yes; do
        box=box-${decision%:*}
        write_policy held "pause: { hold: true, timeout: 1s, on_timeout: ${decision%:*} }"
        start_reader "$box" 'look 1; sleep 1000'
        retry_until looked "$box" 1 "${decision#*:}"
        trace_has "$(id_of "$box")" "$is_resume and .payload.decision == \"timeout\" and .payload.by.how == \"timeout\""
        ended "$box"
    done
}

@test "with on_timeout: kill nobody's decision is the end" {
    write_policy held 'pause: { hold: true, timeout: 1s, on_timeout: kill }'
    start_reader box 'look 1; sleep 1000'
    retry_until runtime_status_is box stopped
    is_gone "$(work_of box)/looked.1"
    ended box
}

@test "a person's pause stands until resume, and both are in the trace" {
    start_ticking box
    sandtrace pause "$(id_of box)" --reason lunch
    retry_until is_frozen box
    ticks=$(count_ticks box)
    sandtrace ps | jq -e --arg id "$(id_of box)" 'select(.id == $id) | .status == "paused" and .frozen and .pending == 1'
    trace_has "$(id_of box)" "$is_pause and .payload.cause == null and .payload.held == false and
        .payload.by.uid == 0 and .payload.reason == \"lunch\""
    [ "$(count_ticks box)" -eq "$ticks" ]
    run -0 sandtrace pause "$(id_of box)"
    jq -e .already <<<"$output"
    run -0 sandtrace resume "$(id_of box)"
    is_ticking box
    run -2 --separate-stderr sandtrace resume "$(id_of box)"
    [[ $stderr == *"nothing stands still by us"* ]]
    ended box
}

@test "resume does not decide what waits, unless by force" {
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    sandtrace pause "$(id_of box)"
    run -2 --separate-stderr sandtrace resume "$(id_of box)"
    [[ $stderr == *"1 operation waits for a decision"* ]]
    sandtrace approve "$pause"
    is_gone "$(work_of box)/looked.1" # somebody's pause still holds the container
    is_frozen box
    sandtrace resume "$(id_of box)"
    retry_until looked box 1 yes
    ended box
}

@test "resume --force refuses what waits and goes on" {
    start_reader box 'look 1; sleep 1000'
    held box
    sandtrace resume --force "$(id_of box)"
    retry_until looked box 1 no
    ended box
}

@test "an operator's pause is neither approved nor denied" {
    start_ticking box
    pause=$(sandtrace pause "$(id_of box)" | jq -r .pause_id)
    for verb in approve deny; do
        run -2 --separate-stderr sandtrace "$verb" "$pause"
        [[ $stderr == *"resume it, or kill it"* ]]
    done
    sandtrace resume "$(id_of box)"
    is_ticking box
    ended box
}

@test "reload swaps the policy in, and records old and new" {
    start_reader box 'until [ -e /workspace/go ]; do sleep 0.02; done; look 1; sleep 1000'
    before=$(state_of "$(id_of box)" policy_sha256)
    sed -i 's|/etc/shadow, ||' "$WORLD/policies/held.yaml"
    run -0 sandtrace reload "$(id_of box)"
    jq -e --arg old "$before" '.changed and .old.sha256 == $old and .new.sha256 != $old' <<<"$output"
    after=$(sha256sum <"$WORLD/policies/held.yaml" | cut -d' ' -f1)
    trace_has "$(id_of box)" ".event_type == \"policy_change\" and .payload.change == \"reload\" and
        .payload.old.sha256 == \"$before\" and .payload.new.sha256 == \"$after\""
    [ "$(state_of "$(id_of box)" policy_sha256)" = "$after" ]
    touch "$(work_of box)/go"
    retry_until looked box 1 yes
    run -0 sandtrace reload "$(id_of box)"
    jq -e '.changed | not' <<<"$output"
    ended box
}

@test "a policy that is wrong is not reloaded, and the old one still holds" {
    start_reader box 'until [ -e /workspace/go ]; do sleep 0.02; done; look 1; sleep 1000'
    echo 'colour: green' >>"$WORLD/policies/held.yaml"
    run -2 --separate-stderr sandtrace reload "$(id_of box)"
    [[ $stderr == *held.yaml:15:1*colour* ]]
    ask box '{"request":"reload"}' | jq -e '.error.code == "policy_invalid" and .error.diagnostics[0].line == 15'
    touch "$(work_of box)/go"
    sandtrace deny "$(held box)"
    retry_until looked box 1 no
    [ "$(trace_count "$(id_of box)" '.event_type == "policy_change"')" -eq 0 ]
    ended box
}

# decide_all NAME: whatever waits, every second one with yes; until the container says that it is done. Sets most: how
# many waited at once.
decide_all() {
    local n=0 waiting pause
    most=0
    until exists "$(work_of "$1")/done"; do
        mapfile -t waiting < <(pauses "$1")
        ((${#waiting[@]} <= most)) || most=${#waiting[@]}
        for pause in "${waiting[@]}"; do
            if ((n++ % 2)); then sandtrace approve "$pause"; else sandtrace deny "$pause"; fi
        done
        ((n <= 20)) || fail "more than twenty pauses" || return
    done
}

@test "twenty processes that break the rule at the same moment are all held, all listed, none lost" {
    # Who has not asked yet when the first one is held is frozen, and asks after it goes on.
    start_reader box 'for i in $(seq 20); do (until [ -e /workspace/go ]; do :; done; look $i) & done; wait; touch /workspace/done; sleep 1000'
    touch "$(work_of box)/go"
    retry_until is_halted box
    decide_all box
    echo "# $most waited at the same moment" >&3
    [ "$(cat "$(work_of box)"/looked.* | grep -c yes)" -eq 10 ]
    [ "$(cat "$(work_of box)"/looked.* | grep -c no)" -eq 10 ]
    for event in "$is_pause" "$is_resume" '.verdict.action == "paused"'; do
        [ "$(trace_count "$(id_of box)" "$event")" -eq 20 ]
    done
    [ "$(jq -rs "map(select($is_pause) | .payload.pause_id) | unique | length" "$(trace_of "$(id_of box)")")" -eq 20 ]
    ended box
}

@test "kill decides about everything that waits, and says so of each" {
    start_reader box 'for i in 1 2 3; do look $i & done; wait; sleep 1000'
    retry_until is_halted box
    sandtrace pause "$(id_of box)" # with it at least two
    sandtrace kill "$(id_of box)"
    retry_until is_sealed "$(id_of box)"
    n=$(trace_count "$(id_of box)" "$is_pause")
    [ "$n" -ge 2 ]
    [ "$(jq -rs "map(select($is_resume and .payload.decision == \"kill\") | .payload.pause_id) | unique | length" "$(trace_of "$(id_of box)")")" -eq "$n" ]
    ended box
}

@test "an approval that races with the removal of the container leaves nothing behind" {
    for i in $(seq 10); do
        start_reader "box$i" 'look 1; sleep 1000'
        pause=$(held "box$i")
        runtime delete --force "$(id_of "box$i")" &
        removal=$!
        sandtrace approve "$pause" >/dev/null 2>"$NOTES/race" || grep -q 'no pause\|hung up\|reached' "$NOTES/race"
        wait "$removal"
        trace_is_complete "$(id_of "box$i")"
    done
}

@test "pauses are found on the whole host by a beginning that only one has" {
    start_reader one 'look 1; sleep 1000'
    start_reader two 'look 1; sleep 1000'
    first=$(held one)
    second=$(held two)
    run -2 --separate-stderr sandtrace approve pau_
    [[ $stderr == *"beginning of 2 pauses"* && $stderr == *"$first ($(id_of one))"* && $stderr == *"$second ($(id_of two))"* ]]
    run -2 --separate-stderr sandtrace approve pau_zzz
    [ "$stderr" = "sandtrace approve: no pause that waits begins with 'pau_zzz'; sandtrace pending lists them" ]
    length=5
    while [ "${first:0:length}" = "${second:0:length}" ]; do length=$((length + 1)); done
    sandtrace approve "${second:0:length}"
    retry_until looked two 1 yes
    sandtrace deny "${first:4}" # also without its pau_
    retry_until looked one 1 no
}

@test "containers are found by a beginning that only one has" {
    start_ticking one
    start_ticking other
    run -2 --separate-stderr sandtrace pause "$(id_of o)"
    [[ $stderr == *"beginning of 2 containers: $(id_of one), $(id_of other); write more of it" ]]
    run -2 --separate-stderr sandtrace pause nobody
    [[ $stderr == "sandtrace pause: no watched container begins with 'nobody'; sandtrace ps lists them" ]]
    sandtrace pause "$(id_of on)"
    retry_until is_frozen one
    run ! is_frozen other
    run -2 --separate-stderr sandtrace kill
    [[ $stderr == *"which container?"* ]]
}

@test "on a terminal a pause is a block with who, what, which rule and line, why, and what to type" {
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    on_terminal 'sandtrace pending' >"$NOTES/block"
    for part in "SECURITY_PAUSE  $pause  critical" "$(id_of box)" 'read /etc/shadow' 'cat[' 'cat /etc/shadow' 'sh[' \
        "secrets  $WORLD/policies/held.yaml:9" 'reading /etc/shadow is refused by rule secrets' \
        'refused by itself in 1' "sandtrace approve $pause" "sandtrace approve $pause --always" \
        "sandtrace deny $pause" "sandtrace kill $(id_of box)"; do
        contains "$NOTES/block" "$part"
    done
    # What it says to type is what decides.
    eval "$(sed -n "s/\x1b\[[0-9;]*m//g; s/.*allow once *\(sandtrace approve .*\)/\1/p" "$NOTES/block")"
    retry_until looked box 1 yes
    [ "$(on_terminal 'sandtrace pending')" = "nothing waits" ]
    on_terminal 'sandtrace ps' | grep -q "CONTAINER.*STATUS.*PENDING.*AGE"
    on_terminal 'sandtrace ps' | grep -q "${WORLD_NAME:0:9}.*watching"
    ended box
}

# acts_on_terminal FILE: it holds an escape that is no colour, a control character, or a direction mark.
acts_on_terminal() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | tr -d '\r' | LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8b-\x8f\xa8-\xae]'
}

@test "what a container names itself never acts on the terminal" {
    name=$(printf '/tmp/\033]0;owned\007\033[2J\r\nSECURITY\342\200\256gnp.exe')
    write_policy held '  - id: odd
    type: filesystem
    action: deny
    severity: high
    paths: ["/tmp/*"]
    access: [read]'
    make_container box sh -c 'mkdir -p "$0.d"; cp /bin/busybox /workspace/cat; cat "$0"; sleep 1000' "$name"
    echo x >"$(bundle_of box)/rootfs$name"
    start_daemon terminal script -qfec "sandtrace watch --all" "$NOTES/screen"
    retry_until compgen -G "$WORLD/run/bus.d/watch-*.sock"
    TERM=xterm start_detached box
    held box
    retry_until contains "$NOTES/screen" 'sandtrace kill'
    on_terminal 'sandtrace pending' >>"$NOTES/screen"
    contains "$NOTES/screen" '\x1b]0;owned\x07\x1b[2J\x0d\x0aSECURITY\xe2\x80\xaegnp.exe'
    # Beside our own colours there is no escape, no bell, no direction mark.
    contains "$NOTES/screen" "$(printf '\033[')"
    run ! acts_on_terminal "$NOTES/screen"
    ended box
}

@test "watch shows on a terminal what happens and what waits, and ends on an interrupt" {
    start_daemon terminal env TERM=xterm script -qfec "sandtrace watch" "$NOTES/watch.tty"
    retry_until compgen -G "$WORLD/run/bus.d/watch-*.sock"
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    retry_until contains "$NOTES/watch.tty" "SECURITY_PAUSE  $pause"
    retry_until contains "$NOTES/watch.tty" "held.yaml:9"
    sandtrace deny "$pause" --reason because
    retry_until contains "$NOTES/watch.tty" "deny $pause by root: because"
    run ! contains "$NOTES/watch.tty" /bin/busybox:allow
    watcher=$(compgen -G "$WORLD/run/bus.d/watch-*.sock" | sed 's/.*watch-\([0-9]*\).sock/\1/')
    kill -INT "$watcher"
    retry_until has_ended "$watcher"
    run ! compgen -G "$WORLD/run/bus.d/*"
    ended box
}

@test "one who begins to watch sees what waits already" {
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    start_daemon terminal env TERM=xterm script -qfec "sandtrace watch $(id_of box)" "$NOTES/late.tty"
    retry_until contains "$NOTES/late.tty" "SECURITY_PAUSE  $pause"
    ended box
}

start_watch() {
    local name=$1
    shift
    sandtrace watch "$@" >"$NOTES/$name.jsonl" 2>"$NOTES/$name.err" 3>&- &
    echo $! >"$NOTES/daemons/$name"
    retry_until exists "$WORLD/run/bus.d/watch-$!.sock"
}

@test "in a pipe watch gives each record as it stands in the trace" {
    start_watch all
    start_watch refused --filter-verdict paused,deny
    start_watch lives --filter-type lifecycle
    start_reader box 'look 1; sleep 1000'
    sandtrace approve "$(held box)"
    retry_until looked box 1 yes
    ended box
    retry_until contains "$NOTES/all.jsonl" '"final":true'
    cmp "$NOTES/all.jsonl" "$(trace_of "$(id_of box)")"
    [ "$(jq -s 'length' "$NOTES/refused.jsonl")" -eq 1 ]
    jq -es 'map(.payload.op) == ["start", "stop"]' "$NOTES/lives.jsonl"
    for name in all refused lives; do
        kill -INT "$(daemon_pid "$name")"
        wait "$(daemon_pid "$name")"
    done
}

@test "watch of one container shows no other" {
    start_ticking one
    start_ticking two
    start_watch one "$(id_of one)"
    sandtrace pause "$(id_of two)"
    sandtrace pause "$(id_of one)"
    retry_until contains "$NOTES/one.jsonl" security_pause
    [ "$(jq -rs 'map(.agent_id) | unique | .[]' "$NOTES/one.jsonl")" = "$(id_of one)" ]
    run -2 --separate-stderr sandtrace watch --filter-type nonsense
    [[ $stderr == *nonsense* ]]
    run -2 --separate-stderr sandtrace watch nobody
    [[ $stderr == *"no watched container begins with 'nobody'"* ]]
}

@test "readers of the bus may come late, listen late, go away and come back" {
    start_ticking box
    worker=$(state_of "$(id_of box)" worker)
    start_daemon reader /usr/bin/python3 "$control_lib/talk.py" late "$WORLD/run/bus.d/x.sock" "$NOTES/x" "$NOTES/now"
    retry_until exists "$WORLD/run/bus.d/x.sock"
    touch "$NOTES/now"
    retry_until exists "$NOTES/x.$worker"
    sandtrace pause "$(id_of box)"
    retry_until contains "$NOTES/x.$worker" security_pause
    stop_daemon reader
    rm "$WORLD/run/bus.d/x.sock" "$NOTES/now"
    sandtrace resume "$(id_of box)"
    is_ticking box
    start_daemon reader /usr/bin/python3 "$control_lib/talk.py" listen "$WORLD/run/bus.d/x.sock" "$NOTES/y"
    retry_until exists "$NOTES/y.$worker"
    ended box
    retry_until contains "$NOTES/y.$worker" '"final":true'
    # What came is the trace's end, to the byte.
    cmp "$NOTES/y.$worker" <(tail -n "$(wc -l <"$NOTES/y.$worker")" "$(trace_of "$(id_of box)")")
}

@test "a reader of the bus that never reads holds up neither the container nor other readers" {
    sandtrace watch >/dev/null & # makes the folder
    retry_until exists "$WORLD/run/bus.d"
    kill -INT $!
    start_daemon mute /usr/bin/python3 "$control_lib/talk.py" mute "$WORLD/run/bus.d/mute.sock"
    start_watch all
    start_reader box 'i=0; while [ $i -lt 8000 ]; do read x </etc/passwd; i=$((i+1)); done; touch /workspace/done; sleep 1000'
    worker=$(state_of "$(id_of box)" worker)
    retry_until exists "$(work_of box)/done"
    # A bounded queue: a mebibyte a reader, not what 8,000 records would take.
    [ "$(awk '/^VmRSS/ { print $2 }' "/proc/$worker/status")" -lt 12000 ]
    sandtrace ps | jq -e --arg id "$(id_of box)" 'select(.id == $id) | .status == "watching"'
    ended box
    retry_until contains "$NOTES/all.jsonl" '"final":true'
    # One that reads is told of everything, as a record or as a number.
    jq -es '(map(select(.missed) | .missed) | add // 0) as $missed
        | (map(select(.seq)) | length) as $came | (map(select(.seq) | .seq) | max) == $came + $missed' "$NOTES/all.jsonl"
}

@test "monitors connect to nobody but root's sockets, and pass over stale ones" {
    start_ticking box
    python3 - "$WORLD/run/bus.d" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + "/stale.sock"); s.listen(1); s.close()
END
    start_daemon nobody setpriv --reuid 65534 --regid 65534 --clear-groups \
        /usr/bin/python3 "$control_lib/talk.py" listen "$WORLD/run/bus.d/nobody.sock" "$NOTES/nobody"
    retry_until has_ended "$(daemon_pid nobody)" # it may not even make its socket
    start_watch all
    sandtrace pause "$(id_of box)"
    retry_until contains "$NOTES/all.jsonl" security_pause
    exists "$WORLD/run/bus.d/stale.sock"
}

# as_nobody [SETPRIV-OPTION…] -- COMMAND…
as_nobody() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    [ ${#options[@]} -gt 0 ] || options=(--clear-groups)
    setpriv --reuid 65534 --regid 65534 "${options[@]}" "$@"
}

@test "another user is refused in words" {
    chmod 0755 "$WORLD/run"
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    [ "$(stat -c %a "$WORLD/run/$(id_of box)")" = 700 ]
    [ "$(stat -c %a "$(socket_of box)")" = 600 ]
    run -2 --separate-stderr as_nobody -- sandtrace approve "$pause"
    [[ $stderr == *"permission denied; run this as root"* ]]
    run -2 --separate-stderr as_nobody -- sandtrace kill "$(id_of box)"
    [[ $stderr == *"permission denied"* ]]
    run -2 --separate-stderr as_nobody -- sandtrace watch
    [[ $stderr == *ermission*"run this as root"* ]]
    waits box
    # Even where the door is open, the monitor itself says no.
    chmod 0711 "$WORLD/run/$(id_of box)"
    chmod 0666 "$(socket_of box)"
    run -0 as_nobody -- /usr/bin/python3 "$control_lib/talk.py" ask "$(socket_of box)" '{"request":"approve"}'
    jq -e '.ok == false and .error.code == "not_permitted"' <<<"$output"
    waits box
    ended box
}

@test "members of the control group may decide, also by a supplementary group" {
    chmod 0755 "$WORLD/run"
    configure control_group 54321
    start_reader box 'look 1; look 2; sleep 1000'
    pause=$(held box)
    [ "$(stat -c %g:%a "$(socket_of box)")" = 54321:660 ]
    [ "$(stat -c %g:%a "$WORLD/run/$(id_of box)")" = 54321:2710 ]
    [ "$(stat -c %g:%a "$WORLD/run/bus.d")" = 54321:3770 ]
    run -2 --separate-stderr as_nobody -- sandtrace approve "$pause"
    as_nobody --groups 54321 -- sandtrace ps | jq -e .pending==1
    start_daemon member setpriv --reuid 65534 --regid 65534 --groups 54321 "$WORLD/bin/sandtrace" watch
    retry_until compgen -G "$WORLD/run/bus.d/watch-*.sock"
    as_nobody --groups 54321 -- sandtrace approve "$pause"
    retry_until looked box 1 yes
    trace_has "$(id_of box)" "$is_resume and .payload.by.uid == 65534"
    retry_until contains "$NOTES/member.log" security_resume
    kill -INT "$(daemon_pid member)"
    retry_until has_ended "$(daemon_pid member)"
    run ! compgen -G "$WORLD/run/bus.d/*"
    # The worker is confined by now: what it writes still belongs to the group.
    echo '# changed' >>"$WORLD/policies/held.yaml"
    as_nobody --groups 54321 -- sandtrace reload "$(id_of box)" | jq -e .changed
    [ "$(stat -c %g:%a "$WORLD/run/$(id_of box)/state.json")" = 54321:640 ]
    ended box
    chown root:root "$WORLD/run/bus.d"
}

@test "nobody in the container decides about it, whatever it can reach" {
    start_ticking box
    # As root, of the host's own file system, but in the container's group.
    sh -c 'echo $$ >"$1"; exec /usr/bin/python3 "$2" ask "$3" "{\"request\":\"status\"}"' sh \
        "$(cgroup_procs_of box)" "$control_lib/talk.py" "$(socket_of box)" >"$NOTES/inside"
    jq -e '.error.code == "not_permitted"' "$NOTES/inside"
    ended box
}

# cgroup_procs_of NAME: where a process joins the container's group, in the hierarchy that freezes it.
cgroup_procs_of() {
    local v1=/sys/fs/cgroup/freezer/$WORLD_NAME/$1 dir
    for dir in "$v1" "/sys/fs/cgroup/$WORLD_NAME/$1" "/sys/fs/cgroup/unified/$WORLD_NAME/$1"; do
        [ ! -d "$dir" ] || { echo "$dir/cgroup.procs"; return; }
    done
    return 1
}

@test "events gives the backlog, follows, and chooses by type and verdict" {
    start_reader box 'look 1; sleep 1000'
    pause=$(held box)
    ask box '{"request":"events"}' >"$NOTES/backlog"
    jq -es '.[0].ok and .[-1].end and (.[1:-1] | map(.seq)) == [range(1; .[-1].seq + 1)]' "$NOTES/backlog"
    sed '1d;$d' "$NOTES/backlog" | cmp - "$(trace_of "$(id_of box)")"
    ask box '{"request":"events","types":["security_pause"]}' | jq -es '.[1:-1] | map(.event_type) == ["security_pause"]'
    ask box '{"request":"events","verdicts":["deny"],"since":1}' | jq -es '.[1:-1] | map(.payload.path) == ["/etc/shadow"]'
    ask box '{"request":"events","types":["nonsense"]}' | jq -e '.error.code == "bad_request"'
    start_daemon follower /usr/bin/python3 "$control_lib/talk.py" ask "$(socket_of box)" '{"follow":true,"request":"events","types":["security_resume"]}'
    retry_until contains "$NOTES/follower.log" '"ok":true'
    sandtrace deny "$pause"
    retry_until contains "$NOTES/follower.log" security_resume
    ended box
    retry_until has_ended "$(daemon_pid follower)"
    [ "$(wc -l <"$NOTES/follower.log")" -eq 2 ]
}

@test "what is no request is refused, and the monitor stays" {
    start_ticking box
    worker=$(state_of "$(id_of box)" worker)
    ask box '' '[]' 'x' '{"request":"approve"}' '{"request":"approve","pause_id":7}' '{"request":"nonsense"}' \
        '{"request":"kill","reason":7}' "{\"request\":\"pause\",\"reason\":\"$(printf 'x%.0s' $(seq 2000))\"}" >"$NOTES/answers"
    jq -rs 'map(.error.code) | join(" ")' "$NOTES/answers" >"$NOTES/codes"
    [ "$(cat "$NOTES/codes")" = "bad_request bad_request bad_request no_such_pause bad_request unknown_request bad_request bad_request" ]
    head -c 3000000 /dev/zero | tr '\0' '[' | python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
try: s.sendall(sys.stdin.buffer.read())
except OSError: pass
print(s.recv(4096).decode())' "$(socket_of box)" | jq -e '.error.code == "too_long"'
    [ "$(state_of "$(id_of box)" worker)" = "$worker" ]
    is_running "$worker"
    is_ticking box
    ended box
}

# Its only clock is the dead man's switch of the network.
@test "a monitor that waits does not wake up" {
    configure dead_man_switch false
    make_container box sleep 1000
    start_detached box
    start_watch all
    worker=$(state_of "$(id_of box)" worker)
    retry_until jq -es length "$NOTES/all.jsonl"
    is_idle() { # the counter of voluntary switches stands still from one look to a later one
        local one
        one=$(grep ^voluntary "/proc/$worker/status")
        sleep 3
        [ "$one" = "$(grep ^voluntary "/proc/$worker/status")" ]
    }
    retry_until is_idle
    configure dead_man_switch true
    ended box
}

# Every example of docs/control.md: a request, and an answer that has the same members.
@test "the examples of the protocol's page are true" {
    start_reader box 'look 1; sleep 1000'
    held box
    awk '/^```/ { inside = !inside && /json/; next } inside' "$ST_SRCDIR/docs/control.md" |
        /usr/bin/python3 "$control_lib/examples.py" "$(socket_of box)"
    ended box
}
