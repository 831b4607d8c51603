dnl ST_TRY_CFLAGS(VAR, FLAGS): append those FLAGS that the compiler takes without a word.
AC_DEFUN([ST_TRY_CFLAGS], [
  for st_flag in $2; do
    AC_MSG_CHECKING([whether $CC takes $st_flag])
    st_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS $st_flag -Werror"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int st_flag_probe(void); int st_flag_probe(void) { return 0; }]])],
      [AC_MSG_RESULT([yes]); $1="$$1 $st_flag"], [AC_MSG_RESULT([no])])
    CFLAGS=$st_saved_cflags
  done
])

dnl ST_PKG(VAR, MODULE, DEBIAN-PACKAGE): a library by pkg-config, or an error that says what to install.
AC_DEFUN([ST_PKG], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [AC_MSG_ERROR([$2 not found: install it with: apt-get install $3 (contrib/quickstart.sh deps installs all that the build needs)])])
])

dnl ST_LIBOCISPEC: --with-libocispec=DIR, else pkg-config, else what contrib/libocispec.sh left in the build tree.
AC_DEFUN([ST_LIBOCISPEC], [
  AC_ARG_WITH([libocispec],
    [AS_HELP_STRING([--with-libocispec=DIR], [libocispec: an installed prefix, or its built source tree])],
    [], [with_libocispec=auto])
  libocispec_from=
  AS_IF([test "x$with_libocispec" = xauto], [
    PKG_CHECK_MODULES([OCISPEC], [libocispec], [libocispec_from=pkg-config],
      [AS_IF([test -f deps/libocispec/lib/libocispec.a], [with_libocispec=`pwd`/deps/libocispec],
             [test -f "$srcdir/deps/libocispec/lib/libocispec.a"],
             [with_libocispec=`cd "$srcdir" && pwd`/deps/libocispec])])])
  AS_IF([test -z "$libocispec_from"], [
    AS_IF([test -f "$with_libocispec/lib/libocispec.a"], [
        OCISPEC_CFLAGS="-isystem $with_libocispec/include -isystem $with_libocispec/include/ocispec"
        OCISPEC_LIBS="$with_libocispec/lib/libocispec.a"],
      [test -f "$with_libocispec/.libs/libocispec.a"], [
        OCISPEC_CFLAGS="-isystem $with_libocispec/src -isystem $with_libocispec/src/ocispec"
        OCISPEC_LIBS="$with_libocispec/.libs/libocispec.a"],
      [AC_MSG_ERROR([libocispec not found. It has no Debian package: build it with
    contrib/libocispec.sh deps/libocispec
(from Debian's source package of crun; needs dpkg-dev, libtool, python3, libyajl-dev) and run configure again,
or give --with-libocispec=DIR. contrib/quickstart.sh deps does all of this.])])
    libocispec_from=$with_libocispec
    ST_DISTCHECK_FLAGS=--with-libocispec=`cd "$with_libocispec" && pwd`])
  AC_SUBST([ST_DISTCHECK_FLAGS])
  AC_SUBST([OCISPEC_CFLAGS])
  AC_SUBST([OCISPEC_LIBS])
])

dnl ST_STATIC_PROGRAMS: can runtime and hook be linked -static-pie with these libraries?
AC_DEFUN([ST_STATIC_PROGRAMS], [
  AS_IF([test "x$enable_static_programs" != xno], [
    AC_MSG_CHECKING([whether programs link statically])
    st_saved_libs=$LIBS; st_saved_ldflags=$LDFLAGS; st_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -fPIE"
    LDFLAGS="$LDFLAGS -static-pie"
    LIBS="$OCISPEC_LIBS -lyajl_s $YAML_LIBS $SECCOMP_LIBS $CAPNG_LIBS $SODIUM_LIBS $NETTLE_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <sodium.h>]], [[return sodium_init();]])],
      [st_static=yes], [st_static=no])
    LIBS=$st_saved_libs; LDFLAGS=$st_saved_ldflags; CFLAGS=$st_saved_cflags
    AC_MSG_RESULT([$st_static])
    AS_IF([test "x$st_static$enable_static_programs" = xnoyes],
      [AC_MSG_ERROR([--enable-static-programs: a static archive is missing (libc6-dev and the -dev packages carry them)])])
    enable_static_programs=$st_static])
  AS_IF([test "x$enable_static_programs" = xyes],
    [ST_STATIC_LDFLAGS=-static-pie; YAJL_STATIC_LIBS=-lyajl_s
     ST_ARCHIVES_ON=-Wl,-Bstatic; ST_ARCHIVES_OFF=-Wl,-Bdynamic],
    [YAJL_STATIC_LIBS=$YAJL_LIBS
     AS_IF([test "x$enable_hardening" = xyes], [ST_STATIC_LDFLAGS=-pie])])
  AC_SUBST([YAJL_STATIC_LIBS])
  dnl The monitor: libmnl and its sisters come as shared libraries only; all else as in the other programs.
  AS_IF([test "x$enable_hardening" = xyes], [ST_MONITOR_LDFLAGS=-pie])
  AC_SUBST([ST_MONITOR_LDFLAGS])
  AC_SUBST([ST_ARCHIVES_ON])
  AC_SUBST([ST_ARCHIVES_OFF])
])

dnl ST_HAVE_LIBFUZZER: --enable-fuzzers links libFuzzer, which only clang has.
AC_DEFUN([ST_HAVE_LIBFUZZER], [
  AC_MSG_CHECKING([whether $CC links libFuzzer])
  st_saved_cflags=$CFLAGS
  CFLAGS="$CFLAGS -fsanitize=fuzzer"
  AC_LINK_IFELSE([AC_LANG_SOURCE([[
      #include <stddef.h>
      #include <stdint.h>
      int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
      int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data && size > 99; }]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([--enable-fuzzers needs clang: run configure again with CC=clang (Debian package clang)])])
  CFLAGS=$st_saved_cflags
])
