#!/bin/sh
# check-dist SRCDIR TARBALL: every file that git keeps is in the tarball, but what only git uses.
set -eu
srcdir=${1:?usage: check-dist.sh SRCDIR TARBALL}
tarball=${2:?usage: check-dist.sh SRCDIR TARBALL}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -tf "$tarball" | sed 's|^[^/]*/||' | sort >"$work/there"
git -C "$srcdir" ls-files | grep -vx '\.gitignore' | sort >"$work/wanted"
comm -13 "$work/there" "$work/wanted" >"$work/missing"
if [ -s "$work/missing" ]; then
    sed 's/^/check-dist: not in the tarball (EXTRA_DIST): /' "$work/missing" >&2
    exit 1
fi
