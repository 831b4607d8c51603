#!/usr/bin/env bats
# docs/integration-kubernetes.md, typed as it stands, on a node whose containerd has its usual configuration file, in a
# cluster that is stood in for (lib/kubectl.py).
bats_require_minimum_version 1.5.0
load lib/world
load lib/containerd
load lib/docs

document=docs/integration-kubernetes.md
config=/etc/containerd/config.toml

setup_file() {
    make_world
    require_containerd
    configure key_dir /etc/sandtrace/keys
    configure default_policy agent-default
    export COVERED=/opt
    make_machine
    in_machine mkdir -p /etc/sandtrace/keys
    stand_in_for_the_cluster
    stand_in_for_systemctl
    write_machine_configuration
    start_containerd_of_machine
    load_images
    make_image_of_installer
}

teardown_file() {
    remove_all_containerd_containers || true
    stop_daemon containerd || true
    end_machine
    end_world
}

teardown() { remove_all_containerd_containers; }

stand_in_for_the_cluster() {
    export KUBE_STATE=$WORLD/kube KUBE_IMAGES=$WORLD/images CRI_SOCKET=$WORLD/containerd.sock CRI_CGROUP=/$WORLD_NAME
    stand_in kubectl "exec $CRI_PYTHON $ST_SRCDIR/tests/bats/lib/kubectl.py \"\$@\""
    # The installer goes to the node's namespaces: it is there.
    # shellcheck disable=SC2016
    stand_in nsenter '[ "$1 $2 $3 $4" = "--target 1 --all --" ] || exec /usr/bin/nsenter "$@"
        exec "${@:5}"'
}

stand_in_for_systemctl() {
    # shellcheck disable=SC2016 # read by the stand-in
    stand_in systemctl '[ "$*" = "restart containerd" ]
        pid=$(cat "$NOTES/daemons/containerd")
        kill -TERM "$pid"
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
        setsid containerd >>"$NOTES/containerd.log" 2>&1 3>&- &
        echo $! >"$NOTES/daemons/containerd"
        until "$CRI_PYTHON" "$ST_SRCDIR/tests/bats/lib/cri.py" "$CRI_SOCKET" Version >/dev/null 2>&1; do sleep 0.1; done'
}

# As that of the suite, without any runtime: containerd's own default holds.
write_machine_configuration() {
    write_containerd_config
    sed -i '/default_runtime_name/,$d' "$WORLD/containerd.toml"
    in_machine mkdir -p /etc/containerd
    in_machine cp "$WORLD/containerd.toml" "$config"
}

start_containerd_of_machine() {
    start_daemon containerd /usr/bin/nsenter -t "$(daemon_pid machine)" --mount --net containerd
    daemon_answers containerd ctr version
    daemon_answers containerd cri Version
}

load_images() {
    make_image docker.io/library/debian:12 "$WORLD/debian.tar" sh
    make_image docker.io/library/pause:latest "$WORLD/pause.tar" sleep 1000000
    ctr -n k8s.io images import "$WORLD/debian.tar" >"$NOTES/load.log"
    ctr -n k8s.io images import "$WORLD/pause.tar" >>"$NOTES/load.log"
}

# The tree that its Dockerfile makes, as far as a node needs it.
make_image_of_installer() {
    local tree=$KUBE_IMAGES/sandtrace-installer/opt/sandtrace
    mkdir -p "$tree/bin"
    cp "$WORLD"/bin/sandtrace "$WORLD"/bin/sandtrace-runtime "$tree/bin"
    cp "$ST_SRCDIR/contrib/kubernetes/install-node.sh" "$tree"
}

# The trace of the agent's container: the pod's own is another.
trace_of_agent() { grep -l '"light":false' "$WORLD"/log/*.jsonl; }

# run_pod [SED-SCRIPT]: the pod of contrib, to its end; its log.
run_pod() {
    sed "${1:-}" "$ST_SRCDIR/contrib/kubernetes/pod.yaml" >"$WORLD/pod.yaml"
    in_machine kubectl apply -f "$WORLD/pod.yaml" && in_machine kubectl wait pod/agent && in_machine kubectl logs agent
}

is_registered() { [ "$(in_machine sandtrace doctor --json | jq -r 'select(.check == "containerd") | .status')" = ok ]; }

@test "every command of the document works as it is written" {
    before=$(in_machine cat "$config")
    type_document "$ST_SRCDIR/$document"
    typed_line 'done'
    [ "$(grep -c ': valid' "$NOTES/typed")" -eq 2 ]
    trace=$(trace_of_agent)
    [ "$(jq -rs 'first | .agent_id + " " + .payload.policy.name' "$trace")" = 'example agent-default' ]
    typed_shows '/opt/sandtrace/bin/sandtrace-runtime'
    [ "$(in_machine cat "$config")" = "$before" ]
    run -1 is_registered
}

@test "no command stands outside of what is run" { no_command_elsewhere "$ST_SRCDIR/$document"; }

@test "the installer adds, changes nothing the second time, and removes; pods of other runtimes never notice" {
    in_machine kubectl apply -f contrib/kubernetes/runtimeclass.yaml
    run -0 in_machine kubectl apply -f contrib/kubernetes/daemonset.yaml
    [[ $output == *'"changed":true'* ]]
    is_registered
    rm -f "$WORLD"/log/*
    run -0 run_pod
    [[ $output == *$'\ndone' ]]
    in_machine sandtrace verify "$(trace_of_agent)"
    in_machine kubectl delete -f "$WORLD/pod.yaml"
    run -0 in_machine kubectl apply -f contrib/kubernetes/daemonset.yaml
    [[ $output == *'"changed":false'* ]]
    run -0 run_pod '/runtimeClassName/d'
    in_machine kubectl delete -f "$WORLD/pod.yaml"
    sed 's/"add"/"remove"/' "$ST_SRCDIR/contrib/kubernetes/daemonset.yaml" >"$WORLD/remove.yaml"
    run -0 in_machine kubectl apply -f "$WORLD/remove.yaml"
    run -1 is_registered
}

@test "the installer registers nothing on a node that lacks something" {
    before=$(in_machine cat "$config")
    sed 's/^monitor:.*/monitor: \/nowhere/' "$SANDTRACE_CONFIG" >"$WORLD/broken.yaml"
    SANDTRACE_CONFIG=$WORLD/broken.yaml run in_machine kubectl apply -f contrib/kubernetes/daemonset.yaml
    [ "$status" -ne 0 ]
    [[ $output == *"this node lacks what is named above"* ]]
    [ "$(in_machine cat "$config")" = "$before" ]
}

@test "a pod whose policy is not there does not start, and the reason comes to kubelet" {
    in_machine sandtrace install containerd
    in_machine systemctl restart containerd
    in_machine kubectl apply -f contrib/kubernetes/runtimeclass.yaml
    run -1 run_pod 's/agent-default/agent-defualt/'
    [[ $output == *"sandtrace-runtime: policy 'agent-defualt'"* ]] || fail "$output"
    in_machine sandtrace install containerd --uninstall
    in_machine systemctl restart containerd
}

@test "containerd.toml of contrib is what install writes" {
    sandtrace install containerd --file "$BATS_TEST_TMPDIR/config.toml" --runtime /bin/true >/dev/null
    diff <(grep -v '^ *#\|^$' "$ST_SRCDIR/contrib/kubernetes/containerd.toml") \
        <(sed 's,/bin/true,/usr/bin/sandtrace-runtime,' "$BATS_TEST_TMPDIR/config.toml" | grep -v '^ *#\|^$')
}

@test "the manifests name what there is: handler, class, policy, program" {
    run -0 /usr/bin/python3 -c 'import json, sys, yaml
for name in sys.argv[1:]:
    for manifest in yaml.safe_load_all(open(name)): print(json.dumps(manifest))' "$ST_SRCDIR"/contrib/kubernetes/{runtimeclass,pod,daemonset}.yaml
    class=$(jq -r 'select(.kind == "RuntimeClass") | .metadata.name' <<<"$output")
    [ "$(jq -r 'select(.kind == "RuntimeClass") | .handler' <<<"$output")" = sandtrace ]
    [ "$(jq -r 'select(.kind == "Pod") | .spec.runtimeClassName' <<<"$output")" = "$class" ]
    [ -e "$ST_SRCDIR/policies/$(jq -r 'select(.kind == "Pod") | .metadata.annotations["io.sandtrace.policy"]' <<<"$output").yaml" ]
    program=$(jq -r 'select(.kind == "DaemonSet") | .spec.template.spec.containers[0].command[0]' <<<"$output")
    grep -qF "$program" "$ST_SRCDIR/contrib/kubernetes/Dockerfile"
}
