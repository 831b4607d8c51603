# make bench-policy: what a verdict costs.
EXTRA_PROGRAMS += %D%/bench_policy
CLEANFILES += %D%/bench_policy
tests_bench_bench_policy_SOURCES = %D%/bench_policy.c
tests_bench_bench_policy_LDADD = libpolicy.a libmodel.a libbase.a $(BASE_LIBS) $(POLICY_LIBS)
.PHONY: bench-policy
bench-policy: %D%/bench_policy
	$(AM_V_at)%D%/bench_policy
