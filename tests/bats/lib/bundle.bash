# Root file systems, bundles and images, made from busybox-static: no registry is reachable.

# make_rootfs DIR: a busybox tree; hard links, as in the well-known image, are made and removed quickly.
make_rootfs() {
    mkdir -p "$1"/{bin,dev,etc,home,proc,root,sys,tmp,usr/bin,var/tmp,workspace}
    chmod 1777 "$1/tmp" "$1/var/tmp"
    cp "$(command -v busybox)" "$1/bin/busybox"
    chroot "$1" /bin/busybox --install /bin
    echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
    echo 'root:x:0:' >"$1/etc/group"
}

# make_bundle DIR ARG…: a runc bundle that runs the command, without a terminal,
# in a cgroup below the world's own.
make_bundle() {
    local dir=$1
    shift
    mkdir -p "$dir"
    make_rootfs "$dir/rootfs"
    (cd "$dir" && runc spec)
    edit_config "$dir" --arg cgroup "/$WORLD_NAME/$(basename "$dir")" \
        '.process.terminal = false | .root.readonly = false | .linux.cgroupsPath = $cgroup |
         .process.args = $ARGS.positional' --args -- "$@"
    [ "${ST_DEPTH:-}" != record ] || edit_config "$dir" '.annotations["io.sandtrace.depth"] = "record"'
}

# edit_config BUNDLE JQ-ARGUMENT…
edit_config() {
    local dir=$1
    shift
    jq "$@" <"$dir/config.json" >"$dir/config.json.new" && mv "$dir/config.json.new" "$dir/config.json"
}

# make_image NAME FILE ARG…: the busybox tree as a docker archive, which docker,
# podman and containerd all load; ARG… is its command. make_root: what fills it (make_rootfs).
make_image() {
    local name=$1 file=$2 dir digest
    shift 2
    dir=$(mktemp -d "$WORLD/image.XXXXXX")
    "${make_root:-make_rootfs}" "$dir/rootfs"
    mkdir "$dir/archive"
    tar -C "$dir/rootfs" --numeric-owner -cf "$dir/archive/layer.tar" .
    digest=$(sha256sum "$dir/archive/layer.tar" | cut -d' ' -f1)
    jq -n --arg digest "sha256:$digest" \
        '{architecture: "'"$(dpkg --print-architecture)"'", os: "linux", created: "2024-01-01T00:00:00Z",
          config: {Env: ["PATH=/bin:/usr/bin"], Cmd: $ARGS.positional, WorkingDir: "/"},
          rootfs: {type: "layers", diff_ids: [$digest]}}' --args -- "$@" >"$dir/archive/config.json"
    jq -n --arg name "$name" '[{Config: "config.json", RepoTags: [$name], Layers: ["layer.tar"]}]' \
        >"$dir/archive/manifest.json"
    tar -C "$dir/archive" -cf "$file" manifest.json config.json layer.tar
    rm -rf "$dir"
}
