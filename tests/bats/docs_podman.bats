#!/usr/bin/env bats
# docs/integration-podman.md, typed as it stands, with Podman's usual configuration files.
bats_require_minimum_version 1.5.0
load lib/world
load lib/podman
load lib/docs

document=docs/integration-podman.md

setup_file() {
    make_world
    require_podman
    rm -rf "$WORLD/keys" # the document makes them
    configure default_policy agent-default
    hand_configuration_to_runtime
    shipped=$(where_hooks_are_shipped)
    export shipped COVERED=${shipped%/sandtrace/hooks.d}
    make_machine
    write_configuration_of_podman
    ship_hooks
    make_image localhost/debian:12 "$WORLD/debian.tar" sh
    in_machine podman load -q -i "$WORLD/debian.tar" >"$NOTES/load.log"
    in_machine podman tag localhost/debian:12 debian:12
}

teardown_file() {
    in_machine podman system reset -f >"$NOTES/reset.log" 2>&1 || true
    end_machine
    end_world
}

# conmon hands no environment on.
hand_configuration_to_runtime() {
    mv "$WORLD/bin/sandtrace-runtime" "$WORLD/bin/real-runtime"
    printf '#!/bin/sh\nSANDTRACE_CONFIG=%s exec %s/bin/real-runtime "$@"\n' "$SANDTRACE_CONFIG" "$WORLD" >"$WORLD/bin/sandtrace-runtime"
    chmod +x "$WORLD/bin/sandtrace-runtime"
}

# A machine's own settings, on which the document builds; the ulimits are those that one without CAP_SYS_RESOURCE allows.
write_configuration_of_podman() {
    unset CONTAINERS_CONF
    in_machine tee /etc/containers/containers.conf >/dev/null <<END
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
tmp_dir = "$WORLD/podman-tmp"
END
    in_machine tee /etc/containers/storage.conf >/dev/null <<END
[storage]
driver = "overlay"
graphroot = "$WORLD/podman"
runroot = "$WORLD/podman-run"
END
    in_machine tee -a /etc/containers/registries.conf >/dev/null <<<'unqualified-search-registries = ["localhost"]'
}

# As `make install` does, with this world's program.
ship_hooks() {
    install_hooks
    in_machine mkdir -p "$(dirname "$shipped")"
    in_machine cp -r "$WORLD/hooks.d" "$shipped"
}

@test "every command of the document works as it is written" {
    type_document "$ST_SRCDIR/$document"
    typed_shows '+sandtrace = ['
    [ "$(grep -cx hello "$NOTES/typed")" -eq 2 ]
    [ "$(grep -c ': valid' "$NOTES/typed")" -eq 2 ]
    typed_line 'done'
    run -0 in_machine find /etc/containers /usr/share/containers -name '*sandtrace*'
    [ -z "$output" ]
}

@test "no command stands outside of what is run" { no_command_elsewhere "$ST_SRCDIR/$document"; }

@test "containers.conf of contrib has what install writes" {
    sandtrace install podman --file "$BATS_TEST_TMPDIR/conf" --runtime /bin/true >/dev/null
    sed 's,/bin/true,/usr/bin/sandtrace-runtime,' "$BATS_TEST_TMPDIR/conf" | grep -v '^#' | while read -r line; do
        grep -qxF -e "$line" "$ST_SRCDIR/contrib/podman/containers.conf"
    done
}

# quadlet KEY: what the quadlet of contrib has for it.
quadlet() { sed -n "s/^$1=//p" "$ST_SRCDIR/contrib/podman/agent.container"; }

# This podman has no generator of units: the words that the quadlet has for podman are given to it.
@test "the quadlet starts an agent under watch" {
    in_machine sandtrace install podman >/dev/null
    mkdir -p "$WORLD/agent"
    words=(--name "$(quadlet ContainerName)" --network "$(quadlet Network)" -v "$(quadlet Volume | sed "s,/srv/agent,$WORLD/agent,")"
        --cap-drop "$(quadlet DropCapability)" --security-opt no-new-privileges "$(quadlet PodmanArgs)")
    while read -r annotation; do words+=(--annotation "$annotation"); done < <(quadlet Annotation)
    [ "$(quadlet Exec)" = 'sh -c "echo done >/workspace/result"' ]
    [ -e "$WORLD/keys" ] || sandtrace keygen
    run -0 in_machine podman run "${words[@]}" debian:12 sh -c 'echo done >/workspace/result'
    [ "$(cat "$WORLD/agent/result")" = "done" ]
    id=$(in_machine podman inspect -f '{{.Id}}' agent)
    trace_is_complete "$id"
    trace_has "$id" '.agent_id == "agent" and .payload.policy.name == "agent-default"'
    in_machine podman rm agent
    in_machine sandtrace install podman --uninstall >/dev/null
}

@test "the hooks of contrib watch who has the annotation, and nobody else" {
    mkdir -p "$WORLD/asked.d"
    [ -e "$WORLD/keys" ] || sandtrace keygen
    for file in "$ST_SRCDIR"/contrib/podman/hooks.d/*.json; do
        jq --arg hook "$WORLD/bin/sandtrace-hook" --arg config "$SANDTRACE_CONFIG" '.hook.path = $hook | .hook.args += ["--config", $config]' \
            "$file" >"$WORLD/asked.d/$(basename "$file")"
    done
    run -0 in_machine podman --hooks-dir "$WORLD/asked.d" run --name unasked debian:12 true
    [ ! -e "$(trace_of "$(in_machine podman inspect -f '{{.Id}}' unasked)")" ]
    run -0 in_machine podman --hooks-dir "$WORLD/asked.d" run --name asked --annotation io.sandtrace.policy=agent-default debian:12 true
    id=$(in_machine podman inspect -f '{{.Id}}' asked)
    trace_is_complete "$id"
    trace_has "$id" 'any(.payload.sensors[]?; .name == "mutations" and .state == "on")'
    in_machine podman rm asked unasked
}
