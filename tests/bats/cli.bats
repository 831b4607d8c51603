#!/usr/bin/env bats
# sandtrace: what every verb must do alike: its help, wrong use, exit codes, colours, JSON. What each does for itself is in
# a file of its own.
bats_require_minimum_version 1.5.0
load lib/world
load lib/terminal

setup_file() {
    require script=util-linux tmux=tmux
    make_world
    export LC_ALL=C.UTF-8
    # A trace to look at, and one that was changed.
    mkdir "$NOTES/work"
    (cd "$NOTES/work" && sandtrace run --trace "$NOTES/trace.jsonl" true </dev/null) >"$NOTES/run.log" 2>&1 || { cat "$NOTES/run.log" >&2; return 1; }
    sed '3s/"seq":3/"seq":4/' "$NOTES/trace.jsonl" >"$NOTES/forged.jsonl"
}

teardown_file() { end_world; }

teardown() { close_terminal; }

# ---- words ----

verbs() { sandtrace --help | awk '/^  [a-z]/ { print $1 } /^also:/ { sub(/;.*/, ""); for (i = 2; i <= NF; i++) print $i }'; }

# fits_a_screen: what was said, on one of 80 columns and 24 rows, of which the prompt behind it has one.
fits_a_screen() {
    local line
    [ "$(wc -l <<<"$output")" -le 23 ] || fail "$output"
    for line in "${lines[@]}"; do
        [ "${#line}" -le 80 ] || fail "${#line} columns: $line"
    done
}

# ---- help ----

@test "the help names every verb, and fits a screen" {
    run -0 sandtrace --help
    fits_a_screen
    [ "$(verbs | wc -l)" -eq 23 ]
    [[ $output == *"for example: sudo sandtrace "* ]]
    run -0 sandtrace help
    [ "$output" = "$(sandtrace --help)" ]
    run -2 --separate-stderr sandtrace
    [ -z "$output" ]
    [ "$stderr" = "$(sandtrace --help)" ]
}

@test "each verb's help fits a screen, and has an example of that verb" {
    local verb
    for verb in $(verbs); do
        run -0 --separate-stderr sandtrace "$verb" --help
        fits_a_screen
        [ -z "$stderr" ]
        [[ $output == "usage: sandtrace $verb [options]"*"--json"*"example:"*"sandtrace $verb"* ]] || fail "$output"
        [[ $output != *" "$'\n'* ]] || fail "$verb: spaces at the end of a line"
        [ "$(grep -E '^  (-[a-z],|   ) --[^ ]+( [^ ]+)?  ' <<<"$output" | sed -E 's/^(.*[^ ]  +)[^ ].*/\1/; s/^(  (-[a-z],|   ) --[^ ]+( [^ ]+)?  +).*/\1/' | awk '{ print length($0) }' | sort -u | wc -l)" -eq 1 ] ||
            fail "$verb: what options do is not in one column: $output"
        [ "$output" = "$(sandtrace help "$verb")" ]
        [ "$output" = "$(sandtrace "$verb" -h)" ]
    done
}

@test "each verb has a manual page with all its options, and the main one names it" {
    local verb option part page
    for verb in $(verbs); do
        page=$ST_SRCDIR/docs/man/sandtrace-$verb.1.scd
        [ -e "$page" ] || fail "no $page"
        grep -q -- "sandtrace-$verb\*(1)" "$ST_SRCDIR/docs/man/sandtrace.1.scd" || fail "sandtrace(1) does not name sandtrace-$verb(1)"
        for option in $(sandtrace "$verb" --help | grep -oE -- '--[a-z][a-z0-9-]+' | sort -u); do
            [[ " --config --help --json " == *" $option "* ]] || grep -q -- "$option" "$page" || fail "sandtrace-$verb(1) has no $option"
        done
        for part in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' 'SEE ALSO'; do
            grep -qx "# $part" "$page" || fail "sandtrace-$verb(1) has no $part"
        done
    done
}

@test "the version is one line, and JSON on request" {
    run -0 sandtrace --version
    [[ $output =~ ^sandtrace\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    [ "$output" = "$(sandtrace version)" ]
    [ "sandtrace $(sandtrace version --json | jq -r .version)" = "$output" ]
}

# ---- wrong use ----

@test "an unknown verb is answered with the nearest one" {
    run -2 --separate-stderr sandtrace aprove
    [ -z "$output" ]
    [ "$stderr" = "sandtrace: no such verb 'aprove', did you mean 'approve'? sandtrace --help lists them all" ]
    run -2 sandtrace xyzzy
    [ "$output" = "sandtrace: no such verb 'xyzzy'; sandtrace --help lists them" ]
    run -2 sandtrace help aprove
    [[ $output == *"did you mean 'approve'?"* ]]
}

@test "each verb refuses an option that it does not have, and names the nearest" {
    local verb
    for verb in $(verbs); do
        run -2 --separate-stderr sandtrace "$verb" --jsno
        [ -z "$output" ]
        [ "$stderr" = "sandtrace $verb: unknown option --jsno (did you mean --json?); see sandtrace $verb --help" ] || fail "$stderr"
        run -2 sandtrace "$verb" --completely-unknown
        [ "$output" = "sandtrace $verb: unknown option --completely-unknown; see sandtrace $verb --help" ] || fail "$output"
        run -2 sandtrace "$verb" -Z
        [ "$output" = "sandtrace $verb: unknown option -Z; see sandtrace $verb --help" ] || fail "$output"
        run -2 sandtrace "$verb" --json=yes
        [ "$output" = "sandtrace $verb: --json takes no value; see sandtrace $verb --help" ] || fail "$output"
        run -2 sandtrace "$verb" --config
        [ "$output" = "sandtrace $verb: --config needs a value (FILE); see sandtrace $verb --help" ] || fail "$output"
    done
}

@test "each verb that wants an argument says which, and how to find one" {
    local verb said
    while IFS=: read -r verb said; do
        run -2 --separate-stderr sandtrace "$verb" </dev/null
        [ -z "$output" ]
        [[ $stderr == "sandtrace $verb: $said"*"; see sandtrace $verb --help" ]] || fail "$stderr"
    done <<'END'
run:which command?
policy:say check, test, diff, list, show or explain
approve:which pause? sandtrace pending lists them
deny:which pause? sandtrace pending lists them
pause:which container? sandtrace ps lists them
resume:which container? sandtrace ps lists them
kill:which container? sandtrace ps lists them
reload:which container? sandtrace ps lists them
stream:one FILE is wanted; - is standard input
report:one FILE is wanted; - is standard input
verify:no FILE; - is standard input
install:name one engine: docker, podman or containerd
completion:wants one argument, the shell: bash|zsh|fish
END
}

@test "what is not there is told with what was looked for, and what to do" {
    local verb said
    while IFS=: read -r verb said; do
        run -2 --separate-stderr sandtrace "$verb" /none-such </dev/null
        [ -z "$output" ]
        [[ $stderr == "sandtrace $verb: "*"$said"* ]] || fail "$stderr"
    done <<'END'
approve:no pause that waits begins with '/none-such'; sandtrace pending lists them
deny:no pause that waits begins with '/none-such'; sandtrace pending lists them
pause:no watched container begins with '/none-such'; sandtrace ps lists them
resume:no watched container begins with '/none-such'; sandtrace ps lists them
kill:no watched container begins with '/none-such'; sandtrace ps lists them
reload:no watched container begins with '/none-such'; sandtrace ps lists them
pending:no watched container begins with '/none-such'; sandtrace ps lists them
watch:no watched container begins with '/none-such'; sandtrace ps lists them
stream:/none-such: No such file or directory
report:/none-such: No such file or directory
verify:/none-such: No such file or directory
policy:there is no `policy /none-such`; say check, test, diff, list, show or explain
install:no engine '/none-such' is known: docker, podman and containerd are
completion:no completion for '/none-such': bash|zsh|fish are known
demo:there is no scenario '/none-such'; sandtrace demo --list names them
ps:unexpected argument '/none-such'
doctor:unexpected argument '/none-such'
keygen:unexpected argument '/none-such'
version:unexpected argument '/none-such'
END
}

@test "a configuration that is wrong is told by file, line and column" {
    local verb
    echo 'state_dri: /x' >"$WORLD/wrong.yaml"
    for verb in ps pending "approve x" "kill x" keygen "run true" demo; do
        # shellcheck disable=SC2086 # words
        SANDTRACE_CONFIG=$WORLD/wrong.yaml run -2 sandtrace $verb </dev/null
        [[ $output == "sandtrace ${verb%% *}: "*"$WORLD/wrong.yaml:1:1: "*state_dir* ]] || fail "$output"
    done
}

# ---- exit codes ----

@test "0 is yes, 1 is no, 2 is that it could not be found out" {
    run -0 sandtrace verify "$NOTES/trace.jsonl"
    run -1 sandtrace verify "$NOTES/forged.jsonl"
    run -2 sandtrace verify "$NOTES/none.jsonl"
    run -1 sandtrace verify "$NOTES/trace.jsonl" "$NOTES/forged.jsonl" "$NOTES/none.jsonl"
    run -0 sandtrace policy check agent-default
    run -0 sandtrace policy test agent-default --path /workspace/x --access write
    run -1 sandtrace policy test agent-default --path /etc/shadow
    run -2 sandtrace policy check none-such
    run -0 sandtrace stream "$NOTES/trace.jsonl"
    run -0 sandtrace report "$NOTES/trace.jsonl"
    run -0 sandtrace ps
    run -0 sandtrace pending
}

@test "what can't be written is no success" {
    local verb
    for verb in --help version "stream $NOTES/trace.jsonl" "report $NOTES/trace.jsonl" "verify $NOTES/trace.jsonl" "completion bash" "policy list"; do
        # shellcheck disable=SC2086 # words
        run -2 bash -c 'exec sandtrace "$@" >/dev/full' sandtrace $verb
        [[ $output == *"No space left on device"* ]] || fail "$verb: $output"
    done
}

# ---- what takes long ----

# A trace without an end, for as long as nobody has seen that it is read.
write_endless() {
    cat >"$NOTES/endless" <<'END'
#!/bin/bash
until [ -e "$2" ]; do yes "$(cat "$1")" | head -n 8192; done
END
    chmod +x "$NOTES/endless"
}

@test "whoever reads a long trace is seen to be at work, on a terminal, and nothing is left of that" {
    local verb n=0 seen=$BATS_TEST_TMPDIR/seen
    write_endless
    sed -n 2p "$NOTES/trace.jsonl" >"$BATS_TEST_TMPDIR/record"
    open_terminal
    for verb in "verify -" "report -" "stream - --filter-verdict deny" "policy test audit-only --trace -" "policy diff audit-only audit-only --trace -"; do
        rm -f "$seen"
        n=$((n + 1))
        type_line "clear; '$NOTES/endless' '$BATS_TEST_TMPDIR/record' '$seen' | sandtrace $verb >'$BATS_TEST_TMPDIR/said'; echo ended-\$((100+$n))"
        screen_shows '-: '
        retry_until count_grows || fail "$verb: $(screen)"
        touch "$seen"
        screen_shows "ended-$((100 + n))"
        run -1 screen_has ' records'
        # What was meant to be read has none of it.
        run -1 grep -q $'\033' "$BATS_TEST_TMPDIR/said"
    done
    # In a pipe nobody looks.
    run --separate-stderr bash -c 'yes "$(cat "$1")" | head -n 200000 | sandtrace policy test audit-only --trace -' bash "$BATS_TEST_TMPDIR/record"
    [[ $output == "0 of 200000 events refused" && -z $stderr ]]
}

count_shown() { screen | sed -n 's/^-: \([0-9]*\) records.*/\1/p' | tail -n 1; }

# Two looks that differ.
count_grows() {
    local before
    before=$(count_shown)
    [ -n "$before" ] && retry_until differs "$before"
}

differs() { [ "$(count_shown)" != "$1" ]; }

# ---- colours and JSON ----

# on_a_terminal COMMAND: what it writes there.
on_a_terminal() { script -qec "$1" /dev/null </dev/null || true; }

@test "colours are for a terminal, and not where NO_COLOR is set" {
    local verb
    for verb in "verify $NOTES/trace.jsonl" "stream $NOTES/trace.jsonl" "policy test agent-default --path /etc/shadow" doctor; do
        # shellcheck disable=SC2086 # words
        run sandtrace $verb </dev/null
        [[ $output != *$'\033'* ]] || fail "$verb: colours in a pipe"
        TERM=xterm NO_COLOR='' run on_a_terminal "sandtrace $verb"
        [[ $output == *$'\033['* ]] || fail "$verb: no colours on a terminal"
        TERM=xterm NO_COLOR=1 run on_a_terminal "sandtrace $verb"
        [[ $output != *$'\033['* ]] || fail "$verb: colours with NO_COLOR"
        TERM=dumb NO_COLOR='' run on_a_terminal "sandtrace $verb"
        [[ $output != *$'\033['* ]] || fail "$verb: colours on a dumb terminal"
    done
}

@test "with --json all that is said is JSON, one value a line" {
    local verb line
    for verb in version ps pending doctor "policy list" "policy check agent-default" "policy test agent-default --path /etc/shadow" \
        "stream $NOTES/trace.jsonl" "report $NOTES/trace.jsonl" "verify $NOTES/trace.jsonl" \
        "keygen --key-dir $BATS_TEST_TMPDIR/keys" "demo --list" "install docker --dry-run --file $BATS_TEST_TMPDIR/daemon.json"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr sandtrace $verb --json </dev/null
        [ "$status" -le 1 ] || fail "$verb: $stderr"
        for line in "${lines[@]}"; do
            jq -e . <<<"$line" >/dev/null || fail "$verb: $line"
        done
    done
}
