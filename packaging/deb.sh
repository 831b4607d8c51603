#!/bin/sh
# deb.sh DIR VERSION: a Debian package in DIR, from the distributed tree in DIR/source. Called by make deb.
#
#   LIBOCISPEC           prefix of the libocispec that is linked in (empty: configure looks for it)
#   DEB_VERSION          its version in Debian (VERSION-1~upstream1, which Debian's own replaces)
#   DEBFULLNAME, DEBEMAIL    who makes it, as for dch(1)
#   DEB_BUILD_OPTIONS    as in Debian; default: nocheck
#   DPKG_BUILDPACKAGE    the command (dpkg-buildpackage)
#   SOURCE_DATE_EPOCH    its date (that of NEWS.md)
set -eu
dir=${1:?usage: deb.sh DIR VERSION}
version=${2:?usage: deb.sh DIR VERSION}
here=$(cd "$(dirname "$0")" && pwd)

fail() {
    echo "make deb: $1" >&2
    exit 1
}

command -v dpkg-buildpackage >/dev/null || fail "dpkg-buildpackage not found: apt-get install dpkg-dev"
command -v dh >/dev/null || fail "dh not found: apt-get install debhelper"
dir=$(cd "$dir" && pwd)
[ -f "$dir/source/configure" ] || fail "$dir/source is not a distributed tree"

# An address that is nobody's, where none is given: it must look like one.
who="${DEBFULLNAME:-sandtrace} <${DEBEMAIL:-${EMAIL:-nobody@sandtrace.invalid}}>"
date=$(date -R -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$here/../NEWS.md")}")

cd "$dir/source"
chmod -R u+w .
cp -R "$here/debian" debian
chmod -R u+w debian
chmod +x debian/rules
sed "s|@MAINTAINER@|$who|" debian/control.in >debian/control
rm debian/control.in
cat >debian/changelog <<END
sandtrace (${DEB_VERSION:-$version-1~upstream1}) unstable; urgency=medium

  * Upstream's version $version; NEWS.md says what has changed.

 -- $who  $date
END

export LIBOCISPEC DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck}"
${DPKG_BUILDPACKAGE:-dpkg-buildpackage} -b -us -uc -j"$(nproc)" >"$dir/build.log" 2>&1 || {
    grep -E "error|warning: |fail" "$dir/build.log" | cut -c 1-200 | tail -n 20 >&2
    fail "the package was not built; the whole output is in $dir/build.log"
}
ls "$dir"/*.deb
