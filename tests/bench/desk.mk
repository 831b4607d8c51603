# make bench-desk: what the review desk takes for a million events.
check_PROGRAMS += %D%/make_trace
tests_bench_make_trace_SOURCES = %D%/make_trace.c
tests_bench_make_trace_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
tests_bench_make_trace_LDADD = $(AUDIT_LIBS)
EXTRA_DIST += %D%/desk.sh %D%/desk_load.py
.PHONY: bench-desk
bench-desk: all %D%/make_trace
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/desk.sh $(BENCH_FLAGS)
