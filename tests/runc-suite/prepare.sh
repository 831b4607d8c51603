#!/bin/bash
# Make runc's own integration suite ready to run, from Debian's source package
# of runc: prints the path of the tree. Whatever is there already is kept, so
# that a second run takes no time.
#
#   prepare.sh CACHE
#
# What is changed in the tree, and only this: where its images come from (no
# registry is asked) and which v1 controllers it believes in (those mounted).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${1:?usage: prepare.sh CACHE}

say() { echo "check-runc: $*" >&2; }

# What contrib/packages.txt lists for this suite.
install_packages() {
    local missing=() p
    while read -r p; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
    done < <(awk '$1 == "runc-suite" { print $2 }' "$here/../../contrib/packages.txt")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    {
        apt-get -q update
        DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"
    } >"$cache/apt.log" 2>&1 || {
        tail -n 20 "$cache/apt.log" >&2
        say "could not install: ${missing[*]}"
        return 1
    }
}

fetch_tree() {
    [ -d "$tree" ] && return
    say "fetching Debian's source package of runc $version"
    "$here/../../contrib/apt-source.sh" "runc=$version" "$tree"
}

# Only the helpers that a run without systemd calls: no systemd library is needed.
build_helpers() {
    local go_path=$cache/gopath helper
    mkdir -p "$go_path/src/github.com/opencontainers"
    ln -sfn "$tree" "$go_path/src/github.com/opencontainers/runc"
    for helper in recvtty seccompagent; do
        [ -x "$tree/contrib/cmd/$helper/$helper" ] && continue
        say "building $helper"
        (
            cd "$go_path/src/github.com/opencontainers/runc"
            GO111MODULE=off GOFLAGS='' GOCACHE=$scratch/gocache GOPATH=$go_path:/usr/share/gocode \
                go build -tags seccomp -o "contrib/cmd/$helper/$helper" "./contrib/cmd/$helper"
        )
    done
}

# Pack DIR as the suite names its images. Plain tar in spite of the name: tar
# looks at the content, and each test unpacks it anew.
pack_image() {
    tar -C "$1" -cf "$images/$2.tar.xz.new" .
    mv "$images/$2.tar.xz.new" "$images/$2.tar.xz"
}

# As the upstream image without proc/ and sys/ (tests ask whether runc makes them), and with hard links
# (each test unpacks and removes it).
make_busybox_image() {
    [ -f "$images/busybox.tar.xz" ] && return
    local root=$scratch/busybox
    mkdir -p "$root"/{bin,dev,etc,home,root,tmp,usr/bin,usr/sbin,var/tmp}
    chmod 1777 "$root/tmp" "$root/var/tmp"
    cp /usr/bin/busybox "$root/bin/busybox"
    chroot "$root" /bin/busybox --install /bin
    echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
    printf 'root:x:0:\nusers:x:100:\n' >"$root/etc/group"
    pack_image "$root" busybox
}

# The one test that asks for Debian wants a shell, grep, ldconfig and a C library.
make_debian_image() {
    [ -f "$images/debian.tar.xz" ] && return
    local root=$scratch/debian lib
    mkdir -p "$root"/{dev,etc,proc,root,sys,tmp,usr/bin,usr/sbin,usr/lib,usr/lib64,var/cache/ldconfig}
    ln -s usr/bin "$root/bin"
    ln -s usr/sbin "$root/sbin"
    ln -s usr/lib "$root/lib"
    ln -s usr/lib64 "$root/lib64"
    cp -L /bin/dash "$root/bin/sh"
    cp -L /bin/grep "$root/bin/grep"
    cp -L /sbin/ldconfig "$root/sbin/ldconfig"
    for lib in $(ldd /bin/dash /bin/grep | grep -o '/lib[^ ]*' | sort -u); do
        mkdir -p "$root$(dirname "$lib")"
        cp -L "$lib" "$root$lib"
    done
    cp -a /etc/ld.so.conf /etc/ld.so.conf.d "$root/etc/"
    pack_image "$root" debian
}

# The suite's own script would download; ours names what was made here.
point_at_images() {
    cat >"$tree/tests/integration/get-images.sh" <<END
#!/bin/sh
echo "BUSYBOX_IMAGE=$images/busybox.tar.xz"
echo "DEBIAN_IMAGE=$images/debian.tar.xz"
END
}

# /proc/cgroups lists controllers that this machine has not mounted.
believe_in_mounted_controllers() {
    local helpers=$tree/tests/integration/helpers.bash
    local theirs='CGROUP_SUBSYSTEMS=$(awk '\''!/^#/ {print $1}'\'' /proc/cgroups)'
    local ours='CGROUP_SUBSYSTEMS=$(awk '\''!/^#/ {print $1}'\'' /proc/cgroups | while read -r c; do mountpoint -q "/sys/fs/cgroup/$c" && echo "$c"; done)'
    grep -qF 'mountpoint -q' "$helpers" && return
    local text
    text=$(cat "$helpers")
    case $text in
    *"$theirs"*) printf '%s\n' "${text/"$theirs"/"$ours"}" >"$helpers" ;;
    *) say "the suite's helpers.bash of runc $version does not read /proc/cgroups as expected"; return 1 ;;
    esac
}

[ "$(id -u)" = 0 ] || { say "must run as root"; exit 1; }
# What this script made yesterday is good as long as it is the same script.
cache=$cache/$(sha256sum "${BASH_SOURCE[0]}" | cut -c 1-12)
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/lock"
flock 9
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

install_packages
version=$(dpkg-query -W -f '${Version}' runc)
tree=$cache/runc-$version
images=$cache/images
mkdir -p "$images"
fetch_tree
build_helpers
make_busybox_image
make_debian_image
point_at_images
believe_in_mounted_controllers
echo "$tree"
