# L5: sandtrace-runtime.
bin_PROGRAMS += sandtrace-runtime
sandtrace_runtime_SOURCES = \
	%D%/about.c %D%/about.h \
	%D%/ahead.c %D%/ahead.h \
	%D%/engine.c %D%/engine.h \
	%D%/enter.c %D%/enter.h \
	%D%/helper.c %D%/helper.h \
	%D%/look.c %D%/look.h \
	%D%/main.c \
	%D%/prepare.c %D%/prepare.h \
	%D%/process.c %D%/process.h \
	%D%/report.c %D%/report.h
sandtrace_runtime_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS)
sandtrace_runtime_LDADD = libdesk.a libmonitor.a libbundle.a libsensors.a libconfig.a liboci.a libpolicy.a libmodel.a libbase.a \
	$(OCISPEC_LIBS) $(SECCOMP_LIBS) $(BASE_LIBS)

# What stands before a container's command where the floor is Landlock: without a C library, for any root, and
# carried in sandtrace-runtime itself, as bytes.
noinst_PROGRAMS += %D%/landlock-helper
src_shim_landlock_helper_SOURCES = %D%/landlock_helper.c
src_shim_landlock_helper_CPPFLAGS = -I$(srcdir)/src
src_shim_landlock_helper_CFLAGS = -O2 -Wall -Wextra -Wshadow -ffreestanding -fno-builtin -fno-pie -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fno-sanitize=all
src_shim_landlock_helper_LDFLAGS = -static -nostdlib -fno-sanitize=all -Wl,--build-id=none -Wl,-z,noexecstack \
	-Wl,-z,noseparate-code -Wl,-s
src_shim_landlock_helper_LDADD =
# Flags of whoever builds come last, and may ask for what needs a C library.
$(src_shim_landlock_helper_OBJECTS): override CFLAGS += -fno-stack-protector
CLEANFILES += %D%/landlock_helper.inc
%D%/landlock_helper.inc: %D%/landlock-helper$(EXEEXT)
	$(AM_V_GEN)od -An -v -tu1 $< | $(SED) 's/[0-9][0-9]*/&,/g' >$@.tmp && mv $@.tmp $@
%D%/helper.$(OBJEXT): %D%/landlock_helper.inc
