#!/bin/sh
# Build libocispec from Debian's source package of crun, which carries it whole,
# and lay it out as PREFIX/include/ocispec and PREFIX/lib/libocispec.a.
#
#   contrib/libocispec.sh PREFIX        (quick when PREFIX is already complete)
#
# libocispec has no Debian package of its own; apt-source.sh fetches that of crun.
set -eu

prefix=${1:?usage: contrib/libocispec.sh PREFIX}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

if [ -f "$prefix/lib/libocispec.a" ] && [ -f "$prefix/include/ocispec/runtime_spec_schema_config_schema.h" ]; then
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

fail() {
    echo "libocispec.sh: $1" >&2
    [ -f "$work/log" ] && tail -n 20 "$work/log" >&2
    exit 1
}

"$(dirname "$0")/apt-source.sh" --upstream crun "$work/crun" || exit 1

build() {
    cd "$work/crun/libocispec" &&
        { [ -x configure ] || autoreconf -fi; } &&
        CFLAGS="${CFLAGS:--O2 -g} -fPIC" ./configure --enable-static --disable-shared &&
        make -j"$(nproc)" libocispec.la
}
(build) >"$work/log" 2>&1 || fail "libocispec did not build (needs python3 and libyajl-dev)"

mkdir -p "$prefix/lib" "$prefix/include/ocispec"
cp "$work"/crun/libocispec/src/ocispec/*.h "$prefix/include/ocispec/"
# The archive at the top of its tree is empty: the objects are in .libs.
cp "$work/crun/libocispec/.libs/libocispec.a" "$prefix/lib/libocispec.a.new"
mv "$prefix/lib/libocispec.a.new" "$prefix/lib/libocispec.a"
