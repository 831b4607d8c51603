# What a trace must say. Traces are JSONL, one event a line; jq judges.

trace_of() { echo "$WORLD/log/$1.jsonl"; }

# trace_has ID FILTER: some event of the trace satisfies the jq filter.
trace_has() {
    jq -es "any(.[]; $2)" "$(trace_of "$1")" >/dev/null ||
        { echo "no event of $(trace_of "$1") satisfies: $2" >&2; return 1; }
}

# trace_has_no ID FILTER: none does; those that do are shown.
trace_has_no() {
    [ "$(trace_count "$1" "$2")" -eq 0 ] || { jq -c "select($2)" "$(trace_of "$1")" >&2; return 1; }
}

# trace_count ID FILTER: how many events do.
trace_count() { jq -s "map(select($2)) | length" "$(trace_of "$1")"; }

# trace_value ID FILTER EXPRESSION: a value of the last event that satisfies the filter.
trace_value() { jq -rs "map(select($2)) | last | $3" "$(trace_of "$1")"; }

is_start='.event_type == "lifecycle" and .payload.op == "start"'
is_stop='.event_type == "lifecycle" and .payload.op == "stop"'
is_final='.event_type == "checkpoint" and .payload.final == true'

is_sealed() { tail -n 1 "$(trace_of "$1")" | jq -e "$is_final" >/dev/null; }

# stop_value ID EXPRESSION: what the last stop record says.
stop_value() { trace_value "$1" "$is_stop" "$2"; }

# has_stopped_times ID N: the container of this ID has ended N times.
has_stopped_times() { [ "$(trace_count "$1" "$is_stop")" -eq "$2" ]; }

# trace_is_complete ID: starts, stops as often, is sealed, and verify says valid.
trace_is_complete() {
    local trace
    trace=$(trace_of "$1")
    [ -s "$trace" ] || { fail "no trace $trace"; return 1; }
    retry_until is_sealed "$1" || { tail -n 3 "$trace" >&2; fail "$trace is not sealed"; return 1; }
    jq -es "(first | $is_start) and (map(select($is_start)) | length) == (map(select($is_stop)) | length)" \
        "$trace" >/dev/null || { fail "$trace does not begin with a start, or has not one stop for each"; return 1; }
    sandtrace verify "$trace" >"$NOTES/verify" 2>&1 || { cat "$NOTES/verify" >&2; fail "$trace is not valid"; }
}

# How many containers of this world have started, and ended, by all traces together.
count_starts() { cat "$WORLD"/log/*.jsonl | jq -c "select($is_start)" | wc -l; }
count_stops() { cat "$WORLD"/log/*.jsonl | jq -c "select($is_stop)" | wc -l; }

# state_of ID KEY: a member of the monitor's state.json.
state_of() { jq -r ".$2" "$WORLD/run/$1/state.json"; }

# kill_together PID…: so that none of them sees another die, however long it takes between the first and the last.
kill_together() { kill -STOP "$@" && kill -KILL "$@"; }

is_watched() { [ "$(state_of "$1" status)" = watching ] && is_running "$(state_of "$1" worker)"; }

is_not_watched() { [ ! -e "$WORLD/run/$1" ]; }
