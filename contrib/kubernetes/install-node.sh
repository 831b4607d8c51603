#!/bin/sh
# install-node.sh add|remove: what the installer does on its node; see daemonset.yaml beside it. Can be run again.
#
# HOST                where the node's root is mounted (/host)
# CONTAINERD_CONFIG   its configuration (/etc/containerd/config.toml)
# CONTAINERD_SERVICE  its service (containerd; k3s, rke2-agent …)
set -eu

host=${HOST-/host}
config=${CONTAINERD_CONFIG:-/etc/containerd/config.toml}
service=${CONTAINERD_SERVICE:-containerd}
here=$(cd "$(dirname "$0")" && pwd)
there=/opt/sandtrace

say() { echo "sandtrace installer: $*"; }

# On the node itself, in all its namespaces.
on_host() { nsenter --target 1 --all -- "$@"; }

# Written beside it, then renamed: containers may be starting at any moment.
copy_file() {
    mkdir -p "$host$there/$(dirname "$1")"
    cp -p "$here/$1" "$host$there/$1.new"
    mv "$host$there/$1.new" "$host$there/$1"
}

copy_programs() {
    (cd "$here" && find . -type f) | while read -r file; do copy_file "$file"; done
}

# change ARGUMENT…: containerd is restarted only where its file has changed.
change() {
    answer=$(on_host "$there/bin/sandtrace" install containerd --file "$config" --runtime "$there/bin/sandtrace-runtime" --json "$@")
    say "$answer"
    case $answer in
    *'"changed":true'*) on_host systemctl restart "$service" ;;
    esac
}

add() {
    copy_programs
    # Refuses to replace one.
    [ -e "$host/etc/sandtrace/keys/trace.key" ] || on_host "$there/bin/sandtrace" keygen
    on_host "$there/bin/sandtrace" doctor --quiet || { say "this node lacks what is named above; nothing was registered" >&2; exit 1; }
    change
}

# Pods that still run need the programs to the end.
remove() {
    change --uninstall
    say "$there stays for pods that still run; remove it when none does"
}

case ${1-} in
add | remove) "$1" ;;
*)
    echo "usage: install-node.sh add|remove" >&2
    exit 2
    ;;
esac
touch "${READY_FILE:-/tmp/ready}"
say "done"
[ -n "${ONCE-}" ] || exec sleep infinity
