# The same container by runc (through the shim), docker and podman: one list of tests for all three.
#
#   run_by ENGINE NAME ARGUMENT…      until it ends; standard input goes in, its output comes out
#   start_by ENGINE NAME ARGUMENT…    and it stays
#
# Each has a workspace of its own, which may be filled before: a directory of the root for runc, a volume
# for the others.

# shellcheck source=container.bash
source "$(dirname "${BASH_SOURCE[0]}")/container.bash"
# shellcheck source=docker.bash
source "$(dirname "${BASH_SOURCE[0]}")/docker.bash"
# shellcheck source=podman.bash
source "$(dirname "${BASH_SOURCE[0]}")/podman.bash"

# furnish_root DIR: what there is to steal and to break in an image.
furnish_root() {
    mkdir -p "$1"/root/.ssh "$1"/home/agent/.ssh "$1"/var/empty
    cp "$ST_BUILDDIR/tests/attack/attack" "$1/bin/attack"
    ln "$1/bin/attack" "$1/home/agent/tool"
    echo 'root:secret' >"$1/etc/shadow"
    ln "$1/etc/shadow" "$1/etc/second-name"
    echo '127.0.0.1 localhost' >"$1/etc/hosts"
    echo key >"$1/root/.ssh/id_ed25519"
    echo key >"$1/home/agent/.ssh/id_rsa"
}

# furnish_workspace DIR: a repository with a commit, and a second name of its configuration.
furnish_workspace() {
    mkdir -p "$1"
    git -c init.defaultBranch=main init -q "$1"
    echo content >"$1/file"
    git -C "$1" add file
    git -C "$1" -c user.name=t -c user.email=t@localhost commit -qm first
    echo '#!/bin/sh' >"$1/.git/hooks/pre-push"
    ln "$1/.git/config" "$1/second-name"
}

make_bundle_rootfs() { make_rootfs "$1" && furnish_root "$1"; }

start_engines() {
    require_docker
    require_podman
    start_dockerd --log-level warn
    configure_podman
    make_root=make_bundle_rootfs make_image localhost/box:latest "$WORLD/box.tar" sh
    docker load -q -i "$WORLD/box.tar" >"$NOTES/load.log"
    podman load -q -i "$WORLD/box.tar" >>"$NOTES/load.log"
}

end_engines() {
    remove_all_containers || true
    remove_all_docker_containers || true
    end_containerd_of_dockerd
    end_podman
}

# workspace_of ENGINE NAME: on the host.
workspace_of() {
    case $1 in
        runc) echo "$(bundle_of "$2")/rootfs/workspace" ;;
        *) echo "$WORLD/volumes/$1-$2" ;;
    esac
}

# prepare ENGINE NAME: there is nothing in its workspace yet.
prepare() {
    case $1 in
        runc) make_container "$2" && furnish_root "$(bundle_of "$2")/rootfs" ;;
        *) mkdir -p "$(workspace_of "$1" "$2")" ;;
    esac
}

# by ENGINE NAME HOW ARGUMENT…: HOW is empty or detached. What is in MOUNTS (host:place:ro) is there too.
# PODMAN_RUN: another function than podman_run. AS: the user, by docker and podman.
by() {
    local engine=$1 name=$2 how=$3 options=(-i --name "$2") each
    shift 3
    for each in ${MOUNTS:-}; do options+=(-v "$each"); done
    options+=(-v "$(workspace_of "$engine" "$name"):/workspace" ${how:+-d} ${AS:+--user "$AS"})
    case $engine in
        runc)
            edit_config "$(bundle_of "$name")" --arg mounts "${MOUNTS:-}" '.process.args = $ARGS.positional | .mounts +=
                [$mounts | split(" ")[] | split(":") | {type: "bind", source: .[0], destination: .[1], options: ["rbind", "ro"]}]' --args -- "$@"
            if [ -n "$how" ]; then
                start_detached "$name"
            else
                runtime run --bundle "$(bundle_of "$name")" "$(id_of "$name")"
            fi
            ;;
        docker) docker run --network none "${options[@]}" localhost/box "$@" ;;
        podman) "${PODMAN_RUN:-podman_run}" "${options[@]}" localhost/box "$@" ;;
    esac
}

run_by() { by "$1" "$2" "" "${@:3}"; }
start_by() { by "$1" "$2" detached "${@:3}" >/dev/null </dev/null; }

# exec_by ENGINE NAME ARGUMENT…: standard input goes in.
exec_by() {
    local engine=$1 name=$2
    shift 2
    case $engine in
        runc) runtime exec "$(id_of "$name")" "$@" ;;
        docker) docker exec -i "$name" "$@" ;;
        podman) podman exec -i "$name" "$@" ;;
    esac
}

# watched_id ENGINE NAME: as in the name of its trace.
watched_id() {
    case $1 in
        runc) id_of "$2" ;;
        docker) docker_id "$2" ;;
        podman) podman_id "$2" ;;
    esac
}

remove_by() {
    case $1 in
        runc) runtime delete --force "$(id_of "$2")" ;;
        docker) docker rm -f "$2" >/dev/null ;;
        podman) podman rm -f -t 0 "$2" >/dev/null ;;
    esac
}

# copy_by ENGINE FROM TO: one of them is NAME:PATH. runc has no such thing: through the first process's root.
copy_by() {
    case $1 in
        runc) cp "$(place_by_proc "$2")" "$(place_by_proc "$3")" ;;
        docker) docker cp "$2" "$3" ;;
        podman) podman cp "$2" "$3" ;;
    esac
}

place_by_proc() {
    case $1 in
        *:*) echo "/proc/$(init_pid_of "${1%%:*}")/root${1#*:}" ;;
        *) echo "$1" ;;
    esac
}

# first_process ENGINE NAME: its pid on the host.
first_process() { trace_value "$(watched_id "$1" "$2")" "$is_start" .payload.pid; }

# stands_still ENGINE NAME: as the kernel says, of the group that its monitor freezes.
stands_still() {
    local kind path
    read -r kind path <<<"$(state_of "$(watched_id "$1" "$2")" freezer)"
    if [ "$kind" = v1 ]; then
        [ "$(cat "/sys/fs/cgroup/freezer$path/freezer.state")" = FROZEN ]
    else
        cat "/sys/fs/cgroup$path/cgroup.freeze" "/sys/fs/cgroup/unified$path/cgroup.freeze" 2>/dev/null | grep -qx 1
    fi
}
