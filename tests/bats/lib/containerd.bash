# A containerd of our own, with the CRI plugin and a RuntimeClass handler
# `sandtrace`; spoken to by ctr and by a small CRI client (cri.py).

containerd_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bundle.bash
source "$containerd_lib/bundle.bash"

require_containerd() {
    require containerd=containerd ctr=containerd
    [ -x /usr/lib/cni/ptp ] || { fail "missing prerequisites; install them with: apt-get install containernetworking-plugins"; return 1; }
    CRI_PYTHON=$(python_with_grpc) || { fail "missing prerequisites; install them with: apt-get install python3-grpcio"; return 1; }
    export CRI_PYTHON
}

# The machine's own, or another one of it: what is not Python in that package fits one version.
python_with_grpc() {
    local python
    for python in /usr/bin/python3 /usr/bin/python3.*[0-9]; do
        "$python" -c 'import grpc' 2>/dev/null && { echo "$python"; return; }
    done
    return 1
}

write_containerd_config() {
    local routes=${POD_ROUTES:+", \"routes\": $POD_ROUTES"}
    mkdir -p "$WORLD/cni"
    # A pair of interfaces that leads nowhere (POD_ROUTES: there): no masquerading, no rule on the host.
    cat >"$WORLD/cni/10-pair.conflist" <<END
{"cniVersion": "0.4.0", "name": "$WORLD_NAME", "plugins": [{"type": "ptp", "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": "$WORLD/cni-ipam", "subnet": "198.18.77.0/24"$routes}}]}
END
    cat >"$WORLD/containerd.toml" <<END
version = 2
root = "$WORLD/containerd"
state = "$WORLD/containerd-run"
[grpc]
  address = "$WORLD/containerd.sock"
[ttrpc]
  address = "$WORLD/containerd-ttrpc.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:latest"
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$WORLD/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "plain"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.plain]
      runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.sandtrace]
      runtime_type = "io.containerd.runc.v2"
      pod_annotations = ["io.sandtrace.*"]
      container_annotations = ["io.sandtrace.*"]
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.sandtrace.options]
        BinaryName = "$RUNTIME"
END
}

start_containerd() {
    write_containerd_config
    start_daemon containerd ${ENGINE_NETNS:+nsenter "--net=$ENGINE_NETNS"} containerd --config "$WORLD/containerd.toml"
    daemon_answers containerd ctr version
    daemon_answers containerd cri Version
}

ctr() { command ctr --address "$WORLD/containerd.sock" "$@"; }

# ctr_run ARGUMENT…: by our runtime, in the world's cgroup.
ctr_run() {
    ctr run --runc-binary "$RUNTIME" --cgroup "/$WORLD_NAME/$(tr -dc a-z0-9 </dev/urandom | head -c 8)" "$@"
}

# cri CALL ARGUMENT…: see cri.py.
cri() { "$CRI_PYTHON" "$containerd_lib/cri.py" "$WORLD/containerd.sock" "$@"; }

load_images_into_containerd() {
    make_image docker.io/library/busybox:latest "$WORLD/busybox.tar" sh
    make_image docker.io/library/pause:latest "$WORLD/pause.tar" sleep 1000000
    ctr images import "$WORLD/busybox.tar" >"$NOTES/load.log"
    ctr -n k8s.io images import "$WORLD/busybox.tar" >>"$NOTES/load.log"
    ctr -n k8s.io images import "$WORLD/pause.tar" >>"$NOTES/load.log"
}

# Whatever failed tests left: pods have network namespaces that only containerd can name.
remove_all_containerd_containers() {
    local id
    for id in $(cri ListPodSandbox); do
        cri StopPodSandbox "$id"
        cri RemovePodSandbox "$id"
    done
    for id in $(ctr containers ls -q); do
        ctr tasks delete --force "$id" || true
        ctr containers delete "$id"
    done
}
