#!/bin/bash
# bench-desk [EVENTS]: what the review desk takes for a million events: making the database from a trace, pages and
# summaries, and the server's memory with 200 live readers. Not a test: a
# busy machine makes it slow, not wrong. With --assert it fails where a goal is missed.
set -euo pipefail

assert=
[ "${1:-}" != --assert ] || { assert=yes; shift; }
events=${1:-1000000}
goal=100000
dir=$(mktemp -d "${BENCH_FOLDER:-/var/tmp}/bench-desk.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/log" "$dir/run"
printf 'log_dir: %s/log\nkey_dir: %s/keys\nevents_db: %s/events.db\n' "$dir" "$dir" "$dir" >"$dir/sandtrace.yaml"
export SANDTRACE_CONFIG=$dir/sandtrace.yaml

"$ST_BUILDDIR/tests/bench/make_trace" "$dir/log/bench.jsonl" "$events"
sync "$dir/log/bench.jsonl"
start=$(date +%s%N)
TIMEFORMAT='%U + %S'
cpu=$({ time "$ST_BUILDDIR/sandtrace" index >"$dir/said"; } 2>&1)
end=$(date +%s%N)
rate=$((events * 1000000000 / (end - start)))
printf '%-24s %10d events in %d.%03d s %10d a second   goal %d: %s\n' "index" "$events" \
    $(((end - start) / 1000000000)) $(((end - start) / 1000000 % 1000)) "$rate" "$goal" "$([ "$rate" -ge "$goal" ] && echo met || echo 'NOT MET')"
printf '%-24s %s s of a processor, its own and the kernel'"'"'s: what is more was waited for\n' "" "$cpu"
printf '%-24s %10d MB of trace, %d MB of database\n' "" $(($(stat -c %s "$dir/log/bench.jsonl") / 1000000)) $(($(stat -c %s "$dir/events.db") / 1000000))
python3 "$ST_SRCDIR/tests/bench/desk_load.py" "$ST_BUILDDIR/sandtrace" "$dir" "$dir/log/bench.jsonl" ${assert:+--assert}
[ -z "$assert" ] || [ "$rate" -ge "$goal" ]
