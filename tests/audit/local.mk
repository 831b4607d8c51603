# The trace against an independent implementation, and under fire.
check_PROGRAMS += %D%/write_events
tests_audit_write_events_SOURCES = %D%/write_events.c
tests_audit_write_events_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
tests_audit_write_events_LDADD = $(AUDIT_LIBS)
EXTRA_DIST += %D%/reference.py %D%/cross_check.py
BATS_TESTS += tests/bats/audit.bats
