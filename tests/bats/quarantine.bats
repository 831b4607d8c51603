#!/usr/bin/env bats
# What ends by a violation is kept: looked at while it stands still, bound to its trace, a task for a person.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control

setup_file() {
    make_world
    write_policy held
    write_policy killing 'on_violation: { low: deny, medium: deny, high: kill, critical: kill }'
    write_policy hasty 'pause: { hold: true, timeout: 1s, on_timeout: kill }'
    write_policy patient 'pause: { hold: true, timeout: 1s, on_timeout: deny }'
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() {
    configure default_policy killing
    remember_what_is_there
}

teardown() {
    local mount
    remove_all_containers
    for mount in "$WORLD"/layers/*/merged; do
        ! mountpoint -q "$mount" || umount "$mount"
    done
    cp "$ST_BUILDDIR/sandtrace-snapshot" "$WORLD/bin/sandtrace-snapshot"
    for key in quarantine_at quarantine_max_bytes refuse_unreviewed on_review; do
        sed -i "/^$key:/d" "$SANDTRACE_CONFIG"
    done
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/quarantine" "$WORLD/layers"
}

folder_of() { echo "$WORLD/quarantine/$(id_of "$1")"; }

is_quarantine='.event_type == "lifecycle" and .payload.op == "quarantine"'

# kept NAME: its task is there, and its trace is whole.
kept() {
    retry_until exists "$(folder_of "$1")/review.json" || { ls -la "$WORLD/quarantine" >&2; tail -n 2 "$WORLD"/log/* >&2; return 1; }
    trace_is_complete "$(id_of "$1")"
}

# not_kept NAME: it has ended, and nothing was kept.
not_kept() {
    trace_is_complete "$(id_of "$1")"
    [ "$(trace_count "$(id_of "$1")" "$is_quarantine")" -eq 0 ]
    [ ! -e "$(folder_of "$1")" ]
}

quarantine_of() { trace_value "$(id_of "$1")" "$is_quarantine" "$2"; }

task_of() { jq -r "$2" "$(folder_of "$1")/review.json"; }

# lay_over NAME: its root becomes an overlay; UPPER is the upper layer.
lay_over() {
    local layers=$WORLD/layers/$1
    UPPER=$layers/upper
    mkdir -p "$layers"/{upper,work,merged}
    mount -t overlay overlay -o "lowerdir=$(bundle_of "$1")/rootfs,upperdir=$UPPER,workdir=$layers/work" "$layers/merged"
    edit_config "$(bundle_of "$1")" --arg root "$layers/merged" '.root.path = $root'
}

has_a_pause() { [ -n "$(pauses "$1")" ]; }

start_held() {
    start_reader "$1" 'look 1; echo on >/workspace/on; sleep 1000'
    retry_until has_a_pause "$1"
}

@test "what the policy kills is kept: its processes, its files, its policy as it was in force, its trace" {
    make_reader box 'echo made >/workspace/made; echo more >/tmp/more; look 1; echo on >/workspace/on; sleep 1000'
    start_detached box
    kept box
    [ ! -e "$(work_of box)/on" ]
    [ "$(task_of box '.cause + " " + .rule + " " + .severity + " " + .snapshot.kind + " " + (.snapshot.frozen | tostring)')" = \
        "policy secrets critical directory true" ]
    jq -e '.processes | map(.argv) | any(index("cat"))' "$(folder_of box)/state.json"
    jq -e '.mounts | map(.point) | index("/proc")' "$(folder_of box)/state.json"
    tar -xOf "$(folder_of box)/files.tar" workspace/made | grep -qx made
    cmp "$WORLD/policies/killing.yaml" "$(folder_of box)/policy/1.yaml"
    sandtrace verify "$(folder_of box)/trace/$(id_of box).jsonl"
    cmp "$(folder_of box)/trace/$(id_of box).jsonl" "$(trace_of "$(id_of box)")"
}

@test "the trace has the hash of the snapshot, which has the hash of all that is in it; nobody else may read it" {
    start_reader box 'look 1'
    kept box
    [ "$(quarantine_of box .payload.snapshot_sha256)" = "sha256:$(sha256sum <"$(folder_of box)/snapshot.json" | cut -c1-64)" ]
    (cd "$(folder_of box)" && jq -r '.contents[] | .sha256 + "  " + .name' snapshot.json | sha256sum --check --strict --quiet)
    [ "$(quarantine_of box .payload.event_id)" = "$(trace_value "$(id_of box)" '.verdict.action == "killed"' .event_id)" ]
    [ "$(stat -c %a "$WORLD/quarantine" "$(folder_of box)" "$(folder_of box)"/{trace,policy} | sort -u)" = 700 ]
    [ "$(stat -c %a "$(folder_of box)"/{review.json,snapshot.json,state.json,changes.jsonl,files.tar,policy/1.yaml} | sort -u)" = 600 ]
}

@test "the policy that is kept is the one in force, whatever its file says by then" {
    write_policy changing 'on_violation: { low: deny, medium: deny, high: kill, critical: kill }'
    cp "$WORLD/policies/changing.yaml" "$NOTES/before.yaml"
    configure default_policy changing
    start_reader box 'until [ -e /workspace/go ]; do sleep 0.02; done; look 1'
    echo '# another' >>"$WORLD/policies/changing.yaml"
    touch "$(work_of box)/go"
    kept box
    cmp "$NOTES/before.yaml" "$(folder_of box)/policy/1.yaml"
}

@test "of an overlay its upper layer is kept, whatever is in it, and nothing beyond it" {
    make_reader box 'rm /etc/group; look 1'
    lay_over box
    mkdir -p "$UPPER/etc" "$UPPER/odd" "$UPPER/deep"
    ln -s /etc/shadow "$UPPER/odd/to_host"
    ln -s / "$UPPER/odd/root"
    mkfifo "$UPPER/odd/fifo"
    mknod "$UPPER/odd/device" c 1 3
    printf 'odd\n' >"$UPPER/odd/"$'new\nline\e[31m'
    printf 'linked\n' >"$UPPER/odd/first"
    ln "$UPPER/odd/first" "$UPPER/odd/second"
    setfattr -n user.note -v kept "$UPPER/odd/first"
    /usr/bin/python3 - "$UPPER" <<'END'
import os, socket, sys
os.chdir(sys.argv[1] + "/odd")
with open("sparse", "wb") as f:
    f.truncate(1 << 30); f.seek(1 << 29); f.write(b"island")
socket.socket(socket.AF_UNIX).bind("socket")
os.chdir("../deep")
for i in range(300):
    os.mkdir("d"); os.chdir("d")
END
    start_detached box
    kept box
    [ "$(task_of box '.snapshot.kind')" = overlay ]
    tar -tvf "$(folder_of box)/files.tar" >"$NOTES/tar"
    grep -q '^l.* odd/to_host -> /etc/shadow$' "$NOTES/tar"
    grep -q '^l.* odd/root -> /$' "$NOTES/tar"
    grep -q '^p.* odd/fifo$' "$NOTES/tar"
    grep -q '^c.* odd/device$' "$NOTES/tar"
    grep -q '^h.* link to odd/' "$NOTES/tar"
    grep -q ' 1073741824 .* odd/sparse$' "$NOTES/tar"
    [ "$(stat -c %s "$(folder_of box)/files.tar")" -lt 1000000 ]
    mkdir "$NOTES/out"
    tar -C "$NOTES/out" --xattrs -xf "$(folder_of box)/files.tar" odd
    cmp "$UPPER/odd/sparse" "$NOTES/out/odd/sparse"
    [ "$(cat "$NOTES/out/odd/"$'new\nline\e[31m')" = odd ]
    getfattr -n user.note "$NOTES/out/odd/first" "$NOTES/out/odd/second" 2>/dev/null | grep -q kept
    rm -rf "$NOTES/out"
    jq -es 'any(.change == "deleted" and .path == "etc/group")' "$(folder_of box)/changes.jsonl"
    jq -es 'any(.omitted == "too deep")' "$(folder_of box)/changes.jsonl"
    jq -es 'any(.type == "socket" and .omitted != null)' "$(folder_of box)/changes.jsonl"
    run ! grep -q "$(head -c 20 /etc/shadow)" "$(folder_of box)/files.tar"
}

@test "a hundred thousand files hold up no kill, and what finds no room is listed" {
    make_reader box 'look 1; echo on >/workspace/on'
    lay_over box
    configure quarantine_max_bytes 1MiB
    /usr/bin/python3 - "$UPPER" <<'END'
import os, sys
os.mkdir(sys.argv[1] + "/many"); os.chdir(sys.argv[1] + "/many")
for i in range(100000):
    os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY, 0o600))
END
    start_detached box
    kept box
    [ "$(quarantine_of box .payload.delay_ms)" -lt 9000 ]
    [ "$(stat -c %s "$(folder_of box)/files.tar")" -le 1100000 ]
    [ "$(task_of box '.snapshot.files + .snapshot.omitted')" -ge 100000 ]
    [ "$(wc -l <"$(folder_of box)/changes.jsonl")" -ge 100000 ]
    tar -tf "$(folder_of box)/files.tar" >/dev/null
}

@test "a person's kill out of a pause, and the clock's, are kept with who did it" {
    configure default_policy held
    start_held box
    sandtrace kill "$(id_of box)"
    kept box
    [ "$(task_of box .cause)" = person ]
    [ "$(task_of box .snapshot.frozen)" = true ]
    configure default_policy hasty
    start_reader late 'look 1'
    kept late
    [ "$(task_of late .cause)" = timeout ]
}

@test "what is refused and runs on is not kept, nor what somebody kills for reasons of their own" {
    configure default_policy patient
    start_reader box 'look 1; exit 3'
    not_kept box
    start_reader other 'sleep 1000'
    sandtrace kill "$(id_of other)"
    not_kept other
}

@test "below quarantine_at only what the policy itself kills is kept; never keeps nothing" {
    configure default_policy held
    sed 's/severity: critical/severity: high/' "$WORLD/policies/held.yaml" >"$WORLD/policies/high.yaml"
    sed -i 's/^name: .*/name: high/' "$WORLD/policies/high.yaml"
    configure default_policy high
    configure quarantine_at critical
    start_held box
    sandtrace kill "$(id_of box)"
    not_kept box
    configure default_policy killing
    configure quarantine_at never
    start_reader other 'look 1'
    not_kept other
}

@test "an engine's kill of what is paused for a violation comes after the look at it" {
    configure default_policy held
    start_held box
    runtime kill "$(id_of box)" KILL
    kept box
    [ "$(task_of box '.cause + " " + (.snapshot.frozen | tostring)')" = "engine true" ]
    [ "$(task_of box .snapshot.processes)" -ge 1 ]
}

@test "what is removed by force while it is paused is kept as it was left" {
    configure default_policy held
    start_held box
    runtime delete --force "$(id_of box)"
    kept box
    [ "$(task_of box '.cause + " " + (.snapshot.frozen | tostring)')" = "ended false" ]
}

# stand_in: a program in the place of sandtrace-snapshot, that waits the first time.
stand_in() {
    cat >"$WORLD/bin/sandtrace-snapshot" <<END
#!/bin/sh
if [ ! -e $NOTES/again ]; then
    echo \$\$ >$NOTES/again.new; mv $NOTES/again.new $NOTES/again
    while :; do sleep 0.05; done
fi
exec $ST_BUILDDIR/sandtrace-snapshot "\$@"
END
    rm -f "$NOTES/again"
}

@test "where sandtrace-snapshot is killed the container dies all the same, and the trace says that nothing was kept" {
    stand_in
    start_reader box 'look 1; echo on >/workspace/on'
    retry_until exists "$NOTES/again"
    is_frozen box
    kill -KILL "$(cat "$NOTES/again")"
    trace_is_complete "$(id_of box)"
    [ "$(quarantine_of box '.payload.state + ": " + .payload.failure')" = "failed: sandtrace-snapshot ended before it was done" ]
    [ ! -e "$(work_of box)/on" ]
    [ -z "$(ls -A "$WORLD/quarantine" 2>/dev/null)" ]
}

@test "where it hangs the kill comes all the same" {
    stand_in
    start_reader box 'look 1; echo on >/workspace/on'
    trace_is_complete "$(id_of box)"
    [ "$(quarantine_of box .payload.failure)" = "it took too long" ]
    [ ! -e "$(work_of box)/on" ]
    kill -KILL "$(cat "$NOTES/again")"
}

@test "where the worker is killed meanwhile the next one has it looked at again, and no half of a folder stays" {
    stand_in
    start_reader box 'look 1; echo on >/workspace/on'
    retry_until exists "$NOTES/again"
    kill -KILL "$(state_of "$(id_of box)" worker)"
    kept box
    [ ! -e "$(work_of box)/on" ]
    [ "$(quarantine_of box '.payload.state + " " + (.payload.frozen | tostring)')" = "kept true" ]
    [ "$(ls -A "$WORLD/quarantine")" = "$(id_of box)" ]
}

@test "what was left half made is never a task, and is taken away by the next" {
    mkdir -m 0700 "$WORLD/quarantine" "$WORLD/quarantine/.new.1.0"
    echo '{' >"$WORLD/quarantine/.new.1.0/review.json"
    [ -z "$(sandtrace review list)" ]
    start_reader box 'look 1'
    kept box
    [ "$(ls -A "$WORLD/quarantine")" = "$(id_of box)" ]
}

@test "with refuse_unreviewed the same container starts again only when its task is closed" {
    configure refuse_unreviewed container
    start_reader box 'look 1'
    kept box
    runtime delete --force "$(id_of box)"
    run start_detached box
    [ "$status" -ne 0 ]
    [[ $output == *"sandtrace review show $(id_of box)"* ]]
    run sandtrace review close "$(id_of box)" --verdict benign
    [ "$status" -eq 2 ]
    sandtrace review close "$(id_of box | head -c 12)" --verdict benign --reason 'a test of ours'
    start_detached box
    retry_until exists "$(folder_of box).2/review.json"
    trace_is_complete "$(id_of box)"
    # A task that can't be read any more is of the container by its name.
    runtime delete --force "$(id_of box)"
    : >"$(folder_of box).2/review.json"
    run start_detached box
    [ "$status" -ne 0 ]
    [[ $output == *"its task can't be read"*"sandtrace review show $(id_of box).2"* ]]
}

@test "reviews are listed, shown and closed once, and a name is no escape sequence" {
    start_reader box 'look 1'
    kept box
    [ "$(sandtrace review list | jq -r '.id + " " + .state')" = "$(id_of box) open" ]
    sandtrace review show "$(id_of box)" | jq -e '.snapshot.processes > 0 and .severity == "critical"'
    sandtrace review close "$(id_of box)" --verdict malicious --reason $'it \e[31mread\n the secret' |
        jq -e '.closed.verdict == "malicious" and (.closed.by | startswith("root"))'
    run -1 sandtrace review close "$(id_of box)" --verdict benign --reason 'no'
    [[ $output == *"is closed already: malicious"* ]]
    [ -z "$(sandtrace review list)" ]
    sandtrace review list --all | jq -e '.state == "closed"'
    script -qec "sandtrace review show $(id_of box)" /dev/null >"$NOTES/shown"
    grep -qF 'it \x1b[31mread' "$NOTES/shown"
    exists "$(folder_of box)/files.tar"
    run -2 sandtrace review show nobody
    run -2 sandtrace review close "$(id_of box)" --verdict fine --reason x
}

@test "the program of on_review is told of what is opened and closed, and its failure is noted" {
    cat >"$NOTES/told" <<END
#!/bin/sh
cat >>$NOTES/heard
env >$NOTES/heard.env
exit \$1
END
    chmod 0755 "$NOTES/told"
    configure on_review "[$NOTES/told, \"0\"]"
    start_reader box 'look 1'
    kept box
    retry_until exists "$(folder_of box)/told.jsonl"
    jq -e '.event == "opened" and .review.rule == "secrets"' "$NOTES/heard"
    run ! grep -q WORLD "$NOTES/heard.env"
    configure on_review "[$NOTES/told, \"7\"]"
    run --separate-stderr sandtrace review close "$(id_of box)" --verdict other --reason 'told too'
    [ "$status" -eq 0 ]
    [[ $stderr == *"ended with code 7"* ]]
    jq -es '.[1].event == "closed" and .[1].review.closed.verdict == "other"' "$NOTES/heard"
    jq -es '.[0].failure == null and .[1].failure == "ended with code 7"' "$(folder_of box)/told.jsonl"
    run -1 sandtrace review tell "$(id_of box)"
    [[ $output == *"ended with code 7"* ]]
    configure on_review "[$NOTES/told, \"0\"]"
    sandtrace review tell "$(id_of box)"
    jq -es 'length == 4 and .[3].event == "closed" and .[3].review == .[1].review' "$NOTES/heard"
    sed -i '/^on_review:/d' "$SANDTRACE_CONFIG"
    run -2 sandtrace review tell "$(id_of box)"
    [[ $output == *"on_review is not set"* ]]
    rm -f "$NOTES"/heard*
}
