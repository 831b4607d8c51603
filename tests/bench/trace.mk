# make bench-trace: what recording and verifying cost.
EXTRA_PROGRAMS += %D%/bench_trace
CLEANFILES += %D%/bench_trace
tests_bench_bench_trace_SOURCES = %D%/bench_trace.c
tests_bench_bench_trace_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
tests_bench_bench_trace_LDADD = $(AUDIT_LIBS)
.PHONY: bench-trace
bench-trace: %D%/bench_trace
	$(AM_V_at)%D%/bench_trace $(BENCH_FOLDER)
