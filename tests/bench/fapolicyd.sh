#!/bin/bash
# fapolicyd.sh ROOT PROGRAM OVERLAY…: fapolicyd in a mount namespace in which there is nothing but ROOT, a tmpfs that is mounted
# already, /proc, and those overlays, which belong to one container. It marks whole file systems: so it sees that container, and
# no other mount of this machine can be marked, because none is there. That is looked at before it starts.
#
# ROOT/log/access has how many accesses it decided, when it has ended. Runs as `unshare --mount --propagation private`.
set -euo pipefail

root=$1 program=$2
shift 2

# It and its libraries; nothing of the host is mounted.
copy_program() {
    local file
    for file in "$program" $(ldd "$program" | grep -o '/[^ ]*'); do install -D "$file" "$root$file"; done
    for file in /usr/share/misc/magic.mgc /usr/lib/file/magic.mgc /usr/share/fapolicyd/fapolicyd-magic.mgc "${program%/usr/sbin/*}/usr/share/fapolicyd/fapolicyd-magic.mgc"; do
        [ ! -e "$file" ] || install -D "$(readlink -f "$file")" "$root/${file#"${program%/usr/sbin/*}"}"
    done
}

# Of the rules that are shipped those that need no list of trusted files, then: allow. Nothing is refused.
write_rules() {
    cat >"$root/etc/fapolicyd/compiled.rules" <<'END'
deny_audit perm=any pattern=ld_so : all
deny_audit perm=any all : ftype=application/x-bad-elf
allow perm=any all : ftype=text/x-shellscript
allow perm=any all : all
END
    cat >"$root/etc/fapolicyd/fapolicyd.conf" <<'END'
permissive = 1
nice_val = 14
q_size = 1024
uid = 0
gid = 0
do_stat_report = 1
detailed_report = 0
db_max_size = 50
subj_cache_size = 1549
obj_cache_size = 8191
watch_fs = overlay
trust = file
integrity = none
syslog_format = rule,dec,perm,auid,pid,exe,:,path,ftype,trust
allow_filesystem_mark = 1
END
}

copy_program
mkdir -p "$root"/{box,dev,etc/fapolicyd/trust.d,proc,old,run/fapolicyd,tmp,var/lib/fapolicyd,log,usr/bin}
ln -s ../log "$root/var/log"
touch "$root/etc/fapolicyd/fapolicyd.trust"
echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
cp "$(command -v busybox)" "$root/busybox"
mknod -m 0666 "$root/dev/null" c 1 3
write_rules
n=0 ours=("$(stat -c %d "$root")")
for overlay in "$@"; do
    mkdir "$root/box/$n"
    mount --bind "$overlay" "$root/box/$n"
    ours+=("$(stat -c %d "$overlay")")
    n=$((n + 1))
done
mount -t proc proc "$root/proc"
ours+=("$(stat -c %d "$root/proc")")
cd "$root"
"$root/busybox" pivot_root . old
exec /busybox sh -eu -c '
    program=$1 ours=" $2 "
    /busybox umount -l /old
    while read -r _ _ device _ point _; do
        case $ours in *" $((${device%:*} << 8 | ${device#*:})) "*) ;; *) echo "unsafe: $point is mounted here" >&2; exit 3 ;; esac
    done </proc/self/mountinfo
    exec "$program" --debug-deny --permissive' sh "$program" "${ours[*]}"
