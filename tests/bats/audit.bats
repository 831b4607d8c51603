#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The trace: its format against an independent implementation, and the commands that read it.

setup() {
    helpers=$ST_BUILDDIR/tests/audit
    sandtrace=$ST_BUILDDIR/sandtrace
    dir=$(mktemp -d)
    trace=$dir/t.jsonl
    key=$dir/trace.pub
    # None of this machine's own configuration or keys.
    export SANDTRACE_CONFIG=$dir/sandtrace.yaml
    echo "key_dir: $dir/none" >"$SANDTRACE_CONFIG"
    writer=
}

teardown() {
    if [ -n "$writer" ]; then
        exec 9>&-
        wait "$writer" || true
    fi
    rm -rf "$dir"
}

hex() { printf %s "$1" | od -An -vtx1 | tr -d ' \n'; }

# An event on a file: PATH RESULT ACTION BLOCKED.
file_event() {
    printf '{"type":"filesystem","tier":"kernel","wall_us":%d,"op":"open","access":%d,"dev":0,"ino":0,"blocked":%s,"path":"%s",' \
        "$((1774526400000000 + ${n:=0} * 1000000))" "${access:-1}" "$4" "$(hex "$1")"
    printf '"process":{"comm":"%s","pid":42,"exe":"%s"},"verdict":{"result":"%s","action":"%s","severity":"none","rule":"%s"}}\n' \
        "$(hex cat)" "$(hex /bin/cat)" "$2" "$3" "$(hex scope)"
    n=$((n + 1))
}

# A connection: HOST PORT BYTES RESULT BLOCKED.
net_event() {
    printf '{"type":"network_egress","tier":"kernel","wall_us":%d,"host":"%s","host_source":"dns","ip":"192.0.2.7","port":%d,"protocol":6,' \
        "$((1774526400000000 + ${n:=0} * 1000000))" "$(hex "$1")" "$2"
    printf '"state":"closed","bytes_sent":%d,"bytes_received":100,"blocked":%s,"process":{"comm":"%s","pid":43},' "$3" "$5" "$(hex curl)"
    printf '"verdict":{"result":"%s","action":"none","severity":"none","rule":"%s"}}\n' "$4" "$(hex net)"
    n=$((n + 1))
}

some_events() {
    file_event /workspace/a.c allow none false
    file_event /etc/shadow deny denied true
    net_event api.stripe.com 443 316 allow false
    net_event evil.example 80 9000 anomaly false
    access=2 file_event /workspace/out allow none false
}

# some_events as a signed, closed trace.
make_trace() {
    some_events | "$helpers/write_events" "$dir" "$trace" agent-7 trace-1
}

json() { python3 -c 'import json,sys; d=json.load(sys.stdin); print(eval(sys.argv[1], {"d": d}))' "$1"; }

@test "10,000 random events are written, and read back, as an independent implementation has them" {
    run -0 python3 "$ST_SRCDIR/tests/audit/cross_check.py" "$helpers/write_events" "$dir" 10000 20260326
    [[ $output == *"10000 events agree"* ]]
}

@test "keygen makes a secret that only its owner reads, and never overwrites" {
    run -0 "$sandtrace" keygen --key-dir "$dir/keys"
    [[ $output == ed25519:* ]]
    [ "$(stat -c %a "$dir/keys/trace.key")" = 600 ]
    [ "$(stat -c %a "$dir/keys/trace.pub")" = 644 ]
    cp "$dir/keys/trace.key" "$dir/before"
    run -2 "$sandtrace" keygen --key-dir "$dir/keys"
    [[ $output == *"never overwritten"* ]]
    cmp "$dir/before" "$dir/keys/trace.key"
}

@test "verify says that a whole trace is valid, and by whose signature" {
    make_trace
    run -0 "$sandtrace" verify "$trace" --key "$key"
    [[ $output == *"valid: 6 records, seq 6, closed"* ]]
    [[ $output == *"signed: all up to seq 6"* ]]
}

@test "verify takes its keys from the configuration's folder" {
    make_trace
    echo "key_dir: $dir" >"$SANDTRACE_CONFIG"
    chmod go-w "$SANDTRACE_CONFIG"
    run -0 "$sandtrace" verify "$trace"
    echo "key_dir: $dir/none" >"$SANDTRACE_CONFIG"
    run -1 "$sandtrace" verify "$trace"
    [[ $output == *unknown_key* ]]
}

@test "verify names the record that was changed, with seq, line and offset" {
    make_trace
    sed -i '3s/316/317/' "$trace"
    run -1 "$sandtrace" verify "$trace" --key "$key"
    [[ $output == *"CHAIN BROKEN"* ]]
    [[ $output == *"hash_mismatch"*"seq 3, line 3, offset $(head -2 "$trace" | wc -c)"* ]]
    [[ $output == *"no signature vouches for it"* && $output != *"signed: all"* ]]
    run -1 "$sandtrace" verify "$trace" --key "$key" --json
    [ "$(json 'd["valid"], d["issues"][0]["code"], d["issues"][0]["seq"]' <<<"$output")" = "(False, 'hash_mismatch', 3)" ]
}

@test "verify tells a missing end from a torn one" {
    make_trace
    head -4 "$trace" >"$dir/short.jsonl"
    run -1 "$sandtrace" verify "$dir/short.jsonl" --key "$key"
    [[ $output == *truncated* ]]
    run -0 "$sandtrace" verify "$dir/short.jsonl" --key "$key" --live
    head -c -20 "$trace" >"$dir/torn.jsonl"
    run -1 "$sandtrace" verify "$dir/torn.jsonl" --key "$key"
    [[ $output == *torn_tail* ]]
    printf 'no record\nnone either\nno rec' >"$dir/other.jsonl"
    run -1 "$sandtrace" verify "$dir/other.jsonl" --key "$key"
    [[ $output == *"bad_json"*"seq 1, line 1"*"bad_json"*"seq 2, line 2"*"torn_tail"*"seq 3, line 3"* ]]
    : >"$dir/empty.jsonl"
    run -1 "$sandtrace" verify "$dir/empty.jsonl" --key "$key"
    [[ $output == *invalid_genesis* ]]
}

@test "verify finds a trace that was cut back, where its head is known from elsewhere" {
    make_trace
    head=$(tail -1 "$trace" | json 'd["record_hash"]')
    some_events | "$helpers/write_events" "$dir" "$trace" agent-7 trace-2
    later=$(tail -1 "$trace" | json 'd["record_hash"]')
    run -0 "$sandtrace" verify "$trace" --key "$key" --head "$head"
    head -6 "$trace" >"$dir/cut.jsonl"
    run -0 "$sandtrace" verify "$dir/cut.jsonl" --key "$key"
    run -1 "$sandtrace" verify "$dir/cut.jsonl" --key "$key" --head "$later"
    [[ $output == *truncated* ]]
}

@test "verify exits with 2 where a file can't be read, or is asked wrongly" {
    run -2 "$sandtrace" verify "$dir/nothing.jsonl"
    run -2 "$sandtrace" verify
    run -2 "$sandtrace" verify --key "$dir/none" "$trace"
    run -2 "$sandtrace" verify --nonsense "$trace"
}

@test "verify reads standard input, gz and zst, and says where they are damaged" {
    make_trace
    gzip -k "$trace"
    zstd -q -k "$trace"
    run -0 "$sandtrace" verify "$trace.gz" --key "$key"
    run -0 "$sandtrace" verify "$trace.zst" --key "$key"
    run -0 "$sandtrace" verify - --key "$key" <"$trace"
    run -0 "$sandtrace" verify - --key "$key" <"$trace.gz"
    run -0 "$sandtrace" verify - --key "$key" <"$trace.zst"
    head -c 300 "$trace.gz" >"$dir/cut.gz"
    run -2 "$sandtrace" verify "$dir/cut.gz" --key "$key"
    [[ $output == *"damaged or cut"* ]]
}

@test "verify reads the files of a rotated trace as one, also where some are compressed" {
    for _ in 1 2 3 4 5 6; do some_events; done | "$helpers/write_events" "$dir" "$trace" agent-7 trace-1 4096 each
    [ -f "$trace.3" ]
    run -0 "$sandtrace" verify "$trace" --key "$key"
    [[ $output == *closed* ]]
    gzip "$trace.1"
    zstd -q --rm "$trace.2"
    run -0 "$sandtrace" verify "$trace" --key "$key"
    some_events | "$helpers/write_events" "$dir" "$trace" agent-7 trace-2 4096 each
    run -0 "$sandtrace" verify "$trace" --key "$key"
    rm "$trace.2.zst"
    run -1 "$sandtrace" verify "$trace" --key "$key"
    [[ $output == *seq_gap* ]]
}

# Two records of the older dialect: those of its description.
make_older() {
    python3 - "$ST_SRCDIR/tests/audit" >"$dir/old.jsonl" <<'PYTHON'
import json, sys
sys.path.insert(0, sys.argv[1])
import reference
prev = None
for seq, (kind, payload) in enumerate([
        ("network_egress", {"bytes_sent": 316, "dest_host": "api.stripe.com", "dest_port": 443}),
        ("filesystem_summary", {"files_created": ["/tmp/\u00e9\n"], "files_deleted": [], "files_modified": [], "total_bytes_written": 0})], 1):
    own = reference.older_hash("evt_%d" % seq, kind, "sbx", "t1", seq, prev, "2026-03-26T12:00:00+00:00", "hypervisor", payload)
    print(json.dumps({"event_id": "evt_%d" % seq, "event_type": kind, "sandbox_id": "sbx", "trace_id": "t1", "seq": seq, "prev_hash": prev,
                      "record_hash": own, "wall_time": "2026-03-26T12:00:00+00:00", "evidence_tier": "hypervisor", "payload": payload}))
    prev = own
PYTHON
}

@test "verify reads the older dialect" {
    make_older
    grep -q 276db72fa7acf0d8d56f70506cad32750839e4b4ca7e10013c333deebc7c563a "$dir/old.jsonl"
    grep -q d8a4d671d25e4638534a0fd0d0653f94b0da825bc94f930da7544ec2f1dd6db8 "$dir/old.jsonl"
    run -0 "$sandtrace" verify "$dir/old.jsonl"
    [[ $output == *"valid: 2 records"* ]]
    sed -i 1s/316/317/ "$dir/old.jsonl"
    run -1 "$sandtrace" verify "$dir/old.jsonl"
    [[ $output == *"hash_mismatch"*"seq 1"* ]]
}

@test "a signed trace can't be replaced by one of the older dialect, which nobody signs" {
    make_trace
    make_older
    run -1 "$sandtrace" verify "$dir/old.jsonl" --key "$key"
    [[ $output == *"CHAIN BROKEN"*"bad_signature"*"seq 1"*"has no signatures"* ]]
    run -1 "$sandtrace" report "$dir/old.jsonl" --key "$key"
    run -0 "$sandtrace" verify "$dir/old.jsonl" --key "$key" --allow-unsigned
    # Keys of this host: only among the traces that this host signs.
    mkdir "$dir/log"
    printf 'key_dir: %s\nlog_dir: %s\n' "$dir" "$dir/log" >"$SANDTRACE_CONFIG"
    run -0 "$sandtrace" verify "$dir/old.jsonl"
    cp "$dir/old.jsonl" "$dir/log/agent-7.jsonl"
    run -1 "$sandtrace" verify "$dir/log/agent-7.jsonl"
    run -1 "$sandtrace" verify "$dir/./log//agent-7.jsonl"
    cd "$dir/log"
    run -1 "$sandtrace" verify agent-7.jsonl --json
    [ "$(json 'd["valid"], d["issues"][0]["code"]' <<<"$output")" = "(False, 'bad_signature')" ]
}

@test "verify asks a policy anew: what it forbids must not have happened" {
    make_trace
    cat >"$dir/strict.yaml" <<'YAML'
schema_version: "2.0"
name: strict-here
scope: [/workspace]
defaults: { filesystem: { read: deny, write: deny, exec: allow }, network_egress: deny }
rules:
  - { id: stripe, type: network_egress, destinations: [{ host: "*.stripe.com", port: 443 }] }
YAML
    run -1 "$sandtrace" verify "$trace" --key "$key" --against "$dir/strict.yaml"
    [[ $output == *"valid: 6 records"* ]]
    [[ $output == *"violates policy strict-here: 1 of"*"besides 1 that were refused"* ]]
    [[ $output == *"seq 4"*"evil.example:80"* ]]
    run -1 "$sandtrace" verify "$trace" --key "$key" --against "$dir/strict.yaml" --attempts --json
    [ "$(json '[v["seq"] for v in d["violations"]], d["valid"], d["compliant"]' <<<"$output")" = "([2, 4], True, False)" ]
    sed -i 's/stripe.com", port: 443/stripe.com", port: 443 }, { host: evil.example/' "$dir/strict.yaml"
    run -0 "$sandtrace" verify "$trace" --key "$key" --against "$dir/strict.yaml"
    [[ $output == *"keeps to"* ]]
    run -2 "$sandtrace" verify "$trace" --against "$dir/none.yaml"
    [ "$(grep -c 'No such file' <<<"$output")" = 1 ]
    cd "$dir" # a file in the current directory, as for sandtrace policy
    run -0 "$sandtrace" verify "$trace" --key "$key" --against strict.yaml
}

@test "verify knows a trace that is being written" {
    mkfifo "$dir/events"
    "$helpers/write_events" "$dir" "$trace" agent-7 trace-1 0 each <"$dir/events" &
    writer=$!
    exec 9>"$dir/events"
    some_events >&9
    until [ "$(wc -l <"$trace" 2>/dev/null || echo 0)" -ge 5 ]; do sleep 0.01; done
    run -0 "$sandtrace" verify "$trace" --key "$key"
    [[ $output == *"being written"* ]]
    exec 9>&-
    wait "$writer"
    writer=
    run -0 "$sandtrace" verify "$trace" --key "$key"
    [[ $output == *closed* ]]
}

@test "stream prints JSON into a pipe and lines for people where asked" {
    make_trace
    run -0 "$sandtrace" stream "$trace"
    [ "${lines[0]}" = "$(head -1 "$trace")" ]
    [ "${#lines[@]}" = 6 ]
    run -0 "$sandtrace" stream "$trace" --text
    [[ ${lines[1]} == *"deny"*"filesystem"*"read /etc/shadow"*"cat[42]"*"by scope"* ]]
}

@test "stream filters by type, verdict, tier, path, host and time" {
    make_trace
    count() { "$sandtrace" stream "$trace" "$@" | wc -l; }
    [ "$(count --filter-type network_egress)" = 2 ]
    [ "$(count --filter-type filesystem,checkpoint)" = 4 ]
    [ "$(count --filter-verdict deny,anomaly)" = 2 ]
    [ "$(count --filter-verdict paused)" = 0 ]
    [ "$(count --filter-tier derived)" = 1 ]
    [ "$(count --filter-path '/workspace/**')" = 2 ]
    [ "$(count --filter-path '/etc/*')" = 1 ]
    [ "$(count --filter-host '*.stripe.com')" = 1 ]
    [ "$(count --filter-host '192.0.2.0/24')" = 2 ]
    [ "$(count --since 2026-03-26T12:00:03Z --until 2026-03-26T12:00:04Z)" = 2 ]
    [ "$(count --until 1m)" = 5 ] # all but the checkpoint, which is of now
    run -2 "$sandtrace" stream "$trace" --filter-verdict maybe
    [[ $output == *"none of allow, deny, anomaly, paused, killed"* ]]
    run -2 "$sandtrace" stream "$trace" --filter-path relative
    run -2 "$sandtrace" stream "$trace" --since yesterday
}

@test "stream --filter-verdict deny also shows the refusals that paused or killed" {
    {
        file_event /a allow none false
        file_event /b deny denied true
        file_event /c deny paused true
        file_event /d deny killed true
        file_event /e allow paused false
        net_event evil.example 80 9000 anomaly false
    } | "$helpers/write_events" "$dir" "$trace" agent-7 trace-1
    shown() { "$sandtrace" stream "$trace" --filter-verdict "$1" | jq -rj '.payload.path // .payload.dst_host // .event_type'; }
    [ "$(shown deny)" = /b/c/d ]
    [ "$(shown paused)" = /c/e ]
    [ "$(shown killed)" = /d ]
    [ "$(shown anomaly,killed)" = /devil.example ]
    [ "$(shown allow)" = /acheckpoint ]
}

@test "stream shows what another policy would have decided" {
    make_trace
    printf 'schema_version: "2.0"\nname: open\ndefaults: { filesystem: { read: allow, write: allow, exec: allow }, network_egress: allow }\n' >"$dir/open.yaml"
    run -0 "$sandtrace" stream "$trace" --policy "$dir/open.yaml" --filter-verdict deny,anomaly
    [ -z "$output" ]
    run -0 "$sandtrace" stream "$trace" --policy "$dir/open.yaml" --filter-path /etc/shadow
    [ "$(json 'd["changed"], d["verdict"]["result"], d["record"]["seq"]' <<<"$output")" = "(True, 'allow', 2)" ]
}

@test "stream follows a trace over its rotation" {
    mkfifo "$dir/events"
    "$helpers/write_events" "$dir" "$trace" agent-7 trace-1 1500 each <"$dir/events" &
    writer=$!
    exec 9>"$dir/events"
    some_events >&9
    until [ -f "$trace.1" ]; do sleep 0.01; done
    "$sandtrace" stream "$trace" --follow >"$dir/followed" 9>&- &
    follower=$!
    for _ in $(seq 30); do some_events >&9; done
    until [ -f "$trace.40" ]; do sleep 0.01; done
    exec 9>&-
    wait "$writer"
    writer=
    all() { for i in $(seq 999); do [ -f "$trace.$i" ] || break; cat "$trace.$i"; done; cat "$trace"; }
    want=$(all | wc -l)
    until [ "$(wc -l <"$dir/followed")" -ge "$want" ]; do sleep 0.01; done
    kill "$follower"
    wait "$follower" || true
    all | cmp - "$dir/followed"
}

@test "a file's name can't act on the terminal, nor on a page" {
    { file_event "$(printf '/tmp/\033[31mred\n\342\200\256evil<script>alert(1)</script>')" deny denied true; } |
        "$helpers/write_events" "$dir" "$trace" agent-7 trace-1
    for format in text markdown html; do
        run -0 "$sandtrace" report "$trace" --key "$key" --format "$format"
        [[ $output != *$'\033'* ]]
        [[ $output != *$'\342\200\256'* ]]
    done
    [[ $output != *"<script>alert"* ]]
    [[ $output == *"&lt;script&gt;"* ]]
    run -0 "$sandtrace" stream "$trace" --text
    [[ $output == *'\x1b[31mred\x0a\xe2\x80\xaeevil'* ]]
    [ "${#lines[@]}" = 2 ]
}

@test "report says who talked to whom, what was written and what was refused" {
    make_trace
    run -0 "$sandtrace" report "$trace" --key "$key"
    [[ $output == *"The chain stands. 2 events were refused or anomalous"* ]]
    [[ $output == *"curl → api.stripe.com:443"*"316 B"* ]]
    [[ $output == *"/workspace/out"* ]]
    [[ $output == *"deny"*"read /etc/shadow"*"scope"* ]]
    run -0 "$sandtrace" report "$trace" --key "$key" --format markdown
    [[ $output == *"| deny | read /etc/shadow | scope | 1 |"* ]]
    sed -i '3s/316/317/' "$trace"
    run -1 "$sandtrace" report "$trace" --key "$key"
    [[ $output == *"BROKEN"* ]]
}

@test "report puts what is alike together, and what is gravest first" {
    {
        for bytes in 1 2 3; do net_event evil.example 80 "$bytes" anomaly false; done
        net_event evil.example 443 9 deny true
        file_event /etc/passwd allow none false
        file_event /etc/shadow deny paused true
    } | "$helpers/write_events" "$dir" "$trace" agent-7 trace-1
    run -0 "$sandtrace" report "$trace" --key "$key" --format markdown
    [[ $output == *"| paused | read /etc/shadow | scope | 1 |"*"| deny | connect to evil\.example:443 | net | 1 |"* ]]
    [[ $output == *"| deny |"*"| anomaly | connect to evil\.example:80 | net | 3 |"* ]]
}

@test "report counts a connection once, by the program that made it, however it names itself" {
    {
        net_event api.example 443 0 allow false | sed "s/\"closed\"/\"attempt\"/; s/\"pid\":43/\"pid\":43,\"exe\":\"$(hex /usr/bin/curl)\"/; s/\"comm\":\"[^\"]*\"/\"comm\":\"$(hex sshd)\"/"
        net_event api.example 443 316 allow false | sed "s/\"comm\":\"[^\"]*\",//; s/\"pid\":43/\"pid\":43,\"exe\":\"$(hex /usr/bin/curl)\"/"
    } | "$helpers/write_events" "$dir" "$trace" agent-7 trace-1
    run -0 "$sandtrace" report "$trace" --key "$key" --format markdown
    [[ $output == *"| curl → api\.example:443 | 316 B | 200 B | 1 |"* ]]
}

@test "report of the older dialect says what was written, from its summaries" {
    make_older
    run -0 "$sandtrace" report "$dir/old.jsonl"
    [[ $output == *"What was written"*'/tmp/é\x0a'*"What was deleted"* ]]
}

@test "report's charts have their measures, the largest first, and long names stay inside" {
    {
        net_event small.example 443 10 allow false
        net_event small.example 443 10 allow false
        net_event "$(printf 'a%.0s' {1..63}).$(printf 'b%.0s' {1..63}).example" 443 5000 allow false
    } | "$helpers/write_events" "$dir" "$trace" agent-7 trace-1
    run -0 "$sandtrace" report "$trace" --key "$key" --output "$dir/report.html"
    svg=$(sed -n '/Traffic by far end/,/<\/svg>/p' "$dir/report.html")
    [[ $svg == *">…bbbb"*".example:443</text>"*">5.1 kB</text>"*"small.example:443</text>"*">220 B</text>"* ]]
    [[ $svg != *aaa* ]]
    grep -q 'a bar is [0-9a-z]*, the highest is [1-9]' "$dir/report.html"
    python3 - "$dir/report.html" <<'PYTHON'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
for svg in re.findall("<svg.*?</svg>", page, re.S):
    left, top, width, height = map(float, re.search('viewBox="([^"]*)"', svg).group(1).split())
    rects = re.findall('<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"', svg)
    assert rects
    for x, y, w, h in (map(float, r) for r in rects):
        assert x >= left and y >= top and x + w <= left + width and y + h <= top + height, (x, y, w, h)
PYTHON
}

@test "report's page is whole in itself" {
    make_trace
    run -0 "$sandtrace" report "$trace" --key "$key" --output "$dir/report.html"
    [ -z "$output" ]
    grep -q '<svg' "$dir/report.html"
    grep -q "default-src 'none'" "$dir/report.html"
    run ! grep -E '<script|src=|href=|url\(|@import' "$dir/report.html"
    python3 - "$dir/report.html" <<'PYTHON'
import html.parser, sys
class Check(html.parser.HTMLParser):
    open_tags = []
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "rect", "html"):
            self.open_tags.append(tag)
    def handle_startendtag(self, tag, attrs):
        pass
    def handle_endtag(self, tag):
        if tag != "html":
            assert self.open_tags.pop() == tag, tag
page = Check()
page.feed(open(sys.argv[1], encoding="utf-8").read())
assert not page.open_tags, page.open_tags
PYTHON
}
