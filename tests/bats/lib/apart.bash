# A machine's /etc that only a test sees: in a mount namespace of its own, what is written to /etc, to Podman's
# shared files and to our own prefix goes to a directory of the test.

# in_own_etc COMMAND…: what it wrote is in $BATS_TEST_TMPDIR/etc (and share, data), and is there again the next time.
in_own_etc() {
    mkdir -p "$BATS_TEST_TMPDIR"/{etc,share,data}
    unshare -m --propagation private bash -c '
        set -e
        cover() { # cover DIR NAME: DIR stays as it is for all others
            mkdir -p "$top/$2/upper" "$top/$2/work"
            mount -t overlay sandtrace-test -o "lowerdir=$1,upperdir=$top/$2/upper,workdir=$top/$2/work" "$1"
        }
        top=$1
        shift
        cover /etc etc
        cover /usr/share share
        [ ! -d "$DATA_TOP" ] || cover "$DATA_TOP" data
        exec "$@"
    ' bash "$BATS_TEST_TMPDIR" "$@"
}
