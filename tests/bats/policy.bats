#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# sandtrace policy, and what the shipped policies are expected to decide.

setup() {
    sandtrace=$ST_BUILDDIR/sandtrace
    dir=$(mktemp -d)
    policies=$(cd "$ST_SRCDIR/policies" && pwd)
    export SANDTRACE_POLICY_DIR=$policies
    unset SANDTRACE_CONFIG
    cat >"$dir/good.yaml" <<'END'
schema_version: "2.0"
name: good
description: a policy of the tests
scope: [/workspace]
rules:
  - id: secrets
    type: filesystem
    action: deny
    severity: critical
    paths: [/etc/shadow]
  - id: api
    type: network_egress
    destinations: [{ host: api.example.com, port: 443 }]
    max_bytes_per_call: 4096
END
}

teardown() {
    rm -rf "$dir"
}

# A trace of three events: a file in the workspace, a file in /etc, a connection. Times a second apart.
make_trace() {
    hex() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
    {
        printf '{"type":"filesystem","tier":"kernel","wall_us":1774526400000000,"op":"create","access":8,"path":"%s"}\n' "$(hex /workspace/a)"
        printf '{"type":"filesystem","tier":"kernel","wall_us":1774526401000000,"op":"modify","access":2,"path":"%s","verdict":{"result":"deny","action":"denied","severity":"high"}}\n' "$(hex /etc/hosts)"
        printf '{"type":"network_egress","tier":"kernel","wall_us":1774526402000000,"host":"%s","host_source":"dns","port":443,"protocol":6,"state":"closed","bytes_sent":5000}\n' "$(hex api.example.com)"
    } | "$ST_BUILDDIR/tests/audit/write_events" "$dir" "$dir/trace.jsonl" agent trace-1
}

@test "every shipped policy passes its check without a warning" {
    for policy in "$policies"/*.yaml; do
        run -0 "$sandtrace" policy check --strict "$policy"
    done
    run -0 "$sandtrace" policy list
    for policy in "$policies"/*.yaml; do
        [[ $output == *"$(basename "$policy" .yaml)"* ]]
    done
}

@test "every shipped policy has cases, and decides them as expected" {
    for policy in "$policies"/*.yaml; do
        run -0 "$sandtrace" policy test --expect "$policies/tests/$(basename "$policy" .yaml).cases.yaml"
        [[ $output =~ ^[a-z-]+:\ ([0-9]+)\ of\ ([0-9]+)\ as\ expected$ ]]
        [ "${BASH_REMATCH[1]}" -ge 5 ]
        [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    done
}

@test "a good policy is ok, a wrong one is shown with line, caret and remedy, an absent one can't be read" {
    run -0 "$sandtrace" policy check "$dir/good.yaml"
    [[ $output == *"good.yaml: ok: good, enforce, 2 rules" ]]
    sed 's/destinations/desitnations/' "$dir/good.yaml" >"$dir/good2.yaml"
    sed -i 's/mode: .*//; s/name: good/name: good2/; s/severity: critical/severity: hgih/' "$dir/good2.yaml"
    run -1 "$sandtrace" policy check "$dir/good2.yaml"
    [[ $output == *"good2.yaml:13:5: error: unknown key \`desitnations\` in a rule of type network_egress; did you mean \`destinations\`?"* ]]
    [[ $output == *"   13 |     desitnations: "*$'\n'"      |     ^~~~~~~~~~~~"* ]]
    [[ $output == *"good2.yaml:9:15: error: \`severity\` can't be \`hgih\`; did you mean \`high\`?"* ]]
    [[ $output == *"2 errors"* ]]
    run -2 "$sandtrace" policy check "$dir/absent.yaml"
    [[ $output == *absent.yaml* ]]
    run -2 "$sandtrace" policy check "$dir"
    [[ $output == *"not a regular file"* ]]
    run -2 "$sandtrace" policy check "$dir/absent.yaml" "$dir/good.yaml"
    [[ $output == *"good.yaml: ok"* ]]
    run -1 "$sandtrace" policy check --json "$dir/good2.yaml"
    [ "$(jq -s 'map(select(.level=="error")) | length' <<<"$output")" = 2 ]
    [ "$(jq -s '.[-1].ok' <<<"$output")" = false ]
}

@test "an id that is taken is shown in the file that can be mended, with its line" {
    printf 'schema_version: "2.0"\nextends: good\nrules:\n  - { id: secrets, type: syscall, names: [bpf] }\n' >"$dir/child.yaml"
    run -1 "$sandtrace" policy check "$dir/child.yaml"
    [[ $output == *"child.yaml:4:5: error: the id \`secrets\` is taken by the rule at $dir/good.yaml:6;"* ]]
    [[ $output == *$'\n'"    4 |   - { id: secrets,"*$'\n'"      |     ^"* ]]
    [[ $output == *"child.yaml: 1 error" ]]
    printf '  - { id: secrets, type: syscall, names: [bpf] }\n' >>"$dir/good.yaml"
    run -1 "$sandtrace" policy check "$dir/child.yaml"
    [[ $output == *"good.yaml:"[0-9]*":5: error: the id \`secrets\` is taken"*"|   - { id: secrets"* ]]
}

@test "a policy comes from standard input, from the current directory or by name" {
    run -0 "$sandtrace" policy check - <"$dir/good.yaml"
    cd "$dir"
    run -0 "$sandtrace" policy check good.yaml
    run -0 "$sandtrace" policy show agent-default
    [[ $output == *"works in /workspace"* ]]
    run -2 "$sandtrace" policy show no-such-policy
    [[ $output == *"looked for no-such-policy.yaml in: $policies"* ]]
}

@test "one event gets its verdict, the rule with its line, and why the rules before it did not match" {
    run -1 "$sandtrace" policy test "$dir/good.yaml" --path /etc/shadow --access read
    [[ $output == *"deny, severity critical, response pause"* ]]
    [[ $output == *"reading /etc/shadow is refused by rule secrets"* ]]
    [[ $output == *"rule secrets, $dir/good.yaml:6"* ]]
    run -1 "$sandtrace" policy test "$dir/good.yaml" --connect api.example.com:443 --bytes 5000
    [[ $output == *"anomaly"* ]]
    [[ $output == *"5000 bytes sent to api.example.com port 443/tcp, over the 4096 a call"* ]]
    [[ $output == *"1 rule about other things"* ]]
    run -1 "$sandtrace" policy test "$dir/good.yaml" --connect api.example.com:80 --all
    [[ $output == *"secrets"*"is about filesystem"* ]]
    [[ $output == *"api"*"the destination matches, but only on port 443"* ]]
    run -0 "$sandtrace" policy test "$dir/good.yaml" --path /workspace/a --access write
    run -0 "$sandtrace" policy test "$dir/good.yaml" --exec /bin/sh
    run -0 "$sandtrace" policy test "$dir/good.yaml" --syscall ptrace
    run -0 "$sandtrace" policy test "$dir/good.yaml" --lookup api.example.com
    run -1 "$sandtrace" policy test "$dir/good.yaml" --lookup evil.example
    run -1 "$sandtrace" policy test --json "$dir/good.yaml" --connect api.example.com:80
    [ "$(jq -r '.result + " " + (.tried | length | tostring)' <<<"$output")" = "deny 2" ]
}

@test "words that make no event are refused" {
    run -2 "$sandtrace" policy test "$dir/good.yaml"
    run -2 "$sandtrace" policy test "$dir/good.yaml" --path /x --exec /y
    run -2 "$sandtrace" policy test "$dir/good.yaml" --path /x --bytes 3
    [[ $output == *"bytes does not go with path"* ]]
    run -2 "$sandtrace" policy test "$dir/good.yaml" --path /x --access raed
    [[ $output == *"\`raed\` is no access"* ]]
    run -2 "$sandtrace" policy test "$dir/good.yaml" --connect x.example:70000
    run -2 "$sandtrace" policy test "$dir/good.yaml" --syscall ptrase
    [[ $output == *"there is no syscall \`ptrase\`; did you mean \`ptrace\`?"* ]]
    run -2 "$sandtrace" policy check "$dir/good.yaml" --path /x
    run -2 "$sandtrace" policy frobnicate
    run -2 "$sandtrace" policy lsit
    [[ $output == *"did you mean \`list\`?"* ]]
    run -2 "$sandtrace" policy test agent-defualt --path /x
    [[ $output == *"did you mean \`agent-default\`?"* ]]
    run -2 "$sandtrace" policy test nothing-like-it --path /x
    [[ $output == *"looked for nothing-like-it.yaml in: $policies"* ]]
    run -2 "$sandtrace" policy
}

@test "a case that does not come out as expected is shown with its line" {
    cat >"$dir/cases.yaml" <<'END'
policy: ./good.yaml
cases:
  - { path: /etc/shadow, access: read, expect: deny, rule: secrets }
  - { path: /etc/shadow, access: read, expect: allow }
  - name: the second call is over
    connect: "api.example.com:443"
    bytes: 4097
    expect: anomaly
END
    run -1 "$sandtrace" policy test --expect "$dir/cases.yaml"
    [[ $output == *"cases.yaml:4:5: FAILED: path /etc/shadow access read"* ]]
    [[ $output == *"expected: expect allow"* ]]
    [[ $output == *"good: 2 of 3 as expected"* ]]
    run -1 "$sandtrace" policy test --json --expect "$dir/cases.yaml"
    [ "$(jq -s 'map(.ok) | tostring' <<<"$output")" = '"[true,false,true]"' ]
    printf 'policy: ./good.yaml\ncases:\n  - { path: /x, acess: read, expect: deny }\n  - { path: /x }\n' >"$dir/cases.yaml"
    run -2 "$sandtrace" policy test --expect "$dir/cases.yaml"
    [[ $output == *"cases.yaml:3:17: error: unknown key \`acess\` in a case; did you mean \`access\`?"* ]]
    [[ $output == *"cases.yaml:4:5: error: a case needs \`expect\`"* ]]
    printf 'policy: ./good.yaml\ncases:\n  - { path: /x, expect: dney }\n  - { path: /x, expect: deny, rule: secretz, severity: hihg, response: x }\n' \
        >"$dir/cases.yaml"
    run -2 "$sandtrace" policy test --expect "$dir/cases.yaml"
    [[ $output == *"cases.yaml:3:25: error: \`expect\` can't be \`dney\`; did you mean \`deny\`?"* ]]
    [[ $output == *"cases.yaml:4:37: error: the policy has no rule \`secretz\`; did you mean \`secrets\`?"* ]]
    [[ $output == *"cases.yaml:4:56: error: \`severity\` can't be \`hihg\`; did you mean \`high\`?"* ]]
    [[ $output == *"\`response\` can't be \`x\`; write one of record, deny, pause, kill"* ]]
    printf 'policy: ./good.yaml\ncases:\n  - { path: /x, path: /y, expect: deny\n' >"$dir/cases.yaml"
    run -2 "$sandtrace" policy test --expect "$dir/cases.yaml"
    [[ $output == *"cases.yaml:3:17: error: duplicate key"*"^"*"cases.yaml:4:1: error: did not find expected"* ]]
}

@test "cases can say what happened before, how often and how much later" {
    cat >"$dir/rate.yaml" <<'END'
schema_version: "2.0"
defaults: { dns_query: allow }
rules:
  - id: few
    type: threshold
    threshold: { metric: count, window: 1m, limit: 3, match: { event_type: dns_query } }
END
    cat >"$dir/cases.yaml" <<'END'
policy: ./rate.yaml
cases:
  - { lookup: a.example, times: 3, expect: allow }
  - { lookup: a.example, times: 4, expect: deny, rule: few }
  - { lookup: a.example, expect: deny, before: [{ lookup: b.example, times: 3 }] }
  - { lookup: a.example, after: 2m, expect: allow, before: [{ lookup: b.example, times: 3 }] }
END
    run -0 "$sandtrace" policy test --expect "$dir/cases.yaml"
}

@test "two policies are compared by what they say" {
    run -0 "$sandtrace" policy diff "$dir/good.yaml" "$dir/good.yaml"
    sed 's/4096/8192/; s/name: good/name: good2/; s|\[/workspace\]|[/workspace, /tmp]|' "$dir/good.yaml" >"$dir/good2.yaml"
    printf '  - { id: new, type: syscall, action: deny, names: [bpf] }\n' >>"$dir/good2.yaml"
    run -1 "$sandtrace" policy diff "$dir/good.yaml" "$dir/good2.yaml"
    [[ $output == *"setting scope"*"- /workspace"*"+ /workspace /tmp"* ]]
    [[ $output == *"changed rule api"*"max_bytes_per_call: 4096"*"max_bytes_per_call: 8192"* ]]
    [[ $output == *"only in B: rule new"* ]]
    [[ $output != *secrets* ]]
    run -1 "$sandtrace" policy diff --json "$dir/good.yaml" "$dir/good2.yaml"
    [ "$(jq -s length <<<"$output")" = 3 ]
}

@test "the events of a trace are asked anew" {
    make_trace
    run -1 "$sandtrace" policy test "$dir/good.yaml" --trace "$dir/trace.jsonl"
    [[ $output == *"write outside the scope /workspace: /etc/hosts"* ]]
    [[ $output == *"5000 bytes sent to api.example.com"* ]]
    [[ $output != *"/workspace/a"* ]]
    [[ $output == *"2 of 4 events refused"* ]]
    # As for one event: the rule with its line, and those tried before it.
    [[ $output == *"5000 bytes sent to api.example.com"*"rule api, $dir/good.yaml:"[1-9]*"tried before: 1 rule about other things"* ]]
    [[ $output == *"/etc/hosts"*"tried before:"*"secrets "*"none of its paths matches  ($dir/good.yaml:6)"* ]]
    run -1 "$sandtrace" policy test --json "$dir/good.yaml" --trace "$dir/trace.jsonl"
    [ "$(jq -s 'map(.a.result) | tostring' <<<"$output")" = '"[\"deny\",\"anomaly\"]"' ]
    [ "$(jq -s '.[1].a.line - (.[1].a.tried | map(select(.rule == "secrets")) | .[0].line) > 0' <<<"$output")" = true ]
    sed 's/4096/8192/; s/name: good/name: good2/' "$dir/good.yaml" >"$dir/good2.yaml"
    run -1 "$sandtrace" policy diff "$dir/good.yaml" "$dir/good2.yaml" --trace "$dir/trace.jsonl"
    [[ $output == *"- anomaly, response pause: 5000 bytes sent"*"+ allow: allowed by rule api"* ]]
    [[ $output == *"1 of 4 events decided differently"* ]]
    run -0 "$sandtrace" policy diff "$dir/good.yaml" "$dir/good.yaml" --trace "$dir/trace.jsonl"
    sed 's/name: good/name: audited\nmode: audit/' "$dir/good.yaml" >"$dir/audited.yaml"
    run -1 "$sandtrace" policy diff "$dir/good.yaml" "$dir/audited.yaml" --trace "$dir/trace.jsonl"
    [[ $output == *"- deny, response pause: write outside"*"+ deny, response record: write outside"* ]]
    echo 'no record' >>"$dir/trace.jsonl"
    run -2 "$sandtrace" policy test "$dir/good.yaml" --trace "$dir/trace.jsonl"
    [[ $output == *"1 lines could not be read"* ]]
    run -2 "$sandtrace" policy test "$dir/good.yaml" --trace "$dir/absent.jsonl"
}

@test "a policy that others may write can be looked at, and is shown as broken where it is" {
    cp "$dir/good.yaml" "$dir/loose.yaml"
    chmod 666 "$dir/loose.yaml"
    printf 'mode: [\n' >"$dir/broken.yaml"
    SANDTRACE_POLICY_DIR=$dir run -1 "$sandtrace" policy list
    [[ $output == *"loose"*"a policy of the tests"* ]]
    [[ $output == *"broken"*"broken.yaml:2:1"* ]]
}

@test "explain shows which opens a policy has asked about, and what each rule costs" {
    cat >"$dir/costly.yaml" <<'END2'
schema_version: "2.0"
scope: [/workspace]
name: costly
rules:
  - { id: keys, type: filesystem, action: deny, severity: high, paths: ["/**/*.pem"] }
  - { id: memory, type: filesystem, action: deny, severity: high, paths: ["/proc/*/mem"] }
END2
    run -0 "$sandtrace" policy explain "$dir/good.yaml"
    [[ $output == "good: depth guard"* ]]
    [[ $output == *"/workspace "*"changes, executions "*"RULE"*"secrets "*"objects"*"one by one:"*"/etc/shadow"* ]]
    [[ $output != *" every open  "* ]]
    run -0 "$sandtrace" policy explain "$dir/costly.yaml"
    [[ $output == *"/workspace "*"every open "*"rule keys: "*"keys "*"opens of /"*"warning: rule memory: reading below /proc can't be refused"* ]]
    run -0 "$sandtrace" policy explain --json "$dir/costly.yaml"
    [ "$(jq -c '[.asked, .depth, (.mounts[] | select(.point == "/workspace") | .every_open, .rule), (.rules[] | select(.id == "memory") | .unseen)]' <<<"$output")" = \
        '["guard","guard",true,"keys","/proc"]' ]
    run -0 "$sandtrace" policy explain strict
    [[ $output == "strict: depth strict"* ]]
    run -0 "$sandtrace" policy explain audit-only
    [[ $output == "audit-only: depth strict, not record: in audit mode"* ]]
    run -2 "$sandtrace" policy explain
    [[ $output == *"explain one policy, or --container ID"* ]]
    run -2 "$sandtrace" policy show --container x good
    [[ $output == *"does not take one of these options"* ]]
}
