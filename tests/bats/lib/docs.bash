# Documents whose commands are typed as they stand: a machine of its own (mounts, network, /etc, /var/log), in which
# engines run that have their usual configuration files, and a shell that runs each ```sh block of a document in order.
#
#   setup_file()    { make_world; make_machine; … }
#   teardown_file() { end_machine; end_world; }
#
# COVERED: more directories that are the machine's own.
# Stands in for what a test can't have: systemctl (signals to the engines that the suite has started), images (made
# from busybox, under the names that the document uses).

# in_machine COMMAND…: there, in the source directory, as a person who has cloned the project.
in_machine() { nsenter -t "$(daemon_pid machine)" --mount --net env --chdir "$ST_SRCDIR" HOME="$WORLD/home" "$@"; }

# What is written to these directories goes to the world, and nobody else sees it.
write_machine_script() {
    cat >"$NOTES/machine" <<'END'
set -e
for dir in /etc /usr/share /var/log ${COVERED:-}; do
    mkdir -p "$dir" "$WORLD/machine$dir/upper" "$WORLD/machine$dir/work"
    mount -t overlay sandtrace-test -o "lowerdir=$dir,upperdir=$WORLD/machine$dir/upper,workdir=$WORLD/machine$dir/work" "$dir"
done
mkdir -p /var/log/sandtrace /etc/sandtrace
mount --bind "$WORLD/log" /var/log/sandtrace
ip link set lo up
sysctl -q net.ipv4.ip_forward=1
ip link add plug type bridge
ip addr add 10.91.0.1/16 dev plug
ip link set plug up
touch "$NOTES/machine.ready"
exec sleep infinity
END
}

make_machine() {
    require nsenter=util-linux ip=iproute2
    write_machine_script
    configure log_dir /var/log/sandtrace
    start_daemon machine unshare --mount --propagation private --net bash "$NOTES/machine"
    daemon_answers machine exists "$NOTES/machine.ready"
    mkdir -p "$WORLD/stand-ins" "$WORLD/home"
    export PATH=$WORLD/stand-ins:$PATH
}

end_machine() { stop_daemon machine || true; }

# stand_in NAME SCRIPT: a program for the documents.
stand_in() {
    printf '#!/bin/bash\nset -euo pipefail\n%s\n' "$2" >"$WORLD/stand-ins/$1"
    chmod +x "$WORLD/stand-ins/$1"
}

# commands_of DOCUMENT: what stands in its ```sh blocks.
commands_of() { python3 "$load_dir/document.py" commands "$1"; }

# type_document DOCUMENT: each command, echoed as it is read, in one shell that stops at the first failure. Its output is
# in $NOTES/typed.
type_document() {
    commands_of "$1" >"$NOTES/commands"
    [ -s "$NOTES/commands" ] || { fail "no commands in $1"; return 1; }
    in_machine bash -euvo pipefail "$NOTES/commands" >"$NOTES/typed" 2>&1 </dev/null 3>&- || { cat "$NOTES/typed" >&2; fail "$1: a command failed"; }
}

# typed_shows WORDS: in what the commands printed.
typed_shows() { grep -qF -e "$1" "$NOTES/typed" || { cat "$NOTES/typed" >&2; fail "not shown: $1"; }; }

# typed_line LINE: a whole line of it.
typed_line() { grep -qxF -e "$1" "$NOTES/typed" || { cat "$NOTES/typed" >&2; fail "not shown: $1"; }; }

# no_command_elsewhere DOCUMENT: whoever shows a command does so in a block that is run.
no_command_elsewhere() {
    run -1 awk '/^```sh$/ { run = 1; next } /^```/ { run = 0; next } !run && /^(    )?\$ / { print FILENAME ": " $0; found = 1 } END { exit !found }' "$1"
}
