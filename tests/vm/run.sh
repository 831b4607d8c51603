#!/bin/bash
# The bats of what was built, in stock Debian machines: their own kernels and
# engines, systemd, cgroup v2 alone.
#
#   run.sh VM [SUITE…] [-- FILE.bats…]      VM: a program `vm.sh -i INIT -t SECONDS SUITE PAYLOAD COMMAND` that boots
#                                           Debian SUITE (bookworm, trixie), has PAYLOAD as its current folder, and
#                                           ends with the command's code
#
# Nothing is compiled there: programs come from the build directory, with the libraries that they are linked with.
# Each file has a machine of its own, and VM_SECONDS in it: software emulation is slow. VM_FILTER: only tests whose names it fits.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
src=${ST_SRCDIR:-$(cd "$here/../.." && pwd)}
build=${ST_BUILDDIR:-$src/build}
vm=${1:?which program boots the machine? make check-vm VM=…/vm.sh}
shift
suites=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    suites+=("$1")
    shift
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
shift || true
files=("$@")
[ ${#files[@]} -gt 0 ] || files=(stock.bats lifecycle.bats engine.bats pause.bats mutations.bats control.bats files.bats landlock.bats
    network_control.bats network.bats network_attacks.bats network_decisions.bats network_death.bats network_engines.bats)

# pack_tools FILE: what the suites work with and a stock machine has not (no package can be installed there):
# the files of the packages here, for those that are missing.
pack_tools() {
    apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances --no-pre-depends git sqlite3 gcc libc6-dev \
        dnsmasq-base nginx-light tcpdump openssl curl wget nodejs netcat-openbsd jq containernetworking-plugins python3-grpcio python3-yaml |
        grep -E '^[a-z0-9]' | grep -vE '^libc6(:|$)|^(dpkg|perl|debconf)' | sort -u | while read -r package; do dpkg-query -L "$package" 2>/dev/null || true; done | sort -u |
        grep -vE '^/usr/share/(doc|man|locale|info)/|/node_modules/' |
        while read -r file; do [ -d "$file" ] || [ ! -e "$file" ] || echo "${file#/}"; done |
        tar -C / -cf "$1" --no-recursion --ignore-failed-read -T -
}

payload=$(mktemp -d)
trap 'rm -rf "$payload"' EXIT
mkdir -p "$payload"/{src,build/tests,lib}
cp -a "$src/tests" "$src/policies" "$src/contrib" "$src/docs" "$src/scripts" "$payload/src/"
rm -rf "$payload"/src/tests/fuzz "$payload"/src/tests/unit
find "$build" -maxdepth 1 -type f -executable -name 'sandtrace*' -exec cp {} "$payload/build/" \;
mkdir -p "$payload/build/tests/attack" "$payload/build/hooks"
find "$build/tests/attack" -maxdepth 1 -type f -executable -exec cp {} "$payload/build/tests/attack/" \;
cp "$build"/hooks/*.json "$payload/build/hooks/"
mkdir -p "$payload/build/src/shim"
cp "$build/src/shim/landlock-helper" "$payload/build/src/shim/"
ldd "$payload"/build/sandtrace* 2>/dev/null | awk '/=> \// { print $3 }' | grep -v '/libc\.so' | sort -u | xargs -I{} cp -L {} "$payload/lib/"
pack_tools "$payload/tools.tar"

failed=0
for suite in "${suites[@]}"; do
    for file in "${files[@]}"; do
        # Debian 12's kernel has no Landlock that would do: there the floor is refused, as stock.bats shows.
        [ "$suite/$file" != bookworm/landlock.bats ] || continue
        echo "== $suite: $file"
        dir=bats
        [ ! -e "$here/$file" ] || dir=vm
        "$vm" -i systemd -t "${VM_SECONDS:-3000}" "$suite" "$payload" "
            src/tests/vm/furnish.sh || exit 1
            export ST_SRCDIR=\$PWD/src ST_BUILDDIR=\$PWD/build
            export ST_FLOOD_SECONDS=20 ST_FLOOD_EVERY=50 ST_RACE_TRIES=300 RETRY_SECONDS=180 RETRY_PAUSE=0.1
            uname -r; bats --tap ${VM_FILTER:+-f $(printf %q "$VM_FILTER")} src/tests/$dir/$file" || failed=1
    done
done
exit "$failed"
