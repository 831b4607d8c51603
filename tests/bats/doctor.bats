#!/usr/bin/env bats
# sandtrace doctor: what it finds is so, what is missing is named with what to do, and nothing is left of it.
bats_require_minimum_version 1.5.0
load lib/world
load lib/apart

setup_file() {
    require strace=strace slirp4netns=slirp4netns
    make_world
}

teardown_file() { end_world; }

# Each test has a configuration of its own to spoil.
setup() {
    cp "$SANDTRACE_CONFIG" "$BATS_TEST_TMPDIR/sandtrace.yaml"
    export SANDTRACE_CONFIG=$BATS_TEST_TMPDIR/sandtrace.yaml
    remember_what_is_there
}

# finding CHECK WORD: what doctor has just said of it, in $output.
finding() { jq -r --arg check "$1" "select(.check == \$check) | .$2" <<<"$output"; }

# check_is CHECK STATUS
check_is() { [ "$(finding "$1" status)" = "$2" ] || fail "$1: $(jq -c --arg check "$1" 'select(.check == $check)' <<<"$output")"; }

# without CAPABILITY… -- COMMAND…: root that lacks them.
without() {
    local drop=()
    while [ "$1" != -- ]; do drop+=("-$1"); shift; done
    setpriv --bounding-set "$(IFS=,; echo "${drop[*]}")" "${@:2}"
}

no_group_of() { [ -z "$(own_groups "$1")" ]; }

own_groups() { find /sys/fs/cgroup -maxdepth 2 -type d -name "sandtrace-doctor-$1" 2>/dev/null; }

@test "on a machine that runs this suite nothing is missing that stops sandtrace" {
    run -0 sandtrace doctor
    [[ $output == *"Containers can be started under watch here."* ]]
    [[ $output != *"unknown "* ]]
    grep -qE '^  (ok|degraded) +pidfd ' <<<"$output" # before 6.15 without exit codes
    for check in fanotify seccomp-notify freezer nftables nfqueue conntrack configuration default-policy key programs monitor runtime; do
        grep -qE "^  ok +$check " <<<"$output" || fail "$check: $output"
    done
    nothing_left_behind
}

@test "one JSON object a check, each with its status, and with what to do where it is not ok" {
    run -0 --separate-stderr sandtrace doctor --json
    [ "$(jq -s length <<<"$output")" -ge 25 ]
    [ "$(jq -s 'map(.check) | unique | length' <<<"$output")" = "$(jq -s length <<<"$output")" ]
    [ "$(jq -s 'all(.[]; (.status | IN("ok", "degraded", "missing", "unknown")) and (.needed | type == "boolean") and (.detail | length > 0))' <<<"$output")" = true ]
    [ "$(jq -s 'all(.[] | select(.status != "ok"); (.mend | length > 0) and (.means | length > 0))' <<<"$output")" = true ]
}

@test "nothing of the host changes: no mount, no control group, no process" {
    mounts=$(cat /proc/self/mountinfo)
    groups=$(find /sys/fs/cgroup -maxdepth 2 -type d -name 'sandtrace*')
    run -0 sandtrace doctor --quiet
    [ "$mounts" = "$(cat /proc/self/mountinfo)" ]
    [ "$groups" = "$(find /sys/fs/cgroup -maxdepth 2 -type d -name 'sandtrace*')" ]
    nothing_left_behind
}

@test "who is not root is told so, and what only root can find out is not guessed at" {
    chmod 0644 "$SANDTRACE_CONFIG"
    chmod 0755 "$BATS_TEST_TMPDIR"
    run -1 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups env SANDTRACE_CONFIG= "$WORLD/bin/sandtrace" doctor --json
    check_is privileges missing
    check_is fanotify unknown
    check_is kernel ok
    [[ $(finding privileges mend) == *sudo* ]]
}

@test "a root without the capability to watch files or networks is no use, and is told" {
    run -1 --separate-stderr without sys_admin -- sandtrace doctor --json
    check_is fanotify missing
    check_is nftables missing
    run -1 --separate-stderr without net_admin -- sandtrace doctor --json
    check_is nftables missing
    check_is fanotify ok
    [[ $(finding nftables mend) == *modprobe* ]]
}

@test "where no network is watched, nothing of it is missing" {
    configure network false
    run -0 --separate-stderr without net_admin -- sandtrace doctor --json
    check_is nftables ok
}

@test "what tells of processes is no condition: without it they are counted, and where that is wished nothing is missing" {
    run --separate-stderr without sys_admin bpf perfmon -- sandtrace doctor --json
    check_is process-events missing
    check_is callers missing
    [ "$(finding process-events needed)" = false ]
    configure process_events polled
    run --separate-stderr without sys_admin bpf perfmon -- sandtrace doctor --json
    check_is process-events ok
}

@test "a fault in the configuration is shown with its place, and the rest is looked at all the same" {
    echo 'allow_unsinged: true' >>"$SANDTRACE_CONFIG"
    run -1 --separate-stderr sandtrace doctor --json
    check_is configuration missing
    [[ $(finding configuration detail) == *"unknown key \`allow_unsinged\`; did you mean"* ]]
    check_is key unknown
    check_is fanotify ok
}

@test "no key stops sandtrace, unless the configuration allows that; one that others may read does too" {
    configure key_dir "$BATS_TEST_TMPDIR/keys"
    run -1 --separate-stderr sandtrace doctor --json
    check_is key missing
    [ "$(finding key mend)" = 'sandtrace keygen' ]
    sandtrace keygen
    run -0 --separate-stderr sandtrace doctor --json
    check_is key ok
    chmod 0644 "$BATS_TEST_TMPDIR/keys/trace.key"
    run -1 --separate-stderr sandtrace doctor --json
    check_is key missing
    [[ $(finding key mend) == *"chmod 0600"* ]]
    configure allow_unsigned true
    run -0 --separate-stderr sandtrace doctor --json
    check_is key degraded
}

@test "a broken policy is named; the default one stops sandtrace" {
    mkdir "$BATS_TEST_TMPDIR/policies"
    configure policy_dirs "[$BATS_TEST_TMPDIR/policies, $ST_SRCDIR/policies]"
    echo 'schema_version: "9"' >"$BATS_TEST_TMPDIR/policies/mine.yaml"
    run -0 --separate-stderr sandtrace doctor --json
    check_is policies degraded
    [[ $(finding policies detail) == *mine.yaml* ]]
    configure default_policy mine
    run -1 --separate-stderr sandtrace doctor --json
    check_is default-policy missing
}

@test "a monitor that does not start, and a program that others may write, are told" {
    printf '#!/bin/sh\necho "error while loading shared libraries: libnftnl.so.11" >&2\nexit 127\n' >"$BATS_TEST_TMPDIR/monitor"
    chmod 0755 "$BATS_TEST_TMPDIR/monitor"
    configure monitor "$BATS_TEST_TMPDIR/monitor"
    run -1 --separate-stderr sandtrace doctor --json
    check_is monitor missing
    [[ $(finding monitor detail) == *libnftnl.so.11* ]]
    chmod 0777 "$BATS_TEST_TMPDIR/monitor"
    run -1 --separate-stderr sandtrace doctor --json
    check_is programs missing
    [[ $(finding programs detail) == *"may be written by others"* ]]
}

@test "what sandtrace run needs of its own is looked at: its first process, and a network by slirp4netns" {
    run -0 --separate-stderr sandtrace doctor --json
    check_is run-init ok
    check_is user-network ok
    run -0 --separate-stderr unshare --mount sh -c 'mount --bind /dev/null /usr/bin/slirp4netns && sandtrace doctor --json'
    check_is user-network missing
    [ "$(finding user-network needed)" = false ]
    [ "$(finding user-network mend)" = 'apt-get install slirp4netns' ]
    run -0 --separate-stderr unshare --mount sh -c 'mount --bind /dev/null "$WORLD/bin/sandtrace-init" && sandtrace doctor --json'
    check_is run-init missing
    [[ $(finding run-init means) == *"sandtrace run"* ]]
}

@test "a runtime that is too old is told, and one that hangs holds nobody up" {
    printf '#!/bin/sh\necho runc version 1.0.3\n' >"$BATS_TEST_TMPDIR/runc"
    chmod 0755 "$BATS_TEST_TMPDIR/runc"
    configure runtime "$BATS_TEST_TMPDIR/runc"
    run -1 --separate-stderr sandtrace doctor --json
    check_is runtime missing
    [[ $(finding runtime mend) == *"runc 1.1"* ]]
    printf '#!/bin/sh\nexec sleep 1000\n' >"$BATS_TEST_TMPDIR/runc"
    run -1 --separate-stderr sandtrace doctor --json
    check_is runtime missing
    [[ $(finding runtime detail) == *"did not come to an end"* ]]
    check_is state-directory ok
    nothing_left_behind
}

@test "a full disk under the traces is told before it holds a container" {
    mkdir "$BATS_TEST_TMPDIR/log"
    configure log_dir "$BATS_TEST_TMPDIR/log"
    run -1 --separate-stderr unshare -m sh -c "mount -t tmpfs -o size=1m,mode=0755 none '$BATS_TEST_TMPDIR/log' && sandtrace doctor --json"
    check_is trace-directory missing
    [[ $(finding trace-directory mend) == *"make room"* ]]
}

@test "engines: not registered, registered by install, registered with a program that is gone" {
    run -0 --separate-stderr in_own_etc sandtrace doctor --json
    check_is docker degraded
    [ "$(finding docker mend)" = 'sandtrace install docker' ]
    run -0 --separate-stderr in_own_etc sh -c 'for engine in docker podman containerd; do sandtrace install $engine >&2; done; sandtrace doctor --json'
    for engine in docker podman containerd; do check_is "$engine" ok; done
    run -0 --separate-stderr in_own_etc sh -c 'mkdir -p /etc/docker; echo "{\"runtimes\": {\"sandtrace\": {\"path\": \"/nowhere\"}}}" >/etc/docker/daemon.json; sandtrace doctor --json'
    check_is docker missing
    [ "$(finding docker needed)" = false ]
    run -0 --separate-stderr in_own_etc sh -c 'mkdir -p /etc/docker; echo "{" >/etc/docker/daemon.json; sandtrace doctor --json'
    check_is docker degraded
    [[ $(finding docker detail) == *"parse error"* ]]
}

@test "interrupted or killed, it leaves no control group behind" {
    local signal
    printf '#!/bin/sh\ntouch %s\nexec sleep 1000\n' "$BATS_TEST_TMPDIR/asked" >"$BATS_TEST_TMPDIR/runc"
    chmod 0755 "$BATS_TEST_TMPDIR/runc"
    configure runtime "$BATS_TEST_TMPDIR/runc"
    for signal in TERM KILL; do
        rm -f "$BATS_TEST_TMPDIR/asked"
        sandtrace doctor >"$NOTES/doctor.log" 3>&- &
        pid=$!
        retry_until exists "$BATS_TEST_TMPDIR/asked"
        [ -n "$(own_groups "$pid")" ]
        kill -"$signal" "$pid"
        wait "$pid" || code=$?
        [ "$code" -eq $((128 + $(kill -l "$signal"))) ]
        # The killed one can't wait for it.
        [ "$signal" = KILL ] || [ -z "$(own_groups "$pid")" ]
        retry_until no_group_of "$pid"
        nothing_left_behind
    done
}

# killed_at WHICH: at the WHICHth time that it starts a process; the first is who removes its groups.
killed_at() {
    strace -qq -o "$NOTES/calls" -e trace=clone,clone3,fork,vfork -e "inject=clone,clone3,fork,vfork:signal=KILL:when=$1" \
        sh -c 'echo $$ >"$1"; exec sandtrace doctor --quiet' sh "$NOTES/pid" >"$NOTES/doctor.log" 2>&1 3>&-
}

@test "killed at any moment, also before there is anybody to clean up, it leaves no control group behind" {
    local when
    for when in 1 2 3; do
        run -137 killed_at "$when"
        retry_until no_group_of "$(cat "$NOTES/pid")"
        nothing_left_behind
    done
}

@test "--quiet shows only what is not ok; help fits a screen; an argument is bad usage" {
    run -0 sandtrace doctor --quiet
    [[ $output != *"  ok "* ]]
    [[ ${lines[-1]} == "Containers can be started under watch here." ]]
    run -0 sandtrace doctor --help
    [ "${#lines[@]}" -le 24 ]
    [[ $output == *example:* ]]
    run -2 sandtrace doctor everything
    [[ $output == *"unexpected argument 'everything'; see sandtrace doctor --help"* ]]
}
