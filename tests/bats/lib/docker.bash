# A dockerd of our own: data, state, socket and containerd below the world; no
# bridge and no iptables, so that the host's network stays as it is. ENGINE_NETNS (lib/net.bash): the network
# namespace in which engines run.

# shellcheck source=bundle.bash
source "$(dirname "${BASH_SOURCE[0]}")/bundle.bash"

require_docker() { require dockerd=docker.io docker=docker.io containerd=containerd script=bsdutils; }

# start_dockerd [OPTION…]: returns when it answers.
start_dockerd() {
    export DOCKER_HOST=unix://$WORLD/docker.sock
    export DOCKER_CONFIG=$WORLD/docker-config
    mkdir -p "$DOCKER_CONFIG"
    # As contrib has it for people.
    sed "s,/usr/bin/sandtrace-runtime,$RUNTIME," "$ST_SRCDIR/contrib/docker/daemon.json" >"$DOCKER_CONFIG/daemon.json"
    echo '{}' >"$DOCKER_CONFIG/config.json" # podman looks for it too
    start_daemon dockerd ${ENGINE_NETNS:+nsenter "--net=$ENGINE_NETNS"} dockerd --data-root "$WORLD/docker" --exec-root "$WORLD/docker-exec" \
        -H "$DOCKER_HOST" -p "$WORLD/docker.pid" --config-file "$DOCKER_CONFIG/daemon.json" \
        --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
        --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$WORLD_NAME" --default-runtime sandtrace "$@"
    daemon_answers dockerd docker version
}

# dockerd leaves its containerd behind when it is killed, and its pid in a file.
stop_dockerd() {
    stop_daemon dockerd
    end_containerd_of_dockerd
}

end_containerd_of_dockerd() {
    local file=$WORLD/docker-exec/containerd/containerd.pid
    [ ! -e "$file" ] || end_process "$(cat "$file")"
}

# load_busybox_into_docker: the image `busybox`.
load_busybox_into_docker() {
    make_image busybox:latest "$WORLD/busybox.tar" sh
    docker load -q -i "$WORLD/busybox.tar" >"$NOTES/load.log"
}

# The full ID by a container's name.
docker_id() { docker inspect -f '{{.Id}}' "$1"; }

docker_state() { docker inspect -f '{{.State.Status}}' "$1"; }

docker_is() { [ "$(docker_state "$1")" = "$2" ]; }

# Remove whatever containers there are: tests start from none.
remove_all_docker_containers() {
    local ids
    ids=$(docker ps -aq)
    # shellcheck disable=SC2086 # one word an ID
    [ -z "$ids" ] || docker rm -f $ids >/dev/null
}
