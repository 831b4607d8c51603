#!/bin/sh
# Make ./configure from configure.ac. Needs autoconf, automake and pkg-config.
set -e
cd "$(dirname "$0")"

need() {
    command -v "$1" >/dev/null || {
        echo "autogen.sh: $1 not found: apt-get install $2 (contrib/quickstart.sh deps installs all that the build needs)" >&2
        exit 1
    }
}
need autoreconf autoconf
need automake automake
need pkg-config pkg-config # its pkg.m4 goes into configure

mkdir -p build-aux m4
exec autoreconf --install --force --warnings=all,no-obsolete
