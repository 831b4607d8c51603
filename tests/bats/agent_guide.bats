#!/usr/bin/env bats
# .agent.md says what an agent meets under agent-default: each line of its table is tried in a container.
bats_require_minimum_version 1.5.0
load lib/world
load lib/container

setup_file() {
    require ip=iproute2 python3=python3
    make_world
    configure resolvers '[192.0.2.53]'
    # The same refusals, decided without a person; whether a person would be asked is told by the severity.
    cat >"$WORLD/policies/agent-default-at-once.yaml" <<END
schema_version: "2.0"
extends: agent-default
on_violation: { high: deny, critical: deny }
END
    configure default_policy agent-default-at-once
}

teardown_file() {
    remove_all_containers || true
    end_world
}

guide() { cat "$ST_SRCDIR/.agent.md"; }

# rows: of the table, as "what | example | error | after it" without the backticks around the example.
rows() { guide | sed -n 's/^| \(to .*\) | `\(.*\)` | \(.*\) | \(.*\) |$/\1\t\2\t\3\t\4/p'; }

# A machine for the examples: a repository, secrets, a resolver; strace and keyctl are stood in for by what makes the same call.
make_machine() {
    local root
    make_container box sh -c "$1"
    root=$(bundle_of box)/rootfs
    mkdir -p "$root/workspace/.git/hooks" "$root/etc"
    echo 'root:*:1:' >"$root/etc/shadow"
    echo 'nameserver 192.0.2.53' >"$root/etc/resolv.conf"
    cp "$ST_BUILDDIR/tests/attack/ask" "$root/bin/ask"
    printf '#!/bin/sh\nexec ask plain ptrace\n' >"$root/bin/strace"
    printf '#!/bin/sh\nexec ask plain keyctl\n' >"$root/bin/keyctl"
    chmod +x "$root/bin/strace" "$root/bin/keyctl"
}

# The container is created, gets a way out that leads nowhere, and is started.
run_machine() {
    runtime create --bundle "$(bundle_of box)" "$(id_of box)" </dev/null >"$NOTES/said" 2>&1
    nsenter --net="/proc/$(init_pid_of box)/ns/net" sh -ec 'ip link add out type veth peer name far; ip link set far up; ip addr add 198.51.100.2/24 dev out
        ip link set out up; ip route add default via 198.51.100.1; ip neigh replace 198.51.100.1 lladdr 02:00:00:00:00:01 dev out' >&2
    runtime start "$(id_of box)"
    retry_until is_sealed "$(id_of box)"
    runtime delete "$(id_of box)"
}

@test "each refusal that the guide lists looks as it says, and would pause the container where it says so" {
    [ "$(rows | wc -l)" -ge 12 ]
    while IFS=$'\t' read -r what example error after; do
        make_machine "$example"
        run_machine
        echo "$what: $(cat "$NOTES/said")"
        # By its name or by its words, as the program has it.
        error=${error#the answer }
        grep -qE "${error%%: *}|${error#*: }" "$NOTES/said"
        severity=$(trace_value "$(id_of box)" '.verdict.result == "deny"' .verdict.severity)
        case $severity in
        high | critical) [ "$after" = pause ] ;;
        medium) [ "$after" = refused ] ;;
        *) fail "severity '$severity'" ;;
        esac
        rm -f "$(trace_of "$(id_of box)")"
        remove_all_containers
    done < <(rows)
}

# words AFTER BEFORE: what stands in backticks between two phrases of the guide.
words() { guide | tr '\n' ' ' | sed "s/.*$1//; s/$2.*//" | grep -o '`[^`]*`' | tr -d '`'; }

@test "what the guide says an agent may use, the policy allows" {
    for dir in $(words 'and remove below' 'what you build') $(words '^' 'as scratch' | tail -n 3); do
        for access in read create write delete; do
            run -0 sandtrace policy test agent-default --path "$dir/sub/file" --access "$access"
        done
    done
    for host in $(words 'talk to yourself:' 'start processes'); do
        run -0 sandtrace policy test agent-default --connect "${host/::1/[::1]}:8080"
    done
    run -0 sandtrace policy test agent-default --exec /workspace/built --new
    run -0 sandtrace policy show agent-default
    guide | grep -q 'up to 512 at once, 128 of one parent, 16 levels deep'
    grep -q 'limits  *depth 16 children 128 processes 512' <<<"$output"
}

@test "what the guide calls a secret, the policy refuses to everyone, as critical" {
    secrets=$(words 'Secrets are, among others,' 'A file that merely')
    [ "$(wc -l <<<"$secrets")" -ge 12 ]
    for path in $secrets; do
        run -1 sandtrace policy test agent-default --path "$path" --access read --json
        [ "$(jq -r .severity <<<"$output")" = critical ]
    done
}

@test "the time until nobody has decided, and the rule that a person would add, are as the guide has them" {
    guide | grep -q 'within 15 minutes'
    run -0 sandtrace policy show agent-default
    grep -q 'pause  *hold, for 15m, then deny' <<<"$output"
    guide | sed -n '/```yaml/,/```/p' | grep -v '```' | sed 's/^   //' >"$BATS_TEST_TMPDIR/ours.yaml"
    run -0 sandtrace policy check --strict "$BATS_TEST_TMPDIR/ours.yaml"
    run -0 sandtrace policy test "$BATS_TEST_TMPDIR/ours.yaml" --connect index.example.com:443
}
