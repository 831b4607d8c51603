#!/usr/bin/env bats
# The page of the review desk, in a real browser, about real containers.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/control
load lib/net
load lib/desk

setup_file() {
    require sqlite3=sqlite3
    make_world
    write_policy held
    write_policy refusing 'on_violation: { low: deny, medium: deny, high: deny, critical: deny }'
    sed -i 's,paths: \[,&"/workspace/evil/**"\, ,' "$WORLD/policies/refusing.yaml" "$WORLD/policies/held.yaml"
    write_policy killing 'on_violation: { low: deny, medium: deny, high: kill, critical: kill }'
    start_desk_and_browser
    make_busy_container
}

teardown_file() {
    remove_all_containers || true
    end_net
    end_world
}

setup() { configure default_policy held; }

teardown() { end_reader; }

# A container that has done something: many files, a refusal, and by processes of processes.
make_busy_container() {
    configure default_policy refusing
    make_container busy sh -c 'i=0
        while [ $i -lt 240 ]; do i=$((i + 1)); echo $i >/workspace/file.$i; done
        sh -c "cat /etc/shadow; :"
        echo done >/workspace/done
        while [ ! -e /workspace/go ]; do sleep 0.05; done
        echo >/workspace/live-one; cat /etc/shadow /workspace/live-one
        echo >/workspace/over
        while :; do echo tick >>/workspace/ticks; sleep 0.3; done'
    echo 'root:secret' >"$(bundle_of busy)/rootfs/etc/shadow"
    start_detached busy
    retry_until exists "$(work_of busy)/done"
    retry_until indexed "$(id_of busy)" 240
}

end_reader() {
    local name
    for name in box evil kept; do
        [ ! -d "$WORLD/root/$(id_of $name)" ] || runtime delete --force "$(id_of $name)"
        rm -rf "$(bundle_of $name)"
    done
}

# hold_one SCRIPT: a container whose first look at the secret waits for an answer; its pause is in $pause.
hold_one() {
    start_reader box "$1"
    pause=$(held box)
}

# ---- the source ----

@test "nothing in the page makes markup out of text, carries a script or a style of its own, or names another host" {
    local web=$ST_SRCDIR/src/desk/web
    run -1 grep -rnE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|style=|\.style\b|srcdoc|createContextualFragment|DOMParser|setHTML' "$web"
    run -1 grep -rnEi '\bon[a-z]+=|javascript:|<style|<script>' "$web/index.html" "$web/icon.svg"
    run -1 grep -rnE '(https?:)?//[a-z0-9.-]+\.[a-z]{2,}' "$web" --include=*.html --include=*.css
    run -1 bash -c "grep -rnE 'https?://' '$web' | grep -v www.w3.org/2000/svg"
    node --no-warnings --experimental-vm-modules -e 'const { SourceTextModule } = require("vm"), { readFileSync } = require("fs");
        for (const identifier of process.argv.slice(1)) new SourceTextModule(readFileSync(identifier, "utf8"), { identifier })' "$web"/*.js
}

@test "every file of the page is carried in the server, and what is carried is what stands in the tree" {
    for file in "$ST_SRCDIR"/src/desk/web/*.*; do
        [ "${file##*.}" != mk ] || continue
        curl -sf "$(desk_url)/assets/${file##*/}" | cmp - "$file"
    done
}

# ---- who gets in ----

@test "the token logs in, a wrong one does not, and a log-out is the end of the session" {
    page tokenLogsIn
}

@test "the link that the server prints logs in once" {
    page linkLogsInOnce "$(desk_link)"
}

@test "a session that ends elsewhere leaves nothing on the screen" {
    page sessionEndsElsewhere
}

@test "without a token nothing is readable" {
    page nothingWithoutToken /api/session /api/pending /api/containers /api/sandbox-audit/events /api/sandbox-audit/events/1 /api/sandbox-audit/summary \
        /api/sandbox-audit/timeline /api/sandbox-audit/flows /api/stream /api/reviews "/api/traces/$(id_of busy)/verify"
}

# ---- the list ----

@test "what a container does appears on the page as it happens" {
    page liveEventsAppear "$(work_of busy)/go" "$(id_of busy)" /workspace/live-one /etc/shadow
}

@test "filters are in the address: a reload keeps them, back takes them away" {
    page filtersAreInTheAddress "$(id_of busy)" file.17 file.18
}

@test "older pages come by cursor, no event twice and none left out" {
    # One that has ended: the list stands still.
    configure default_policy refusing
    make_container box sh -c 'i=0; while [ $i -lt 120 ]; do i=$((i + 1)); echo $i >/workspace/file.$i; cat /workspace/file.$i; done'
    runtime run --bundle "$(bundle_of box)" "$(id_of box)" >"$NOTES/box.log"
    runtime delete --force "$(id_of box)"
    trace_is_complete "$(id_of box)"
    jq -rs 'sort_by(.wall_time, .seq) | reverse[] | .event_id' "$(trace_of "$(id_of box)")" >"$NOTES/expected"
    retry_until indexed "$(id_of box)" "$(wc -l <"$NOTES/expected")"
    page olderPagesByCursor "$(id_of box)" "$NOTES/expected"
}

@test "one event in full has its process tree, its payload, and what happened around it" {
    page eventInFull "$(id_of busy)" /etc/shadow sh cat
}

@test "the timeline says the same as a picture and as a table, and leads to its events" {
    page timelineLeadsToEvents "$(id_of busy)"
}

# ---- answers ----

@test "a card says what waits, who, which rule and why" {
    hold_one 'look 1; sleep 1000'
    page cardSaysWhatWhoWhichWhy "$pause" "$(id_of box)" held
}

@test "approve lets the held open go on, and the trace says who and why" {
    hold_one 'look 1; sleep 1000'
    page answer "$pause" 'Approve once' 'the backup "reads" <it>'
    retry_until looked box 1 yes
    [ "$(cat "$(work_of box)/got.1")" = root:secret ]
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"allow-once\" and .payload.reason == \"the backup \\\"reads\\\" <it>\" and (.payload.by | tostring | contains(\"desk\"))"
}

@test "approve always answers the next one as well" {
    hold_one 'look 1; look 2; sleep 1000'
    page answer "$pause" 'Approve always' ''
    retry_until looked box 2 yes
    nothing_waits
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"allow-always\""
}

@test "deny refuses it, and the program goes on with the error" {
    hold_one 'look 1; sleep 1000'
    page answer "$pause" Deny 'no business of yours'
    retry_until looked box 1 no
    runtime_status_is box running
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"deny\" and .payload.reason == \"no business of yours\""
}

@test "kill asks once more, and ends the container" {
    hold_one 'look 1; sleep 1000'
    page answer "$pause" 'Kill container' enough
    retry_until runtime_status_is box stopped
    trace_has "$(id_of box)" "$is_resume and .payload.decision == \"kill\" and .payload.reason == \"enough\""
}

@test "everything can be answered by the keyboard, and no key alone decides" {
    hold_one 'look 1; sleep 1000'
    page answerByKeyboard "$pause"
    retry_until looked box 1 no
}

@test "what was answered elsewhere keeps its place without buttons, so that no click lands on another" {
    hold_one 'look 1; sleep 1000'
    printf '#!/bin/sh\nexec sandtrace deny "$1" >/dev/null\n' >"$NOTES/answer"
    chmod +x "$NOTES/answer"
    page answeredElsewhere "$pause" "$NOTES/answer"
}

@test "a container is paused and resumed on its page, which tells its story and whether its trace is whole" {
    cat >"$NOTES/probe" <<END
#!/bin/bash
source "$ST_SRCDIR/tests/bats/lib/world.bash"
source "$ST_SRCDIR/tests/bats/lib/container.bash"
case \$1 in
stands) is_frozen busy ;;
runs) is_ticking busy ;;
esac
END
    chmod +x "$NOTES/probe"
    page containerIsPausedAndResumed "$(id_of busy)" "$NOTES/probe"
}

@test "a trace that was changed is said to be broken" {
    cp "$WORLD/log/$(id_of busy).jsonl" "$NOTES/whole"
    sed '3s/allow/deny/' "$NOTES/whole" >"$WORLD/log/changed.jsonl"
    retry_until indexed changed 3
    page brokenTraceIsSaid changed
    rm "$WORLD/log/changed.jsonl"
}

@test "a page of another origin can neither read nor act" {
    hold_one 'look 1; sleep 1000'
    mkdir -p "$NOTES/other"
    echo '<!doctype html><title>other</title><link rel=icon href=data:,>' >"$NOTES/other/index.html"
    start_daemon other /usr/bin/python3 -u -m http.server --bind 127.0.0.1 --directory "$NOTES/other" 0
    retry_until grep -q 'port [0-9]' "$NOTES/other.log"
    page otherOriginCannotAct "http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$NOTES/other.log")" "$pause" "$(id_of box)"
    stop_daemon other
    waits box
    runtime_status_is busy running
}

@test "read-only has nothing to press" {
    hold_one 'look 1; sleep 1000'
    start_desk reading 127.0.0.1:0 --read-only --no-index
    DESK=$(desk_url reading) page readOnlyHasNoButtons "$pause" "$(id_of busy)"
    stop_daemon reading
}

@test "what is in quarantine is seen, and closed with a verdict and a reason" {
    configure default_policy killing
    printf '#!/bin/sh\ncat >%s\n' "$NOTES/heard" >"$NOTES/tracker"
    chmod 0755 "$NOTES/tracker"
    configure on_review "[$NOTES/tracker]"
    start_reader kept 'echo made >/workspace/made; look 1; sleep 1000'
    retry_until exists "$WORLD/quarantine/$(id_of kept)/review.json"
    trace_is_complete "$(id_of kept)"
    [ "$(sandtrace review show --json "$(id_of kept)" | jq -r .state)" = open ]
    page reviewIsClosed "$(id_of kept)"
    sandtrace review show --json "$(id_of kept)" >"$NOTES/review"
    jq -e '.state == "closed" and .closed.verdict == "malicious" and .closed.reason == "it read <b>the</b> secrets" and (.closed.by | endswith("(desk)"))' "$NOTES/review"
    run -0 sandtrace review show "$(id_of kept)"
    [[ $output == *malicious* && $output == *'it read <b>the</b> secrets'* ]]
    retry_until was_told_of_closing "$(id_of kept)"
}

was_told_of_closing() {
    jq -es '.[-1].event == "closed" and .[-1].failure == null' "$WORLD/quarantine/$1/told.jsonl" &&
        jq -e --arg id "$1" '.event == "closed" and .review.container == $id and .review.closed.verdict == "malicious"' "$NOTES/heard"
}

@test "who talked to whom: by name and port, how often, how much, and what was not let by" {
    make_net
    use_policy "$(to web '{ host: allowed.example.test, ports: [80] }')"
    start_box
    inside curl -sSf http://allowed.example.test/
    run ! inside curl -sS "http://$other4:8080/"
    remove_box
    retry_until indexed "$(id_of box)" "$(wc -l <"$(trace_of "$(id_of box)")")"
    page whoTalkedToWhom "$(id_of box)" allowed.example.test 80 "$other4:8080"
    end_net
}

# ---- names ----

# make_evil POLICY: a container whose files and processes are called by what would be markup, commands or orders to a terminal.
make_evil() {
    local dir name names=()
    configure default_policy "$1"
    make_container evil '/bin/<b>evil<i>'
    dir=$(work_of evil)/evil
    mkdir -p "$dir"
    names=('<script>hacked=1</script>' '<img src=x onerror=hacked=1>' '"quoted" & '"'single'"'' $'\e[31mred\e[0m' $'\u202egnp.exe' $'bad\xff\xfeutf'
        $'new\nline' 'javascript:hacked=1' '${hacked=1}' $'zero\u200bwidth')
    for name in "${names[@]}"; do
        mkdir -p "$(dirname "$dir/$name")"
        echo >"$dir/$name"
    done
    # Longer than one call takes: a part at a time.
    (cd "$dir" && for _ in {1..19}; do name=$(printf 'x%.0s' {1..199}) && mkdir "$name" && cd "$name" || exit; done; echo >end)
    cat >"$(bundle_of evil)/rootfs/bin/<b>evil<i>" <<'END'
#!/bin/sh
# The folder itself can't be read in here.
xargs -0 -n 1 sh -c 'exec <"/workspace/evil/$1"' '<b>evil<i>' </workspace/list
echo >/workspace/done
sleep 1000
END
    chmod +x "$(bundle_of evil)/rootfs/bin/<b>evil<i>"
    (cd "$dir" && find . -type f -print0) >"$(work_of evil)/list"
    start_detached evil
}

@test "names that would be markup, orders to a terminal or the other way round are text everywhere" {
    make_evil refusing
    retry_until exists "$(work_of evil)/done"
    retry_until indexed "$(id_of evil)" 20
    cat >"$NOTES/names" <<'END'
[["script", "<script>hacked=1</script>"], ["img", "<img src=x onerror=hacked=1>"], ["quotes", "\"quoted\" & 'single'"], ["ansi", "\\e[31mred\\e[0m"],
 ["rtl", "\\u{202e}gnp.exe"], ["utf8", "bad\ufffd\ufffdutf"], ["newline", "new\\nline"], ["scheme", "javascript:hacked=1"], ["template", "${hacked=1}"],
 ["zero", "zero\\u{200b}width"]]
END
    page hostileNamesAreText "$(id_of evil)" "$NOTES/names"
    page longNameOnDemand "$(id_of evil)" 3800
}

@test "a name that waits for an answer is text as well" {
    configure default_policy held
    make_container box sh -c 'read x <"/workspace/evil/$(printf "\033[2J\342\200\256<b>x")"; sleep 1000'
    mkdir "$(work_of box)/evil"
    echo >"$(work_of box)/evil/"$'\e[2J\u202e<b>x'
    start_detached box
    pause=$(held box)
    page pendingShowsHostileNames "$pause" '\e[2J\u{202e}<b>x'
}

# ---- how it looks and reads ----

@test "light and dark go by the system, and by the switch" {
    page lightAndDark
}

@test "keys lead around, and can be switched off" {
    page keysLeadAround "$(id_of busy)"
}

@test "a part of an event of which nothing more is known says so" {
    start_reader short 'true'
    page nothingIsSaid
}

@test "on a screen of 360 pixels nothing is cut off" {
    hold_one 'look 1; sleep 1000'
    page smallScreen /sandbox-audit "/sandbox-audit/container/$(id_of busy)" /sandbox-audit/containers /sandbox-audit/reviews
}

@test "axe finds nothing against WCAG 2.2 AA, in light and in dark" {
    hold_one 'look 1; sleep 1000'
    configure default_policy killing
    start_reader evil 'look 1'
    retry_until exists "$WORLD/quarantine/$(id_of evil)/review.json"
    # Of each kind of row some: what takes its time is how many there are.
    page accessible "/sandbox-audit?container=$(id_of box)" "/sandbox-audit?verdict=deny&container=$(id_of busy)" "/sandbox-audit/container/$(id_of box)" \
        /sandbox-audit/containers /sandbox-audit/reviews "/sandbox-audit/reviews/$(id_of evil)"
}

# ---- the connection ----

@test "a lost connection is said, and comes back by itself: the log-in holds, what was missed is there" {
    cat >"$NOTES/act" <<END
#!/bin/bash
case \$1 in
kill) kill -KILL \$(pgrep -P $(daemon_pid desk) sandtrace-desk) ;;
touch) touch "$(work_of box)/go" ;;
esac
END
    chmod +x "$NOTES/act"
    make_container box sh -c 'until [ -e /workspace/go ]; do sleep 0.1; done; echo >/workspace/meanwhile; sleep 1000'
    start_detached box
    retry_until indexed "$(id_of box)" 1
    page lostConnectionComesBack "$NOTES/act" "$(id_of box)" /workspace/meanwhile
}

@test "when the whole server is started anew the page asks for a log-in, and then is where it was" {
    local port
    port=$(desk_url)
    port=${port##*:}
    printf '#!/bin/bash\nsource "%s/tests/bats/lib/world.bash"\nstop_daemon desk\n' "$ST_SRCDIR" >"$NOTES/stop"
    printf '#!/bin/bash\nsource "%s/tests/bats/lib/world.bash"\nsource "%s/tests/bats/lib/desk.bash"\nstart_desk desk 127.0.0.1:%s\n' "$ST_SRCDIR" "$ST_SRCDIR" "$port" >"$NOTES/start"
    chmod +x "$NOTES/stop" "$NOTES/start"
    page restartAsksForLogIn "$NOTES/stop" "$NOTES/start" "$(id_of busy)"
}
