# Tests of sandtrace-runtime as a program, with a probe in the real runtime's place.
check_PROGRAMS += %D%/probe_runtime
tests_unit_probe_runtime_SOURCES = %D%/probe_runtime.c

UNIT_TESTS += %D%/test_shim_exec
tests_unit_test_shim_exec_SOURCES = %D%/test_shim_exec.c %D%/words.h %D%/unit.h
tests_unit_test_shim_exec_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_shim_exec_LDADD = $(UNIT_LDADD_BASE)
EXTRA_tests_unit_test_shim_exec_DEPENDENCIES = sandtrace-runtime$(EXEEXT) %D%/probe_runtime$(EXEEXT)

# What a hook reads without a C library.
UNIT_TESTS += %D%/test_hooks_state_pid
tests_unit_test_hooks_state_pid_SOURCES = %D%/test_hooks_state_pid.c hooks/state_pid.c %D%/unit.h
tests_unit_test_hooks_state_pid_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/hooks
tests_unit_test_hooks_state_pid_LDADD = $(CMOCKA_LIBS)
