#!/usr/bin/env bats
# The Debian package: made by an unprivileged user, looked at by lintian, installed, used, upgraded and purged on a
# machine of its own (lib/machine.bash).
bats_require_minimum_version 1.5.0

load lib/world
load lib/container
load lib/podman
load lib/machine

setup_file() {
    require dh=debhelper lintian=lintian
    make_world
    build_package
    make_successor
    start_machine
}

teardown_file() {
    end_machine
    end_world
}

setup() {
    on_machine sh -c 'dpkg --purge sandtrace; rm -rf /etc/sandtrace /var/log/sandtrace /run/sandtrace' >"$NOTES/fresh.log" 2>&1
}

teardown() {
    remove_all_containers
    end_podman
}

# The user that builds has no rights but to the directory of the package.
build_package() {
    cat >"$WORLD/as-nobody" <<'END'
#!/bin/sh
set -e
cp -R "$LIBOCISPEC" ../libocispec
chown -R 65534:65534 ..
LIBOCISPEC=$(cd ../libocispec && pwd) HOME=/nonexistent \
    exec setpriv --reuid=65534 --regid=65534 --clear-groups dpkg-buildpackage "$@"
END
    chmod +x "$WORLD/as-nobody"
    env -u MAKEFLAGS -u MAKELEVEL -u DEB_BUILD_OPTIONS -u DEBFULLNAME -u DEBEMAIL -u EMAIL DPKG_BUILDPACKAGE="$WORLD/as-nobody" \
        make -C "$ST_BUILDDIR" deb DEB_DIR="$WORLD/packages" >"$NOTES/deb.log" 2>&1 ||
        { cat "$NOTES/deb.log" >&2; fail "make deb failed"; return 1; }
    PACKAGE=$(echo "$WORLD"/packages/sandtrace_*.deb)
    export PACKAGE
}

# The same package with a higher version and another word in its configuration.
make_successor() {
    SUCCESSOR=$WORLD/successor.deb
    export SUCCESSOR
    dpkg-deb -R "$PACKAGE" "$WORLD/successor"
    sed -i 's/^Version: .*/Version: 999/' "$WORLD/successor/DEBIAN/control"
    echo '# of the successor' >>"$WORLD/successor/etc/sandtrace/sandtrace.yaml"
    dpkg-deb --root-owner-group -b "$WORLD/successor" "$SUCCESSOR" >"$NOTES/successor.log"
}

install_package() { on_machine dpkg --force-confold --install "${1:-$PACKAGE}" >"$NOTES/dpkg.log" 2>&1 || { cat "$NOTES/dpkg.log" >&2; return 1; }; }

purge_package() { on_machine dpkg --purge sandtrace >"$NOTES/dpkg.log" 2>&1 || { cat "$NOTES/dpkg.log" >&2; return 1; }; }

# What is there and not on the host; dpkg's own notes, backups and caches are not ours.
new_files() { new_on_machine | grep -vE '^/var/(lib/dpkg|log/dpkg\.log|cache|backups)|^(/tmp|/root)(/|$)' || true; }

# runtime_there ARGUMENT…: the installed runtime. What container.bash starts by it has its state in the world.
runtime_there() { on_machine sandtrace-runtime --root "$WORLD/root" "$@"; }

# The trace of the container NAME, when it is complete, as the machine's own sandtrace has it.
trace_there_is_valid() { retry_until on_machine sandtrace verify "/var/log/sandtrace/$(id_of "$1").jsonl"; }

mode_of() { on_machine stat -c '%a %U:%G' "$1"; }

@test "make deb, as an unprivileged user, makes a package of root's files that needs no libocispec" {
    run -0 dpkg-deb -c "$PACKAGE"
    run -1 grep -v ' root/root ' <<<"$output"
    run -0 dpkg-deb -f "$PACKAGE" Depends
    [[ $output == *"runc | crun"* ]]
    [[ $output != *ocispec* ]]
    run -0 dpkg-deb -f "$PACKAGE" Version
    [ "$output" = "$(cat "$ST_SRCDIR/VERSION")-1~upstream1" ]
}

@test "lintian has nothing to say" {
    run setpriv --reuid=65534 --regid=65534 --clear-groups lintian --fail-on error,warning \
        --tag-display-limit 0 "$WORLD"/packages/*.changes
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "every override of lintian has its reason above it" {
    run -0 awk '/^#/ { reason = 1; next } /^$/ { reason = 0; next } !reason { print }' "$ST_SRCDIR/packaging/debian/lintian-overrides"
    [ -z "$output" ]
}

@test "installed, it has a key, places with the right modes, and has touched no engine's configuration" {
    before=$(on_machine sh -c 'find /etc/docker /etc/containers /etc/containerd -type f -exec sha256sum {} + 2>/dev/null | sort')
    install_package
    contains "$NOTES/dpkg.log" "made the key that signs the traces of this host: ed25519:"
    [ "$(mode_of /etc/sandtrace/keys/trace.key)" = "600 root:root" ]
    [ "$(mode_of /etc/sandtrace/keys/trace.pub)" = "644 root:root" ]
    [ "$(mode_of /etc/sandtrace/sandtrace.yaml)" = "644 root:root" ]
    [ "$(mode_of /etc/sandtrace/policies)" = "755 root:root" ]
    [ "$(mode_of /var/log/sandtrace)" = "2750 root:adm" ]
    after=$(on_machine sh -c 'find /etc/docker /etc/containers /etc/containerd -type f -exec sha256sum {} + 2>/dev/null | sort')
    [ "$before" = "$after" ]
    run -0 on_machine sandtrace version
    [[ $output == *"$(cat "$ST_SRCDIR/VERSION")"* ]]
    run -0 on_machine sandtrace policy check agent-default
    run -0 on_machine dpkg --verify sandtrace
    [ -z "$output" ]
    for file in /usr/share/man/man1/sandtrace.1.gz /usr/share/bash-completion/completions/sandtrace \
        /usr/share/zsh/site-functions/_sandtrace /usr/share/fish/vendor_completions.d/sandtrace.fish \
        /usr/share/doc/sandtrace/README.Debian /usr/share/doc/sandtrace/examples/docker/daemon.json; do
        on_machine test -s "$file"
    done
}

@test "a key that is there is kept, and none is made where the configuration has it elsewhere" {
    install_package
    key=$(on_machine cat /etc/sandtrace/keys/trace.pub)
    on_machine dpkg --remove sandtrace
    install_package
    [ "$(on_machine cat /etc/sandtrace/keys/trace.pub)" = "$key" ]
    on_machine dpkg --remove sandtrace
    on_machine sh -c 'rm -r /etc/sandtrace/keys && echo "key_dir: /etc/elsewhere" >>/etc/sandtrace/sandtrace.yaml'
    install_package
    on_machine test ! -e /etc/sandtrace/keys
    on_machine test ! -e /etc/elsewhere
}

@test "a container runs under watch by what was installed, and is held to the default policy" {
    install_package
    make_container one sh -c 'echo work >/workspace/work; echo no >/etc/no; cat /etc/passwd'
    run_there() { runtime_there run --bundle "$(bundle_of one)" "$(id_of one)"; }
    on_machine sh -c 'printf "%s\n" "schema_version: \"2.0\"" "extends: agent-default" "on_violation: { high: deny }" >/etc/sandtrace/policies/ours.yaml'
    edit_config "$(bundle_of one)" '.annotations."io.sandtrace.policy" = "ours"'
    run -0 run_there
    [[ $output == *"can't create /etc/no: Permission denied"* ]]
    [[ $output == *root:x:0:0* ]]
    [ "$(cat "$(bundle_of one)/rootfs/workspace/work")" = work ]
    trace_there_is_valid one
    [ "$(mode_of "/var/log/sandtrace/$(id_of one).jsonl")" = "640 root:adm" ]
}

@test "podman's hooks are where it looks, and watch the container that names a policy and no other" {
    require_podman
    configure_podman
    sed -i '/runtime-of-podman/d; s/^runtime = .*/runtime = "plain"/' "$CONTAINERS_CONF"
    install_package
    podman_there() {
        on_machine env CONTAINERS_CONF="$CONTAINERS_CONF" podman --root "$WORLD/podman" --runroot "$WORLD/podman-run" \
            --tmpdir "$WORLD/podman-tmp" "$@"
    }
    make_image localhost/busybox:latest "$WORLD/busybox.tar" sh
    podman_there load -q -i "$WORLD/busybox.tar"
    run -0 podman_there run --cgroup-parent "/$WORLD_NAME" --rm busybox sh -c 'echo free >/etc/no && cat /etc/no'
    [ "$output" = free ]
    run -0 on_machine ls /var/log/sandtrace
    [ -z "$output" ]
    run -0 podman_there run --cgroup-parent "/$WORLD_NAME" --rm --annotation io.sandtrace.policy=audit-only busybox sh -c 'echo watched'
    [ "$output" = watched ]
    run -0 on_machine sh -c 'sandtrace verify /var/log/sandtrace/*.jsonl'
    [[ $output == *valid* ]]
    # Once by the runtime and once by the hooks is once.
    sed -i "s,^plain = .*,plain = [\"/usr/bin/sandtrace-runtime\"]," "$CONTAINERS_CONF"
    run -0 podman_there run --cgroup-parent "/$WORLD_NAME" --rm --annotation io.sandtrace.policy=audit-only busybox sh -c 'echo once'
    [ "$output" = once ]
    run -0 on_machine sh -c 'sandtrace verify /var/log/sandtrace/*.jsonl'
    podman_there system reset -f
}

@test "an upgrade keeps the key, the configuration and the watch of a container that runs" {
    install_package
    on_machine sh -c 'echo "worker_grace: 7s" >>/etc/sandtrace/sandtrace.yaml; echo "schema_version: \"2.0\"" >/etc/sandtrace/policies/ours.yaml
        chmod g-r,g-x /var/log/sandtrace'
    before=$(on_machine sha256sum /etc/sandtrace/keys/trace.key /etc/sandtrace/sandtrace.yaml /etc/sandtrace/policies/ours.yaml)
    make_ticking two
    edit_config "$(bundle_of two)" '.annotations."io.sandtrace.policy" = "audit-only"'
    start_detached two runtime_there
    install_package "$SUCCESSOR"
    run -0 on_machine dpkg-query -W -f '${Version}' sandtrace
    [ "$output" = 999 ]
    [ "$(on_machine sha256sum /etc/sandtrace/keys/trace.key /etc/sandtrace/sandtrace.yaml /etc/sandtrace/policies/ours.yaml)" = "$before" ]
    [ "$(mode_of /var/log/sandtrace)" = "2700 root:adm" ]
    is_ticking two
    run -0 on_machine sandtrace ps --no-trunc
    [[ $output == *"$(id_of two)"*audit-only* ]]
    run -0 runtime_there delete --force "$(id_of two)"
    trace_there_is_valid two
}

@test "a configuration that nobody changed is replaced by an upgrade" {
    install_package
    install_package "$SUCCESSOR"
    on_machine grep -q 'of the successor' /etc/sandtrace/sandtrace.yaml
}

@test "a removal names the containers that are still watched" {
    install_package
    make_ticking three
    start_detached three runtime_there
    run -0 on_machine dpkg --remove sandtrace
    [[ $output == *"the container $(id_of three) is being watched; stop it"* ]]
    install_package
    run -0 runtime_there delete --force "$(id_of three)"
    trace_there_is_valid three
}

@test "a purge of what was never used leaves nothing" {
    install_package
    purge_package
    [ -z "$(new_files)" ] || { new_files; false; }
}

@test "a purge leaves traces, the public keys that verify them and policies that somebody wrote, and says so" {
    install_package
    make_container four true
    run -0 runtime_there run --bundle "$(bundle_of four)" "$(id_of four)"
    trace_there_is_valid four
    on_machine sh -c 'echo "schema_version: \"2.0\"" >/etc/sandtrace/policies/ours.yaml'
    purge_package
    contains "$NOTES/dpkg.log" "the traces in /var/log/sandtrace stay"
    left=$(new_files)
    key=$(grep '^/var/log/sandtrace/keys/.*\.pub$' <<<"$left")
    [ "$left" = "/etc/sandtrace
/etc/sandtrace/policies
/etc/sandtrace/policies/ours.yaml
/var/log/sandtrace
/var/log/sandtrace/keys
$key
/var/log/sandtrace/$(id_of four).jsonl" ] || { echo "$left"; false; }
    # With another key in its place, the old traces are verified by the old one.
    install_package
    run -1 on_machine sandtrace verify "/var/log/sandtrace/$(id_of four).jsonl"
    run -0 on_machine sandtrace verify --key "$key" "/var/log/sandtrace/$(id_of four).jsonl"
}

@test "a purge leaves the run state of a container that is still watched" {
    install_package
    make_ticking five
    start_detached five runtime_there
    purge_package
    on_machine test -e "/run/sandtrace/$(id_of five)/state.json"
    is_ticking five
    install_package
    run -0 runtime_there delete --force "$(id_of five)"
}
