# L5: sandtrace-snapshot.
pkglibexec_PROGRAMS += sandtrace-snapshot
sandtrace_snapshot_SOURCES = \
	%D%/collect.c %D%/collect.h \
	%D%/confine.c %D%/confine.h \
	%D%/folder.c %D%/folder.h \
	%D%/gather.c %D%/gather.h %D%/gather_private.h \
	%D%/gather_object.c \
	%D%/keep.c %D%/keep.h \
	%D%/main.c \
	%D%/manifest.c %D%/manifest.h \
	%D%/parts.c %D%/parts.h \
	%D%/pieces.c %D%/pieces.h \
	%D%/state.c %D%/state.h %D%/state_private.h \
	%D%/state_sockets.c \
	%D%/tar.c %D%/tar.h \
	%D%/upper.c %D%/upper.h
sandtrace_snapshot_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS) $(CAPNG_CFLAGS) $(NETTLE_CFLAGS)
sandtrace_snapshot_LDADD = libdesk.a libbundle.a libaudit.a libmodel.a libbase.a $(BASE_LIBS) $(SECCOMP_LIBS) $(CAPNG_LIBS)
