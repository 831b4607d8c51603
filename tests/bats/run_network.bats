#!/usr/bin/env bats
# sandtrace run --network user: the user-mode stack, in the suite's own network (lib/net.bash).
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/net

setup_file() {
    require slirp4netns=slirp4netns
    make_world
    make_net
    mkdir "$NOTES/work"
    echo "nameserver $dns4" >"$NOTES/resolv.conf"
    cat >"$WORLD/policies/calls.yaml" <<'END'
schema_version: "2.0"
name: calls
extends: agent-default
on_violation: { low: record, medium: deny, high: deny, critical: pause }
rules:
  - { id: api, type: network_egress, destinations: [{ host: allowed.example.test, port: 80 }] }
END
}

teardown_file() {
    end_net
    end_world
}

setup() { cd "$NOTES/work" || return; }

# in_box ARGUMENT…: as if the machine were the one of the servers, which knows their names.
in_box() {
    run --separate-stderr in_net unshare --mount sh -c 'mount --bind "$1" /etc/resolv.conf && shift && exec sandtrace run --json --network user "$@"' \
        sh "$NOTES/resolv.conf" "$@" </dev/null
    [ "$status" -eq 0 ] || { echo "$output$stderr" >&2; return 1; }
}

summary() { jq -r "$1" <<<"${stderr_lines[-1]}"; }

@test "what the policy allows is reached, by its name, and nothing else" {
    remember_what_is_there
    in_box --policy calls sh -c "curl -sS -o /dev/null -w '%{http_code}\n' http://allowed.example.test/; curl -sS --max-time 10 http://$other4/ 2>/dev/null || echo refused"
    [ "$output" = $'200\nrefused' ] || { echo "$output$stderr" >&2; false; }
    served '.host == "allowed.example.test"'
    [ "$(summary '.refused >= 1 and .peers >= 1 and .bytes_sent > 0 and .valid')" = true ] || { echo "$stderr" >&2; false; }
    nothing_left_behind
}

@test "the stack itself lets nobody to the host's loopback" {
    start_in_net loopback /usr/bin/python3 -m http.server --bind 127.0.0.1 8099
    daemon_answers loopback in_net curl -sf http://127.0.0.1:8099/
    in_box --policy audit-only sh -c "curl -sS -o /dev/null -w '%{http_code}\n' http://$allowed4/; curl -sS --max-time 10 http://10.0.2.2:8099/ 2>/dev/null || echo refused"
    stop_daemon loopback
    [ "$output" = $'200\nrefused' ]
}

@test "when the command ends, so does the stack; also when sandtrace run is killed" {
    nsenter --net="$WORLD/netns" sandtrace run --network user -- sh -c 'touch started; exec sleep 1000' </dev/null >"$NOTES/out" 2>&1 3>&- &
    box=$!
    retry_until exists started
    stack=$(pgrep -P "$box" -x slirp4netns)
    kill -KILL "$box"
    retry_until has_ended "$stack"
    retry_until is_gone_for_good
}

is_gone_for_good() { [ "$(ls "$WORLD/run/.runs")" = lock ]; }
