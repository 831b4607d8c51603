# L2: the OCI side: command line, config.json, state.
noinst_LIBRARIES += liboci.a
liboci_a_SOURCES = \
	%D%/argv.c %D%/argv.h \
	%D%/config_edit.c %D%/config_edit.h \
	%D%/facts.c %D%/facts.h \
	%D%/floor_edit.c %D%/floor_edit.h \
	%D%/floor_places.c %D%/floor_places.h \
	%D%/hook_edit.c %D%/hook_edit.h \
	%D%/landlock_edit.c %D%/landlock_edit.h \
	%D%/landlock_words.h \
	%D%/openings.c %D%/openings.h \
	%D%/pids_edit.c %D%/pids_edit.h \
	%D%/record.c %D%/record.h \
	%D%/runtime.c %D%/runtime.h \
	%D%/seccomp_edit.c %D%/seccomp_edit.h \
	%D%/seccomp_forks.c \
	%D%/seccomp_note.c %D%/seccomp_note.h \
	%D%/seccomp_reset.c \
	%D%/seccomp_rules.c %D%/seccomp_rules.h \
	%D%/seccomp_sockets.c %D%/seccomp_sockets.h \
	%D%/seccomp_subjects.c %D%/seccomp_subjects.h \
	%D%/select.c %D%/select.h \
	%D%/spelling.c %D%/spelling.h \
	%D%/state.c %D%/state.h \
	%D%/tree.c %D%/tree.h
liboci_a_CPPFLAGS = $(AM_CPPFLAGS) $(OCISPEC_CFLAGS) $(SECCOMP_CFLAGS)
