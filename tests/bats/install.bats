#!/usr/bin/env bats
# sandtrace install: what is in the file stays, what we put in goes again to the byte, and the engines
# themselves understand it.
bats_require_minimum_version 1.5.0
load lib/world
load lib/docker
load lib/podman
load lib/containerd
load lib/apart

setup_file() {
    make_world
    require_docker
    require_podman
    require_containerd
}

teardown_file() { end_world; }

setup() { file=$BATS_TEST_TMPDIR/file; }

# install ENGINE ARGUMENT…: into the file of the test.
install() { sandtrace install "$1" --file "$file" "${@:2}"; }

# comes_and_goes ENGINE: install is shown, made, makes no second change, and is undone to the byte.
comes_and_goes() {
    local engine=$1
    cp "$file" "$BATS_TEST_TMPDIR/original"
    run -0 install "$engine" --dry-run
    [[ $output == *"+++ $file"* && $output == *sandtrace-runtime* && $output == *"--dry-run"* ]]
    cmp "$file" "$BATS_TEST_TMPDIR/original"
    [ ! -e "$file.before-sandtrace" ]
    run -0 install "$engine"
    cmp "$file.before-sandtrace" "$BATS_TEST_TMPDIR/original"
    cp "$file" "$BATS_TEST_TMPDIR/installed"
    run -0 install "$engine"
    [[ $output == *"nothing to do: sandtrace is in it already"* ]]
    cmp "$file" "$BATS_TEST_TMPDIR/installed"
    run -0 install "$engine" --uninstall
    [[ $output == *"-"*sandtrace* ]]
    cmp "$file" "$BATS_TEST_TMPDIR/original"
    [ ! -e "$file.before-sandtrace" ]
    run -0 install "$engine" --uninstall
    [[ $output == *"nothing to do: sandtrace is not in it"* ]]
}

@test "daemon.json: other settings and other runtimes stay as they were written" {
    printf '{\n  "debug": true,   "log-level":"warn",\n  "runtimes": {\n    "kata": { "path": "/usr/bin/kata" }\n  }\n}' >"$file"
    comes_and_goes docker
    install docker
    [ "$(jq -c '[.debug, .runtimes.kata.path, .runtimes.sandtrace.path]' "$file")" = "[true,\"/usr/bin/kata\",\"$WORLD/bin/sandtrace-runtime\"]" ]
}

@test "config.toml: comments and odd spellings stay as they were written" {
    cat >"$file" <<'END'
# containerd of this machine
version = 2   # not 1
disabled_plugins = [
  "io.containerd.snapshotter.v1.zfs", # no ZFS here
]

[plugins."io.containerd.grpc.v1.cri"]
	sandbox_image = 'pause' # with a tab
END
    comes_and_goes containerd
}

@test "containers.conf: goes into the table that is there, or brings its own" {
    printf '[engine]\nruntime = "crun" # quick\n\n[engine.runtimes]\nkata = ["/usr/bin/kata"]\n' >"$file"
    comes_and_goes podman
    printf '[containers]\nlog_size_max = 1000\n' >"$file"
    comes_and_goes podman
}

@test "a file that is not there is made, with its directory, and removed again" {
    for engine in docker podman containerd; do
        file=$BATS_TEST_TMPDIR/$engine/conf.d/file
        run -0 install "$engine"
        [ -s "$file" ]
        [ ! -e "$file.before-sandtrace" ]
        run -0 install "$engine" --uninstall
        [[ $output == *"$file: removed"* ]]
        [ ! -e "$file" ]
    done
}

@test "what somebody has changed since is not lost by --uninstall" {
    echo '{ "debug": true }' >"$file"
    install docker
    jq '.["log-level"] = "warn" | .["default-runtime"] = "sandtrace"' "$file" >"$file.new"
    cat "$file.new" >"$file"
    run -0 install docker --uninstall
    [ "$(jq -cS . "$file")" = '{"debug":true,"log-level":"warn"}' ]
    printf 'version = 2\n' >"$file"
    rm -f "$file.before-sandtrace"
    install containerd
    printf '[grpc]\n  address = "/x" # mine\n' >>"$file"
    install containerd --uninstall
    [ "$(cat "$file")" = $'version = 2\n[grpc]\n  address = "/x" # mine' ]
}

@test "a sandtrace that has moved is found again by install" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    cp "$WORLD/bin/sandtrace-runtime" "$BATS_TEST_TMPDIR/bin"
    for engine in docker podman containerd; do
        rm -f "$file"
        install "$engine" --runtime "$BATS_TEST_TMPDIR/bin/sandtrace-runtime"
        run -0 install "$engine"
        grep -qF "$WORLD/bin/sandtrace-runtime" "$file"
        run -1 grep -F "$BATS_TEST_TMPDIR/bin" "$file"
    done
}

@test "mode, owner and symlinks of the file stay" {
    echo '{}' >"$BATS_TEST_TMPDIR/real"
    chmod 0640 "$BATS_TEST_TMPDIR/real"
    chown 0:65534 "$BATS_TEST_TMPDIR/real"
    ln -s real "$file"
    install docker
    [ -L "$file" ]
    [ "$(stat -c '%a %g' "$BATS_TEST_TMPDIR/real")" = '640 65534' ]
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/real.before-sandtrace")" = 640 ]
}

@test "what can't be read, or is somebody else's, is refused with the reason and left alone" {
    refused() {
        local engine=$1 why=$2
        cp "$file" "$BATS_TEST_TMPDIR/original"
        run -2 install "$engine"
        [[ $output == "sandtrace install: $file: "*"$why"* ]] || fail "$output"
        cmp "$file" "$BATS_TEST_TMPDIR/original"
        [ ! -e "$file.before-sandtrace" ]
    }
    echo '{ "debug": true, }' >"$file"
    refused docker 'line 1, column'
    echo '[1]' >"$file"
    refused docker 'no object'
    printf 'disabled_plugins = ["cri"]\n' >"$file"
    refused containerd 'containerd config migrate'
    printf 'version = 2\n[plugins\n' >"$file"
    refused containerd 'line 3, column 1: a `]` is expected here'
    printf '[engine.runtimes]\nsandtrace = ["/my/own"]\n' >"$file"
    refused podman 'not put there by `sandtrace install`'
    head -c 100 /dev/urandom >"$file"
    refused containerd ''
    refused docker ''
}

@test "bad usage is answered with what would be right" {
    run -2 sandtrace install
    [[ $output == *"name one engine: docker, podman or containerd"* ]]
    run -2 sandtrace install dokcer
    [[ $output == *"did you mean docker?"* ]]
    run -2 sandtrace install docker --hooks
    [[ $output == *"--hooks is for podman alone"* ]]
    run -2 sandtrace install docker --file daemon.json
    [[ $output == *"an absolute path is needed"* ]]
    run -2 sandtrace install docker --file "$file" --runtime /nowhere/sandtrace-runtime
    [[ $output == *"No such file or directory"* ]]
    [ ! -e "$file" ]
    run -2 sandtrace install docker --file "$file" --runtime "$(printf '/a\nb')"
    run -0 sandtrace install --help
    [ "${#lines[@]}" -le 24 ]
    [[ $output == *example:* ]]
}

@test "who may not write the file is told to use sudo" {
    mkdir "$BATS_TEST_TMPDIR/closed"
    echo '{}' >"$BATS_TEST_TMPDIR/closed/file"
    chmod -R a+rX "$BATS_TEST_TMPDIR"
    run -2 setpriv --reuid 65534 --regid 65534 --clear-groups "$WORLD/bin/sandtrace" install docker --file "$BATS_TEST_TMPDIR/closed/file"
    [[ $output == *"try with sudo"* ]]
    [ "$(cat "$BATS_TEST_TMPDIR/closed/file")" = '{}' ]
}

@test "--json says what changes, and what to do next" {
    echo '{}' >"$file"
    run -0 --separate-stderr install docker --json
    [ "$(jq -r '[.engine, .file, .changed, .dry_run, .backup, .next] | @csv' <<<"$output")" = \
        "\"docker\",\"$file\",true,false,\"$file.before-sandtrace\",\"systemctl reload docker\"" ]
    [[ $(jq -r .diff <<<"$output") == "--- $file"* ]]
    run -0 --separate-stderr install docker --json
    [ "$(jq -r .changed <<<"$output")" = false ]
}

# ---- the engines themselves ---------------------------------------------------------------------------

@test "without --file the usual places are meant" {
    in_own_etc sh -c 'for engine in docker podman containerd; do sandtrace install $engine; done' >"$NOTES/install.log"
    cd "$BATS_TEST_TMPDIR/etc/upper"
    [ -s docker/daemon.json ]
    [ -s containers/containers.conf.d/50-sandtrace.conf ]
    grep -q sandtrace containerd/config.toml
}

@test "containerd understands the handler, and does not forget its own default" {
    for text in '' $'version = 2\n' "$(cat /etc/containerd/config.toml 2>/dev/null || echo 'version = 2')"; do
        printf '%s' "$text" >"$file"
        install containerd
        run -0 --separate-stderr containerd --config "$file" config dump
        grep -qF "BinaryName = \"$WORLD/bin/sandtrace-runtime\"" <<<"$output"
        grep -qF 'containerd.runtimes.runc]' <<<"$output"
    done
}

@test "podman knows the runtime by its name" {
    run -0 --separate-stderr in_own_etc sh -c 'sandtrace install podman >&2 && unset CONTAINERS_CONF && podman --root "$WORLD/podman" --runroot "$WORLD/podman-run" --tmpdir "$WORLD/podman-tmp" --runtime sandtrace info --format "{{.Host.OCIRuntime.Path}}"'
    [ "$output" = "$WORLD/bin/sandtrace-runtime" ]
}

@test "podman's hooks come as they are shipped, and go again; a changed one is not touched" {
    mkdir -p "$BATS_TEST_TMPDIR/hooks.d"
    export DATA_TOP shipped
    shipped=$(where_hooks_are_shipped)
    DATA_TOP=$(existing_part "$shipped")
    run -0 in_own_etc sh -c '
        mkdir -p "$shipped" && cp "$ST_BUILDDIR"/hooks/50-*.json "$shipped" &&
        sandtrace install podman --hooks && sandtrace install podman --hooks | grep -c "nothing to do" | grep -qx 3 &&
        cat /usr/share/containers/oci/hooks.d/50-sandtrace-precreate.json &&
        echo >>/usr/share/containers/oci/hooks.d/50-sandtrace.json &&
        ! sandtrace install podman --hooks --uninstall &&
        cp "$shipped/50-sandtrace.json" /usr/share/containers/oci/hooks.d/ &&
        sandtrace install podman --hooks --uninstall && ! ls /usr/share/containers/oci/hooks.d/50-*'
    [[ $output == *'"stages": ["precreate"]'* ]]
    [[ $output == *"is left alone; move it away first"* ]]
}

# existing_part PATH: the nearest directory above it that is there.
existing_part() {
    local dir=$1
    while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done
    echo "$dir"
}
