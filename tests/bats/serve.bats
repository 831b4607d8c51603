#!/usr/bin/env bats
# The server of the review desk: who is let in, what is answered, what a person decides there, and what it survives; with curl,
# and with real containers of runc.
# shellcheck disable=SC2154,SC2016 # words of the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control

setup_file() {
    require curl=curl sqlite3=sqlite3 python3=python3 promtool=prometheus
    make_world
    configure allow_unsigned true
    cp "$ST_BUILDDIR/sandtrace-desk" "$WORLD/bin/"
    write_policy held
    configure default_policy held
    export SANDTRACE_DB=$WORLD/db/events.db
    start_server
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() { token=$(cat "$WORLD/db/desk.token"); }

teardown() {
    remove_all_containers
    [ -e "$NOTES/daemons/serve" ] || start_server
}

# start_server [OPTION…]
start_server() {
    : >"$NOTES/serve.log"
    start_daemon serve sandtrace serve --listen 127.0.0.1:0 "$@"
    daemon_answers serve answers
}

url() { sed -n 's,.*\(http://[^/]*\)/.*,\1,p' "$NOTES/serve.log" | tail -n 1; }
link() { grep -o 'http://.*/login?code=.*' "$NOTES/serve.log" | tail -n 1; }
answers() { [ -n "$(url)" ] && curl -sf "$(url)/healthz"; }

# get PATH [OPTION…]: by the token.
get() {
    local path=$1
    shift
    curl -s -H "Authorization: Bearer $token" "$@" "$(url)$path"
}

# post PATH JSON [OPTION…]: by the token.
post() {
    local path=$1 body=$2
    shift 2
    curl -s -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d "$body" "$@" "$(url)$path"
}

# status OPTION…: only the number.
status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }

# children PROGRAM: pids of the server's own that run it.
children() { pgrep -P "$(daemon_pid serve)" "$1"; }

# has EXPRESSION PATH: jq holds for what is answered.
has() { get "$2" | jq -e "$1" >/dev/null; }

# new_session: a cookie and its token, in $jar and $csrf.
new_session() {
    jar=$NOTES/jar
    rm -f "$jar"
    [ "$(status -c "$jar" -H 'Content-Type: application/json' -d "{\"token\":\"$token\",\"name\":\"ann\"}" "$(url)/api/login")" = 204 ]
    csrf=$(curl -s -b "$jar" "$(url)/api/session" | jq -r .csrf)
    [ ${#csrf} -eq 43 ]
}

@test "nothing but its health and the empty page is told without a log-in" {
    local path
    for path in /api/session /api/sandbox-audit/events /api/sandbox-audit/events/1 /api/sandbox-audit/summary /api/sandbox-audit/timeline \
        /api/sandbox-audit/flows /api/containers /api/containers/x /api/pending /api/reviews /api/reviews/x /api/traces/x/verify /api/stream \
        /api/openapi.json /metrics; do
        [ "$(status "$(url)$path")" = 401 ] || fail "$path"
        [ "$(status -H 'Authorization: Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' "$(url)$path")" -ge 401 ]
    done
    [ "$(curl -s "$(url)/healthz")" = '{"ok":true}' ]
    [ "$(status "$(url)/sandbox-audit")" = 200 ]
    [ "$(status "$(url)/assets/..%2f..%2fetc%2fpasswd")" = 404 ]
    [ "$(stat -c %a "$WORLD/db/desk.token")" = 600 ]
    stop_daemon serve # and with it what was counted as wrong
}

@test "every route of the description is there and asks for a log-in, and no other is" {
    get /api/openapi.json | jq -r '.paths | to_entries[] | .key as $p | .value | to_entries[] | "\(.key) \($p) \(.value.security == [])"' |
        while read -r method path open; do
            [ "$open" = true ] || [ "$(status -X "${method^^}" "$(url)${path/\{id\}/x}")" = 401 ] || fail "$method $path"
        done
    sed -n 's/.*{"\(GET\|POST\)", *"\(\/api\/[^"]*\|\/metrics\|\/healthz\)".*/\1 \2/p' "$ST_SRCDIR/src/desk/http_routes.c" |
        while read -r method path; do
            get /api/openapi.json | jq -e --arg m "${method,,}" --arg p "${path/\*/\{id\}}" '.paths[$p][$m]' >/dev/null || fail "$method $path"
        done
}

@test "the link logs in once, a wrong one shows the page and no data" {
    jar=$NOTES/jar
    rm -f "$jar"
    [ "$(status -c "$jar" "$(link)")" = 303 ]
    [ "$(curl -s -b "$jar" "$(url)/api/session" | jq -r .user)" = "$(id -un)" ]
    grep -q '#HttpOnly.*sandtrace_session' "$jar"
    [ "$(status "$(link)")" = 403 ]
    [ "$(status "$(url)/login?code=nonsense")" = 403 ]
}

@test "wrong tokens are refused, and soon not even looked at; the right one as a program's is" {
    local codes=
    for _ in $(seq 12); do
        codes+=" $(status -H 'Content-Type: application/json' -d '{"token":"wrong"}' "$(url)/api/login")"
    done
    [[ $codes == *" 403"*" 429" ]]
    [ "$(status -H 'Content-Type: application/json' -d "{\"token\":\"$token\"}" "$(url)/api/login")" = 429 ]
    [ "$(status -H "Authorization: Bearer $token" "$(url)/api/session")" = 200 ]
    stop_daemon serve
}

@test "wrong links, which any page can have a browser open, keep nobody from logging in by the token" {
    local codes=
    stop_daemon serve
    start_server
    for _ in $(seq 12); do codes+=" $(status -H 'Sec-Fetch-Site: cross-site' "$(url)/login?code=wrong")"; done
    [[ $codes == *" 403"*" 429" ]]
    [ "$(status "$(link)")" = 429 ] # also the right one is not looked at
    new_session
    stop_daemon serve
}

@test "a page of another origin can neither read nor act, and no POST goes by without the session's token" {
    local o
    new_session
    o="Origin: $(url)"
    [ "$(status -b "$jar" -X POST "$(url)/api/containers/x/kill")" = 403 ]
    [ "$(status -b "$jar" -X POST -H "$o" "$(url)/api/containers/x/kill")" = 403 ]
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" "$(url)/api/containers/x/kill")" = 403 ]
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H 'Origin: http://localhost:3000' "$(url)/api/containers/x/kill")" = 403 ]
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H "$o" -H 'Sec-Fetch-Site: cross-site' "$(url)/api/containers/x/kill")" = 403 ]
    [ "$(status -b "$jar" -H 'Sec-Fetch-Site: cross-site' "$(url)/api/pending")" = 403 ]
    [ "$(status -b "$jar" -H 'Origin: https://evil.example' "$(url)/api/pending")" = 403 ]
    [ "$(status -b "$jar" -H 'Host: evil.example' "$(url)/api/pending")" = 421 ]
    [ "$(status -H 'Host: evil.example' "$(url)/sandbox-audit")" = 421 ]
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H "$o" "$(url)/api/containers/x/kill")" = 404 ]
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H "$o" "$(url)/api/logout")" = 204 ]
    [ "$(status -b "$jar" "$(url)/api/session")" = 401 ]
}

@test "a log-out ends what the session reads live, and nothing that came by it is done any more" {
    local other
    stop_daemon serve
    start_server # its first session has the first place
    new_session
    curl -s -N -b "$jar" "$(url)/api/stream" >"$NOTES/live" &
    local reader=$!
    retry_until contains "$NOTES/live" 'event: pending'
    # A request whose body is still on its way when its session ends, and another one takes its place.
    exec {half}<>"/dev/tcp/127.0.0.1/$(url | sed 's/.*://')"
    printf 'POST /api/logout HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nCookie: sandtrace_session=%s\r\nX-CSRF-Token: %s\r\nContent-Length: 2\r\n\r\n{' \
        "$(awk '/sandtrace_session/ { print $7 }' "$jar")" "$csrf" >&"$half"
    cp "$jar" "$NOTES/first"
    [ "$(status -b "$jar" "$(url)/api/pending")" = 200 ] # what was sent before it has been read
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H "Origin: $(url)" "$(url)/api/logout")" = 204 ]
    new_session
    other=$jar
    printf '}' >&"$half"
    read -r answer <&"$half"
    exec {half}>&-
    [[ $answer == *' 401 '* ]]
    [ "$(status -b "$other" "$(url)/api/session")" = 200 ]
    retry_until has_ended "$reader"
    [ "$(status -b "$NOTES/first" "$(url)/api/stream")" = 401 ]
}

@test "each answer forbids to be framed, guessed at, kept, or to load anything from elsewhere" {
    local path
    for path in /sandbox-audit /api/session /nothing /healthz; do
        curl -s -D - -o /dev/null "$(url)$path" | tr -d '\r' >"$NOTES/head"
        grep -q "^Content-Security-Policy: default-src 'none'; script-src 'self'; .*frame-ancestors 'none'" "$NOTES/head"
        run ! grep -q unsafe "$NOTES/head"
        grep -qx 'X-Content-Type-Options: nosniff' "$NOTES/head"
        grep -q '^Cache-Control: no-' "$NOTES/head"
    done
}

@test "elsewhere than on this machine it does not listen" {
    run -2 sandtrace serve --listen 0.0.0.0:8466
    [[ $output == *'this machine only'* ]]
    run -2 sandtrace serve --listen 192.0.2.1:80
    run -2 sandtrace serve --listen unix:relative
}

@test "at a local socket it answers who may open it" {
    start_daemon local sandtrace serve --no-index --listen "unix:$WORLD/desk.sock"
    daemon_answers local curl -sf --unix-socket "$WORLD/desk.sock" http://localhost/healthz
    [ "$(stat -c %a "$WORLD/desk.sock")" = 600 ]
    [ "$(status --unix-socket "$WORLD/desk.sock" -H "Authorization: Bearer $token" http://localhost/api/session)" = 200 ]
    stop_daemon local
    is_gone "$WORLD/desk.sock"
}

@test "a local socket takes the place of one that was left behind, and of nothing else" {
    echo 'my diary' >"$WORLD/diary"
    run -2 sandtrace serve --no-index --listen "unix:$WORLD/diary"
    [[ $output == *'is no socket'* ]]
    contains "$WORLD/diary" 'my diary'
    ln -s "$WORLD/diary" "$WORLD/way"
    run -2 sandtrace serve --no-index --listen "unix:$WORLD/way"
    [ -L "$WORLD/way" ]
    start_daemon local sandtrace serve --no-index --listen "unix:$WORLD/desk.sock"
    daemon_answers local curl -sf --unix-socket "$WORLD/desk.sock" http://localhost/healthz
    run -2 sandtrace serve --no-index --listen "unix:$WORLD/desk.sock"
    [[ $output == *'somebody listens there already'* ]]
    kill -9 "$(daemon_pid local)"
    rm "$NOTES/daemons/local"
    retry_until nobody_listens "$WORLD/desk.sock"
    [ -S "$WORLD/desk.sock" ]
    start_daemon local sandtrace serve --no-index --listen "unix:$WORLD/desk.sock"
    daemon_answers local curl -sf --unix-socket "$WORLD/desk.sock" http://localhost/healthz
    stop_daemon local
    rm "$WORLD/diary" "$WORLD/way"
}

nobody_listens() { ! curl -s -o /dev/null --unix-socket "$1" http://localhost/healthz; }

@test "bodies, queries and headers that are too long or no text are refused" {
    local long
    long=$(head -c 20000 /dev/zero | tr '\0' a)
    [ "$(post /api/pending/x/deny "{\"reason\":\"$long\"}" -o /dev/null -w '%{http_code}')" = 413 ]
    [ "$(get "/api/sandbox-audit/events?q=${long:0:5000}" -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get /api/session -H "X-Long: $long" -o /dev/null -w '%{http_code}')" -ge 400 ]
    [ "$(get '/api/sandbox-audit/events?q=%00' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get '/api/sandbox-audit/events?q=%ff' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get '/api/sandbox-audit/events?limit=501' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get '/api/sandbox-audit/events?cursor=1' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get '/api/sandbox-audit/events?colour=red' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get '/api/sandbox-audit/events?kind=a&kind=b' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get '/api/sandbox-audit/events?since=yesterday' -o /dev/null -w '%{http_code}')" = 400 ]
    answers
}

@test "approve lets what waits go on, and the trace says who decided, and that it was at the desk" {
    local pause id
    start_reader box 'look 1; sleep 1000'
    id=$(id_of box)
    retry_until has '.pending | length == 1' /api/pending
    pause=$(get /api/pending | jq -r '.pending[0].pause_id')
    get /api/pending | jq -e --arg id "$id" '.pending[0] | .container == $id and .rule == "secrets" and .severity == "critical" and .held and
        .event.payload.path == "/etc/shadow" and .rule_line > 0'
    has '.status == "paused" and .pending == 1 and .frozen' "/api/containers/$id"
    new_session
    [ "$(status -b "$jar" -H "X-CSRF-Token: $csrf" -H "Origin: $(url)" -H 'Content-Type: application/json' -d '{"reason":"a test"}' \
        "$(url)/api/pending/$pause/approve")" = 200 ]
    retry_until looked box 1 yes
    trace_has "$id" "$is_resume and .payload.decision == \"allow-once\" and .payload.reason == \"a test\" and
        .payload.by.how == \"desk\" and .payload.by.name == \"ann\" and .payload.by.uid == 0"
    [ "$(post "/api/pending/$pause/approve" '{}' -o /dev/null -w '%{http_code}')" = 404 ]
}

@test "deny refuses, pause and resume hold and let go, kill ends" {
    local id
    start_reader box 'look 1; sleep 1000'
    id=$(id_of box)
    retry_until has '.pending | length == 1' /api/pending
    post "/api/pending/$(get /api/pending | jq -r '.pending[0].pause_id')/deny" '{}' | jq -e .ok
    retry_until looked box 1 no
    post "/api/containers/$id/pause" '{"reason":"lunch"}' | jq -e .ok
    has '.frozen' "/api/containers/$id"
    post "/api/containers/$id/resume" '{}' | jq -e .ok
    post "/api/containers/$id/resume" '{}' | jq -e '.error.code == "not_paused"'
    post "/api/containers/$id/kill" '{"reason":"enough"}' | jq -e .ok
    retry_until has '.status == "ended" and .trace.state == "sealed"' "/api/containers/$id"
    has '.valid and .records > 0 and .signed_seq > 0 and .issues == []' "/api/traces/$id/verify"
}

@test "what happens is streamed, what waits is told, and filters hold there too" {
    get '/api/stream' -N >"$NOTES/stream" &
    local all=$! some
    get '/api/stream?verdict=deny' -N >"$NOTES/denied" &
    some=$!
    retry_until has '.pending == []' /api/pending
    retry_until contains "$NOTES/denied" 'event: pending'
    start_reader box 'look 1; sleep 1000'
    retry_until contains "$NOTES/stream" '/etc/shadow'
    retry_until contains "$NOTES/denied" '/etc/shadow'
    retry_until contains "$NOTES/stream" '"held":true'
    sed -n '/^event: record/{n;s/^data: //p}' "$NOTES/stream" | jq -es --arg id "$(id_of box)" 'all(.container == $id) and any(.kind == "lifecycle")'
    sed -n '/^event: record/{n;s/^data: //p}' "$NOTES/denied" | jq -es 'length == 1 and .[0].blocked and .[0].result == "deny"'
    kill "$all" "$some"
}

@test "in read-only mode all is shown and nothing done" {
    stop_daemon serve
    start_server --read-only
    has .read_only /api/session
    [ "$(post /api/containers/x/kill '{}' | jq -r .error.code)" = read_only ]
    [ "$(post /api/pending/x/approve '{}' | jq -r .error.code)" = read_only ]
    # Every POST there is, by the token and by a session, but those that log in and out.
    new_session
    get /api/openapi.json | jq -r '.paths | to_entries[] | select(.value.post) | .key' | grep -vxE '/api/(login|logout)' >"$NOTES/posts"
    [ "$(wc -l <"$NOTES/posts")" -ge 6 ]
    while read -r path; do
        [ "$(post "${path/\{id\}/x}" '{}' | jq -r .error.code)" = read_only ] || fail "$path"
        [ "$(curl -s -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H "Origin: $(url)" "$(url)${path/\{id\}/x}" | jq -r .error.code)" = read_only ] || fail "$path"
    done <"$NOTES/posts"
    [ "$(status -b "$jar" -X POST -H "X-CSRF-Token: $csrf" -H "Origin: $(url)" "$(url)/api/logout")" = 204 ]
    stop_daemon serve
}

# hold METHOD PATTERN STATUS PATH [OPTION…]: the answer is of this status, and as the description has it. It is in $NOTES/answer.
hold() {
    local method=$1 pattern=$2 wanted=$3 path=$4 said
    shift 4
    said=$(curl -s -X "$method" -H "Authorization: Bearer $token" "$@" -o "$NOTES/answer" -w '%{http_code} %{content_type}' "$(url)$path")
    [ "${said%% *}" = "$wanted" ] || { cat "$NOTES/answer" >&2; fail "$method $path: $said"; }
    python3 "$ST_SRCDIR/tests/bats/lib/openapi.py" "$NOTES/openapi.json" answer "$method" "$pattern" "$wanted" "${said#* }" "$NOTES/answer"
    echo "$method $pattern $wanted" >>"$NOTES/held"
}

# hold_post PATTERN STATUS PATH BODY
hold_post() { hold POST "$1" "$2" "$3" -H 'Content-Type: application/json' -d "$4"; }

only_pause() { get /api/pending | jq -r '.pending[0].pause_id'; }

@test "every field of the description is in real answers, and nothing else; every method of every path was tried" {
    local id path live
    configure on_review "[$NOTES/tracker]"
    printf '#!/bin/sh\ncat >>%s\n' "$NOTES/heard" >"$NOTES/tracker"
    chmod 0755 "$NOTES/tracker"
    get /api/openapi.json >"$NOTES/openapi.json"
    : >"$NOTES/held"
    get /api/stream -N -D "$NOTES/stream.head" >"$NOTES/stream" &
    live=$!
    retry_until contains "$NOTES/stream" 'event: pending'
    start_reader box 'look 1; sleep 1000'
    id=$(id_of box)
    retry_until has '.pending | length == 1' /api/pending
    retry_until has '.events | length > 3' /api/sandbox-audit/events
    for path in /healthz /metrics /api/session /api/openapi.json /api/sandbox-audit/{events,summary,timeline,flows} /api/containers /api/pending /api/reviews; do
        hold GET "$path" 200 "$path"
    done
    hold GET "/api/containers/{id}" 200 "/api/containers/$id"
    hold GET "/api/traces/{id}/verify" 200 "/api/traces/$id/verify"
    hold GET "/api/sandbox-audit/events/{id}" 200 "/api/sandbox-audit/events/$(get '/api/sandbox-audit/events?limit=1' | jq '.events[0].id')"

    # Decisions, and those that are refused.
    hold_post "/api/pending/{id}/approve" 400 "/api/pending/$(only_pause)/approve" '[]'
    hold POST "/api/pending/{id}/approve" 415 "/api/pending/$(only_pause)/approve" -d '{}'
    hold_post "/api/pending/{id}/approve" 200 "/api/pending/$(only_pause)/approve" '{"reason":"a test"}'
    hold_post "/api/pending/{id}/approve" 404 /api/pending/nothing/approve '{}'
    retry_until looked box 1 yes
    hold_post "/api/containers/{id}/pause" 200 "/api/containers/$id/pause" '{}'
    hold_post "/api/containers/{id}/resume" 200 "/api/containers/$id/resume" '{}'
    hold_post "/api/containers/{id}/resume" 409 "/api/containers/$id/resume" '{}'
    hold_post "/api/containers/{id}/kill" 200 "/api/containers/$id/kill" '{}'
    hold_post "/api/containers/{id}/kill" 404 /api/containers/nothing/kill '{}'
    hold GET "/api/containers/{id}" 404 /api/containers/nothing
    hold GET /api/sandbox-audit/events 400 '/api/sandbox-audit/events?since=yesterday'
    hold GET "/api/sandbox-audit/events/{id}" 404 /api/sandbox-audit/events/999999999
    hold GET /api/session 421 /api/session -H 'Host: evil.example'
    hold GET /api/session 403 /api/session -H 'Origin: http://evil.example'
    start_reader other 'look 1; sleep 1000'
    retry_until has '.pending | length == 1' /api/pending
    hold_post "/api/pending/{id}/deny" 200 "/api/pending/$(only_pause)/deny" '{}'

    # Killed out of its pause, it is kept for a review; the tracker is told by who may start programs.
    start_reader kept 'look 1; sleep 1000'
    id=$(id_of kept)
    retry_until has '.pending | length == 1' /api/pending
    hold_post "/api/containers/{id}/kill" 200 "/api/containers/$id/kill" '{"reason":"enough"}'
    retry_until has ".reviews | any(.id == \"$id\")" /api/reviews
    hold GET /api/reviews 200 /api/reviews
    hold GET "/api/reviews/{id}" 200 "/api/reviews/$id"
    has '.state == "open" and .cause == "person" and .snapshot.processes > 0' "/api/reviews/$id"
    has ".quarantined and .review == \"$id\"" "/api/containers/$id"
    has '.quarantined >= 1' /api/sandbox-audit/summary
    get /metrics | grep -qx 'sandtrace_reviews_open [1-9][0-9]*'
    hold_post "/api/reviews/{id}/close" 400 "/api/reviews/$id/close" '{"verdict":"fine","reason":"x"}'
    hold_post "/api/reviews/{id}/close" 400 "/api/reviews/$id/close" '{"verdict":"benign"}'
    hold_post "/api/reviews/{id}/close" 200 "/api/reviews/$id/close" '{"verdict":"benign","reason":"<b>a test</b>"}'
    hold_post "/api/reviews/{id}/close" 409 "/api/reviews/$id/close" '{"verdict":"benign","reason":"again"}'
    hold GET "/api/reviews/{id}" 200 "/api/reviews/$id"
    has '.state == "closed" and .closed.reason == "<b>a test</b>" and (.closed.by | endswith("(desk)"))' "/api/reviews/$id"
    hold GET "/api/reviews/{id}" 404 /api/reviews/nothing
    hold GET "/api/reviews/{id}" 404 /api/reviews/..%2f..%2fetc
    retry_until has_heard "$id"

    # By a cookie.
    new_session
    hold POST /api/login 400 /api/login -d 'no JSON'
    hold POST /api/login 403 /api/login -d '{"token":"wrong"}'
    hold POST /api/login 204 /api/login -d "{\"token\":\"$token\"}"
    hold POST /api/logout 403 /api/logout -b "$jar" -H "Origin: $(url)"
    hold POST /api/logout 204 /api/logout -b "$jar" -H "Origin: $(url)" -H "X-CSRF-Token: $csrf"

    kill "$live"
    grep -qi '^content-type: text/event-stream' "$NOTES/stream.head"
    python3 "$ST_SRCDIR/tests/bats/lib/openapi.py" "$NOTES/openapi.json" stream "$NOTES/stream"
    echo 'GET /api/stream 200' >>"$NOTES/held"
    python3 "$ST_SRCDIR/tests/bats/lib/openapi.py" "$NOTES/openapi.json" missing "$NOTES/held"
    sed -i '/^on_review:/d' "$SANDTRACE_CONFIG"
    rm -rf "$WORLD/quarantine"
}

has_heard() { jq -es --arg id "$1" 'any(.event == "closed" and .review.container == $id and .review.closed.verdict == "benign")' "$NOTES/heard"; }

@test "names that are markup, colours or no text come out as the text they are" {
    local name=$'<script>alert(1)</script>\e[31m"\'&\u202e'
    make_container box sh -c 'cat "/workspace/$(cat /workspace/name)" "$(printf "/workspace/\377")"; sleep 1000'
    printf %s "$name" | tr -d / >"$(work_of box)/name"
    : >"$(work_of box)/$(printf %s "$name" | tr -d /)"
    start_detached box
    retry_until has '.events | length > 0' '/api/sandbox-audit/events?q=alert'
    get '/api/sandbox-audit/events?q=alert' | jq -e --arg n "$(cat "$(work_of box)/name")" '.events | any(.path_or_addr == "/workspace/" + $n)'
    run ! grep -q "$(printf '\033')" <(get '/api/sandbox-audit/events?q=alert')
    get '/api/sandbox-audit/events?q=alert' -D - -o /dev/null | grep -qi '^content-type: application/json'
}

@test "a trace that somebody forged is shown as text, and silences nothing that is told of others" {
    local path
    python3 "$ST_SRCDIR/tests/bats/lib/forged.py" "$WORLD/log/forged.jsonl"
    retry_until has '.events > 3000' '/api/sandbox-audit/summary?analysis_id=forged'
    get /metrics >"$NOTES/metrics"
    promtool check metrics <"$NOTES/metrics"
    grep -qF 'sandtrace_events_total{type="<script>alert(1)</script>",' "$NOTES/metrics"
    grep -qF 'sandtrace_events_total{type="a\"b\\c\nd",verdict=' "$NOTES/metrics"
    [ "$(sed -n 's/^sandtrace_lost_total //p' "$NOTES/metrics")" -gt 0 ]
    grep -q '^sandtrace_monitors{' "$NOTES/metrics" # they stand behind those
    get /api/sandbox-audit/flows | jq -e '[.flows[] | .n, .blocked, .bytes_sent, .bytes_received, .port // 0] | all(. >= 0)'
    for path in /api/sandbox-audit/events?limit=500 /api/sandbox-audit/summary /api/sandbox-audit/timeline /api/containers /api/containers/forged \
        '/api/sandbox-audit/events?kind=%3Cscript%3Ealert(1)%3C/script%3E' '/api/sandbox-audit/events?q=%3Cscript%3E' /api/traces/forged/verify; do
        [ "$(get "$path" -o "$NOTES/answer" -w '%{http_code} %{content_type}')" = '200 application/json' ] || fail "$path"
        jq -e . "$NOTES/answer" >/dev/null
        run ! grep -qP '[\x00-\x1f\x7f]' "$NOTES/answer"
    done
    rm "$WORLD/log/forged.jsonl"
}

@test "pages follow one another without a gap and without anything twice" {
    local cursor=
    "$ST_BUILDDIR/tests/bench/make_trace" "$WORLD/log/made.jsonl" 3000 made
    retry_until has '.events == 3001' '/api/sandbox-audit/summary?analysis_id=made'
    : >"$NOTES/ids"
    while :; do
        get "/api/sandbox-audit/events?analysis_id=made&limit=500${cursor:+&cursor=$cursor}" >"$NOTES/page"
        jq -r '.events[].id' "$NOTES/page" >>"$NOTES/ids"
        cursor=$(jq -r '.next // empty' "$NOTES/page")
        [ -n "$cursor" ] || break
    done
    [ "$(wc -l <"$NOTES/ids")" -eq 3001 ]
    [ "$(sort -u "$NOTES/ids" | wc -l)" -eq 3001 ]
    has '[.buckets[].n] | add == 3001' '/api/sandbox-audit/timeline?analysis_id=made'
    [ "$(get '/api/sandbox-audit/events?analysis_id=made&severity=critical&limit=500' | jq '.events | length')" -eq \
        "$(sqlite3 "$SANDTRACE_DB" "SELECT count(*) FROM sandbox_audit_event WHERE analysis_id = 'made' AND severity = 'critical'")" ]
    [ "$(get '/api/sandbox-audit/events?q=id_ed25519&limit=500' | jq '.events | length')" -eq \
        "$(sqlite3 "$SANDTRACE_DB" "SELECT count(*) FROM sandbox_audit_event WHERE path_or_addr = '/root/.ssh/id_ed25519'")" ]
}

@test "killed in any part, with its database deleted, it shows all again" {
    local before round
    "$ST_BUILDDIR/tests/bench/make_trace" "$WORLD/log/made.jsonl" 2000 made 5000
    retry_until has '.events >= 2000' '/api/sandbox-audit/summary?analysis_id=made'
    before=$(wc -l <"$WORLD/log/made.jsonl")
    for round in 1 2 3; do
        # shellcheck disable=SC2046 # one word for each
        kill -9 $(children sandtrace) $(children sandtrace-desk)
        [ "$round" != 2 ] || rm -f "$SANDTRACE_DB"*
        retry_until answers
    done
    retry_until has ".events == $before" '/api/sandbox-audit/summary?analysis_id=made'
    kill -9 "$(daemon_pid serve)"
    rm -f "$NOTES/daemons/serve" "$SANDTRACE_DB"*
    start_server
    retry_until has ".events == $before" '/api/sandbox-audit/summary?analysis_id=made'
    # Taken away under a server to which nothing happens, nobody killed.
    for round in 1 2 3; do
        rm -f "$SANDTRACE_DB"*
        retry_until has ".events == $before" '/api/sandbox-audit/summary?analysis_id=made'
    done
    rm -f "$SANDTRACE_DB"-*
    "$ST_BUILDDIR/tests/bench/make_trace" "$WORLD/log/later.jsonl" 100 later
    retry_until has '.events == 101' '/api/sandbox-audit/summary?analysis_id=later'
    has ".events == $before" '/api/sandbox-audit/summary?analysis_id=made'
}

@test "a trace that is rotated and torn while it is followed is shown whole, without anything twice" {
    local part half trace=$WORLD/log/turns.jsonl
    # make_trace FIRST: 200 events more, in files of 40 KB.
    more() { "$ST_BUILDDIR/tests/bench/make_trace" "$trace" 200 turns "$1" 40000; }
    last_seq() { tail -n 1 "$trace" | jq .seq; }
    shown() { has ".trace.state == \"$1\" and .trace.chain == \"whole\" and .trace.records == $2" /api/containers/turns; }
    more 0
    retry_until shown sealed "$(cat "$trace"* | wc -l)"
    for part in 200 400; do
        half=$(head -c 150 "$trace") # of a record: what a crash leaves
        printf %s "$half" >>"$trace"
        retry_until has '.trace.state == "torn"' /api/containers/turns
        more "$part"
        retry_until shown sealed "$(last_seq)"
    done
    [ -e "$trace.4" ]
    retry_until has ".events == $(last_seq)" '/api/sandbox-audit/summary?analysis_id=turns'
    has '[.events[].seq] | length == (unique | length)' '/api/sandbox-audit/events?analysis_id=turns&limit=500'
    sandtrace verify --allow-unsigned "$trace"
}

@test "a trace that is changed while it is followed is shown as broken" {
    "$ST_BUILDDIR/tests/bench/make_trace" "$WORLD/log/bad.jsonl" 50 bad
    retry_until has '.trace.records == 51' /api/containers/bad
    sed -i '20s/"read"/"exec"/' "$WORLD/log/bad.jsonl"
    has '.valid == false and (.issues | length) > 0' /api/traces/bad/verify
    rm "$WORLD/log/bad.jsonl"
    retry_until has '.trace.state == "missing"' /api/containers/bad
}

@test "the numbers are in Prometheus' format and the alerts and the dashboard know them" {
    start_reader box 'look 1; sleep 1000'
    retry_until has '.pending | length == 1' /api/pending
    retry_until has '.by_kind.security_pause >= 1' /api/sandbox-audit/summary
    get /metrics >"$NOTES/metrics"
    promtool check metrics <"$NOTES/metrics"
    # Those on which an alert looks for an increase are there before anything happened.
    [ "$(grep -c '^sandtrace_violations_total{severity="\(none\|low\|medium\|high\|critical\)"} [0-9]*$' "$NOTES/metrics")" -eq 5 ]
    [ "$(sed -n 's/^sandtrace_violations_total{severity="critical"} //p' "$NOTES/metrics")" -ge 1 ]
    grep -q '^sandtrace_monitors{status="paused"} 1$' "$NOTES/metrics"
    grep -q '^sandtrace_pending 1$' "$NOTES/metrics"
    [ "$(sed -n 's/^sandtrace_freeze_seconds_count //p' "$NOTES/metrics")" -ge 1 ]
    promtool check rules "$ST_SRCDIR/contrib/prometheus/sandtrace.rules.yaml"
    promtool test rules "$ST_SRCDIR/contrib/prometheus/sandtrace.test.yaml"
    # Each alert is made to come there.
    sed -n 's/.*alert: //p' "$ST_SRCDIR/contrib/prometheus/sandtrace.rules.yaml" | while read -r name; do
        grep -A1 -x "        alertname: $name" "$ST_SRCDIR/contrib/prometheus/sandtrace.test.yaml" | grep -q 'exp_alerts:$' || fail "$name is not tested"
    done
    { grep -o 'sandtrace_[a-z_]*' "$ST_SRCDIR/contrib/prometheus/sandtrace.rules.yaml"
      jq -r '.. | .expr? // empty' "$ST_SRCDIR/contrib/grafana/sandtrace.json" | grep -o 'sandtrace_[a-z_]*'; } | sort -u |
        while read -r name; do grep -q "^${name}[{ ]" "$NOTES/metrics" || fail "$name is not told"; done
}
