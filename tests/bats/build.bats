#!/usr/bin/env bats
# The build itself: configure's words, a build in the tree, install and uninstall, and that the checks
# of make lint find what they are there to find. All in copies.
bats_require_minimum_version 1.5.0

# Sources as they were distributed, without what a build in place has left in them.
copy_tree() {
    local to=$1
    mkdir -p "$to"
    tar -C "$ST_SRCDIR" --exclude=./.git --exclude='./build' --exclude='./build.*' --exclude=./deps \
        --exclude='./sandtrace-[0-9]*' --exclude='./autom4te.cache' --exclude='*.o' --exclude='*.a' \
        --exclude='.deps' --exclude='.dirstamp' --exclude='*.log' --exclude='*.trs' -cf - . | tar -C "$to" -xf -
    chmod -R u+w "$to"
    (cd "$to" && rm -f Makefile config.status config.h stamp-h1 sandtrace sandtrace-runtime sandtrace-hook sandtrace-init sandtrace-knock sandtrace-monitor)
}

# Where this build got its libocispec from.
libocispec_flag() {
    sed -n 's/^ST_DISTCHECK_FLAGS = //p' "$ST_BUILDDIR/Makefile"
}

configure_fails() {
    copy_tree "$BATS_TEST_TMPDIR/tree"
    cd "$BATS_TEST_TMPDIR/tree" || return
    run -1 env "$@"
}

@test "configure names the Debian package of a library that is missing" {
    configure_fails PKG_CONFIG_LIBDIR=/nonexistent ./configure
    [[ $output == *"yajl >= 2.1 not found: install it with: apt-get install libyajl-dev"* ]]
}

@test "configure says how to get libocispec" {
    configure_fails ./configure --with-libocispec=/nonexistent
    [[ $output == *"contrib/libocispec.sh deps/libocispec"* ]]
}

@test "configure wants clang for the fuzzers" {
    configure_fails ./configure CC=gcc --enable-fuzzers
    [[ $output == *"--enable-fuzzers needs clang"* ]]
}

@test "autogen.sh names the Debian package of a tool that is missing" {
    copy_tree "$BATS_TEST_TMPDIR/tree"
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in sh dirname; do
        ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bin/$tool"
    done
    run -1 env PATH="$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/tree/autogen.sh"
    [[ $output == *"autoreconf not found: apt-get install autoconf"* ]]
}

@test "builds inside the tree, installs what it should, and uninstall leaves nothing" {
    copy_tree "$BATS_TEST_TMPDIR/tree"
    cd "$BATS_TEST_TMPDIR/tree"
    # -O0: what is looked at here is which files there are.
    # shellcheck disable=SC2046 # one word or none
    ./configure -q --prefix=/usr --sysconfdir=/etc --disable-hardening CFLAGS=-O0 $(libocispec_flag) >/dev/null
    make -j"$(nproc)" >/dev/null
    make install DESTDIR="$BATS_TEST_TMPDIR/root" >/dev/null
    for file in bin/sandtrace bin/sandtrace-runtime libexec/sandtrace/sandtrace-hook libexec/sandtrace/sandtrace-init libexec/sandtrace/sandtrace-knock libexec/sandtrace/sandtrace-monitor \
        share/man/man1/sandtrace.1 share/man/man8/sandtrace-runtime.8 \
        share/bash-completion/completions/sandtrace share/zsh/site-functions/_sandtrace \
        share/fish/vendor_completions.d/sandtrace.fish; do
        [ -s "$BATS_TEST_TMPDIR/root/usr/$file" ] || { echo "not installed: $file"; false; }
    done
    make uninstall DESTDIR="$BATS_TEST_TMPDIR/root" >/dev/null
    run -0 find "$BATS_TEST_TMPDIR/root" ! -type d
    [ -z "$output" ]
}

@test "make check without bats says what to install" {
    run -2 make -C "$ST_BUILDDIR" -W config.status check-prerequisites.stamp BATS=
    [[ $output == *"bats not found: apt-get install bats"* ]]
}

@test "make lint without a tool says what to install" {
    run -2 make -C "$ST_BUILDDIR" lint-shell SHELLCHECK=
    [[ $output == *"shellcheck not found: apt-get install shellcheck"* ]]
    run -2 make -C "$ST_BUILDDIR" lint-format CLANG_FORMAT=
    [[ $output == *"clang-format not found: apt-get install clang-format"* ]]
}

# ---- layers -----------------------------------------------------------------------------------------

layers_of_copy() {
    mkdir "$BATS_TEST_TMPDIR/tree"
    cp -R "$ST_SRCDIR/src" "$ST_SRCDIR/hooks" "$BATS_TEST_TMPDIR/tree"
    chmod -R u+w "$BATS_TEST_TMPDIR/tree"
    if [ $# -gt 0 ]; then
        echo "#include \"$2\"" >>"$BATS_TEST_TMPDIR/tree/$1"
    fi
    sh "$ST_SRCDIR/build-aux/check-layers.sh" "$BATS_TEST_TMPDIR/tree"
}

@test "the layers of this tree hold" {
    run -0 layers_of_copy
}

@test "check-layers finds an include that goes up" {
    run -1 layers_of_copy src/base/buf.c model/event.h
    [[ $output == *"src/base/buf.c: layer 0 (base) includes layer 1 (model)"* ]]
}

@test "check-layers finds an include that goes sideways" {
    run -1 layers_of_copy src/audit/trace.c policy/policy.h
    [[ $output == *"src/audit/trace.c: layer 2 (audit) includes layer 2 (policy)"* ]]
}

@test "check-layers finds a header that goes up" {
    run -1 layers_of_copy src/model/event.h monitor/loop.h
    [[ $output == *"src/model/event.h: layer 1 (model) includes layer 4 (monitor)"* ]]
}

# ---- what lint reads for ------------------------------------------------------------------------------

code_check() {
    cat >"$BATS_TEST_TMPDIR/sample.c"
    awk -f "$ST_SRCDIR/build-aux/check-code.awk" "$BATS_TEST_TMPDIR/sample.c"
}

@test "lint finds each banned call" {
    for call in sprintf strcpy strcat system popen alloca gets strtok; do
        run -1 code_check <<<"    x = $call(y);"
        [[ $output == *"sample.c:1: banned call: $call"* ]]
    done
}

@test "lint leaves alone what only looks like a banned call" {
    run -0 code_check <<'END'
    /* strcpy(a, b) and
     * system("x") */
    puts("gets(");
    n = strtok_r(a, b, &c) + my_system(d); // sprintf(
END
    [ -z "$output" ]
}

@test "lint finds a write that nobody looks at" {
    run -1 code_check <<'END'
    if (fd >= 0)
        (void)!write(fd, "1", 1);
END
    [[ $output == *"sample.c:2: unchecked write"* ]]
    run -0 code_check <<'END'
    n =
        write(fd, "1", 1);
    if (write(fd, "1", 1) != 1)
        return -1;
    (void)!write(fd, "1", 1); /* the reader may be gone */
END
}

@test "lint finds global state" {
    run -1 code_check <<<'static int count;'
    [[ $output == *"mutable static"* ]]
    run -1 code_check <<<'extern int count;'
    [[ $output == *"extern variable"* ]]
    run -0 code_check <<<'static const char *const names[] = {"a"};'
}

@test "lint finds a function of more than 70 lines" {
    run -1 code_check < <(echo 'int f(void)'; echo '{'; seq -f '    x = %g;' 71; echo '}')
    [[ $output == *"function of 72 lines"* ]]
    run -0 code_check < <(echo 'int f(void)'; echo '{'; seq -f '    x = %g;' 69; echo '}')
}

@test "lint finds a note without an owner" {
    mkdir -p "$BATS_TEST_TMPDIR/tree"
    cp -R "$ST_SRCDIR"/{src,hooks,tests,contrib,docs,policies,build-aux,m4} "$ST_SRCDIR"/*.{md,ac,am} "$BATS_TEST_TMPDIR/tree"
    chmod -R u+w "$BATS_TEST_TMPDIR/tree"
    run -0 sh "$ST_SRCDIR/build-aux/check-notes.sh" "$BATS_TEST_TMPDIR/tree"
    word=TO
    echo "/* ${word}DO: later */" >>"$BATS_TEST_TMPDIR/tree/src/base/buf.c"
    run -1 sh "$ST_SRCDIR/build-aux/check-notes.sh" "$BATS_TEST_TMPDIR/tree"
    [[ $output == *"src/base/buf.c"* ]]
}
