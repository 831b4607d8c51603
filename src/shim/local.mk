# L5: sandtrace-runtime.
bin_PROGRAMS += sandtrace-runtime
sandtrace_runtime_SOURCES = \
	%D%/about.c %D%/about.h \
	%D%/ahead.c %D%/ahead.h \
	%D%/engine.c %D%/engine.h \
	%D%/look.c %D%/look.h \
	%D%/main.c \
	%D%/prepare.c %D%/prepare.h \
	%D%/report.c %D%/report.h
sandtrace_runtime_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS)
sandtrace_runtime_LDADD = libbundle.a libmonitor.a libsensors.a libconfig.a liboci.a libpolicy.a libmodel.a libbase.a $(SECCOMP_LIBS) $(BASE_LIBS)
