#!/bin/sh
# run.sh SECONDS SRCDIR FUZZER...: each libFuzzer program for that long, from its seeds in tests/fuzz/corpus/NAME. Fails, and
# keeps the input under tests/fuzz/found, where one crashes, hangs, leaks or grows without bound.
set -u
seconds=${1:?usage: run.sh SECONDS SRCDIR FUZZER...}
srcdir=${2:?usage: run.sh SECONDS SRCDIR FUZZER...}
shift 2
passed=0
failed=0
mkdir -p tests/fuzz/found
for fuzzer in "$@"; do
    name=${fuzzer##*/fuzz_}
    seeds=$srcdir/tests/fuzz/corpus/$name
    dict=$srcdir/tests/fuzz/$name.dict
    work=tests/fuzz/work/$name
    [ -d "$seeds" ] || { echo "fuzz: no seeds for $name in $seeds" >&2; exit 1; }
    mkdir -p "$work"
    set -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="tests/fuzz/found/$name-" "$work" "$seeds"
    [ -f "$dict" ] && set -- -dict="$dict" "$@"
    if "./$fuzzer" "$@" >"tests/fuzz/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "tests/fuzz/$name.log") runs in $seconds s, nothing found"
    else
        failed=$((failed + 1))
        echo "fuzz: $name: FAILED, see tests/fuzz/$name.log" >&2
        tail -n 40 "tests/fuzz/$name.log" >&2
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
