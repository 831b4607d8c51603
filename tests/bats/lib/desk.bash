# A review desk that is served from this world, and a browser to look at it. One browser for a file: each scenario of
# tests/page has a profile of its own in it.

# desk_url [NAME], desk_link: what the server printed.
desk_url() { sed -n 's,.*\(http://[^/]*\)/.*,\1,p' "$NOTES/${1:-desk}.log" | tail -n 1; }
desk_link() { grep -o 'http://.*/login?code=.*' "$NOTES/desk.log" | tail -n 1; }

desk_is_up() { curl -sf "$(desk_url "$1")/healthz"; }

# start_desk NAME LISTEN [OPTION…]
start_desk() {
    local name=$1 listen=$2
    shift 2
    start_daemon "$name" sandtrace serve --listen "$listen" "$@"
    daemon_answers "$name" desk_is_up "$name"
}

desk_token() { cat "$(dirname "$SANDTRACE_DB")/desk.token"; }

# Nothing but the desk is ever asked: no first run, no updates, no field trials.
start_browser() {
    start_daemon browser chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir="$NOTES/chromium" --remote-debugging-port=0 about:blank
    daemon_answers browser test -s "$NOTES/chromium/DevToolsActivePort"
}

browser_url() {
    local lines
    mapfile -t lines <"$NOTES/chromium/DevToolsActivePort"
    echo "ws://127.0.0.1:${lines[0]}${lines[1]}"
}

# page SCENARIO ARGUMENT…: of tests/page, at the desk (DESK: at another one).
page() {
    # Compiled once, not for each scenario.
    NODE_COMPILE_CACHE=$NOTES/compiled PAGE_DEPS=${ST_PAGE_DEPS:-$ST_SRCDIR/deps/page} DESK=${DESK:-$(desk_url)} DESK_TOKEN=$(desk_token) BROWSER=$(browser_url) \
        node "$ST_SRCDIR/tests/page/driver.mjs" "$@"
}

# start_desk_and_browser: SANDTRACE_DB is in the world from here on.
start_desk_and_browser() {
    require chromium=chromium node=nodejs curl=curl
    [ -d "${ST_PAGE_DEPS:-$ST_SRCDIR/deps/page}/node_modules/playwright-core" ] ||
        fail "what drives the browser is missing; get it with: contrib/page-driver.sh deps/page"
    cp "$ST_BUILDDIR/sandtrace-desk" "$WORLD/bin/"
    export SANDTRACE_DB=$WORLD/desk/events.db
    mkdir -p "$WORLD/desk"
    start_desk desk 127.0.0.1:0
    start_browser
}

# indexed ID N: the desk has that many events of it.
indexed() {
    [ "$(sqlite3 -batch "$SANDTRACE_DB" "SELECT count(*) FROM sandbox_audit_event e JOIN trace t ON t.no = e.trace WHERE container = '$1'")" -ge "$2" ]
}
