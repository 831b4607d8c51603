#!/usr/bin/env bats
# What `make bench` says can be believed: its sums, and that it really measures. Figures are nobody's pass here.
# shellcheck disable=SC2154 # words of bats
bats_require_minimum_version 1.5.0
load lib/world

setup() { files=$(mktemp -d "$BATS_TEST_TMPDIR/bench.XXXXXX"); }

# bench ARGUMENT…: into $files.
bench() { "$ST_SRCDIR/tests/bench/bench.sh" --size tiny --out "$files" "$@"; }

@test "sums, table and chart of the benchmarks are right" {
    PYTHONPATH=$ST_SRCDIR/tests/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m unittest costs_test
}

@test "a round of small work makes a table, a JSON and a chart, and everybody saw what was done" {
    bench --rounds 1 --workloads untar,tcp,exec --configurations guard,record,strict
    jq -e '.slices[0].workloads | (keys == ["exec", "tcp", "untar"]) and all(.[]; [.runs[].configuration] | unique == ["again", "guard", "plain", "record", "strict"])' \
        "$files/results.json"
    jq -e '[.summary.workloads[].cells[] | .missed] | all(. == "")' "$files/results.json"
    jq -e '.summary.workloads[].cells | .guard, .record, .strict | .events > 0 and .watch_share > 0 and .pss_kb > 0' "$files/results.json"
    contains "$files/results.md" '| untar of 50 files |'
    contains "$files/results.svg" '>untar of 50 files<'
    # What it made is gone.
    run ! grep -F bench-root /proc/self/mountinfo
}

@test "what is measured later is added, and what can't be had says why" {
    bench --rounds 1 --workloads exec --configurations guard
    bench --rounds 2 --workloads tcp --configurations auditd --append
    jq -e '(.slices | length == 2) and (.summary.workloads | keys == ["exec", "tcp"]) and (.summary.absent.auditd | length > 0)' "$files/results.json"
    contains "$files/results.md" '- auditd: '
    cp "$files/results.md" "$files/before.md"
    bench --report >"$files/said"
    cmp "$files/before.md" "$files/results.md"
    run -1 bench --size quick --append --workloads tcp
    [[ $output == *"can't be compared"* ]]
    run -1 bench --workloads nonsense
    [[ $output == *"no workload nonsense; there are open-hot"* ]]
}
