#!/usr/bin/env bats
# Depths of watching: what is asked about may be less, what is refused and recorded as refused may not.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control
load lib/attack

setup_file() {
    require git=git
    make_world
    write_depth_policy guarded
    start_engines
}

teardown_file() {
    end_engines
    end_world
}

setup() {
    configure depth policy
    configure default_policy guarded
    remember_what_is_there
}

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    nothing_left_behind
    rm -rf "$WORLD"/log/* "$WORLD/volumes"
}

# As that of the other suites, but nothing in it has a second name.
furnish_root() {
    mkdir -p "$1"/root/.ssh "$1"/home/agent/.ssh
    cp "$ST_BUILDDIR/tests/attack/attack" "$1/bin/attack"
    echo 'root:secret' >"$1/etc/shadow"
    echo key >"$1/root/.ssh/id_ed25519"
    echo key >"$1/home/agent/.ssh/id_rsa"
}

# write_depth_policy NAME [RULE…]: agent-default that refuses, with these rules in front.
write_depth_policy() {
    local name=$1
    shift
    {
        printf 'schema_version: "2.0"\nname: %s\nextends: agent-default\n' "$name"
        [ $# -eq 0 ] || { echo 'rules:'; printf '  - { %s }\n' "$@"; }
        echo 'on_violation: { low: deny, medium: deny, high: deny, critical: deny }'
    } >"$WORLD/policies/$name.yaml"
}

# depth_of ID: what the first record says of it.
depth_of() { jq -rs 'first | .payload.sensors[] | select(.name == "files") | .detail' "$(trace_of "$1")"; }

# runs ENGINE SCRIPT: in a container `box`, until it ends; what it says is in $NOTES/said, its ID in $id.
runs() {
    run_by "$1" box sh -c "$2" >"$NOTES/said" 2>&1 </dev/null || true
    id=$(watched_id "$1" box)
    trace_is_complete "$id"
}

# is_refused PATH: it was, and the trace has it.
is_refused() { trace_has "$id" ".payload.path == \"$1\" and .payload.blocked and .verdict.result == \"deny\""; }

is_asked_about_wholly() { [[ $(depth_of "$id") == *"every open:"*" $1 ("* ]]; }

# only_what_may_be_refused_is_asked_about ENGINE
only_what_may_be_refused_is_asked_about() {
    prepare "$1" box
    runs "$1" 'for f in /etc/shadow /root/.ssh/id_ed25519 /home/agent/.ssh/id_rsa; do read x <$f && echo "got $f"; done; ls /root/.ssh; attack list >/dev/null
        read x </etc/passwd && echo "passwd $x"; echo new >/workspace/new; read x </workspace/new && echo "new $x"; echo evil >/etc/evil; true'
    [[ $(depth_of "$id") == *"; depth guard: "* ]]
    run ! grep -E '^got|^id_ed' "$NOTES/said"
    contains "$NOTES/said" 'passwd root:'
    contains "$NOTES/said" 'new new'
    for path in /etc/shadow /root/.ssh /root/.ssh/id_ed25519 /home/agent/.ssh/id_rsa /etc/evil; do is_refused "$path"; done
    trace_has "$id" '.payload.path == "/workspace/new" and .payload.op == "create"'
    trace_has "$id" '.event_type == "process" and .payload.op == "exec" and .payload.path == "/bin/attack"'
    [ "$(trace_count "$id" '.payload.path == "/etc/passwd"')" -eq 0 ]
    trace_has "$id" '.event_type == "filesystem_summary" and any(.payload.files_created[]; .path == "/workspace/new" and .size == 4)'
}

@test "runc: under guard what may be refused is, and only that is asked about" { only_what_may_be_refused_is_asked_about runc; }

@test "docker: under guard what may be refused is, and only that is asked about" { only_what_may_be_refused_is_asked_about docker; }

@test "podman: under guard what may be refused is, and only that is asked about" { only_what_may_be_refused_is_asked_about podman; }

@test "a second name of what may be refused changes nothing" {
    prepare runc box
    root=$(bundle_of box)/rootfs
    ln "$root/etc/shadow" "$root/workspace/link"
    ln "$root/home/agent/.ssh/id_rsa" "$root/var/link"
    runs runc 'cat /workspace/link /var/link; mv /workspace/link /workspace/moved; cat /workspace/moved'
    run ! grep -E 'secret|key' "$NOTES/said"
    run ! is_asked_about_wholly /
    run ! is_asked_about_wholly /workspace
    trace_has "$id" '.payload.path == "/etc/shadow" and .payload.target == "/workspace/link" and .payload.blocked'
    trace_has "$id" '.payload.path == "/etc/shadow" and .payload.target == "/workspace/moved" and .payload.blocked'
    trace_has "$id" '.payload.path == "/home/agent/.ssh/id_rsa" and .payload.target == "/var/link" and .payload.blocked'
}

@test "a rule of all below a name refuses a file that has the name, and one of all that begins with it what lies deep below" {
    write_depth_policy below 'id: private, type: filesystem, action: deny, severity: high, access: [read], paths: ["/etc/token/**", "/srv/k**"]'
    configure default_policy below
    prepare runc box
    root=$(bundle_of box)/rootfs
    mkdir -p "$root/srv/keys/old/er"
    echo secret | tee "$root/etc/token" "$root/srv/kept" "$root/srv/keys/one" "$root/srv/keys/old/er/two" >/dev/null
    echo open >"$root/srv/other"
    runs runc 'cat /etc/token /srv/kept /srv/keys/one /srv/keys/old/er/two /srv/other'
    [[ $(depth_of "$id") == *"; depth guard: "* ]]
    run ! is_asked_about_wholly /
    contains "$NOTES/said" open
    run ! grep -x secret "$NOTES/said"
    for path in /etc/token /srv/kept /srv/keys/one /srv/keys/old/er/two; do is_refused "$path"; done
}

@test "of an image in which it has a second name every open is asked about" {
    prepare docker box
    make_root=make_linked_rootfs make_image localhost/linked:latest "$WORLD/linked.tar" sh
    docker load -q -i "$WORLD/linked.tar" >"$NOTES/load.log"
    docker run --network none --name box -v "$(workspace_of docker box):/workspace" localhost/linked cat /var/link >"$NOTES/said" 2>&1 || true
    id=$(watched_id docker box)
    trace_is_complete "$id"
    run ! contains "$NOTES/said" secret
    is_asked_about_wholly /
    trace_has "$id" '.payload.path == "/etc/shadow" and .payload.target == "/var/link" and .payload.blocked'
}

make_linked_rootfs() {
    make_bundle_rootfs "$1"
    ln "$1/etc/shadow" "$1/var/link"
}

@test "what may be made may not be read in the same breath: new, moved in, linked, in a directory that was moved in" {
    write_depth_policy breath 'id: private, type: filesystem, action: deny, severity: high, access: [read], paths: ["/workspace/private/**", /workspace/one]'
    configure default_policy breath
    for engine in runc docker podman; do
        prepare "$engine" box
        runs "$engine" 'cd /workspace; mkdir private; echo s1 >private/a; read x <private/a && echo "got $x"
            echo s2 >b; mv b private/b; read x <private/b && echo "got $x"
            echo s3 >c; ln c private/c; read x <private/c && echo "got $x"
            mv private was; mkdir deep; echo s4 >deep/d; mv deep private; read x <private/d && echo "got $x"
            echo s5 >one; read x <one && echo "got $x"; echo s6 >e; mv e one; read x <one && echo "got $x"
            echo over'
        contains "$NOTES/said" over
        run ! grep got "$NOTES/said"
        is_asked_about_wholly /workspace
        for path in private/a private/b private/c private/d one; do is_refused "/workspace/$path"; done
    done
}

@test "a path that changes while it is asked about does not get by a rule in the scope" {
    write_depth_policy kept 'id: kept, type: filesystem, action: deny, severity: high, access: [write], paths: ["/workspace/kept/**", "/workspace/deep/**/file"]'
    configure default_policy kept
    prepare runc box
    work=$(workspace_of runc box)
    mkdir -p "$work"/{free,kept,deep/a}
    for dir in free kept deep/a; do echo content >"$work/$dir/file"; done
    runs runc 'attack race open_trunc /workspace/free /workspace/kept 8000; mv /workspace/free /workspace/free.a; attack race open_trunc /workspace/free.a /workspace/deep/a 8000'
    [[ $(depth_of "$id") == *"; depth guard: "* ]]
    [[ $(depth_of "$id") != *"every open:"*"/workspace"* ]]
    contains "$work/kept/file" content
    contains "$work/deep/a/file" content
    is_refused /workspace/kept/file
    is_refused /workspace/deep/a/file
}

@test "what is made where the list would not have it is asked about from then on" {
    write_depth_policy kept 'id: kept, type: filesystem, action: deny, severity: high, access: [write], paths: ["/workspace/deep/**/file"]'
    configure default_policy kept
    prepare runc box
    work=$(workspace_of runc box)
    mkdir -p "$work"/{free,made}
    for dir in free made; do echo content >"$work/$dir/file"; done
    runs runc 'mkdir /workspace/deep; mv /workspace/made /workspace/deep/a; mv /workspace/free /workspace/free.a
        attack race open_trunc /workspace/free.a /workspace/deep/a 8000'
    trace_has "$id" '.event_type == "sensor" and (.payload.detail | startswith("every open of /workspace is asked about from now on"))'
    contains "$work/deep/a/file" content
    is_refused /workspace/deep/a/file
}

@test "what a person lets be made below the floor is asked about like what was there" {
    write_depth_policy asking
    sed -i 's/^on_violation.*/on_violation: { low: pause, medium: pause, high: pause, critical: pause }\npause: { hold: true, timeout: 0 }/' "$WORLD/policies/asking.yaml"
    configure default_policy asking
    prepare runc box
    start_by runc box sh -c 'mkdir /root/.aws; echo key >/root/.aws/key; read x </root/.aws/key && echo "$x" >/workspace/got; echo over >/workspace/over; sleep 1000'
    id=$(id_of box)
    for path in /root/.aws /root/.aws/key; do
        retry_until is_paused_at "$path"
        sandtrace approve "$(pauses box)" >/dev/null
    done
    retry_until is_paused_at /root/.aws/key
    [ "$(sandtrace pending | jq -r '.event.payload.access | tostring')" = '["read"]' ]
    sandtrace deny "$(pauses box)" >/dev/null
    retry_until exists "$(workspace_of runc box)/over"
    is_gone "$(workspace_of runc box)/got"
    trace_has "$id" '.event_type == "sensor" and (.payload.detail | startswith("every open of / is asked about from now on"))'
}

is_paused_at() { [ "$(sandtrace pending | jq -r .event.payload.path)" = "$1" ]; }

@test "rules that a changed policy brings hold at once" {
    configure default_policy changing
    for engine in runc docker; do
        write_depth_policy changing
        prepare "$engine" box
        start_by "$engine" box sh -c 'until [ -e /workspace/go ]; do sleep 0.05; done; read x </etc/passwd && echo "$x" >/workspace/got; echo over >/workspace/over; sleep 1000'
        id=$(watched_id "$engine" box)
        retry_until is_watched "$id"
        write_depth_policy changing 'id: users, type: filesystem, action: deny, severity: high, paths: [/etc/passwd]'
        sandtrace reload "$id" >/dev/null
        touch "$(workspace_of "$engine" box)/go"
        retry_until exists "$(workspace_of "$engine" box)/over"
        is_gone "$(workspace_of "$engine" box)/got"
        is_refused /etc/passwd
        trace_has "$id" '.event_type == "sensor" and (.payload.detail | endswith("the policy has changed"))'
    done
}

# with_depth NAME: of the container `box` by runc.
with_depth() { edit_config "$(bundle_of box)" --arg depth "$1" '.annotations["io.sandtrace.depth"] = $depth'; }

# reads PATH: how many are on the trace.
reads() {
    jq -s --arg path "$1" 'map(select(.event_type == "filesystem" and .payload.path == $path and .payload.access == ["read"]) |
        .payload.count // 1) | add // 0' "$(trace_of "$id")"
}

@test "under record all opens are on the trace too, and what is refused is as under guard" {
    prepare runc box
    with_depth record
    runs runc 'read x </etc/passwd; read x </etc/passwd; for i in 1 2 3; do read x </etc/shadow && echo "got $x" || echo refused; done; echo new >/workspace/new; read x </workspace/new; attack list >/dev/null; ls /opt /workspace; echo evil >/etc/evil; true'
    [[ $(depth_of "$id") == *"; depth record: "*"told afterwards"* ]]
    [ "$(grep -c refused "$NOTES/said")" -eq 3 ] # each time: what was asked about once is no permission for the next
    is_refused /etc/shadow
    is_refused /etc/evil
    [ "$(reads /etc/passwd)" -ge 1 ]
    [ "$(reads /workspace)" -eq 1 ]
    [ "$(reads /workspace/new)" -eq 1 ]
    # What was asked about is on the trace once: who writes, who executes, who was refused.
    [ "$(trace_count "$id" '.payload.path == "/workspace/new" and .payload.op == "create"')" -eq 1 ]
    [ "$(reads /bin/attack)" -eq 0 ]
    [ "$(reads /etc/shadow)" -eq 3 ]
    trace_has "$id" '.payload.path == "/etc/passwd" and .verdict.result == "allow" and .payload.process.comm == "sh"'
}

@test "what was refused to be written is not read by the same thread, nor what was refused once, under any depth" {
    for depth in guard record strict; do
        prepare runc "$depth"
        edit_config "$(bundle_of "$depth")" --arg depth "$depth" '.annotations["io.sandtrace.depth"] = $depth'
        run_by runc "$depth" sh -c '{ read x; } 3<>/etc/shadow; read x </etc/shadow && echo "got $x"; read x </etc/shadow && echo "got $x"; echo over' >"$NOTES/said" 2>&1 </dev/null
        contains "$NOTES/said" over
        run ! contains "$NOTES/said" got
        [ "$(trace_count "$(id_of "$depth")" '.payload.path == "/etc/shadow" and .payload.blocked')" -eq 3 ]
    done
}

# has_many DEPTH FILES: a container to be, with so many in /opt/many.
has_many() {
    prepare runc box
    with_depth "$1"
    mkdir -p "$(bundle_of box)/rootfs/opt/many"
    (cd "$(bundle_of box)/rootfs/opt/many" && seq "$2" | xargs touch)
}

@test "under strict there is a count for every open, and for no other" {
    has_many strict 500
    runs runc 'for p in 1 2 3 4 5 6 7 8; do (for f in /opt/many/*; do read x <$f; done) & done; wait'
    [ "$(jq -s 'map(select(.event_type == "filesystem" and (.payload.path | tostring | startswith("/opt/many/"))) | .payload.count // 1) | add' "$(trace_of "$id")")" -eq 4000 ]
    [ "$(reads /opt/many/1)" -eq 8 ]
    [ "$(reads /opt/many)" -eq 8 ]
}

# Twelve processes open 2,500 files each, again and again: more than the kernel keeps (alike ones are one, of the same thread and the same
# file), if nobody reads until the warden stops them for that. Where they did not come so far, once more.
@test "under record what the kernel could not tell of is a loss, which is on the trace and makes the container stand still" {
    configure monitor "$ST_BUILDDIR/tests/attack/monitor-with-faults"
    configure worker_grace 10m
    has_many record 2500
    id=$(id_of box)
    run_by runc box sh -c 'set -- /opt/many/*; for p in 1 2 3 4 5 6 7 8 9 10 11 12; do (while :; do for f; do read x <$f; done; done) & done; wait' \
        >"$NOTES/said" 2>&1 </dev/null 3>&- &
    retry_until grep -q '"path":"/opt/many/2500"' "$(trace_of "$id")"
    retry_until does_not_read_until_they_stand
    trace_has "$id" '.event_type == "sensor" and .payload.name == "files" and .payload.state == "degraded" and (.payload.detail | startswith("more was opened"))'
    is_frozen box
    remove_by runc box
    trace_is_complete "$id"
    configure monitor "$WORLD/bin/sandtrace-monitor"
    configure worker_grace 5s
}

does_not_read_until_they_stand() {
    echo 'told wait' >"$WORLD/run/.fault"
    retry_until is_frozen box
    rm "$WORLD/run/.fault"
    retry_until eval 'is_held_by_files || ! is_frozen box'
    is_held_by_files
}

is_held_by_files() { grep -q '"by":{"how":"sensor","name":"files"},"cause":null' "$(trace_of "$id")"; }

@test "an annotation asks for a depth, and not for less than a locked policy has" {
    configure depth strict
    prepare runc box
    edit_config "$(bundle_of box)" '.annotations["io.sandtrace.depth"] = "guard"'
    runs runc true
    [[ $(depth_of "$id") == *"; depth guard: "* ]]
    edit_config "$(bundle_of box)" '.annotations["io.sandtrace.depth"] = "deep"'
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"write guard, record or strict"* ]]
    write_depth_policy locked
    sed -i '3a depth: strict\nlocked: true' "$WORLD/policies/locked.yaml"
    configure default_policy locked
    edit_config "$(bundle_of box)" '.annotations["io.sandtrace.depth"] = "guard"'
    run ! runtime run --bundle "$(bundle_of box)" "$(id_of box)"
    [[ $output == *"locked at depth strict"* ]]
}

@test "by default the policy says how deep, and that is guard; the configuration can have every open asked about" {
    sed -i /^depth:/d "$SANDTRACE_CONFIG"
    prepare runc box
    runs runc true
    [[ $(depth_of "$id") == *"; depth guard: "* ]]
    rm "$(trace_of "$id")"
    configure depth strict
    runs runc 'read x </etc/passwd'
    [[ $(depth_of "$id") != *depth* ]]
    trace_has "$id" '.payload.path == "/etc/passwd" and .verdict.result == "allow"'
}

@test "explain tells of a container that runs what is asked about on its own mounts" {
    prepare runc box
    start_by runc box sleep 1000
    retry_until is_watched "$(id_of box)"
    sandtrace policy explain --container "$(id_of box)" --json >"$NOTES/plan"
    [ "$(jq -c '[.depth, (.mounts[] | select(.point == "/" or .point == "/workspace") | [.point, .writable, .every_open])]' "$NOTES/plan")" = \
        '["guard",["/",false,false],["/workspace",true,false]]' ]
    remove_by runc box
    configure depth strict
    prepare runc box
    start_by runc box sleep 1000
    retry_until is_watched "$(id_of box)"
    sandtrace policy explain --container "$(id_of box)" >"$NOTES/plan"
    contains "$NOTES/plan" 'guarded: depth strict'
}

@test "who is let do what may bring other mounts is asked about everything from then on" {
    write_depth_policy mounting
    sed -i 's/^on_violation.*/on_violation: { low: pause, medium: pause, high: pause, critical: pause }\npause: { hold: true, timeout: 0 }/' "$WORLD/policies/mounting.yaml"
    configure default_policy mounting
    prepare runc box
    start_by runc box sh -c 'read x </etc/group; unshare -m true; read x </etc/passwd; echo over >/workspace/over; sleep 1000'
    id=$(id_of box)
    retry_until eval '[ "$(sandtrace pending | jq -r .event.payload.name)" = unshare ]'
    sandtrace approve "$(pauses box)" >/dev/null
    retry_until exists "$(workspace_of runc box)/over"
    for point in / /workspace; do
        trace_has "$id" ".event_type == \"sensor\" and (.payload.detail | startswith(\"every open of $point is asked about from now on\"))"
    done
    remove_by runc box
    trace_is_complete "$id"
    trace_has "$id" '.payload.path == "/etc/passwd" and .verdict.result == "allow"'
    [ "$(trace_count "$id" '.payload.path == "/etc/group"')" -eq 0 ]
}
