#!/bin/sh
# Fetch and unpack a Debian source package with the machine's own apt sources.
#
#   contrib/apt-source.sh [--upstream] PACKAGE DIR       DIR must not exist yet
#
# --upstream: only upstream's own archive, without Debian's changes to it.
# deb-src is added in a private copy of the sources: nothing under /etc/apt or
# /var/lib/apt is changed. DIR appears whole or not at all.
set -eu

usage='usage: contrib/apt-source.sh [--upstream] PACKAGE DIR'
upstream=
if [ "${1-}" = --upstream ]; then
    upstream=yes
    shift
fi
package=${1:?$usage}
dir=${2:?$usage}
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

fail() {
    echo "apt-source.sh: $1" >&2
    [ -f "$work/log" ] && tail -n 20 "$work/log" >&2
    exit 1
}

[ ! -e "$dir" ] || fail "$dir is already there"
[ -n "$upstream" ] || command -v dpkg-source >/dev/null || fail "dpkg-source not found; install the Debian package dpkg-dev"

# A private copy of the machine's apt sources with deb-src lines, in both formats.
private_sources() {
    mkdir -p "$work/apt/sources.list.d" "$work/apt/lists/partial"
    if [ -f /etc/apt/sources.list ]; then
        sed -n -e 's/^deb /deb-src /p' /etc/apt/sources.list >"$work/apt/sources.list"
    else
        : >"$work/apt/sources.list"
    fi
    for f in /etc/apt/sources.list.d/*; do
        [ -f "$f" ] || continue
        # Only Debian's own archives: a third party's failing list must not stop us.
        grep -q 'debian-archive-keyring\|debian' "$f" || continue
        case $f in
        *.sources) sed -e 's/^Types:.*/Types: deb-src/' "$f" >"$work/apt/sources.list.d/$(basename "$f")" ;;
        *.list) sed -n -e 's/^deb /deb-src /p' "$f" >"$work/apt/sources.list.d/$(basename "$f")" ;;
        esac
    done
}

apt_private() {
    apt-get -q "$@" -o Dir::Etc::SourceList="$work/apt/sources.list" \
        -o Dir::Etc::SourceParts="$work/apt/sources.list.d" \
        -o Dir::State::Lists="$work/apt/lists" \
        -o APT::Sandbox::User=root
}

fetch() {
    cd "$work" && apt_private update || return
    if [ -n "$upstream" ]; then
        apt_private source --download-only --tar-only "$package" && mkdir unpacked || return
        tar -C unpacked --strip-components=1 -xf "$(find . -name '*.orig.tar.*' ! -name '*.asc')"
    else
        apt_private source --download-only "$package" && dpkg-source -x --no-check ./*.dsc unpacked
    fi
}

private_sources
(fetch) >"$work/log" 2>&1 || fail "the source package of $package could not be fetched with this machine's apt sources"

mkdir -p "$(dirname "$dir")"
# By way of a neighbour: a rename within one file system is whole or not at all.
rm -rf "$dir.new"
cp -a "$work/unpacked" "$dir.new"
mv "$dir.new" "$dir"
