#!/usr/bin/env bats
# A machine with cgroup v2 alone, whatever this one has: the other hierarchies
# are taken away in a mount namespace.
bats_require_minimum_version 1.5.0

# passes_on_v2 SUITE [TESTS]: it runs, whole or those whose names fit, and nothing in it fails or is skipped.
passes_on_v2() {
    # bats keeps its state in the environment and its parts in PATH: the inner one must see neither.
    run env -i PATH="$(sed 's,[^:]*bats-core:,,g' <<<"$PATH")" ST_SRCDIR="$ST_SRCDIR" ST_BUILDDIR="$ST_BUILDDIR" \
        unshare --mount --propagation private sh -c '
            umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec bats --tap --filter "$2" "$1"' \
        sh "$BATS_TEST_DIRNAME/$1" "${2:-}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *$'\nok '* ]]
    [[ $output != *"# skip"* ]]
}

@test "the monitor's life cycle is the same where there is only cgroup v2" { passes_on_v2 lifecycle.bats; }

@test "no engine command waits for a decision where there is only cgroup v2" { passes_on_v2 engine.bats; }

@test "nothing is let by under pressure where there is only cgroup v2" { passes_on_v2 pause.bats; }

@test "a container in the host's network is held to its policy where there is only cgroup v2" { passes_on_v2 network_host.bats 'what is allowed|never arrives|not disturbed|killed: no new flow|cgroup2 group'; }

@test "no container thaws itself or leaves its group where there is only cgroup v2" { passes_on_v2 reach.bats 'its trace says so|can write control groups|thaw|below'; }

@test "sandtrace run asks, and leaves nothing behind, where there is only cgroup v2" { passes_on_v2 run.bats 'exit code|escape|is killed|TERM, INT'; }

@test "each demonstration shows what it claims where there is only cgroup v2" { passes_on_v2 demo.bats 'all shows|whatever signal'; }
