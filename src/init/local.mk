# L5: the first process of what `sandtrace run` starts. In the container: it knows nothing of ours, and is linked statically.
pkglibexec_PROGRAMS += sandtrace-init
sandtrace_init_SOURCES = %D%/main.c
sandtrace_init_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS)
