#!/usr/bin/env bats
# sandtrace run: a command in a container over the machine's own programs, watched, without an engine.
bats_require_minimum_version 1.5.0
load lib/world
load lib/control
load lib/terminal

setup_file() {
    require python3=python3 tmux=tmux script=util-linux setpriv=util-linux slirp4netns=slirp4netns sudo=sudo
    make_world
    # Not in the world: whoever works there would count as one of its processes.
    export FOLDER="$NOTES/my work"
    mkdir "$FOLDER"
    # What is against it is refused; what is grave, held.
    cat >"$WORLD/policies/agent.yaml" <<'END'
schema_version: "2.0"
name: agent
extends: agent-default
on_violation: { low: record, medium: deny, high: deny, critical: pause }
END
    sed 's/^name: agent$/name: brief/' "$WORLD/policies/agent.yaml" >"$WORLD/policies/brief.yaml"
    echo 'pause: { hold: true, timeout: 1s, on_timeout: deny }' >>"$WORLD/policies/brief.yaml"
}

teardown_file() { end_world; }

setup() {
    remember_what_is_there
    cd "$FOLDER" || return
}

teardown() {
    close_terminal
    find "$FOLDER" -mindepth 1 -delete
}

# ---- words ----

# in_box ARGUMENT…: sandtrace run with nothing to read; its output and its summary (JSON) apart.
in_box() { run --separate-stderr sandtrace run --json "$@" </dev/null; }

# summary EXPRESSION: of the last line on standard error.
summary() { jq -r "$1" <<<"${stderr_lines[-1]}"; }

# start_box ARGUMENT…: in the background; sets $box to its pid.
start_box() {
    sandtrace run "$@" </dev/null >"$NOTES/out" 2>"$NOTES/err" 3>&- &
    box=$!
}

# running_id: of the one that runs.
running_id() { sandtrace ps --json | jq -r .id | grep '^run-'; }

box_runs() { [ -n "$(running_id)" ] && [ -e "$FOLDER/started" ]; }

# ends_with CODE: wait for it.
ends_with() {
    local code=0
    wait "$box" || code=$?
    [ "$code" -eq "$1" ] || { cat "$NOTES/err" >&2; fail "ended with $code"; }
}

guard_of() { pgrep -P "$1" -x sandtrace-guard; }

terminal_left_nothing() {
    close_terminal
    nothing_left_behind
}

no_box_is_left() { [ -z "$(running_id)" ] && [ "$(ls "$WORLD/run/.runs")" = lock ]; }

# ---- help and wrong use ----

@test "its help fits a screen and has an example" {
    run -0 sandtrace run --help
    [ "${#lines[@]}" -le 24 ]
    for line in "${lines[@]}"; do [ "${#line}" -le 120 ]; done
    [[ $output == *"example:"*"sudo sandtrace run -- "* ]]
}

@test "wrong use is told, with what would be right, and nothing is made" {
    run -2 sandtrace run
    [[ $output == "sandtrace run: which command?; see sandtrace run --help" ]]
    run -2 sandtrace run --netwrok none true
    [[ $output == *"did you mean --network?"* ]]
    run -2 sandtrace run --network lan true
    [[ $output == *"'lan' is none of none, user, host"* ]]
    run -2 sandtrace run --bind :/x true
    [[ $output == *"SRC[:DST][:ro] is wanted"* ]]
    run -2 sandtrace run --bind /tmp:/proc/x true
    [[ $output == *"/proc/x in the container is its own"* ]]
    run -2 sandtrace run --bind /tmp:/etc true
    [[ $output == *"is what it stands on"* ]]
    run -2 sandtrace run --env =x true
    [[ $output == *"has no name before the ="* ]]
    run -2 sandtrace run --user nobody-of-that-name true
    [[ $output == *"there is no user 'nobody-of-that-name'"* ]]
    nothing_left_behind
}

@test "what can't be done ends with 125, and says what to do" {
    run -125 sandtrace run --bind "$WORLD/none" true
    [[ $output == *"$WORLD/none: No such file or directory"* ]]
    run -125 sandtrace run --env NO_SUCH_VARIABLE true
    [[ $output == *"write --env NO_SUCH_VARIABLE=VALUE"* ]]
    run -125 sandtrace run --policy none-such true
    [[ $output == *"sandtrace run: the container could not be made: "*'there is no policy `none-such`'* ]]
    touch taken
    run -125 sandtrace run --trace taken true
    [[ $output == *"--trace taken: it is there already; name a new file"* ]]
    run -125 setpriv --reuid 65534 --regid 65534 --clear-groups sandtrace run true
    [[ $output == *"only root can make a container; sudo sandtrace run"* ]]
    nothing_left_behind
}

@test "a folder that holds more than the work is refused, unless it is named" {
    cd /
    run -125 sandtrace run true
    [[ $output == *"the current folder, /, "*"--bind DIR:/workspace"* ]]
    cd /tmp
    run -125 sandtrace run true
    [[ $output == *"belongs to the whole system"* ]]
    cd "$(getent passwd root | cut -d: -f6)"
    run -125 sandtrace run true
    [[ $output == *"is a home"* ]]
    in_box --bind "$FOLDER:/workspace" touch /workspace/made
    [ "$status" -eq 0 ]
    [ -e "$FOLDER/made" ]
    nothing_left_behind
}

@test "without a key to sign the trace nothing runs" {
    mv "$WORLD/keys" "$WORLD/keys.away"
    mkdir -m 0700 "$WORLD/keys"
    run -125 sandtrace run touch started
    rmdir "$WORLD/keys"
    mv "$WORLD/keys.away" "$WORLD/keys"
    [[ $output == *"key"* ]]
    [ ! -e started ]
    nothing_left_behind
}

# in_fresh_places COMMAND…: with a /srv and a /var/log of its own, a configuration that has the traces there, and a sudo that does not
# forget where that is.
in_fresh_places() {
    sed 's,^default_policy: .*,default_policy: agent-default,; s,^log_dir: .*,log_dir: /var/log/sandtrace,' "$SANDTRACE_CONFIG" >"$WORLD/fresh.yaml"
    mkdir -p "$NOTES/words"
    printf '#!/bin/sh\nexec "$@"\n' >"$NOTES/words/sudo"
    chmod +x "$NOTES/words/sudo"
    # shellcheck disable=SC2016 # runs elsewhere
    SANDTRACE_CONFIG=$WORLD/fresh.yaml PATH=$NOTES/words:$PATH unshare --mount --propagation private bash -euc '
        mount -t tmpfs srv /srv && mount -t tmpfs log /var/log && mkdir -m 0750 /var/log/sandtrace && exec "$@"' bash "$@"
}

@test "what docs/getting-started.md shows is typed, and prints what it shows; its policy is one" {
    local document=$ST_SRCDIR/docs/getting-started.md section typed=0
    sed -n '/^```yaml$/,/^```$/p' "$document" | grep -v '```' >"$WORLD/policies/mine.yaml"
    for section in "1. Run something" "3. Look what happened" "4. An agent at work"; do
        typed=$((typed + 1))
        mkdir "$FOLDER/$typed"
        python3 "$load_dir/document.py" script "$document" "$section" "'$FOLDER/$typed'" >"$NOTES/script"
        in_fresh_places bash "$NOTES/script" || { tail -n +1 "$FOLDER/$typed"/output-* >&2; false; }
        python3 "$load_dir/document.py" compare "$document" "$section" "$FOLDER/$typed"
    done
    rm "$WORLD/policies/mine.yaml" "$WORLD/fresh.yaml"
    nothing_left_behind
}

# ---- the command ----

@test "the command's exit code is ours" {
    in_box sh -c 'exit 7'
    [ "$status" -eq 7 ]
    in_box sh -c 'kill -TERM $$'
    [ "$status" -eq 143 ]
    run -127 --separate-stderr sandtrace run no-such-command </dev/null
    [[ $stderr == *"sandtrace run: no-such-command: No such file or directory"* ]]
    touch plain
    in_box ./plain
    [ "$status" -eq 126 ]
    nothing_left_behind
}

@test "options behind the command are the command's" {
    in_box echo --policy -x -- --json
    [ "$output" = "--policy -x -- --json" ]
    in_box -- echo -n words
    [ "$output" = words ]
}

@test "a lot goes in and out by pipes, and errors go their own way" {
    head -c 3000000 /dev/urandom >bytes
    run -0 bash -c 'sandtrace run -- sh -c "cat; echo to the errors >&2" <bytes 2>errors | cmp - bytes'
    [[ $(head -n 1 errors) == "to the errors" ]]
    run -0 --separate-stderr bash -c 'echo words | sandtrace run -- sh -c "cat >/dev/stdout"'
    [ "$output" = words ]
}

@test "who writes to a reader that has gone is told so" {
    run -0 bash -c 'sandtrace run -- yes 2>errors </dev/null | head -n 1'
    [ "$output" = y ]
    grep -q 'ended with 141' errors
    nothing_left_behind
}

@test "no fd of ours goes in: what can be read here can't be written there" {
    echo kept >file
    in_box --policy audit-only sh -c 'for f in /proc/self/fd/*; do readlink "$f"; done | grep -v ^/proc | sort -u'
    [ -z "$(grep -v '^pipe:' <<<"$output")" ]
    run -0 bash -c 'sandtrace run --policy audit-only -- sh -c "echo changed >/proc/self/fd/0" <file 2>errors || true'
    [ "$(cat file)" = kept ]
}

# ---- what it sees ----

@test "it has namespaces, a /tmp, a /dev and a first process of its own" {
    touch "$WORLD/seen-from-outside"
    in_box sh -c 'cat /proc/1/comm; hostname; for n in pid ipc uts net mnt cgroup; do readlink /proc/self/ns/$n; done; ls -A /tmp; test -c /dev/null; pwd'
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == sandtrace-init ]]
    [[ ${lines[1]} == sandtrace ]]
    for n in pid ipc uts net mnt cgroup; do [[ $output != *"$(readlink /proc/self/ns/$n)"* ]]; done
    [[ ${lines[-2]} == home ]]
    [[ ${lines[-1]} == /workspace ]]
    rm "$WORLD/seen-from-outside"
}

@test "from a folder with spaces files are written through, and belong to who called sudo" {
    chown 65534:65534 "$FOLDER"
    run -0 --separate-stderr env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody sandtrace run --json -- sh -c 'id -u; id -g; id -G; echo "$HOME"; touch "made here" "$HOME/x"' </dev/null
    [ "${lines[*]}" = "65534 65534 65534 /tmp/home" ]
    [ "$(stat -c %u:%g "$FOLDER/made here")" = 65534:65534 ]
    chown 0:0 "$FOLDER"
    nothing_left_behind
}

# as_sudoer COMMAND: by a user of the name ann who is no root, and has it run by the real sudo. She is known in a
# mount namespace of its own only, where /etc is another one.
as_sudoer() {
    mkdir -p "$NOTES/etc"/{upper,work}
    unshare -m --propagation private bash -euc '
        mount -t overlay etc -o "lowerdir=/etc,upperdir=$1/etc/upper,workdir=$1/etc/work" /etc
        printf "ann:x:54321:54321::/nonexistent:/bin/sh\n" >>/etc/passwd
        printf "ann:x:54321:\n" >>/etc/group
        printf "ann:*:19000:0:99999:7:::\n" >>/etc/shadow
        install -m 0440 /dev/stdin /etc/sudoers <<<"Defaults env_keep += SANDTRACE_CONFIG
Defaults !use_pty, secure_path=\"$WORLD/bin:$PATH\"
ann ALL=(root) NOPASSWD: ALL"
        rm -rf /etc/sudoers.d
        exec setpriv --reuid 54321 --regid 54321 --clear-groups sh -c "$2"' as_sudoer "$NOTES" "$1"
}

@test "by the real sudo it is the caller who works in the container, and the trace has no other" {
    chown 54321:54321 "$FOLDER"
    run -0 --separate-stderr as_sudoer 'sudo sandtrace run --json --trace mine.jsonl -- sh -c "id -u; id -un; touch made" </dev/null'
    [ "${lines[*]}" = "54321 ann" ]
    [ "$(stat -c %u:%g "$FOLDER/made")" = 54321:54321 ]
    [ "$(stat -c %u:%g "$FOLDER/mine.jsonl")" = 54321:54321 ]
    run -0 sandtrace verify "$FOLDER/mine.jsonl"
    [ "$(jq -r 'select(.event_type == "process" and .payload.op == "exec") | .payload.process.uid' "$FOLDER/mine.jsonl" | sort -u)" = 54321 ]
    chown 0:0 "$FOLDER"
    nothing_left_behind
}

@test "root is root, with few capabilities; others have none; nobody becomes more" {
    in_box sh -c 'id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status'
    [[ ${lines[0]} == 0 ]]
    [[ ${lines[1]} == *00000000000004fb ]]
    [[ ${lines[2]} == *1 ]]
    in_box --user nobody sh -c 'id -un; grep CapBnd /proc/self/status'
    [[ ${lines[0]} == nobody ]]
    [[ ${lines[1]} == *0000000000000000 ]]
    in_box --user 1234:4321 sh -c 'id -u; id -g'
    [ "${lines[*]}" = "1234 4321" ]
}

@test "of the environment it gets what was asked for" {
    SECRET=token OTHER=handed in_box --env A=1 --env OTHER env
    [[ $'\n'$output == *$'\nA=1'* && $'\n'$output == *$'\nOTHER=handed'* ]]
    [[ $output != *SECRET* && $output != *SANDTRACE_CONFIG* ]]
}

@test "the host's files stay as they are, and what was written over them is gone" {
    in_box --policy audit-only sh -c 'echo x >/usr/bin/sandtrace-test && echo x >/etc/sandtrace-test && echo x >>/etc/passwd && rm /usr/bin/env && cat /etc/sandtrace-test'
    [ "$status" -eq 0 ]
    [ "$output" = x ]
    [ ! -e /usr/bin/sandtrace-test ] && [ ! -e /etc/sandtrace-test ] && [ -e /usr/bin/env ]
    [ "$(summary .only_recorded)" -ge 3 ]
    in_box --policy agent sh -c 'echo x >/usr/bin/sandtrace-test; echo x >>/etc/passwd; rm /usr/bin/env; echo still here'
    [ "$output" = "still here" ]
    [ "$(summary .refused)" -eq 3 ]
    nothing_left_behind
}

@test "a file system that the host has mounted below /usr is seen, and stays as it is" {
    run -0 --separate-stderr unshare --mount sh -c 'mount -t tmpfs games /usr/games && echo kept >/usr/games/file || exit
        sandtrace run --policy audit-only -- sh -c "cat /usr/games/file; echo changed >/usr/games/file; cat /usr/games/file"; cat /usr/games/file' </dev/null
    [ "${lines[*]}" = "kept changed kept" ]
    nothing_left_behind
}

@test "where sandtrace itself lies below /usr, keys, state and traces are not seen, and all else is" {
    # shellcheck disable=SC2016 # a script that runs elsewhere
    run --separate-stderr unshare --mount sh -c 'mount -t tmpfs games /usr/games && mkdir -p /usr/games/st/beside && mount --bind "$WORLD" /usr/games/st || exit
        sed "s,$WORLD/\(keys\|run\|log\)\$,/usr/games/st/\1," "$SANDTRACE_CONFIG" >/usr/games/sandtrace.yaml
        exec sandtrace run --config /usr/games/sandtrace.yaml --policy agent -- sh -c "ls -A /usr/games/st; env true && head -c 1 /usr/share/common-licenses/GPL >/dev/null && echo works"' </dev/null
    [ "$status" -eq 0 ] || { echo "$stderr" >&2; false; }
    [[ $output == *bin*policies*works ]]
    [[ $output != *keys* && $output != *run* && $output != *log* ]]
    nothing_left_behind
}

@test "nothing of the host is there that nobody needs: homes, sockets, traces, keys" {
    in_box --policy audit-only sh -c 'ls -A /home /root /run /mnt /media /srv /opt /var/log /var/tmp | grep -v :$ | grep -v ^lock$; ls -d /boot; ls "$1"; true' sh "$WORLD"
    [ -z "$output" ]
    [[ $stderr == *"'/boot'"* && $stderr == *"'$WORLD'"* ]]
}

@test "of /etc what only some may read is there by name alone" {
    [ -s /etc/shadow ]
    in_box --policy audit-only sh -c 'wc -c </etc/shadow; stat -c %a /etc/shadow; grep -c ^root: /etc/passwd; find /etc -type f ! -perm -o=r -size +0; find /etc -type d ! -perm -o=rx ! -empty'
    [ "${lines[*]}" = "0 $(stat -c %a /etc/shadow) 1" ]
    run -0 --separate-stderr unshare --mount sh -c 'mount -t tmpfs etc /usr/local/etc && echo key >/usr/local/etc/key && chmod 0600 /usr/local/etc/key && echo open >/usr/local/etc/open || exit
        exec sandtrace run --policy audit-only -- sh -c "wc -c </usr/local/etc/key; cat /usr/local/etc/open"' </dev/null
    [ "${lines[*]}" = "0 open" ]
}

@test "what is bound is there, under its own or another name, to be read or to be written" {
    mkdir data out
    echo read >data/file
    in_box --bind data:/data:ro --bind "$FOLDER/out" --bind data/file:/usr/share/one:ro sh -c 'cat /data/file /usr/share/one; touch "$1/made"; echo x 2>/dev/null >/data/file; true' sh "$FOLDER/out"
    [ "$status" -eq 0 ]
    [ "${lines[*]}" = "read read" ]
    [ -e out/made ]
    [ "$(cat data/file)" = read ]
    nothing_left_behind
}

@test "what reaches our own files is refused, whatever it is called" {
    run -125 sandtrace run --policy agent --bind "$WORLD:/data" true
    [[ $output == *"the container can reach"*"mount less of the host"* ]]
    nothing_left_behind
}

@test "under each shipped policy that enforces it starts and works in /workspace" {
    for policy in agent-default agent-node agent-python ci-build strict; do
        in_box --policy "$policy" sh -c 'echo x >f && cat f'
        [ "$status" -eq 0 ] && [ "$output" = x ] && [ "$(summary .refused)" -eq 0 ] || { echo "$policy: $output $stderr" >&2; false; }
    done
}

# ---- network ----

@test "without a network there is its own loopback, and nothing else" {
    in_box sh -c 'ls /sys/class/net; cat /etc/resolv.conf'
    [ "$output" = lo ]
}

@test "where slirp4netns is missing that is said, with what to install" {
    run -125 unshare --mount sh -c 'mount --bind /dev/null /usr/bin/slirp4netns && exec sandtrace run --network user true'
    [[ $output == *"slirp4netns is not installed; apt-get install slirp4netns, or --network none"* ]]
    nothing_left_behind
}

@test "the host's network is there where no policy limits it, and refused where one does" {
    in_box --policy audit-only --network host readlink /proc/self/ns/net
    [ "$output" = "$(readlink /proc/self/ns/net)" ]
    run -125 sandtrace run --policy agent --network host true
    [[ $output == *"shares the host's network"* ]]
    nothing_left_behind
}

# ---- the end ----

@test "at the end it says what was touched and refused, and where the trace is, which verifies" {
    run -0 --separate-stderr sandtrace run --policy agent -- sh -c 'echo x >made; rm made; touch /usr/x; true' </dev/null
    [[ $stderr == *"sandtrace: run-"*" ended with 0 after "*"touched  "*" programs run, 1 file written, 1 deleted"*"refused  1"*"create /usr/x (default)"*"trace    $WORLD/log/run-"*" records, verifies, signed"* ]]
    [ "${#stderr_lines[@]}" -le 7 ]
    [[ $stderr != *$'\e'* ]]
}

@test "for programs the summary is JSON, and a copy of the trace is whole and the caller's" {
    run -0 --separate-stderr env SUDO_UID=65534 SUDO_GID=65534 sandtrace run --json --trace "$FOLDER/copy.jsonl" true </dev/null
    [ "$(summary '[.exit_code, .valid, .signed, .trace_copy] | @csv')" = "0,true,true,\"$FOLDER/copy.jsonl\"" ]
    cmp "$FOLDER/copy.jsonl" "$(summary .trace)"
    [ "$(stat -c %u "$FOLDER/copy.jsonl")" = 65534 ]
    sandtrace verify "$FOLDER/copy.jsonl"
}

@test "what the command puts where the copy should go is left as it is" {
    run -125 --separate-stderr sandtrace run --trace copy -- ln -s /etc/passwd copy </dev/null
    [[ $stderr == *"--trace copy: File exists; the trace is $WORLD/log/run-"* ]]
    [ -L copy ]
}

@test "colours are for terminals, and for those who want them" {
    shown=$(on_terminal "sandtrace run true")
    [[ $shown == *$'\e['*"verifies"* ]]
    shown=$(NO_COLOR=1 on_terminal "sandtrace run true")
    [[ $shown == *"verifies"* && $shown != *$'\e['* ]]
}

# ---- signals, and an end that nobody wanted ----

@test "TERM, INT and HUP end the command, and all that was made" {
    for signal in TERM:143 INT:130 HUP:129; do
        start_box sh -c 'touch started; exec sleep 1000'
        retry_until box_runs
        # In the background shells have INT ignored; we have not.
        kill -s "${signal%:*}" "$box"
        ends_with "${signal#*:}"
        rm started
        nothing_left_behind
    done
}

@test "a command that handles a signal gets it" {
    start_box sh -c 'trap "echo handled; exit 5" USR1; touch started; while :; do sleep 0.05; done'
    retry_until box_runs
    kill -USR1 "$box"
    ends_with 5
    [ "$(cat "$NOTES/out")" = handled ]
}

@test "who does not end when told to is ended" {
    start_box sh -c 'trap "" TERM; touch started; while :; do sleep 0.05; done'
    retry_until box_runs
    kill -TERM "$box"
    ends_with 137
    nothing_left_behind
}

@test "the container's first process is killed: all is gone, and the trace is whole" {
    start_box sh -c 'touch started; exec sleep 1000'
    retry_until box_runs
    id=$(running_id)
    kill -KILL "$(state_of "$id" pid)"
    ends_with 137
    trace_is_complete "$id"
    nothing_left_behind
}

@test "sandtrace run is killed: its container ends, and nothing of it is left" {
    start_box sh -c 'touch started; exec sleep 1000'
    retry_until box_runs
    id=$(running_id)
    kill -KILL "$box"
    ends_with 137
    retry_until no_box_is_left
    trace_is_complete "$id"
    nothing_left_behind
}

@test "it is killed while the container stands still: the same" {
    start_box --policy agent sh -c 'touch started; cat /etc/shadow'
    retry_until box_runs
    id=$(running_id)
    retry_until trace_has "$id" "$is_pause"
    kill -KILL "$box"
    ends_with 137
    retry_until no_box_is_left
    trace_is_complete "$id"
    nothing_left_behind
}

@test "it is killed with its guard: the next run ends what is left" {
    start_box sh -c 'touch started; exec sleep 1000'
    retry_until box_runs
    id=$(running_id)
    kill_together "$box" "$(guard_of "$box")"
    ends_with 137
    is_watched "$id" # still, and alone
    in_box true
    [ "$status" -eq 0 ]
    retry_until no_box_is_left
    trace_is_complete "$id"
    nothing_left_behind
}

@test "the monitor is killed: the container does not run on, and that is said" {
    start_box sh -c 'touch started; exec sleep 1000'
    retry_until box_runs
    id=$(running_id)
    kill -KILL "$(state_of "$id" worker)"
    ends_with 137
    grep -q 'ended with 137' "$NOTES/err"
    trace_has "$id" '.event_type == "sensor" and .payload.name == "worker" and .payload.state == "lost"'
    nothing_left_behind
}

# ---- pauses without a terminal ----

@test "without a terminal a pause is shown, and somebody else decides" {
    setsid sandtrace run --policy agent -- sh -c 'cat /etc/shadow; echo "cat said $?"' </dev/null >"$NOTES/out" 2>"$NOTES/err" 3>&- &
    box=$!
    retry_until contains "$NOTES/err" "SECURITY_PAUSE"
    contains "$NOTES/err" "read /etc/shadow"
    [ -z "$(grep -F 'lways, ' "$NOTES/err")" ]
    sandtrace approve "$(sandtrace pending | jq -r .pause_id)" >/dev/null
    ends_with 0
    [ "$(cat "$NOTES/out")" = "cat said 0" ]
    contains "$NOTES/err" "decided  1 allow-once"
    nothing_left_behind
}

@test "where nobody is asked INT ends also what stands still" {
    setsid sandtrace run --policy agent -- sh -c 'cat /etc/shadow; touch went-on; sleep 1000' </dev/null >"$NOTES/out" 2>"$NOTES/err" 3>&- &
    box=$!
    retry_until contains "$NOTES/err" "SECURITY_PAUSE"
    kill -INT "$box"
    ends_with 137
    [ ! -e went-on ]
    nothing_left_behind
}

@test "without a terminal and without anybody the policy's timeout decides" {
    setsid sandtrace run --policy brief -- sh -c 'cat /etc/shadow; echo "cat said $?"' </dev/null >"$NOTES/out" 2>"$NOTES/err" 3>&- &
    box=$!
    ends_with 0
    [ "$(cat "$NOTES/out")" = "cat said 1" ]
    contains "$NOTES/err" "decided  1 timeout"
}

# ---- with a terminal ----

@test "a terminal has its size, and follows" {
    open_terminal 100 30
    type_line "sandtrace run -- bash --norc --noprofile"
    type_line 'tty; echo size $(stty size)'
    screen_shows "size 30 100"
    screen_has /dev/pts/0
    resize_terminal 90 25
    type_line 'echo size $(stty size)'
    screen_shows "size 25 90"
    type_line "exit 3"
    screen_shows "ended with 3"
    type_line 'echo code $?; stty -a | grep -o " icanon"'
    screen_shows "code 3"
    screen_shows " icanon"
    terminal_left_nothing
}

@test "Ctrl-C is for the command, also for one that handles nothing" {
    open_terminal
    type_line "sandtrace run sh -c 'touch started; exec sleep 1000'"
    retry_until box_runs
    press C-c
    screen_shows "ended with 130"
    type_line "sandtrace run -- sh -c 'touch again; sleep 1000' | cat"
    retry_until exists again
    press C-c
    retry_until no_box_is_left
    terminal_left_nothing
}

@test "Ctrl-Z stops what has a shell to let it go on, and never the command itself; with a pipe it is ours, and CONT lets all go on" {
    open_terminal
    # Nobody is in the container who would continue it.
    type_line "sandtrace run sh -c 'touch started; exec sleep 1000'"
    retry_until box_runs
    press C-z
    press C-c
    screen_shows "ended with 130"
    type_line "sandtrace run -- bash --norc --noprofile"
    type_line 'echo in-$((1+0)); sleep 1000'
    screen_shows in-1
    press C-z
    screen_shows "Stopped"
    type_line 'bg; exit 4'
    screen_shows "ended with 4"
    type_line "sandtrace run -- sh -c 'touch again; exec sleep 1000' | cat"
    retry_until exists again
    press C-z
    retry_until shell_is_back
    box_still_runs
    type_line fg
    press C-c
    retry_until no_box_is_left
    type_line 'echo over-$((1+1))'
    screen_shows over-2
    terminal_left_nothing
}

shell_is_back() { screen | grep -q 'Stopped .*sandtrace run'; }

box_still_runs() { [ -n "$(running_id)" ]; }

@test "its own terminal also where ours is none" {
    run --separate-stderr sandtrace run --interactive tty </dev/null
    [ "$status" -eq 0 ]
    [[ $output == /dev/pts/0* ]]
    run -0 --separate-stderr bash -c 'printf "one\ntwo" | sandtrace run -i -- sh -c "stty -echo; cat"'
    [[ $output == *one*two* ]]
}

@test "an escape is frozen and asked about; the answers are once, always, deny and kill" {
    open_terminal
    type_line "sandtrace run --policy agent -- bash --norc --noprofile"
    type_line 'cat /etc/shadow && echo read-$((1+0))'
    screen_shows "SECURITY_PAUSE"
    screen_shows "lways, "
    type_line "perhaps"
    retry_until asked_times 2
    id=$(running_id)
    trace_has "$id" "$is_pause"
    type_line "once"
    screen_shows read-1
    type_line 'cat /etc/shadow || echo denied-$((1+1))'
    retry_until asked_times 3
    type_line "d"
    screen_shows denied-2
    type_line 'cat /etc/shadow && cat /etc/shadow && echo read-$((1+2))'
    retry_until asked_times 4
    type_line "always"
    screen_shows read-3
    type_line 'cat /etc/gshadow'
    retry_until asked_times 5
    type_line "k"
    screen_shows "ended with 137"
    screen_has "decided"
    trace_has "$id" "$is_resume and .payload.decision == \"allow-once\" and .payload.by.uid == 0"
    trace_has "$id" "$is_resume and .payload.decision == \"kill\""
    terminal_left_nothing
}

@test "the command of getting-started.md that is stopped asks what the document shows" {
    local section="2. See it stopped" typed=$BATS_TEST_TMPDIR/typed
    sed 's/^default_policy: .*/default_policy: agent-default/' "$SANDTRACE_CONFIG" >"$WORLD/default.yaml"
    mkdir "$typed"
    python3 "$load_dir/document.py" script "$ST_SRCDIR/docs/getting-started.md" "$section" "$typed" | sed -n '/END-OF-BLOCK.$/,/^END-OF-BLOCK$/p' | sed '1d;$d' >"$typed/command"
    [ "$(wc -l <"$typed/command")" -eq 1 ]
    open_terminal
    type_line "export NO_COLOR=1 SANDTRACE_CONFIG='$WORLD/default.yaml'; sudo() { \"\$@\"; }"
    type_line "$(cat "$typed/command")"
    screen_shows "ill?"
    screen >"$typed/output-0"
    python3 "$load_dir/document.py" compare "$ST_SRCDIR/docs/getting-started.md" "$section" "$typed"
    type_line d
    screen_shows "decided  1 deny"
    rm "$WORLD/default.yaml"
    terminal_left_nothing
}

asked_times() { [ "$(screen | grep -c 'lways, .*ill?')" -ge "$1" ]; }

@test "somebody else may answer too, and then the question is over" {
    open_terminal
    type_line "sandtrace run --policy agent -- sh -c 'cat /etc/shadow; echo said-\$?'"
    screen_shows "lways, "
    sandtrace deny "$(sandtrace pending | jq -r .pause_id)" >/dev/null
    screen_shows "decided elsewhere"
    screen_shows "said-1"
    terminal_left_nothing
}

@test "Ctrl-C at the question denies; what a terminal answers to a container is no answer" {
    open_terminal
    # The terminal is asked for its kind right before: its answer comes as if somebody had typed it.
    type_line "sandtrace run --policy agent -- sh -c 'printf \"\\033[c\\033[6n\"; cat /etc/shadow; echo said-\$?'"
    screen_shows "lways, "
    press C-c
    screen_shows "said-1"
    terminal_left_nothing
}

@test "where only the output goes elsewhere the question comes to the terminal" {
    open_terminal
    type_line "sandtrace run --policy agent -- sh -c 'cat /etc/shadow; echo said-\$?' | tee log"
    screen_shows "lways, "
    type_line "o"
    screen_shows "said-0"
    terminal_left_nothing
}
