#!/bin/bash
# take_desk_pictures.sh: the pictures of the review desk in docs/pictures: real containers, the real server, a real browser.
#
#   scripts/take_desk_pictures.sh BUILD          as root; BUILD is a build directory
#
# Needs what tests/bats/page.bats needs, and pngquant.
# shellcheck disable=SC2154,SC2016,SC2310 # words of the libraries; scripts that run elsewhere
set -euo pipefail

ST_BUILDDIR=$(cd "${1:?usage: scripts/take_desk_pictures.sh BUILD}" && pwd)
ST_SRCDIR=$(cd "$(dirname "$0")/.." && pwd)
export ST_BUILDDIR ST_SRCDIR
lib=$ST_SRCDIR/tests/bats/lib
# shellcheck source=/dev/null
for file in world container control desk; do source "$lib/$file.bash"; done
require pngquant=pngquant
# In a picture they are to be read; this world has its own root, and no other is in it.
id_of() { echo "$1"; }

finish() {
    remove_all_containers || true
    end_world
}
trap finish EXIT

make_world
write_policy agent-default
write_policy strict 'on_violation: { low: deny, medium: deny, high: deny, critical: deny }'
start_desk_and_browser

# named NAME POLICY SCRIPT: a container of an agent with that name, which works.
named() {
    configure default_policy "$2"
    make_reader "$1" "$3"
    mkdir -p "$(bundle_of "$1")/rootfs/root/.ssh"
    echo key >"$(bundle_of "$1")/rootfs/root/.ssh/id_ed25519"
    edit_config "$(bundle_of "$1")" --arg agent "$1-agent" '.annotations["io.sandtrace.agent-id"] = $agent'
    start_detached "$1"
}

work='i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo "int x$i;" >/workspace/part$i.c; [ $((i % 8)) -ne 0 ] || cat /etc/passwd >/dev/null; sleep 0.1; done'
named builder strict "$work; cat /etc/shadow; mv /workspace/part1.c /workspace/main.c; look 1; echo >/workspace/done; sleep 1000"
named crawler strict 'mkdir /workspace/cache; for f in index news about; do echo "<html>" >"/workspace/cache/$f.html"; sleep 0.2; done; cat /root/.ssh/id_ed25519; echo >/workspace/done; sleep 1000'
named fixer agent-default 'mkdir -p /workspace/src; echo fix >/workspace/src/patch; sh -c "look 1" || true; look 1; sleep 1000'
retry_until exists "$(work_of builder)/done"
retry_until exists "$(work_of crawler)/done"
held fixer >/dev/null
retry_until indexed "$(id_of builder)" 60

out=$ST_SRCDIR/docs/pictures
event=$(sqlite3 -batch "$SANDTRACE_DB" "SELECT e.id FROM sandbox_audit_event e JOIN trace t ON t.no = e.trace WHERE container = '$(id_of builder)' AND allowed = 0 LIMIT 1")
page pictures "$NOTES" desk:light:1280:900:/sandbox-audit "desk-dark:dark:1280:900:/sandbox-audit?verdict=deny&event=$event" desk-pending:light:1280:330:/sandbox-audit \
    "desk-container:light:1280:900:/sandbox-audit/container/$(id_of builder)" desk-small:light:360:740:/sandbox-audit
for name in desk desk-dark desk-pending desk-container desk-small; do
    pngquant --force --output "$out/$name.png" 64 "$NOTES/$name.png"
done
