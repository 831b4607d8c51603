# make bench: what watching costs, with all that is installed; docs/bench gets the figures. make bench-quick: a first look, in the
# build tree. make bench-depth: the depths alone. BENCH_FLAGS: see costs/__main__.py.
check_PROGRAMS += %D%/clock
tests_bench_clock_SOURCES = %D%/clock.c
tests_bench_clock_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS)
EXTRA_DIST += \
	%D%/bench.sh \
	%D%/box.sh \
	%D%/costs/__init__.py \
	%D%/costs/__main__.py \
	%D%/costs/box.py \
	%D%/costs/chart.py \
	%D%/costs/configurations.py \
	%D%/costs/fapolicyd.py \
	%D%/costs/rounds.py \
	%D%/costs/store.py \
	%D%/costs/sums.py \
	%D%/costs/table.py \
	%D%/costs/workloads.py \
	%D%/costs_test.py \
	%D%/fapolicyd.sh
ENGINE_BATS_TESTS += tests/bats/bench.bats
.PHONY: bench bench-quick bench-depth
bench: all %D%/clock
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench.sh --out $(abs_top_srcdir)/docs/bench $(BENCH_FLAGS)
bench-quick: all %D%/clock
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench.sh --size quick --out bench-quick $(BENCH_FLAGS)
bench-depth: all %D%/clock
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench.sh --size quick --configurations guard,record,strict --out bench-quick --name depth $(BENCH_FLAGS)
clean-local: clean-bench
.PHONY: clean-bench
clean-bench:
	$(AM_V_at)rm -rf bench-quick
