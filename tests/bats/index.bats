#!/usr/bin/env bats
# The database of the review desk: what is in the traces is in it, once, whatever happens to it, to them, and to who makes it.
# shellcheck disable=SC2154,SC2016 # words of the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container

setup_file() {
    require sqlite3=sqlite3 python3=python3 zstd=zstd
    make_world
    configure default_policy indexed
    configure allow_unsigned true
    cat >"$WORLD/policies/indexed.yaml" <<END
schema_version: "2.0"
name: indexed
floor: off
defaults: { filesystem: { read: allow, write: allow, exec: allow } }
rules:
  - { id: secrets, type: filesystem, action: deny, severity: medium, paths: [/etc/shadow] }
END
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() {
    db=$WORLD/db/events.db
    export SANDTRACE_DB=$db
    trace=$WORLD/log/made.jsonl
    remember_what_is_there
}

teardown() {
    local name
    for name in "$NOTES"/daemons/*; do
        [ ! -e "$name" ] || stop_daemon "$(basename "$name")"
    done
    remove_all_containers
    rm -rf "${WORLD:?}"/log/* "$WORLD/db" "$WORLD/again"
    configure allow_unsigned true
    nothing_left_behind
}

# make_trace EVENTS [FIRST [ROTATE]]: a trace of so many, or so many more.
make_trace() { "$ST_BUILDDIR/tests/bench/make_trace" "$trace" "$1" made "${2:-0}" "${3:-0}"; }

# ask SQL: of the database.
ask() { sqlite3 -batch "$db" "$1"; }

# What is said of a trace: column.
of_trace() { ask "SELECT $1 FROM trace WHERE name = '${2:-made.jsonl}'"; }

count() { ask "SELECT count(*) FROM sandbox_audit_event ${1:+WHERE $1}"; }

# all_of DB: every event and every count in it, whatever their ids.
all_of() {
    sqlite3 -batch "$1" "SELECT t.name, e.seq, analysis_id, ts, kind, path_or_addr, severity, allowed, blocked, raw_detail, e.chain, event_id,
            result, action, rule, reason, s.body, c.body
        FROM sandbox_audit_event e JOIN trace t ON t.no = e.trace LEFT JOIN text s ON s.id = subject LEFT JOIN text c ON c.id = command
        ORDER BY t.name, e.id;
        SELECT * FROM tally WHERE n ORDER BY 1, 2, 3, 4, 5, 6;
        SELECT body, uses, blocked FROM text_use JOIN text ON text = id WHERE uses ORDER BY 1;
        SELECT name, chain, state, records, seq, head, issues, torn FROM trace ORDER BY 1;
        SELECT name, n, code, i.seq, i.line, i.offset FROM trace_issue i JOIN trace ON no = trace ORDER BY 1, 2"
}

# places_are_true: each event is found by its texts, and nothing else is.
places_are_true() {
    local all='SELECT subject, ts, id, class FROM sandbox_audit_event WHERE subject UNION SELECT command, ts, id, class FROM sandbox_audit_event WHERE command'
    [ -z "$(ask "SELECT * FROM ($all EXCEPT SELECT text, ts, event, class FROM text_at)")" ]
    [ -z "$(ask "SELECT * FROM (SELECT text, ts, event, class FROM text_at EXCEPT SELECT * FROM ($all))")" ]
}

# is_as_made_anew: a database that is made from the traces at once says the same.
is_as_made_anew() {
    sandtrace index --db "$WORLD/again/events.db" --rebuild >/dev/null
    all_of "$db" >"$NOTES/ours"
    all_of "$WORLD/again/events.db" >"$NOTES/anew"
    cmp "$NOTES/ours" "$NOTES/anew"
    places_are_true
}

lines_of() { cat "$@" | wc -l; }

# ---- what is in it ----

@test "what a container did is in the database, with the columns that others know" {
    make_container box sh -c 'cat /etc/passwd; cat /etc/shadow; true'
    echo 'root:secret' >"$(bundle_of box)/rootfs/etc/shadow"
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/box.log" 2>&1
    trace_is_complete "$(id_of box)"
    sandtrace index

    [ "$(count)" -eq "$(lines_of "$(trace_of "$(id_of box)")")" ]
    [ "$(ask "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('sandbox_audit_event') LIMIT 9)")" = \
        id,analysis_id,ts,kind,path_or_addr,severity,allowed,blocked,raw_detail ]
    [ "$(ask "SELECT analysis_id, kind, severity, allowed, blocked, rule, chain FROM sandbox_audit_event WHERE path_or_addr = '/etc/shadow'")" = \
        "$(id_of box)|filesystem|medium|0|1|secrets|whole" ]
    [ "$(of_trace "container, state, chain, issues" "$(id_of box).jsonl")" = "$(id_of box)|sealed|whole|0" ]
    [ "$(of_trace signed_seq "$(id_of box).jsonl")" -eq "$(count)" ]
    # Times and payloads are those of the trace.
    [ "$(ask "SELECT raw_detail FROM sandbox_audit_event WHERE path_or_addr = '/etc/shadow'")" = \
        "$(trace_value "$(id_of box)" '.payload.path == "/etc/shadow"' '.payload | tojson' | jq -cS .)" ]
    [ "$(ask "SELECT time FROM event_readable WHERE path_or_addr = '/etc/shadow'")" = \
        "$(trace_value "$(id_of box)" '.payload.path == "/etc/shadow"' .wall_time)" ]
}

@test "files, hosts and command lines are found by their words" {
    make_trace 2000
    sandtrace index
    ids="SELECT rowid FROM text_search WHERE text_search MATCH"
    [ "$(count "subject IN ($ids '\"id_ed25519\"')")" -eq "$(grep -c id_ed25519 "$trace")" ]
    [ "$(count "subject IN ($ids '\"api-7.example.com\"')")" -eq "$(grep -cE '"(dst_host|name)":"api-7.example.com"' "$trace")" ]
    [ "$(count "command IN ($ids '\"tool-3\"')")" -eq "$(grep -c '"argv":\["tool-3"' "$trace")" ]
}

@test "the counts beside the events are those of the events" {
    make_trace 5000
    sandtrace index
    [ "$(ask 'SELECT sum(n) FROM tally')" -eq "$(count)" ]
    [ "$(ask "SELECT n FROM tally WHERE severity = 'critical' AND blocked")" -eq "$(count "severity = 'critical'")" ]
    [ "$(ask "SELECT uses, text_use.blocked FROM text_use JOIN text ON text = id WHERE body = '/root/.ssh/id_ed25519'")" = \
        "$(count "path_or_addr LIKE '%id_ed25519'")|$(count "path_or_addr LIKE '%id_ed25519'")" ]
}

@test "hostile names are kept as they are, and change nothing else" {
    python3 - >"$NOTES/events" <<'END'
import json
names = [b"/tmp/'); DROP TABLE trace; --", b"/tmp/\"\\'`", b"/tmp/<script>alert(1)</script>", b"/tmp/\x1b[2J\x07", b"/tmp/a\nb",
         "/tmp/\u202egnp.exe".encode(), b"/tmp/\xff\xfe\x80", b"/tmp/" + b"x" * 4090, b"/tmp/ \t ", "/tmp/\U0001f600".encode()]
for n, name in enumerate(names):
    print(json.dumps({"type": "filesystem", "tier": "kernel", "wall_us": 1774526400000000 + n, "op": "open", "access": 1, "dev": 0, "ino": 0,
        "blocked": False, "path": name.hex(), "process": {"comm": b"<b>&".hex(), "pid": 4, "exe": name.hex()},
        "verdict": {"result": "allow", "action": "none", "severity": "none", "rule": b"'\"".hex()}}))
END
    "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys-made" "$trace" "agent';--" t <"$NOTES/events"
    sandtrace index
    [ "$(count)" -eq "$(lines_of "$trace")" ]
    [ "$(count "analysis_id = 'agent'';--'")" -eq "$(count)" ]
    ask "SELECT json_quote(path_or_addr) FROM sandbox_audit_event WHERE kind = 'filesystem' ORDER BY seq" | jq -c . >"$NOTES/stored"
    jq -c 'select(.event_type == "filesystem") | .payload.path | .[:4096]' "$trace" >"$NOTES/written"
    cmp "$NOTES/stored" "$NOTES/written"
    [ "$(ask 'PRAGMA integrity_check')" = ok ]
    rm -r "$WORLD/keys-made"
}

# ---- again and again ----

@test "a second look takes in only what is new" {
    make_trace 1000
    [ "$(sandtrace index | jq .events)" -eq "$(lines_of "$trace")" ]
    [ "$(sandtrace index | jq .events)" -eq 0 ]
    make_trace 500 1000
    [ "$(sandtrace index | jq .events)" -eq 501 ] # with its final checkpoint
    [ "$(count)" -eq "$(lines_of "$trace")" ]
    is_as_made_anew
}

@test "a container is followed while it runs, and to its end" {
    start_daemon index sandtrace index --follow
    start_ticking box
    retry_until contains_event "$(id_of box)"
    [ "$(of_trace state "$(id_of box).jsonl")" = running ]
    runtime kill "$(id_of box)" KILL
    trace_is_complete "$(id_of box)"
    retry_until trace_is_in "$(id_of box)"
    [ "$(of_trace chain "$(id_of box).jsonl")" = whole ]
    [ "$(count)" -eq "$(lines_of "$(trace_of "$(id_of box)")")" ]
}

contains_event() { [ "$(count "analysis_id = '$1'")" -gt 0 ]; }
trace_is_in() { [ "$(of_trace state "$1.jsonl")" = sealed ]; }

@test "who follows and has nothing to do does not wake up" {
    start_daemon index sandtrace index --follow
    retry_until exists "$db"
    make_trace 100
    retry_until has_events 101
    pid=$(daemon_pid index)
    retry_until sleeps "$pid"
    before=$(switches_of "$pid")
    sleep 0.5
    [ "$(switches_of "$pid")" = "$before" ]
}

has_events() { [ -e "$db" ] && [ "$(count 2>/dev/null)" = "$1" ]; }
sleeps() { [ "$(cut -d' ' -f3 "/proc/$1/stat")" = S ]; }
switches_of() { grep ctxt_switches "/proc/$1/status"; }

@test "killed at any moment, it doubles nothing and loses nothing" {
    for part in 0 1 2 3 4 5 6 7 8 9; do
        make_trace 12000 $((part * 12000))
        sandtrace index >/dev/null 2>&1 &
        pid=$!
        sleep "0.$((RANDOM % 300))"
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" || true
    done
    sandtrace index
    [ "$(count)" -eq "$(lines_of "$trace")" ]
    [ "$(ask 'SELECT count(DISTINCT seq) FROM sandbox_audit_event')" -eq "$(count)" ]
    is_as_made_anew
}

@test "a database that is taken away while it is followed is made again" {
    make_trace 300
    start_daemon index sandtrace index --follow
    retry_until has_events 301
    rm "$db"*
    make_trace 100 300
    retry_until has_events 402
    is_as_made_anew
}

@test "a database that is taken away while nothing happens is made again all the same, whatever part of it went" {
    local part
    make_trace 300
    start_daemon index sandtrace index --follow
    retry_until has_events 301
    for part in 1 2 3 4 5; do # its log may go when the next one is there already
        rm -f "$db"*
        retry_until has_events 301
    done
    rm "$db-wal" "$db-shm"
    make_trace 100 300
    retry_until has_events 402
    rm -r "$WORLD/db"
    retry_until has_events 402
    mv "$db" "$WORLD/again.db"
    retry_until has_events 402
    rm "$WORLD/again.db"
    run -2 sandtrace index # the lock went with it, and is there again
    [[ "$output" = *"another sandtrace is at work on it"* ]]
    is_as_made_anew
    [ "$(ask 'PRAGMA integrity_check')" = ok ]
}

@test "two at once are refused" {
    start_daemon index sandtrace index --follow
    retry_until exists "$db"
    run -2 sandtrace index
    [[ "$output" = *"another sandtrace is at work on it"* ]]
}

@test "a database of a later sandtrace is left alone" {
    make_trace 10
    sandtrace index
    ask 'PRAGMA user_version = 99'
    run -2 sandtrace index
    [[ "$output" = *"made by a later sandtrace (schema 99"* ]]
    sandtrace index --rebuild
    [ "$(count)" -eq 11 ]
}

@test "a database of schema 1 is brought up with nothing lost, and gone on with" {
    local old=$WORLD/again/old.db
    mkdir "$WORLD/db" "$WORLD/again"
    sqlite3 -batch "$old" <"$ST_SRCDIR/tests/bats/lib/events_schema1.sql"
    cp "$old" "$db"
    sandtrace index
    all_of "$old" | sed 's/|whole|sealed|25|/|whole|missing|25|/' >"$NOTES/before"
    all_of "$db" >"$NOTES/after"
    cmp "$NOTES/before" "$NOTES/after"
    places_are_true
    [ "$(ask "SELECT count(*) FROM text_search JOIN text_at ON text = text_search.rowid WHERE text_search MATCH 'shadow OR ed25519'")" -eq 1 ]
    make_trace 10
    sandtrace index
    [ "$(count)" -eq 36 ]
    places_are_true
    [ "$(ask 'PRAGMA integrity_check')" = ok ]
}

@test "what is no database is left alone" {
    mkdir "$WORLD/db"
    echo 'my diary, which is not a database at all' >"$db"
    run -2 sandtrace index
    [[ "$output" = *"not a database"* ]]
    contains "$db" 'my diary'
    run -2 sandtrace index --rebuild
    [[ "$output" = *"is not deleted"* ]]
    contains "$db" 'my diary'
}

@test "a database of another program is left alone, byte by byte" {
    local sum version
    make_trace 10
    mkdir "$WORLD/db"
    for version in 0 3; do # as most have it, and as ours has it
        rm -f "$db"*
        ask "CREATE TABLE diary(day, text); INSERT INTO diary VALUES(1, 'dear diary'); PRAGMA user_version = $version"
        sum=$(sha256sum "$db")
        run -2 sandtrace index
        [[ "$output" = *"a database of another program"* ]]
        run -2 sandtrace index --rebuild
        [[ "$output" = *"a database of another program"* ]]
        [ "$(sha256sum "$db")" = "$sum" ]
        is_gone "$db-wal"
    done
}

@test "a database of ours that is spoilt is made anew where that is asked for" {
    make_trace 10
    sandtrace index
    dd if=/dev/urandom of="$db" bs=1 seek=100 count=20000 conv=notrunc status=none
    run -2 sandtrace index
    sandtrace index --rebuild
    [ "$(count)" -eq 11 ]
}

@test "only root reads the database" {
    make_trace 10
    sandtrace index
    [ "$(stat -c %a "$db")" = 640 ]
    [ "$(stat -c %a "$WORLD/db")" = 750 ]
}

# ---- traces that are not as they should be ----

@test "a changed record is said in the row of its trace, and in each event from there on" {
    make_trace 100
    sed -i '50s/"op":"/"op":"x/' "$trace"
    sandtrace index
    [ "$(of_trace chain)" = broken ]
    [ "$(ask 'SELECT code, seq, line FROM trace_issue')" = 'hash_mismatch|50|50' ]
    [ "$(count "chain = 'whole'")" -eq 49 ]
    [ "$(count "chain = 'broken'")" -eq 52 ]
    # What comes later does not mend it.
    make_trace 10 100
    sandtrace index
    [ "$(of_trace chain)" = broken ]
    [ "$(count "chain = 'broken'")" -eq 63 ]
    is_as_made_anew
}

# forge SEQ LAST: what record SEQ says is changed, and the hashes are made anew from there to LAST.
forge() {
    python3 - "$trace" "$1" "$2" <<'END'
import hashlib, re, sys
name, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lines, head = open(name).read().splitlines(), None
for i in range(first - 1, last):
    line = lines[i].replace('"path":"/x"', '"path":"/y"') if i == first - 1 else re.sub(r'"prev_hash":"sha256:\w+"', f'"prev_hash":"{head}"', lines[i])
    cut = re.sub(r',"record_hash":"sha256:\w+"', '', line)
    before = re.search(r'"prev_hash":"(sha256:\w+)"', line)[1]
    head = "sha256:" + hashlib.sha256((cut + before).encode()).hexdigest()
    lines[i] = re.sub(r'"record_hash":"sha256:\w+"', f'"record_hash":"{head}"', line)
open(name, "w").write("".join(line + "\n" for line in lines))
END
}

# chains: how many events of the trace are said to be whole, and how many broken.
chains() { ask "SELECT sum(chain = 'whole'), sum(chain = 'broken') FROM sandbox_audit_event"; }

@test "of a signed trace that was changed no event is called whole that no signature vouches for, however well it was forged" {
    local last
    configure allow_unsigned false
    for _ in 1 2 3 4 5; do
        echo '{"type":"filesystem","tier":"kernel","wall_us":1774526400000000,"op":"open","access":1,"dev":0,"ino":0,"path":"2f78","process":{"pid":4}}'
    done >"$NOTES/events"
    for last in 9 11 12; do # its own hash; up to the checkpoint, whose signature is of another; the checkpoint's too
        rm -f "$trace" "$db"*
        "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys" "$trace" made t <"$NOTES/events"
        sandtrace index
        "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys" "$trace" made t <"$NOTES/events"
        [ "$(of_trace "signed_seq, chain")" = '6|whole' ]
        cp "$trace" "$NOTES/true"
        forge 9 "$last"
        run ! cmp -s "$trace" "$NOTES/true"
        sandtrace index
        [ "$(of_trace "signed_seq, chain")" = '6|broken' ]
        [ "$(chains)" = '6|6' ]
        is_as_made_anew
        # What its writer says later does not mend it.
        "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys" "$trace" made t <"$NOTES/events"
        sandtrace index
        [ "$(ask "SELECT sum(chain = 'whole') FROM sandbox_audit_event")" -eq 6 ]
        is_as_made_anew
    done
    # Nor is what was read before the bad news called whole for ever.
    rm -f "$trace" "$db"*
    head -n 11 "$NOTES/true" >"$trace"
    forge 9 11
    sandtrace index
    [ "$(chains)" = '11|0' ]
    tail -n 1 "$NOTES/true" >>"$trace"
    sandtrace index
    [ "$(chains)" = '6|6' ]
    is_as_made_anew
}

@test "what a crash tore in a signed trace is in doubt until its writer declares it, and then whole again" {
    local half
    configure allow_unsigned false
    echo '{"type":"filesystem","tier":"kernel","wall_us":1774526400000000,"op":"open","access":1,"dev":0,"ino":0,"path":"2f78","process":{"pid":4}}' >"$NOTES/events"
    "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys" "$trace" made t <"$NOTES/events"
    "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys" "$trace" made t <"$NOTES/events"
    sed -i '$d' "$trace" # its last checkpoint: one event is left for which nobody vouches
    half=$(sed -n 1p "$trace")
    printf '%s\n%s' "$half" "${half:0:100}" >>"$trace"
    sandtrace index
    [ "$(chains)" = '2|2' ]
    # (It ends by reading all of it, and knows nothing of tears.)
    run -1 "$ST_BUILDDIR/tests/audit/write_events" "$WORLD/keys" "$trace" made t <"$NOTES/events"
    sandtrace verify "$trace"
    sandtrace index
    [ "$(of_trace "chain, torn")" = 'whole|1' ]
    [ "$(count "chain = 'broken'")" -eq 0 ]
    is_as_made_anew
}

@test "a line that is no record is said, however long it is" {
    make_trace 20
    { head -n 10 "$trace"; head -c 5000000 /dev/zero | tr '\0' x; echo; tail -n +11 "$trace"; } >"$trace.new"
    mv "$trace.new" "$trace"
    sandtrace index
    [ "$(ask 'SELECT code, line FROM trace_issue ORDER BY n LIMIT 1')" = 'bad_json|11' ]
    [ "$(count)" -eq 21 ]
    [ "$(count "chain = 'broken'")" -eq 11 ]
    make_trace 5 20
    sandtrace index
    is_as_made_anew
}

@test "an unfinished last line waits for its end" {
    make_trace 20
    cp "$trace" "$NOTES/whole"
    head -c -100 "$NOTES/whole" >"$trace"
    sandtrace index
    [ "$(of_trace state)" = torn ]
    [ "$(count)" -eq 20 ]
    tail -c 100 "$NOTES/whole" >>"$trace"
    sandtrace index
    [ "$(of_trace state)" = sealed ]
    [ "$(count)" -eq 21 ]
    is_as_made_anew
}

@test "what a crash tore, and its writer declared, is no part of the trace" {
    make_trace 50
    # A record that was here before, and half of another: behind a power failure anything may stand.
    sed -n 7p "$trace" >"$NOTES/line"
    cat "$NOTES/line" "$NOTES/line" >>"$trace"
    head -c 200 "$NOTES/line" >>"$trace"
    sandtrace index
    [ "$(of_trace chain)" = broken ]
    [ "$(count)" -eq 53 ]
    make_trace 30 50
    sandtrace verify --allow-unsigned "$trace"
    sandtrace index
    [ "$(of_trace "chain, torn")" = 'whole|1' ]
    [ "$(ask 'SELECT count(*) FROM trace_issue')" -eq 0 ]
    [ "$(count "chain = 'broken'")" -eq 0 ]
    [ "$(ask 'SELECT count(DISTINCT seq) FROM sandbox_audit_event')" -eq "$(count)" ]
    is_as_made_anew
}

@test "a trace is read on over rotations, also when what is full was compressed meanwhile" {
    make_trace 3000 0 1048576
    sandtrace index
    first=$(count)
    make_trace 6000 3000 1048576
    [ -e "$trace.4" ]
    gzip "$trace.1"
    zstd -q --rm "$trace.3"
    sandtrace index
    [ "$(count)" -gt "$first" ]
    [ "$(of_trace "chain, state")" = 'whole|sealed' ]
    [ "$(count)" -eq "$(of_trace seq)" ]
    is_as_made_anew
}

@test "what was full and left is in before anything comes in the next file, and once" {
    local all=$NOTES/all
    make_trace 300
    mv "$trace" "$all"
    head -n 100 "$all" >"$trace"
    start_daemon index sandtrace index --follow
    retry_until has_events 100
    kill -STOP "$(daemon_pid index)"
    sed -n 101,200p "$all" >>"$trace"
    mv "$trace" "$trace.1"
    : >"$trace"
    kill -CONT "$(daemon_pid index)"
    retry_until has_events 200
    sed -n '201,$p' "$all" >>"$trace"
    retry_until has_events 301
    is_as_made_anew
}

@test "a file of a rotated trace that is gone is said" {
    make_trace 6000 0 1048576
    rm "$trace.2"
    sandtrace index
    [ "$(of_trace chain)" = broken ]
    [ "$(ask 'SELECT code FROM trace_issue')" = seq_gap ]
}

@test "a trace that was cut is read again, and its note says what was there" {
    make_trace 100
    sandtrace index
    head=$(tail -n 1 "$trace" | jq -r .record_hash)
    sed -i '50,$d' "$trace"
    sandtrace index
    [ "$(count)" -eq 49 ]
    [ "$(of_trace state)" = truncated ]
    [[ "$(of_trace note)" = *"it had 101 records, the last one $head" ]]
    [ "$(ask 'SELECT sum(n) FROM tally')" -eq 49 ]
}

@test "another trace by the same name is read from its beginning" {
    make_trace 100
    sandtrace index
    rm "$trace"
    make_trace 300 5000
    sandtrace index
    [ "$(count)" -eq 301 ]
    [ "$(of_trace "chain, state")" = 'whole|sealed' ]
    [[ "$(of_trace note)" = *"it had 101 records"* ]]
}

@test "events of a trace that is gone stay, and its row says so" {
    make_trace 100
    sandtrace index
    rm "$trace"
    sandtrace index
    [ "$(of_trace state)" = missing ]
    [ "$(count)" -eq 101 ]
}

@test "a trace that can't be read does not keep the others out" {
    make_trace 10
    mkfifo "$WORLD/log/fifo.jsonl"
    ln -s /etc/passwd "$WORLD/log/link.jsonl"
    mkdir "$WORLD/log/folder.jsonl"
    run -1 sandtrace index
    [ "$(count)" -eq 11 ]
    [[ "$output" = *fifo.jsonl* && "$output" = *link.jsonl* && "$output" = *folder.jsonl* ]]
}

# indexer: its pid.
indexer() {
    local pid
    for pid in $(pgrep -f "sandtrace index --db $db"); do
        [ "$(cat "/proc/$pid/comm")" != sandtrace ] || echo "$pid"
    done
}

is_a_second_old() { [ "$(ps -o etimes= -p "$1")" -ge 2 ]; }

@test "on a terminal it is seen to be at work, and a pipe has only what it said" {
    require script=util-linux
    make_trace 150000
    # Held up in the midst of it, lest a quick machine has nothing to show; script would stop with its own child.
    script -qec "sandtrace index --db $db; true" /dev/null </dev/null >"$NOTES/seen" 2>&1 3>&- &
    retry_until exists "$db-lock"
    kill -STOP "$(indexer)"
    retry_until is_a_second_old "$(indexer)"
    kill -CONT "$(indexer)"
    wait $!
    grep -q $'\r.*made.jsonl: [0-9]* records' "$NOTES/seen"
    grep -q 'new events in 1 trace' "$NOTES/seen"
    run -0 --separate-stderr sandtrace index --db "$db" --rebuild
    [ "$(jq -c 'keys' <<<"$output")" = '["events","traces"]' ]
    [ -z "$stderr" ]
}
