#!/bin/bash
# quickstart: from a fresh Debian 12 or 13 to a running sandtrace, or to the result of all its tests.
#
# Writes to build/quickstart and deps/ of this tree and, by apt, the packages of contrib/packages.txt;
# nothing else, unless --prefix says where to install. Every step can be repeated and is quick when
# there is nothing left to do.
set -euo pipefail

src=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$src/build/quickstart
logs=$build/log
prefix=
use_apt=yes
jobs=$(nproc)

usage() {
    cat <<END
usage: contrib/quickstart.sh demo  [--prefix DIR] [--no-apt]
       contrib/quickstart.sh check [--prefix DIR] [--no-apt]
       contrib/quickstart.sh deps  [--no-apt] [GROUP…]

  demo    install what the build needs, build, install, and watch a container with it
  check   install what build and tests need, build, and run all tests
  deps    only install what the build needs (or the groups of contrib/packages.txt that are named)

  --prefix DIR   install to DIR; under /usr the usual /etc, /var and /run belong to it
                 (without it: a private place inside build/quickstart)
  --no-apt       never call apt: what is missing is an error
  -h, --help     this text

For Debian 12 and 13. demo and check must run as root: they start containers.
END
}

say() { printf 'quickstart: %s\n' "$*" >&2; }

die() {
    say "$@"
    exit 1
}

# ---- steps: a line with the time for each, the whole output in a file of its own --------------------

step_total=0
step_now=0

# step NAME TEXT HINT COMMAND…: HINT says what to do when the command fails.
step() {
    local name=$1 text=$2 hint=$3 began=$SECONDS status=0
    shift 3
    step_now=$((step_now + 1))
    printf '==> [%d/%d] %s …' "$step_now" "$step_total" "$text"
    "$@" >"$logs/$name.log" 2>&1 </dev/null 9>&- || status=$?
    if [ "$status" -eq 0 ]; then
        printf ' %d s\n' $((SECONDS - began))
        return
    fi
    printf ' failed after %d s\n' $((SECONDS - began))
    tail -n 25 "$logs/$name.log" | sed 's/^/    /' >&2
    say "$text: failed; the whole output is in $logs/$name.log"
    [ -z "$hint" ] || say "$hint"
    exit "$status"
}

# As step, for what a person wants to see while it happens.
step_shown() {
    local name=$1 text=$2 began=$SECONDS status=0
    shift 2
    step_now=$((step_now + 1))
    printf '==> [%d/%d] %s\n' "$step_now" "$step_total" "$text"
    "$@" </dev/null 9>&- || status=$?
    if [ "$status" -eq 0 ]; then
        printf '==> done in %d s\n' $((SECONDS - began))
        return
    fi
    say "$text: failed after $((SECONDS - began)) s; output in $logs/$name.log"
    exit "$status"
}

# ---- packages ----------------------------------------------------------------------------------------

packages_of() {
    local group
    for group in "$@"; do
        awk -v group="$group" '$1 == group { print $2; n++ } END { exit !n }' "$src/contrib/packages.txt" ||
            die "contrib/packages.txt has no group '$group'; it has:$(awk '/^[a-z]/ && !seen[$1]++ { printf " " $1 }' "$src/contrib/packages.txt")"
    done
}

missing_packages() {
    local package
    for package in "$@"; do
        # A nodejs that is not Debian's brings npm along, and can't stand beside Debian's.
        [ "$package" != npm ] || ! command -v npm >/dev/null || continue
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q -o DPkg::Lock::Timeout=300 update
    apt-get -q -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "$@"
}

install_packages() {
    local names missing
    names=$(packages_of "$@")
    # shellcheck disable=SC2086 # a list of words
    missing=$(missing_packages $names | tr '\n' ' ')
    missing=${missing% }
    if [ -z "$missing" ]; then
        step packages "packages ($*): all there" '' true
        return
    fi
    [ "$use_apt" = yes ] || die "these packages are missing: $missing
quickstart: install them (apt-get install $missing), or run again without --no-apt"
    [ "$(id -u)" = 0 ] || die "not root, and these packages are missing: $missing
quickstart: run as root, or have them installed: apt-get install $missing"
    # shellcheck disable=SC2086
    step packages "installing packages: $missing" \
        "apt could not install them: look for a network and at the sources in /etc/apt, then run this again" \
        apt_install $missing
}

need_debian() {
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null && return
    die "apt-get and dpkg-query are not here: this script knows Debian 12 and 13 only.
quickstart: elsewhere install what contrib/packages.txt lists, then: contrib/libocispec.sh deps/libocispec,
quickstart: ./autogen.sh, ./configure, make, make check"
}

# ---- building ----------------------------------------------------------------------------------------

get_libocispec() {
    if pkg-config --exists libocispec; then
        step libocispec "libocispec: installed on this system" '' true
        return
    fi
    step libocispec "libocispec, from Debian's source package of crun" \
        "its source package comes over the network with this machine's apt sources; where there is none, put a built libocispec at deps/libocispec" \
        "$src/contrib/libocispec.sh" "$src/deps/libocispec"
}

get_page_driver() {
    step page-driver "what drives a browser in the tests" \
        "it comes over the network with this machine's npm; where there is none, put a filled one at deps/page" \
        "$src/contrib/page-driver.sh" "$src/deps/page"
}

# What configure is called with; a change of it means a new build.
configure_words() {
    printf -- '--prefix=%s\n' "$prefix"
    case $prefix in
    /usr | /usr/local) printf -- '--sysconfdir=/etc\n--localstatedir=/var\n--runstatedir=/run\n' ;;
    esac
}

configure_tree() {
    local words
    words=$(configure_words)
    [ -x "$src/configure" ] || "$src/autogen.sh"
    [ ! -f "$build/config.status" ] || [ "$words" != "$(cat "$build/configure.words" 2>/dev/null)" ] || return 0
    cd "$build"
    [ ! -f Makefile ] || make clean
    rm -f configure.words
    # shellcheck disable=SC2086 # one word a line, and a prefix with a space is refused
    "$src/configure" $words
    printf '%s\n' "$words" >configure.words
}

# An installation for good gets its signing key, once; the demo brings its own.
install_tree() {
    make -C "$build" install
    [ "$prefix" != "$build/prefix" ] || return 0
    local etc=$prefix/etc
    case $prefix in /usr | /usr/local) etc=/etc ;; esac
    [ -e "$etc/sandtrace/keys/trace.key" ] || "$prefix/bin/sandtrace" keygen
}

build_tree() {
    make -C "$build" -j"$jobs"
}

build_tests() {
    make -C "$build" -j"$jobs"
    make -C "$build" -j"$jobs" check TESTS=
}

prepare_tree() {
    if [ -f "$src/config.status" ]; then
        die "this tree is configured in place, which keeps it from being built elsewhere: run 'make distclean' in $src first"
    fi
    case $build$prefix in
    *[!A-Za-z0-9/._+,@-]*) die "'$build' or '$prefix' has a character that make and configure can't take; use another directory" ;;
    esac
    step configure "configuring" '' configure_tree
}

# ---- the verbs ---------------------------------------------------------------------------------------

# The tests' output, one line a test file; everything is in the log.
tests_at_a_glance() {
    awk '
        function flush() {
            if (file != "")
                printf "    %-44s %d passed%s\n", file, passed, bad ? ", " bad " failed" : ""
            fflush()
            passed = bad = 0
        }
        /^(PASS|FAIL|ERROR|SKIP|XPASS|XFAIL): / {
            if ($2 != file) {
                flush()
                file = $2
            }
            if ($1 == "PASS:" || $1 == "XFAIL:") {
                passed++
            } else {
                bad++
                print "    " $0
            }
        }
        END { flush() }'
}

count_of() { awk -v key="$1:" '$1 == "#" && $2 == key { n += $3 } END { print n + 0 }' "$logs/check.log"; }

run_tests() {
    local status=0 passed failed
    make -C "$build" check 2>&1 | tee "$logs/check.log" | tests_at_a_glance || status=$?
    passed=$(($(count_of PASS) + $(count_of XFAIL)))
    # A test that was skipped has shown nothing.
    failed=$(($(count_of FAIL) + $(count_of ERROR) + $(count_of XPASS) + $(count_of SKIP)))
    if [ "$failed" -gt 0 ] || [ "$passed" -eq 0 ] || [ "$status" -ne 0 ]; then
        [ -f "$build/test-suite.log" ] && grep -E '^(not ok|# )' "$build/test-suite.log" | grep -v '^# [A-Z]*:' | tail -n 40 >&2
        [ "$failed" -gt 0 ] || tail -n 25 "$logs/check.log" >&2
        say "each test's own output is in $build/tests/…/NAME.log; one alone: make -C build/quickstart check TESTS=tests/bats/NAME.bats"
        [ "$failed" -gt 0 ] || failed=1
        status=1
    fi
    echo "$passed passed, $failed failed"
    return "$status"
}

need_root() {
    [ "$(id -u)" = 0 ] || die "$1 must run as root: it starts containers (sudo contrib/quickstart.sh $1)"
}

verb_deps() {
    step_total=2
    case " $* " in *' tests '*) step_total=3 ;; esac
    install_packages "${@:-build}"
    get_libocispec
    [ "$step_total" -eq 2 ] || get_page_driver
}

verb_demo() {
    need_root demo
    step_total=6
    install_packages build
    get_libocispec
    prepare_tree
    step build "building" '' build_tree
    step install "installing to $prefix" '' install_tree
    step_shown demo "demo: a container under watch" "$src/contrib/demo.sh" "$prefix" "$logs/demo.log"
}

verb_check() {
    need_root check
    step_total=6
    install_packages build tests
    get_libocispec
    get_page_driver
    prepare_tree
    step build "building, with the tests" '' build_tests
    step_shown check "all tests" run_tests
}

# ---- the command line --------------------------------------------------------------------------------

verb=
groups=()
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --no-apt) use_apt=no ;;
    --prefix) prefix=${2:?quickstart: --prefix wants a directory}; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    -*) say "unknown option $1"; usage >&2; exit 2 ;;
    demo | check | deps) [ -z "$verb" ] || { say "one of demo, check, deps"; exit 2; }; verb=$1 ;;
    *) [ "$verb" = deps ] || { say "unknown word '$1'"; usage >&2; exit 2; }; groups+=("$1") ;;
    esac
    shift
done
[ -n "$verb" ] || { usage >&2; exit 2; }
case $prefix in '') prefix=$build/prefix ;; /*) ;; *) prefix=$PWD/$prefix ;; esac

need_debian
mkdir -p "$logs" 2>/dev/null || die "can't write to $build: run this from a tree that you own, or as root"
exec 9>"$build/lock" # closed in the steps: a daemon that they leave must not hold it
flock -n 9 || die "another quickstart is at work in $build"
"verb_$verb" "${groups[@]}"
