# L5: sandtrace-hook, and the files for Podman's hooks directory.
pkglibexec_PROGRAMS += sandtrace-hook
sandtrace_hook_SOURCES = \
	%D%/main.c \
	%D%/standby.c %D%/standby.h
sandtrace_hook_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
sandtrace_hook_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS)
sandtrace_hook_LDADD = libdesk.a libmonitor.a libbundle.a libsensors.a liboci.a libconfig.a libpolicy.a libmodel.a libbase.a $(OCISPEC_LIBS) \
	$(SECCOMP_LIBS) $(BASE_LIBS)

# Podman reads $(datadir)/containers/oci/hooks.d; installed beside our data, linked there by who wants it.
hooksdir = $(pkgdatadir)/hooks.d
nodist_hooks_DATA = %D%/50-sandtrace.json %D%/50-sandtrace-poststop.json %D%/50-sandtrace-precreate.json
CLEANFILES += $(nodist_hooks_DATA)
EXTRA_DIST += %D%/50-sandtrace.json.in %D%/50-sandtrace-poststop.json.in %D%/50-sandtrace-precreate.json.in
%D%/50-sandtrace.json %D%/50-sandtrace-poststop.json %D%/50-sandtrace-precreate.json: %: %.in Makefile
	$(AM_V_GEN)mkdir -p $(@D) && $(SED) 's|@pkglibexecdir@|$(pkglibexecdir)|' $< >$@.tmp && mv $@.tmp $@

# What stands in a bundle where a monitor waits already: without a C library, which would take longer to begin than all it does.
pkglibexec_PROGRAMS += sandtrace-knock
sandtrace_knock_SOURCES = %D%/knock.c %D%/state_pid.c %D%/state_pid.h
sandtrace_knock_CPPFLAGS = -I$(srcdir)/%D% -I$(srcdir)/src
sandtrace_knock_CFLAGS = -O2 -Wall -Wextra -Wshadow -ffreestanding -fno-builtin -fPIE -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fno-sanitize=all
sandtrace_knock_LDFLAGS = -static-pie -nostdlib -fno-sanitize=all -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,relro -Wl,-z,now
sandtrace_knock_LDADD =
# Flags of whoever builds come last, and may ask for what needs a C library.
$(sandtrace_knock_OBJECTS): override CFLAGS += -fno-stack-protector
