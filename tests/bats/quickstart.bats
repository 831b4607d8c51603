#!/usr/bin/env bats
# contrib/quickstart.sh: what it says, and what it does before it builds anything. In a copy, since the
# suite may itself run under it; apt-get and dpkg-query are stood in for, so that no package is touched.
bats_require_minimum_version 1.5.0

setup() {
    tree=$BATS_TEST_TMPDIR/tree
    bin=$BATS_TEST_TMPDIR/bin
    mkdir -p "$tree" "$bin"
    cp -R "$ST_SRCDIR/contrib" "$tree/contrib"
    chmod -R u+w "$tree"
    # What was asked of apt-get; it installs nothing.
    asked=$BATS_TEST_TMPDIR/asked
    fake apt-get "echo \"\$*\" >>'$asked'"
    fake dpkg-query 'echo installed'
    # As pkg-config where libocispec is installed: nothing is fetched.
    fake pkg-config 'exit 0'
}

fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

quickstart() { PATH=$bin:$PATH "$tree/contrib/quickstart.sh" "$@" </dev/null; }

# Not root, as far as the script can tell.
as_nobody() { fake id 'echo 65534'; }

@test "help names the three verbs and the options" {
    run -0 quickstart --help
    for word in demo check deps --prefix --no-apt; do
        [[ $output == *"$word"* ]]
    done
}

@test "no verb, an unknown verb and an unknown option are bad usage" {
    run -2 quickstart
    [[ $output == *usage:* ]]
    run -2 quickstart dmeo
    [[ $output == *"unknown word 'dmeo'"* ]]
    run -2 quickstart demo --prefx /x
    [[ $output == *"unknown option --prefx"* ]]
}

@test "deps does not call apt when everything is installed" {
    run -0 quickstart deps
    [[ $output == *"==> [1/2] packages (build): all there"* ]]
    [ ! -e "$asked" ]
}

@test "deps asks apt for exactly what is missing" {
    fake dpkg-query 'case $* in *libyaml-dev*) exit 1;; *) echo installed;; esac'
    run -0 quickstart deps
    run -0 cat "$asked"
    [[ ${lines[0]} == *update ]]
    [[ ${lines[1]} == *"install libyaml-dev" ]]
    [ "${#lines[@]}" -eq 2 ]
}

@test "with --no-apt what is missing is an error that names it" {
    fake dpkg-query 'case $* in *scdoc*) exit 1;; *) echo installed;; esac'
    run -1 quickstart deps --no-apt
    [[ $output == *"these packages are missing: scdoc"* ]]
    [ ! -e "$asked" ]
}

@test "without root what is missing is an error that says what to do" {
    as_nobody
    fake dpkg-query 'case $* in *scdoc*) exit 1;; *) echo installed;; esac'
    run -1 quickstart deps
    [[ $output == *"not root, and these packages are missing: scdoc"* ]]
    [[ $output == *"apt-get install scdoc"* ]]
    [ ! -e "$asked" ]
}

@test "demo and check refuse to run without root" {
    as_nobody
    run -1 quickstart demo
    [[ $output == *"demo must run as root"* ]]
    run -1 quickstart check
    [[ $output == *"check must run as root"* ]]
}

@test "an apt that fails shows its words, its log and what to do" {
    fake apt-get 'echo "E: could not resolve the mirror" >&2; exit 100'
    fake dpkg-query 'exit 1'
    run -100 quickstart deps
    [[ $output == *"E: could not resolve the mirror"* ]]
    [[ $output == *"$tree/build/quickstart/log/packages.log"* ]]
    [[ $output == *"look for a network and at the sources in /etc/apt"* ]]
}

@test "a system without apt is told how to build by hand" {
    rm "$bin/apt-get" "$bin/dpkg-query"
    for tool in bash dirname nproc cat; do
        ln -s "$(command -v "$tool")" "$bin/$tool"
    done
    run -1 env PATH="$bin" "$(command -v bash)" "$tree/contrib/quickstart.sh" deps
    [[ $output == *"knows Debian 12 and 13 only"* ]]
    [[ $output == *"./autogen.sh, ./configure, make, make check"* ]]
}

@test "an unknown group of packages is refused" {
    run -1 quickstart deps nonsense
    [[ $output == *"no group 'nonsense'"* ]]
}

@test "a tree that is configured in place is refused with the way out" {
    touch "$tree/config.status"
    run -1 quickstart demo
    [[ $output == *"make distclean"* ]]
}

@test "two at once in one tree: the second is told" {
    mkdir -p "$tree/build/quickstart"
    exec 8>"$tree/build/quickstart/lock"
    flock 8
    run -1 quickstart deps
    exec 8>&-
    [[ $output == *"another quickstart is at work"* ]]
}

@test "every package has a group and a reason" {
    run -1 grep -vE '^(#.*|[a-z-]+ [a-z0-9.+-]+ +# .+)?$' "$tree/contrib/packages.txt"
}

# ---- .ci/run, which calls it --------------------------------------------------------------------------

# ci QUICKSTART-SCRIPT ARG…: in a tree where quickstart does what the script says, and configure is there.
ci() {
    mkdir -p "$tree/.ci"
    cp "$ST_SRCDIR/.ci/run" "$tree/.ci/run"
    printf '#!/bin/sh\n%s\n' "$1" >"$tree/contrib/quickstart.sh"
    fake configure 'exit 0'
    cp "$bin/configure" "$tree/configure"
    shift
    SANDTRACE_CI_CACHE=$BATS_TEST_TMPDIR/cache "$tree/.ci/run" "$@" </dev/null
}

@test "CI's last line counts the tests, and its exit code follows" {
    run -0 ci '[ "$1" = deps ] || echo "12 passed, 0 failed"' tests
    [ "${lines[-1]}" = "12 passed, 0 failed" ]
    run -1 ci '[ "$1" = deps ] || { echo "12 passed, 3 failed"; exit 1; }' tests
    [ "${lines[-1]}" = "12 passed, 3 failed" ]
}

@test "tests that end badly without a count are a failure" {
    run -1 ci '[ "$1" = deps ] || exit 1' tests
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
    run -1 ci '[ "$1" = deps ] || { echo "12 passed, 0 failed"; exit 1; }' tests
    [ "${lines[-1]}" = "12 passed, 1 failed" ]
}

@test "a CI that can't install what it needs is a failure" {
    run -1 ci 'exit 1'
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "a step that fails is counted, and the end of its output is shown" {
    run -1 ci 'exit 0' check_layers
    [[ $output == *"FAILED  check_layers"* ]]
    [[ $output == *"No rule to make target 'check-layers'"* ]]
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}
