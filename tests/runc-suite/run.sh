#!/bin/bash
# runc's own integration suite, by plain runc and through sandtrace-runtime in
# the same run, compared test by test. Exit 0 only where both gave the same;
# files in which they did not are asked a second time.
#
#   run.sh [FILE.bats…]                 all files of the suite unless named
#
# ST_CACHE_DIR  where the suite's tree is kept between runs ($ST_BUILDDIR/tests/runc-suite)
# ST_SERIAL=1   one side after the other (they run side by side, each in cgroups of its own)
#
# Results stay in $ST_BUILDDIR/tests/runc-suite/{plain,sandtrace}.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../bats/lib/world.bash
source "$here/../bats/lib/world.bash"

out=$ST_BUILDDIR/tests/runc-suite
cache=${ST_CACHE_DIR:-$out/cache}

say() { echo "check-runc: $*"; }

# One result a line: FILE <tab> NAME <tab> ok|failed|skipped. A file whose plan
# and results differ in number ended early: that is a result too.
results_of() {
    local tap
    for tap in "$out/$1"/*.tap; do
        awk -v file="$(basename "$tap" .tap)" '
            /^1\.\./ { plan = substr($0, 4) }
            /^(not )?ok [0-9]+ / {
                seen++
                result = /^not/ ? "failed" : / # skip/ ? "skipped" : "ok"
                sub(/^(not )?ok [0-9]+ /, ""); sub(/ # skip.*/, "")
                print file "\t" $0 "\t" result
            }
            END { if (seen != plan) print file "\t(the file ended early)\tfailed" }' "$tap"
    done | sort
}

count() { awk -F '\t' -v r="$2" '$3 == r { n++ } END { print n + 0 }' "$out/$1.results"; }

summary() { printf '%-10s %4d ok  %3d failed  %3d skipped\n' "$1" "$(count "$1" ok)" "$(count "$1" failed)" "$(count "$1" skipped)"; }

# run_side NAME RUNTIME: in cgroups, mounts and a temporary directory of its own.
run_side() {
    mkdir -p "$out/$1"
    RUNC=$2 TMPDIR=$WORLD/$1 "$here/side.sh" "$WORLD_NAME-$1" "$NOTES/turn" "$tree/tests/integration" "$out/$1" "${files[@]}" \
        >"$out/$1.log" 2>&1 || { cat "$out/$1.log" >&2; say "the side $1 did not run"; return 1; }
    results_of "$1" >"$out/$1.results"
}

run_both() {
    local plain
    say "running ${#files[@]} files with plain runc and through sandtrace-runtime"
    run_side plain "$(command -v runc)" &
    plain=$!
    [ -z "${ST_SERIAL:-}" ] || wait "$plain"
    run_side sandtrace "$RUNTIME"
    [ -n "${ST_SERIAL:-}" ] || wait "$plain"
}

# Files in which some test went differently.
differing_files() { comm -3 "$out/plain.results" "$out/sandtrace.results" | sed 's/^\t//' | cut -f 1 | sort -u; }

# Some tests of the suite are a matter of luck, with plain runc too (a terminal's helper that is not up yet):
# what is different must be so twice.
ask_again() {
    mapfile -t files < <(differing_files)
    [ ${#files[@]} -gt 0 ] || return 0
    show_differences
    say "once more, since these differed: ${files[*]}"
    run_both
}

# What the suite leaves by either runtime, and the empty group that monitors share, is no news; whatever
# else is in a side's cgroups keeps them from going.
remove_cgroups_of_sides() {
    local dir
    for dir in /sys/fs/cgroup/"$WORLD_NAME"-{plain,sandtrace} /sys/fs/cgroup/*/"$WORLD_NAME"-{plain,sandtrace}; do
        [ -d "$dir" ] || continue
        find "$dir"/runc-cgroups-integration-test "$dir"/suite "$dir"/sandtrace -depth -type d -exec rmdir {} \; 2>/dev/null || true
        rmdir "$dir" || true
    done
}

# The table of differences, and for each the output of the side that is ours.
show_differences() {
    echo
    printf '%-24s %-60s %-8s %s\n' FILE TEST PLAIN SANDTRACE
    join -t $'\t' -j 1 -a 1 -a 2 -e missing -o 0,1.2,2.2 \
        <(awk -F '\t' '{ print $1 " | " $2 "\t" $3 }' "$out/plain.results" | sort) \
        <(awk -F '\t' '{ print $1 " | " $2 "\t" $3 }' "$out/sandtrace.results" | sort) |
        awk -F '\t' '$2 != $3 { split($1, n, " \\| "); printf "%-24s %-60s %-8s %s\n", n[1], n[2], $2, $3 }'
    echo
    comm -13 "$out/plain.results" "$out/sandtrace.results" | cut -f 1,2 |
        while IFS=$'\t' read -r file name; do
            awk -v name="$name" 'index($0, name) && /^(not )?ok/ { on = 1; print; next } /^(not )?ok/ { on = 0 } on' \
                "$out/sandtrace/$file.tap"
        done
}

# Was our side ours? Every container leaves a start and a stop in a trace that verifies.
check_traces() {
    local starts stops trace
    starts=$(count_starts)
    stops=$(count_stops)
    say "$starts containers were watched, $stops ends recorded, in $(ids_of_world | wc -l) traces"
    if [ "$starts" -eq 0 ] || [ "$starts" -ne "$stops" ]; then
        say "each start should have its stop"
        return 1
    fi
    for trace in "$WORLD"/log/*.jsonl; do
        sandtrace verify "$trace" >"$NOTES/verify" 2>&1 || { cat "$NOTES/verify"; say "$trace is not valid"; return 1; }
    done
}

tree=$("$here/prepare.sh" "$cache")
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(cd "$tree/tests/integration" && ls ./*.bats)
files=("${files[@]#./}")

trap end_world EXIT
make_world
mkdir -m 0755 "$WORLD/plain" "$WORLD/sandtrace"
mkdir -p "$out"
rm -rf "${out:?}/plain" "${out:?}/sandtrace"
remember_what_is_there
run_both
ask_again
remove_cgroups_of_sides
summary plain
summary sandtrace
[ "$(count plain ok)" -gt 0 ] || { say "plain runc passed nothing: this machine can't run the suite"; exit 1; }
same=yes
cmp -s "$out/plain.results" "$out/sandtrace.results" || { same=no; show_differences; }
check_traces || same=no
nothing_left_behind || same=no
[ "$same" = yes ] || { say "sandtrace-runtime differs from runc; see $out"; exit 1; }
say "no difference in $(wc -l <"$out/plain.results") tests"
