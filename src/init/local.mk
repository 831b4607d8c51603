# L5: the first process of what `sandtrace run` starts. In the container: it knows nothing of ours, is linked statically, and has no
# sanitizers, whose search for leaks at the end traces processes, which policies refuse.
pkglibexec_PROGRAMS += sandtrace-init
sandtrace_init_SOURCES = %D%/main.c
sandtrace_init_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
sandtrace_init_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS) -fno-sanitize=all
