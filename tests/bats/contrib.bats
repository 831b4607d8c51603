#!/usr/bin/env bats
# Files of contrib that other programs read: those programs understand them.
bats_require_minimum_version 1.5.0
load lib/world

setup_file() {
    require_root
    require systemd-analyze=systemd systemd-tmpfiles=systemd
}

setup() { cd "$ST_SRCDIR/contrib" || return; }

@test "systemd understands the units, and finds nothing to say about them" {
    # Where there is no installed sandtrace, and no man page of it, there would be.
    for unit in sandtrace-doctor.service sandtrace-doctor.timer sandtrace-desk.service; do
        sed "/^Documentation=/d; s,/usr/bin/sandtrace,$ST_BUILDDIR/sandtrace," "systemd/$unit" >"$BATS_TEST_TMPDIR/$unit"
    done
    run -0 systemd-analyze verify "$BATS_TEST_TMPDIR/sandtrace-doctor.service" "$BATS_TEST_TMPDIR/sandtrace-doctor.timer" \
        "$BATS_TEST_TMPDIR/sandtrace-desk.service"
    [ -z "$(grep 'sandtrace-do\|sandtrace-desk' <<<"$output")" ] || fail "$output"
}

@test "systemd-tmpfiles makes the directories with the modes that sandtrace itself gives them" {
    systemd-tmpfiles --root="$BATS_TEST_TMPDIR" --create - <systemd/tmpfiles.conf
    [ "$(stat -c '%a %u' "$BATS_TEST_TMPDIR/run/sandtrace")" = '755 0' ]
    [ "$(stat -c '%a %u' "$BATS_TEST_TMPDIR/var/log/sandtrace")" = '750 0' ]
}

@test "each setting of sysctl.conf is one of this kernel's" {
    while read -r key; do
        [ -e "/proc/sys/${key//.//}" ] || fail "$key"
    done < <(sed -n 's/^\([a-z_.]*\) = .*/\1/p' systemd/sysctl.conf)
}

@test "every line of modules.conf is a module's name or says why" {
    run -1 grep -vE '^(#.*|[a-z0-9_]+)$' systemd/modules.conf
}
