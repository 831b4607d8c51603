#!/bin/bash
# The bats of what was built, in stock Debian machines: their own kernels and
# engines, systemd, cgroup v2 alone.
#
#   run.sh VM [SUITE…] [-- FILE.bats…]      VM: a program `vm.sh -i INIT -t SECONDS SUITE PAYLOAD COMMAND` that boots
#                                           Debian SUITE (bookworm, trixie), has PAYLOAD as its current folder, and
#                                           ends with the command's code
#
# Nothing is compiled there: programs come from the build directory, with the libraries that they are linked with.
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
[ ${#files[@]} -gt 0 ] || files=(lifecycle.bats engine.bats pause.bats mutations.bats control.bats)

payload=$(mktemp -d)
trap 'rm -rf "$payload"' EXIT
mkdir -p "$payload"/{src,build/tests,lib}
cp -a "$src/tests" "$src/policies" "$src/contrib" "$payload/src/"
rm -rf "$payload"/src/tests/fuzz "$payload"/src/tests/unit
cp "$build"/sandtrace{,-runtime,-hook,-monitor} "$payload/build/"
mkdir -p "$payload/build/tests/attack" "$payload/build/hooks"
find "$build/tests/attack" -maxdepth 1 -type f -executable -exec cp {} "$payload/build/tests/attack/" \;
cp "$build"/hooks/*.json "$payload/build/hooks/"
ldd "$build/sandtrace" | awk '/=> \// { print $3 }' | grep -v '/libc\.so' | xargs -I{} cp -L {} "$payload/lib/"

failed=0
for suite in "${suites[@]}"; do
    echo "== $suite"
    "$vm" -i systemd -t 1500 "$suite" "$payload" "
        export LD_LIBRARY_PATH=\$PWD/lib ST_SRCDIR=\$PWD/src ST_BUILDDIR=\$PWD/build
        uname -r; status=0
        for file in ${files[*]}; do bats --tap src/tests/bats/\$file || status=1; done
        exit \$status" || failed=1
done
exit "$failed"
