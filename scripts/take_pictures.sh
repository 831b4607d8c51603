#!/bin/bash
# take_pictures.sh: the pictures of docs/pictures, of real screens: a terminal (tmux) in which sandtrace is used, and a browser
# (chromium) that shows a report. On a machine of its own: what is installed for them is seen by nobody else, and goes.
#
#   scripts/take_pictures.sh BUILD          as root; BUILD is a build directory
#
# Needs tmux, python3, chromium and runc.
set -euo pipefail

build=$(cd "${1:?usage: scripts/take_pictures.sh BUILD}" && pwd)
src=$(cd "$(dirname "$0")/.." && pwd)
out=$src/docs/pictures
columns=100

# ---- a machine of its own: this script again, in namespaces --------------------------------------------------

if [ -z "${PICTURES_MACHINE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "take_pictures.sh: must run as root" >&2; exit 2; }
    PICTURES_MACHINE=$(mktemp -d /tmp/st-pictures.XXXXXX)
    export PICTURES_MACHINE
    trap 'rm -rf --one-file-system "$PICTURES_MACHINE"' EXIT
    unshare --mount --propagation private "$0" "$build"
    exit
fi

work=$PICTURES_MACHINE
for dir in /etc /usr/share /usr/bin /usr/libexec /var/log /srv; do
    mkdir -p "$work$dir/upper" "$work$dir/work"
    mount -t overlay pictures -o "lowerdir=$dir,upperdir=$work$dir/upper,workdir=$work$dir/work" "$dir"
done
mkdir -p /run/sandtrace
mount -t tmpfs -o mode=0755 pictures /run/sandtrace
mkdir -p /etc/sandtrace /usr/share/sandtrace /usr/libexec/sandtrace /var/log/sandtrace /srv/work
cp -R "$src/policies" /usr/share/sandtrace/
cp "$build"/sandtrace "$build"/sandtrace-runtime /usr/bin/
cp "$build"/sandtrace-{hook,knock,init,monitor} /usr/libexec/sandtrace/
cat >/etc/sandtrace/sandtrace.yaml <<END
hook: /usr/libexec/sandtrace/sandtrace-hook
monitor: /usr/libexec/sandtrace/sandtrace-monitor
state_dir: /run/sandtrace
log_dir: /var/log/sandtrace
key_dir: /etc/sandtrace/keys
policy_dirs: [/etc/sandtrace/policies, /usr/share/sandtrace/policies]
default_policy: agent-default
END
export SANDTRACE_CONFIG=/etc/sandtrace/sandtrace.yaml
sandtrace keygen >/dev/null

# ---- a terminal ------------------------------------------------------------------------------------------------

tm() { tmux -S "$work/tmux" -f /dev/null "$@"; }

# window NAME ROWS: with a prompt.
window() {
    tm new-session -d -s "$1" -x "$columns" -y "$2" "cd /srv/work && env -u TMUX -u NO_COLOR TERM=xterm PS1='# ' bash --norc --noprofile"
    until_shown "$1" '#'
}

shown() { tm capture-pane -t "$1" -p -J; }

until_shown() {
    local tries=0
    until shown "$1" | grep -qF -- "$2"; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { shown "$1" >&2; echo "take_pictures.sh: '$2' was never shown" >&2; exit 1; }
        sleep 0.05
    done
}

type_line() { tm send-keys -t "$1" -l "$2" && tm send-keys -t "$1" Enter; }

# picture NAME TITLE: of the window of that name.
picture() {
    tm capture-pane -t "$1" -e -p | sed -e :a -e '/^\(\x1b\[[0-9;]*m\)*\n*$/{$d;N;ba' -e '}' |
        python3 "$src/scripts/terminal_to_svg.py" "$columns" "$2" >"$work/picture.svg"
    mv "$work/picture.svg" "$out/$1.svg"
    tm kill-session -t "$1"
}

clean_up() { tm kill-server 2>/dev/null || true; }
trap clean_up EXIT

# ---- the pictures ----------------------------------------------------------------------------------------------

mkdir -p "$out"
window pause 28
type_line pause "sandtrace run --user root -- cat /etc/shadow"
until_shown pause 'or kill?'
tm send-keys -t pause d Enter
until_shown pause 'verifies'
picture pause 'sandtrace run: an operation is held, and a person decides'

window demo 62
type_line demo 'clear; sandtrace demo escape'
until_shown demo 'nothing of it is left'
picture demo 'sandtrace demo'

window agent 20
window watch 45
type_line watch 'clear; sandtrace watch'
until compgen -G '/run/sandtrace/bus.d/*.sock' >/dev/null; do sleep 0.05; done
type_line agent "sandtrace run --user root -- bash -c 'cat /etc/shadow; echo x >/etc/cron.d/agent; unshare -r true; exit 0'"
until_shown agent 'or kill?'
until_shown watch 'SECURITY_PAUSE'
for _ in 1 2 3; do
    tm send-keys -t agent d Enter
    sleep 1
done
until_shown agent 'verifies'
picture watch 'sandtrace watch'

sandtrace demo stripe-exfil --keep "$work/kept" >/dev/null
(cd "$work/kept" && sandtrace report stripe-exfil.jsonl --key stripe-exfil.pub -o "$work/report.html")
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,1350 --user-data-dir="$work/chromium" \
    --screenshot="$out/report.png" "file://$work/report.html" >"$work/chromium.log" 2>&1 || { cat "$work/chromium.log" >&2; exit 1; }
