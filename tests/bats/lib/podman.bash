# A podman of our own: storage, state and configuration below the world.

# shellcheck source=bundle.bash
source "$(dirname "${BASH_SOURCE[0]}")/bundle.bash"

require_podman() { require podman=podman conmon=conmon; }

# Writes what podman reads; the ulimits are those that a machine without CAP_SYS_RESOURCE allows.
configure_podman() {
    export CONTAINERS_CONF=$WORLD/containers.conf
    cat >"$CONTAINERS_CONF" <<END
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
cgroups = "enabled"
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "sandtrace"
$(sed "s,/usr/bin/sandtrace-runtime,$WORLD/bin/runtime-of-podman," "$ST_SRCDIR/contrib/podman/containers.conf")
plain = ["$(command -v runc)"]
END
    # conmon hands no environment on: the configuration is named by a wrapper.
    mkdir -p "$WORLD/bin"
    cat >"$WORLD/bin/runtime-of-podman" <<END
#!/bin/sh
SANDTRACE_CONFIG=$SANDTRACE_CONFIG exec $RUNTIME "\$@"
END
    chmod +x "$WORLD/bin/runtime-of-podman"
}

podman() {
    command ${ENGINE_NETNS:+nsenter "--net=$ENGINE_NETNS"} podman --root "$WORLD/podman" --runroot "$WORLD/podman-run" --tmpdir "$WORLD/podman-tmp" "$@"
}

# podman_run ARGUMENT…: `podman run` in the world's cgroup.
podman_run() { podman run --cgroup-parent "/$WORLD_NAME" "$@"; }

# The hooks directory as it is installed, with this world's programs.
install_hooks() {
    local file
    rm -rf "$WORLD/hooks.d"
    mkdir -p "$WORLD/hooks.d"
    for file in "$ST_BUILDDIR"/hooks/*.json; do
        jq --arg hook "$WORLD/bin/sandtrace-hook" --arg config "$SANDTRACE_CONFIG" \
            '.hook.path = $hook | .hook.args += ["--config", $config]' "$file" >"$WORLD/hooks.d/$(basename "$file")"
    done
}

# where_hooks_are_shipped: the directory, as the program has it.
where_hooks_are_shipped() { grep -aoE '/[[:graph:]]*/sandtrace/hooks\.d' "$ST_BUILDDIR/sandtrace" | head -n 1; }

# by_hooks ARGUMENT…: `podman run` under plain runc, watched by the hooks directory alone.
by_hooks() { podman --runtime plain --hooks-dir "$WORLD/hooks.d" run --cgroup-parent "/$WORLD_NAME" "$@"; }

# Of the stages that a hook can have, Podman alone has the one before there is a bundle.
remove_precreate_hook() { rm "$WORLD/hooks.d/50-sandtrace-precreate.json"; }

load_busybox_into_podman() {
    make_image localhost/busybox:latest "$WORLD/busybox.tar" sh
    podman load -q -i "$WORLD/busybox.tar" >"$NOTES/load.log"
}

podman_id() { podman inspect -f '{{.Id}}' "$1"; }

podman_is() { [ "$(podman inspect -f '{{.State.Status}}' "$1")" = "$2" ]; }

remove_all_podman_containers() { podman rm -f -t 0 -a >/dev/null; }

# Podman pauses no process of its own in rootful mode; its storage mounts go with this.
end_podman() {
    [ ! -d "$WORLD/podman" ] || { remove_all_podman_containers && podman system reset -f; } >/dev/null 2>&1 || true
}
