# Fuzzers of the trace.
FUZZERS += \
	%D%/fuzz_event \
	%D%/fuzz_dialect1

tests_fuzz_fuzz_event_SOURCES = %D%/fuzz_event.c
tests_fuzz_fuzz_event_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
tests_fuzz_fuzz_event_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_event_LDADD = $(AUDIT_LIBS)
tests_fuzz_fuzz_dialect1_SOURCES = %D%/fuzz_dialect1.c
tests_fuzz_fuzz_dialect1_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
tests_fuzz_fuzz_dialect1_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_dialect1_LDADD = $(AUDIT_LIBS)
EXTRA_DIST += %D%/event.dict %D%/dialect1.dict
