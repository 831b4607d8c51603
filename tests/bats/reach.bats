#!/usr/bin/env bats
# What a container could reach past its watch: the monitor, its own control
# group, an engine, the machine. It does not start so, unless the configuration
# lets it; in audit mode it does, and the trace says what is open.
# shellcheck disable=SC2154,SC2016 # words of bats and the libraries; scripts that run elsewhere
bats_require_minimum_version 1.5.0
load lib/world
load lib/engines
load lib/control
load lib/attack

setup_file() {
    make_world
    write_scope_policy refused "$refusing"
    write_scope_policy bare "$refusing" 'floor: off'
    write_scope_policy open "$refusing"
    sed -i 's/^  syscall: allow/&\n  network_egress: allow\n  network_ingress: allow\n  dns_query: allow/' "$WORLD/policies/open.yaml"
    write_policy wide "$holding"
    configure default_policy refused
    start_engines
    mkdir "$WORLD/engine"
    start_daemon engine python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); time.sleep(1e6)' "$WORLD/engine/podman.sock"
    daemon_answers engine test -S "$WORLD/engine/podman.sock"
}

teardown_file() {
    end_engines
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    remove_all_docker_containers
    remove_all_podman_containers
    ! mountpoint -q "$NOTES/over" || umount "$NOTES/over"
    for key in host_pid cgroup_write engine_socket host_devices; do configure "$key" refuse; done
    configure default_policy refused
    nothing_left_behind
    rm -f "$WORLD"/log/*
}

# with NAME JQ-FILTER COMMAND…: a container whose config.json is changed by the filter, until it ends.
with() {
    local name=$1 filter=$2
    shift 2
    [ -d "$(bundle_of "$name")" ] || make_container "$name"
    edit_config "$(bundle_of "$name")" "$filter | .process.args = \$ARGS.positional" --args -- "$@"
    runtime run --bundle "$(bundle_of "$name")" "$(id_of "$name")" </dev/null
}

# bind SOURCE PLACE [OPTION]: the filter that adds a mount.
bind() { echo ".mounts += [{type: \"bind\", source: \"$1\", destination: \"$2\", options: [\"rbind\", \"${3:-rw}\"]}]"; }

# is_refused REASON FILTER: such a container does not start; the error line has the reason. It leaves no trace.
is_refused() {
    run ! with refused "$2" echo it runs
    [[ $output == *"sandtrace"*": "*"$1"* && $output != *"it runs"* ]] || fail "$output"
    is_gone "$(trace_of "$(id_of refused)")"
    rm -rf "$(bundle_of refused)"
}

# runs FILTER: such a container does.
runs() {
    run -0 with allowed "$1" echo it runs # where it shares a pid namespace runc may have something to say at the end
    [[ $output == "it runs"* ]] || fail "$output"
    trace_is_complete "$(id_of allowed)"
    rm -rf "$(bundle_of allowed)"
}

# says_open NAME WORDS: the start record of the container says what is open.
says_open() {
    trace_has "$1" "$is_start and (.payload.sensors | any(.name == \"reach\" and .state == \"degraded\" and (.detail | contains(\"$2\"))))"
}

says_closed() { trace_has "$1" "$is_start and (.payload.sensors | any(.name == \"reach\" and .state == \"on\" and .detail == null))"; }

no_pid_namespace='.linux.namespaces |= map(select(.type != "pid"))'
writable_cgroups='(.mounts[] | select(.type == "cgroup") | .options) |= map(if . == "ro" then "rw" else . end)'

@test "an ordinary container reaches nothing, and its trace says so" {
    runs .
    says_closed "$(id_of allowed)"
}

@test "a container that shares the host's pid namespace does not start, unless it is let" {
    is_refused 'host_pid: allow' "$no_pid_namespace"
    is_refused 'host_pid: allow' '(.linux.namespaces[] | select(.type == "pid")).path = "/proc/self/ns/pid"'
    configure host_pid allow
    runs "$no_pid_namespace"
    says_open "$(id_of allowed)" "the host's processes: it shares their pid namespace"
}

@test "a container with the host's /proc, or a part of it, does not start, unless it is let" {
    is_refused "by its mount /host/proc;" "$(bind /proc /host/proc ro)"
    is_refused "by its mount /mnt;" "$(bind /proc/1 /mnt ro)"
    ln -s /proc "$NOTES/processes"
    is_refused "by its mount /mnt;" "$(bind "$NOTES/processes" /mnt ro)"
    configure host_pid allow
    runs "$(bind /proc /host/proc ro)"
    says_open "$(id_of allowed)" 'by its mount /host/proc'
}

@test "a container in the pid namespace of another container starts" {
    make_container other sleep 1000
    start_detached other
    runs "(.linux.namespaces[] | select(.type == \"pid\")).path = \"/proc/$(init_pid_of other)/ns/pid\""
    says_closed "$(id_of allowed)"
}

@test "a container that can write control groups does not start, unless it is let" {
    configure default_policy bare # a floor would close a single mount
    is_refused 'cgroup_write: allow' "$writable_cgroups"
    is_refused 'cgroup_write: allow' "$(bind /sys/fs/cgroup /mnt)"
    is_refused 'cgroup_write: allow' "$(bind /sys /mnt)"
    configure cgroup_write allow
    runs "$writable_cgroups"
    says_open "$(id_of allowed)" 'can write control groups: /sys/fs/cgroup'
}

@test "a mount that is said to be read-only and is not keeps the first program from beginning" {
    configure default_policy bare
    run ! with box '.mounts += [{type: "sysfs", source: "sysfs", destination: "/mnt", options: ["ro"]},
        {type: "bind", source: "/sys", destination: "/mnt", options: ["bind", "rw"]}]' echo it runs
    [[ $output != *"it runs"* ]]
    trace_is_complete "$(id_of box)"
    trace_has "$(id_of box)" '.event_type == "sensor" and .payload.name == "reach" and .payload.state == "degraded"
        and (.payload.detail | contains("/mnt (sysfs) is writable") and contains("host_devices: allow"))'
}

@test "a container that can reach an engine's socket does not start, unless it is let" {
    is_refused "$WORLD/docker.sock through its mount /var/run/docker.sock;" "$(bind "$WORLD/docker.sock" /var/run/docker.sock)"
    is_refused "podman.sock through its mount /mnt;" "$(bind "$WORLD/engine" /mnt ro)"
    ln -s "$WORLD/engine/podman.sock" "$NOTES/socket"
    is_refused "podman.sock through its mount /tmp/x;" "$(bind "$NOTES/socket" /tmp/x)"
    configure engine_socket allow
    runs "$(bind "$WORLD/engine" /mnt ro)"
    says_open "$(id_of allowed)" 'podman.sock through its mount /mnt'
}

@test "the sockets of containerd's shims, and an engine's store, are an engine's too" {
    docker run --rm --network none localhost/box true # they have a directory of their own from then on
    is_refused "/run/containerd/s through its mount /mnt;" "$(bind /run/containerd /mnt ro)"
    is_refused "/run/containerd/s through its mount /mnt;" "$(bind /run/containerd/s /mnt ro)"
    configure default_policy bare
    is_refused "/run/containerd, and write it, through its mount /mnt;" "$(bind /run/containerd /mnt)"
}

@test "a mount without a source is a mount like others" {
    configure default_policy wide
    is_refused 'cgroup_write: allow' '.mounts += [{type: "cgroup2", source: "", destination: "/mnt", options: ["rw"]}]'
    run -0 with box '.annotations["io.sandtrace.depth"] = "strict" | .mounts += [{type: "tmpfs", source: "", destination: "/mnt"}]' sh -c 'echo x >/mnt/file; cat /mnt/file'
    trace_has "$(id_of box)" '.event_type == "filesystem" and .payload.op == "open" and .payload.path == "/mnt/file" and .payload.access == ["read"]'
}

@test "a container that can reach what is ours does not start" {
    is_refused "$WORLD/keys through its mount /mnt;" "$(bind "$WORLD/keys" /mnt ro)"
    mkdir -p "$WORLD/run/bus.d"
    is_refused "$WORLD/run through its mount /mnt;" "$(bind "$WORLD/run/bus.d" /mnt ro)"
    is_refused "$WORLD/keys through its mount /mnt;" "$(bind "$WORLD" /mnt ro)"
    is_refused "sandtrace's own" "$(bind / /host ro)"
    configure default_policy bare
    is_refused "$WORLD/log, and write it, through its mount /mnt;" "$(bind "$WORLD/log" /mnt)"
    is_refused "$WORLD/policies, and write it, through its mount /mnt;" "$(bind "$WORLD/policies" /mnt)"
    is_refused "$WORLD/bin/sandtrace-hook, and write it, through its mount /mnt;" "$(bind "$WORLD/bin" /mnt)"
    runs "$(bind "$WORLD/log" /mnt ro)"
}

@test "ours is found beneath an overlay" {
    mkdir -p "$NOTES/upper" "$NOTES/work"
    is_refused "$WORLD/keys through its mount /mnt;" ".mounts += [{type: \"overlay\", source: \"overlay\", destination: \"/mnt\",
        options: [\"lowerdir=$WORLD\", \"upperdir=$NOTES/upper\", \"workdir=$NOTES/work\"]}]"
}

# As on a live system, or in a development container, whose root is one overlay.
@test "of the layers of an overlay a container reaches what its mount shows of them" {
    mkdir -p "$NOTES/upper" "$NOTES/work" "$NOTES/over" "$WORLD/harmless"
    echo fine >"$WORLD/harmless/file"
    mount -t overlay -o "lowerdir=$WORLD,upperdir=$NOTES/upper,workdir=$NOTES/work" overlay "$NOTES/over"
    runs "$(bind "$NOTES/over/harmless/file" /harmless ro)"
    runs "$(bind "$NOTES/over/harmless" /mnt ro)"
    is_refused "$WORLD/keys through its mount /mnt;" "$(bind "$NOTES/over/keys" /mnt ro)"
    is_refused "$WORLD/keys through its mount /mnt;" "$(bind "$NOTES/over" /mnt ro)"
    umount "$NOTES/over"
}

@test "a container with the machine's disks, memory or settings does not start, unless it is let" {
    is_refused 'all devices of the machine' '.linux.resources.devices = [{allow: true, access: "rwm"}]'
    is_refused 'disks of the machine' '.linux.resources.devices += [{allow: true, type: "b", major: 7, minor: 0, access: "r"}]'
    is_refused 'the memory of the machine' '.linux.resources.devices += [{allow: true, type: "c", major: 1, minor: 1, access: "r"}]'
    is_refused '/sys (sysfs) is writable' '(.mounts[] | select(.type == "sysfs") | .options) = ["nosuid", "noexec", "nodev", "rw"]'
    runs '.linux.resources.devices += [{allow: true, type: "c", major: 10, minor: 229, access: "rwm"}, {allow: true, type: "b", access: "m"}]'
    configure host_devices allow
    runs '.linux.resources.devices = [{allow: true, access: "rwm"}]'
    says_open "$(id_of allowed)" 'all devices of the machine'
}

@test "the kernel's settings are closed where nobody has, and are as they were when the bundle is run without that" {
    run -0 with box '.linux.readonlyPaths = ["/proc/bus"]' grep -o ' /proc/sys ro[, ]' /proc/self/mountinfo
    [ "$(jq -c .linux.readonlyPaths "$(bundle_of box)/config.json")" = '["/proc/bus","/proc/sys","/proc/sysrq-trigger"]' ]
    says_closed "$(id_of box)"
    configure host_devices allow
    run -0 with box . true
    says_open "$(id_of box)" "the kernel's settings"
    [ "$(jq -c .linux.readonlyPaths "$(bundle_of box)/config.json")" = '["/proc/bus"]' ]
}

@test "in audit mode all of them start, and the trace says what is open" {
    configure default_policy audit-only
    runs "$no_pid_namespace | $(bind "$WORLD" /mnt) | $(bind /sys/fs/cgroup /tmp) | .linux.readonlyPaths = []"
    for words in "host's processes" 'control groups' 'started outside of the watch' "the kernel's settings" "$WORLD/keys"; do
        says_open "$(id_of allowed)" "$words"
    done
}

# ---- by engines ----

# refused_by ENGINE REASON OPTION…: the engine's own error line has it.
refused_by() {
    local engine=$1 reason=$2
    shift 2
    case $engine in
        docker) run ! docker run --rm --network none "$@" localhost/box echo it runs ;;
        podman) run ! podman_run --rm "$@" localhost/box echo it runs ;;
    esac
    [[ $output == *"sandtrace"*"$reason"* && $output != *"it runs"* ]] || fail "$output"
}

# runs_by ENGINE OPTION…: and its trace is the one that is left.
runs_by() {
    local engine=$1
    shift
    case $engine in
        docker) run docker run --name box --network none "$@" localhost/box echo it runs ;;
        podman) run podman_run --name box "$@" localhost/box echo it runs ;;
    esac
    [ "$output" = "it runs" ] || fail "$output"
    trace_is_complete "$(watched_id "$engine" box)"
}

by_each_engine() {
    for engine in docker podman; do "$@"; done
}

runs_and_is_closed() {
    runs_by "$engine" "$@"
    says_closed "$(watched_id "$engine" box)"
    remove_by "$engine" box
}

@test "by docker and podman an ordinary container reaches nothing" {
    by_each_engine runs_and_is_closed
    mkdir "$WORLD/volume"
    by_each_engine runs_and_is_closed -v "$WORLD/volume:/workspace" -v /usr/share:/mnt:ro --tmpfs /tmp --device /dev/fuse --ipc=host --uts=host
}

refuses_the_hosts_pids() { refused_by "$engine" 'set host_pid: allow' --pid=host; }

@test "by docker and podman --pid=host is refused" { by_each_engine refuses_the_hosts_pids; }

refuses_privileged() {
    configure default_policy refused
    refused_by "$engine" 'CAP_SYS_ADMIN (privileged?)' --privileged
    configure default_policy bare
    refused_by "$engine" 'set ' --privileged
    configure cgroup_write allow
    refused_by "$engine" 'set host_devices: allow' --privileged
    configure cgroup_write refuse
}

@test "by docker and podman --privileged is refused, for each of the things that it opens" { by_each_engine refuses_privileged; }

refuses_the_engines_socket() {
    refused_by "$engine" "$WORLD/docker.sock through its mount /var/run/docker.sock; " -v "$WORLD/docker.sock:/var/run/docker.sock:ro"
    refused_by "$engine" "podman.sock through its mount /mnt; " -v "$WORLD/engine:/mnt"
}

@test "by docker and podman the engine's socket in a volume is refused" { by_each_engine refuses_the_engines_socket; }

refuses_the_host() { refused_by "$engine" "that is sandtrace's own" -v /:/host:ro; }

@test "by docker and podman the host's root in a volume is refused" { by_each_engine refuses_the_host; }

@test "podman's overlay over a directory hides nothing" { refused_by podman "that is sandtrace's own" -v "$WORLD:/mnt:O"; }

@test "by podman's hooks directory alone the same is refused" {
    install_hooks
    run ! by_hooks --rm -v "$WORLD/engine:/mnt" localhost/box echo it runs
    [[ $output == *'set engine_socket: allow'* ]] || fail "$output"
    run ! by_hooks --rm --pid=host localhost/box echo it runs # Podman does not show what a precreate hook says
    [[ $output != *"it runs"* ]]
}

refuses_writable_groups() {
    case $engine in
        docker) refused_by docker 'set cgroup_write: allow' -v /sys/fs/cgroup:/sys/fs/cgroup:rw ;;
        podman) refused_by podman 'set cgroup_write: allow' --systemd=always ;; # version 1: a part of the host's
    esac
}

@test "by docker and podman writable control groups are refused" {
    configure default_policy bare
    by_each_engine refuses_writable_groups
}

# ---- from inside ----

all_capabilities='.process.capabilities |= map_values(. + ["CAP_KILL", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_SYS_NICE"] | unique)'

# start_with NAME FILTER COMMAND…: and it stays.
start_with() {
    local name=$1 filter=$2
    shift 2
    [ -d "$(bundle_of "$name")" ] || make_container "$name"
    edit_config "$(bundle_of "$name")" "$filter | .process.args = \$ARGS.positional" --args -- "$@"
    start_detached "$name"
}

@test "nothing in a container can find, signal, trace or reach its monitor" {
    configure default_policy wide
    start_with box "$all_capabilities" sleep 1000
    cp "$ST_BUILDDIR/tests/attack/hunt" "$(rootfs_of box)/bin/hunt"
    id=$(id_of box)
    warden=$(state_of "$id" warden) worker=$(state_of "$id" worker)
    run -0 runtime exec --cap CAP_KILL --cap CAP_SYS_PTRACE "$id" hunt "$warden" "$worker"
    [ "$(head -n 1 <<<"$output")" = "others 0" ]
    [[ $output != *" ok"* && $output == *"kill $worker ESRCH"* ]]
    # Nothing of ours has a socket without a path, in the network of the machine or the container's.
    run ! grep -a '@.*sandtrace' /proc/net/unix
    run -0 runtime exec "$id" cat /proc/net/unix
    [[ $output != *sandtrace* && $output != *"$WORLD"* ]]
    run -0 runtime exec "$id" find / -xdev -name '*sandtrace*'
    [ "$output" = "" ]
    is_watched "$id"
}

@test "a container can't thaw itself, nor leave its control group" {
    configure default_policy wide
    start_with box "$all_capabilities" sleep 1000
    for file in freezer/freezer.state freezer/cgroup.procs freezer/tasks unified/cgroup.freeze unified/cgroup.procs cgroup.freeze cgroup.procs; do
        runtime exec "$(id_of box)" test -e "/sys/fs/cgroup/$file" || continue
        run ! runtime exec "$(id_of box)" sh -c "echo 0 >/sys/fs/cgroup/$file"
        [[ $output == *"Read-only file system"* ]]
        echo "$file" >>"$NOTES/tried"
    done
    [ -s "$NOTES/tried" ]
    # A mount of its own is refused, whatever it may do otherwise.
    run ! runtime exec --cap CAP_SYS_ADMIN "$(id_of box)" mount -t cgroup2 none /mnt
    run ! runtime exec --cap CAP_SYS_ADMIN "$(id_of box)" mount -t cgroup -o freezer none /mnt
    run ! runtime exec --cap CAP_SYS_ADMIN "$(id_of box)" mount -o remount,rw,bind /sys/fs/cgroup
}

# is_frozen_below NAME GROUP: as the kernel says of a group that was made inside.
is_frozen_below() {
    [ "$(cat "/sys/fs/cgroup/freezer/$WORLD_NAME/$1/$2/freezer.state" 2>/dev/null)" = FROZEN ] && return
    grep -qs '^frozen 1$' "/sys/fs/cgroup/$WORLD_NAME/$1/$2/cgroup.events"
}

@test "who moves to a group below the container's is still the container's, seen, and frozen with it" {
    configure default_policy wide
    configure cgroup_write allow
    make_container box
    echo secret >"$(rootfs_of box)/etc/shadow"
    mkfifo "$(rootfs_of box)/workspace/go"
    start_with box "$writable_cgroups" sh -c 'cd /sys/fs/cgroup/freezer 2>/dev/null || cd /sys/fs/cgroup
        mkdir reading ticking
        sh -c "echo 0 >ticking/cgroup.procs; while :; do echo tick >>/workspace/ticks; sleep 0.02; done" &
        echo 0 >reading/cgroup.procs
        read line </workspace/go
        cat /etc/shadow; echo on >/workspace/on'
    retry_until exists "$(ticks_of box)"
    echo go >"$(rootfs_of box)/workspace/go"
    held box
    retry_until is_frozen_below box ticking
    trace_has "$(id_of box)" '.event_type == "filesystem" and .payload.path == "/etc/shadow" and .verdict.result == "deny" and .payload.process.comm == "cat"'
    [ ! -e "$(rootfs_of box)/workspace/on" ]
}

# ---- what is put into a container that runs ----

# process_with CAPABILITY: the description of a process for the container `box`.
process_with() { jq --arg cap "$1" '.process | .args = ["echo", "it runs"] | .capabilities[] |= (. + [$cap] | unique)' "$(bundle_of box)/config.json"; }

# stays_out REASON COMMAND…
stays_out() {
    run ! "${@:2}"
    [[ $output == *"$1"* && $output != *"it runs"* ]] || fail "$output"
}

goes_in() {
    run -0 "$@"
    [ "$output" = "it runs" ] || fail "$output"
}

start_box() {
    make_container box sleep 1000
    start_detached box
}

@test "a process with rights that its container has not, and that would end its watch, is not put in" {
    start_box
    for cap in CAP_NET_ADMIN CAP_NET_RAW CAP_SYS_ADMIN; do
        process_with "$cap" >"$NOTES/more"
        stays_out "granted $cap" runtime exec --cap "$cap" "$(id_of box)" echo it runs
        stays_out "granted $cap" runtime exec "-c=$cap" "$(id_of box)" echo it runs
        stays_out "granted $cap" runtime exec --process "$NOTES/more" "$(id_of box)"
        stays_out "granted $cap" runtime exec --process /dev/stdin "$(id_of box)" <"$NOTES/more"
        stays_out "granted $cap" runtime exec --process <(cat "$NOTES/more") "$(id_of box)"
    done
    # Go reads keys in letters of any case, the last one of two.
    sed 's/"capabilities"/"Capabilities"/' "$NOTES/more" >"$NOTES/odd"
    stays_out 'key `Capabilities`: runc would take it for' runtime exec --process "$NOTES/odd" "$(id_of box)"
}

@test "any other process is put in as it was described, be it by a file or a pipe" {
    start_box
    process_with CAP_KILL >"$NOTES/same"
    goes_in runtime exec "$(id_of box)" echo it runs
    goes_in runtime exec --cap CAP_CHOWN "$(id_of box)" echo it runs
    goes_in runtime exec --process "$NOTES/same" "$(id_of box)"
    goes_in runtime exec --process /dev/stdin "$(id_of box)" <"$NOTES/same"
    goes_in runtime exec --process <(cat "$NOTES/same") "$(id_of box)"
}

@test "where nothing is there to be ended it is put in" {
    configure default_policy open
    start_box
    for cap in CAP_NET_ADMIN CAP_NET_RAW; do goes_in runtime exec --cap "$cap" "$(id_of box)" echo it runs; done
    plain_runc delete --force "$(id_of box)"
    configure default_policy bare
    start_detached box
    goes_in runtime exec --cap CAP_SYS_ADMIN "$(id_of box)" echo it runs
    plain_runc delete --force "$(id_of box)"
    configure net_admin allow
    start_detached box
    goes_in runtime exec --cap CAP_NET_ADMIN "$(id_of box)" echo it runs
    configure net_admin refuse
}

refuses_privileged_exec() {
    prepare "$engine" box
    start_by "$engine" box sleep 1000
    stays_out 'granted CAP_NET_ADMIN' "$engine" exec --privileged box echo it runs
    goes_in "$engine" exec box echo it runs
    remove_by "$engine" box
}

@test "by docker and podman exec --privileged is refused, exec is not" { by_each_engine refuses_privileged_exec; }
