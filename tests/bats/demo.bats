#!/usr/bin/env bats
# sandtrace demo: what it claims is true, each time, and nothing of it is left.
bats_require_minimum_version 1.5.0
load lib/world
load lib/control
load lib/terminal

setup_file() {
    require tmux=tmux setpriv=util-linux
    make_world
}

teardown_file() { end_world; }

teardown() { close_terminal; }

# ---- words ----

# demo ARGUMENT…: as JSON, in the background so that its pid is known; then what it said, and that nothing is left.
demo() {
    local code=0
    sandtrace demo --json --keep "$BATS_TEST_TMPDIR/kept" "$@" </dev/null >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/errors" 3>&- &
    story=$!
    wait "$story" || code=$?
    [ "$code" -eq 0 ] || { cat "$BATS_TEST_TMPDIR/said" "$BATS_TEST_TMPDIR/errors" >&2; fail "ended with $code"; }
    nothing_of "$story"
}

# nothing_of PID: of the demonstration that PID was.
nothing_of() {
    local id
    [ -z "$(compgen -G "/tmp/sandtrace-demo-$1.*")" ] || fail "$(ls -dR /tmp/sandtrace-demo-"$1".*)"
    for id in $(jq -r .agent_id "$BATS_TEST_TMPDIR"/kept/*.jsonl 2>/dev/null | sort -u); do
        [ -z "$(find /sys/fs/cgroup -name "*$id*")" ]
    done
    no_process_of_world || fail "$(processes_of_world)"
    [ -z "$(find "$WORLD/run" "$WORLD/log" -mindepth 1)" ]
}

# said EXPRESSION: holds for all that it said, as one list.
said() { jq -es "$1" "$BATS_TEST_TMPDIR/said" >/dev/null || { jq . "$BATS_TEST_TMPDIR/said" >&2; fail "not so: $1"; }; }

# All steps were shown, and the trace that was kept verifies with its key.
it_holds() {
    said 'all(.[]; .scenario == "'"$1"'") and (.[-1] | .ok and .steps == .steps_shown and .duration_ms > 0)'
    said '[.[] | select(.verify) | .verify.valid][0] == true'
    run -0 sandtrace verify --key "$BATS_TEST_TMPDIR/kept/$1.pub" "$BATS_TEST_TMPDIR/kept/$1.jsonl"
    [[ $output == *": valid: "*"signed: all up to"* ]]
}

# ---- the scenarios ----

@test "escape: secrets are held, the paste site is refused, the forks are frozen" {
    demo escape
    it_holds escape
    said '[.[] | .record.verdict.action // empty] == ["none", "paused", "paused", "denied", "denied", "paused"]'
    said 'map(.record.payload | if .op == "fork_limit" then .op else .path // .name // .dst_ip // empty end) == ["/workspace/result", "/etc/shadow", "/root/.ssh/id_ed25519", "paste.example", "203.0.113.66", "fork_limit"]'
    jq -es 'any(.[]; .event_type == "security_resume" and .payload.decision == "kill")' "$BATS_TEST_TMPDIR/kept/escape.jsonl"
}

@test "stripe-exfil: a charge arrives, of the customers not more than the rule allows" {
    demo stripe-exfil
    it_holds stripe-exfil
    said '.[1].record.verdict | .result == "anomaly" and .policy_rule == "tool:stripe_charge"'
    said '.[0].said == "HTTP/1.1 200 OK\n" and (.[] | select(.arrived) | .arrived >= 33 and .arrived <= 4096 and .sent == 65536)'
}

@test "persist: neither hook nor key nor log-in script nor start-up file is written" {
    demo persist
    it_holds persist
    said '[.[] | .record.payload.path // empty] == ["/workspace/.git/hooks/post-commit", "/root/.ssh/authorized_keys", "/etc/profile.d/agent.sh", "/root/.bashrc"]'
    said 'all(.[] | select(.decided); .decided.payload.decision == "deny")'
}

@test "fork-bomb: frozen, and killed" {
    demo fork-bomb
    it_holds fork-bomb
    said '.[0].record | .event_type == "process" and .payload.op == "fork_limit" and .verdict.action == "paused"'
}

@test "tamper: each forgery is found, with its line" {
    demo tamper
    it_holds tamper
    said '[.[] | select(.verify) | .verify.issues | map(.code) | .[0]] == [null, "hash_mismatch", "hash_mismatch", "truncated"]'
    said '[.[] | .record.seq // empty][0] as $seq | [.[] | select(.verify)][1].verify.issues[0] | .seq == $seq and .line == $seq'
}

@test "approve: what a person allows goes on, once" {
    demo approve
    it_holds approve
    said '[.[].decided.payload.decision // empty] == ["allow-once", "deny"]'
    said '.[0].said == "machine deploy.example login ci\n" and (.[1].said | contains("deploy.example") | not)'
}

# ---- how it is asked for ----

@test "without a scenario it is escape, with words, and no colour where there is no terminal" {
    run -0 --separate-stderr sandtrace demo
    [[ ${lines[0]} == "escape: "* && ${lines[-1]} == "escape: 7 of 7 shown in "*"nothing of it is left"* ]]
    [[ $output == *"SECURITY_PAUSE"*"sandtrace approve pau_"*"cat: /etc/shadow: Operation not permitted"*"trace.jsonl: valid: "* ]]
    [[ $output != *$'\033'* && -z $stderr ]]
}

@test "on a terminal it has colours, unless NO_COLOR is set" {
    script -qec 'sandtrace demo approve' /dev/null </dev/null >"$BATS_TEST_TMPDIR/seen"
    grep -q $'\033\[' "$BATS_TEST_TMPDIR/seen"
    NO_COLOR=1 script -qec 'sandtrace demo approve' /dev/null </dev/null >"$BATS_TEST_TMPDIR/plain"
    run -1 grep -q $'\033\[' "$BATS_TEST_TMPDIR/plain"
    grep -q 'approve: 3 of 3 shown' "$BATS_TEST_TMPDIR/plain"
}

@test "--list names them all, and all shows each of them" {
    run -0 sandtrace demo --list
    [ "$(awk '{ printf "%s ", $1 }' <<<"$output")" = "escape stripe-exfil persist fork-bomb tamper approve " ]
    run -0 bash -c 'sandtrace demo --list --json | jq -r .scenario'
    [ "${#lines[@]}" -eq 6 ]
    demo all
    said '[.[] | select(has("ok")) | [.scenario, .ok]] == [["escape", true], ["stripe-exfil", true], ["persist", true], ["fork-bomb", true], ["tamper", true], ["approve", true]]'
}

@test "wrong use is told, with what would be right" {
    run -2 sandtrace demo ecsape
    [[ $output == "sandtrace demo: there is no scenario 'ecsape', did you mean 'escape'?; sandtrace demo --list names them" ]]
    run -2 sandtrace demo escape tamper
    [[ $output == *"one scenario, or all; 'tamper' is one more"* ]]
    run -2 setpriv --reuid 65534 --regid 65534 --clear-groups sandtrace demo
    [[ $output == "sandtrace demo: it starts containers, which only root can; sudo sandtrace demo escape" ]]
}

@test "what is kept is not written over" {
    demo approve
    run -2 --separate-stderr sandtrace demo approve --keep "$BATS_TEST_TMPDIR/kept"
    [[ $stderr == *"approve.jsonl: it is there already"* ]]
}

@test "a machine where no container can be made is told why, and nothing is left" {
    sed "s|^monitor: .*|monitor: $WORLD/bin/none-such|" "$SANDTRACE_CONFIG" >"$WORLD/broken.yaml"
    run -2 --separate-stderr sandtrace demo approve --config "$WORLD/broken.yaml"
    rm "$WORLD/broken.yaml"
    [[ $stderr == "sandtrace demo: approve: the container could not be made: "*none-such* ]]
    no_process_of_world
}

@test "of what a demonstration ends nothing is put into quarantine, by whom its place could be made anew behind it" {
    mv "$WORLD/bin/sandtrace-snapshot" "$WORLD/bin/real-snapshot"
    printf '#!/bin/sh\ntouch "%s/snapshot-was-asked"\nexec "%s/bin/real-snapshot" "$@"\n' "$NOTES" "$WORLD" >"$WORLD/bin/sandtrace-snapshot"
    chmod 0755 "$WORLD/bin/sandtrace-snapshot"
    demo escape
    mv "$WORLD/bin/real-snapshot" "$WORLD/bin/sandtrace-snapshot"
    [ ! -e "$NOTES/snapshot-was-asked" ]
}

# ---- when it is killed ----

# The place, while the demonstration is at work in it.
has_begun() { compgen -G "/tmp/sandtrace-demo-$story.*/run/run-*" >/dev/null; }

is_gone() { (nothing_of "$story") 2>/dev/null; }

@test "who kills it, by whatever signal, finds nothing left" {
    local signal
    for signal in INT TERM KILL; do
        # Ctrl-C does not reach what a shell starts in the background, unless that asks for it.
        env --default-signal=INT sandtrace demo all </dev/null >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
        story=$!
        retry_until has_begun
        kill -"$signal" "$story"
        wait "$story" || true
        retry_until is_gone
    done
}
