# One runner for C unit tests (cmocka) and bats, both by TAP: make check TESTS=tests/…
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .bats
BATS_LOG_DRIVER = $(LOG_DRIVER)
BATS_LOG_COMPILER = $(BATS) --tap
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP ST_SRCDIR='$(abs_top_srcdir)' ST_BUILDDIR='$(abs_top_builddir)'; \
	export CMOCKA_MESSAGE_OUTPUT ST_SRCDIR ST_BUILDDIR;

# What the suite can't do without is looked for before the first test: nothing is skipped.
check_DATA = check-prerequisites.stamp
check-prerequisites.stamp: config.status
	$(AM_V_at)test -n "$(BATS)" || { echo "make check: bats not found: apt-get install bats, and run configure again" >&2; exit 1; }
	$(AM_V_at)touch $@
CLEANFILES += check-prerequisites.stamp

include tests/unit/base.mk
include tests/unit/config.mk
include tests/unit/oci.mk
include tests/unit/shim.mk
include tests/unit/audit.mk
include tests/unit/policy.mk
include tests/bench/policy.mk
include tests/bench/trace.mk
include tests/bench/desk.mk
include tests/bench/bench.mk
include tests/unit/sensors.mk
include tests/unit/net.mk
include tests/unit/netfilter.mk
include tests/unit/desk.mk
include tests/unit/monitor.mk
include tests/unit/cli.mk
include tests/unit/snapshot.mk

include tests/attack/local.mk
include tests/audit/local.mk
include tests/fuzz/local.mk

BATS_TESTS += %D%/bats/completion.bats %D%/bats/quickstart.bats
# Builds the whole tree once more: CI leaves it out where it builds the tree in yet another way.
BUILD_BATS_TESTS = %D%/bats/build.bats
ENGINE_BATS_TESTS += \
	%D%/bats/cli.bats \
	%D%/bats/contrib.bats \
	%D%/bats/doctor.bats \
	%D%/bats/index.bats \
	%D%/bats/serve.bats \
	%D%/bats/install.bats \
	%D%/bats/page.bats \
	%D%/bats/docs_docker.bats \
	%D%/bats/docs_podman.bats \
	%D%/bats/docs_kubernetes.bats \
	%D%/bats/verify_monitor.bats \
	%D%/bats/agent_guide.bats \
	%D%/bats/deb.bats \
	%D%/bats/docs.bats \
	%D%/bats/shim.bats \
	%D%/bats/syscalls.bats \
	%D%/bats/lifecycle.bats \
	%D%/bats/control.bats \
	%D%/bats/cgroup2.bats \
	%D%/bats/engine.bats \
	%D%/bats/pause.bats \
	%D%/bats/quarantine.bats \
	%D%/bats/quarantine_docker.bats \
	%D%/bats/processes.bats \
	%D%/bats/processes_engines.bats \
	%D%/bats/many.bats \
	%D%/bats/mutations.bats \
	%D%/bats/landlock.bats \
	%D%/bats/execs.bats \
	%D%/bats/depth.bats \
	%D%/bats/files.bats \
	%D%/bats/docker.bats \
	%D%/bats/agent.bats \
	%D%/bats/podman.bats \
	%D%/bats/trace.bats \
	%D%/bats/containerd.bats \
	%D%/bats/profiles.bats \
	%D%/bats/reach.bats \
	%D%/bats/network_control.bats \
	%D%/bats/network.bats \
	%D%/bats/network_attacks.bats \
	%D%/bats/network_decisions.bats \
	%D%/bats/network_death.bats \
	%D%/bats/network_admin.bats \
	%D%/bats/network_engines.bats \
	%D%/bats/network_host.bats \
	%D%/bats/demo.bats \
	%D%/bats/run.bats \
	%D%/bats/run_network.bats
EXTRA_DIST += \
	%D%/bats/lib/apart.bash \
	%D%/bats/lib/attack.bash \
	%D%/bats/lib/attacks.txt \
	%D%/bats/lib/benign.sh \
	%D%/bats/lib/bundle.bash \
	%D%/bats/lib/container.bash \
	%D%/bats/lib/containerd.bash \
	%D%/bats/lib/control.bash \
	%D%/bats/lib/events_schema1.sql \
	%D%/bats/lib/examples.py \
	%D%/bats/lib/talk.py \
	%D%/bats/lib/terminal.bash \
	%D%/bats/lib/cri.py \
	%D%/bats/lib/desk.bash \
	%D%/bats/lib/docker.bash \
	%D%/bats/lib/docs.bash \
	%D%/bats/lib/document.py \
	%D%/bats/lib/engines.bash \
	%D%/bats/lib/forged.py \
	%D%/bats/lib/judge.py \
	%D%/bats/lib/kubectl.py \
	%D%/bats/lib/leftovers.bash \
	%D%/bats/lib/listen.py \
	%D%/bats/lib/machine.bash \
	%D%/bats/lib/net.bash \
	%D%/bats/lib/net_servers.py \
	%D%/bats/lib/openapi.py \
	%D%/bats/lib/podman.bash \
	%D%/bats/lib/shown_options.py \
	%D%/bats/lib/trace.bash \
	%D%/bats/lib/wait.bash \
	%D%/bats/lib/world.bash \
	%D%/page/decide.mjs \
	%D%/page/driver.mjs \
	%D%/page/list.mjs \
	%D%/page/login.mjs \
	%D%/page/look.mjs \
	%D%/page/package-lock.json \
	%D%/page/package.json \
	%D%/runc-suite/run.sh \
	%D%/vm/furnish.sh \
	%D%/vm/run.sh \
	%D%/vm/stock.bats \
	%D%/runc-suite/side.sh \
	%D%/bench/measure.py \
	%D%/bench/start.sh \
	%D%/bench/freeze.sh \
	%D%/bench/freeze_trials.py \
	%D%/bench/growth.sh \
	%D%/bench/many.sh \
	%D%/bench/syscall.sh \
	%D%/bench/syscall_rounds.py \
	%D%/bench/open.sh \
	%D%/bench/net.sh \
	%D%/bench/net_load.py \
	%D%/bench/net_rounds.py

# runc's own suite, by runc and through us, compared; and what we add to a start.
.PHONY: check-runc check-vm bench-start bench-freeze bench-net bench-syscall bench-open bench-growth bench-many
# make check-vm VM=PROGRAM [SUITES="bookworm trixie"] [VM_FILES="lifecycle.bats …"]: see vm/run.sh.
check-vm: all %D%/attack/attack %D%/attack/ask %D%/attack/net %D%/attack/forks %D%/attack/marker %D%/attack/storm %D%/attack/monitor-with-faults
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/vm/run.sh "$(VM)" $(SUITES) -- $(VM_FILES)
check-runc: all
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/runc-suite/run.sh $(RUNC_FILES)
EXTRA_PROGRAMS += %D%/bench/nothing
CLEANFILES += %D%/bench/nothing
tests_bench_nothing_SOURCES = %D%/bench/nothing.c
tests_bench_nothing_LDFLAGS = $(AM_LDFLAGS) $(ST_STATIC_LDFLAGS)
bench-start: all %D%/bench/nothing
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/start.sh $(BENCH_FLAGS)
bench-net: all %D%/attack/net
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/net.sh $(BENCH_FLAGS)
EXTRA_PROGRAMS += %D%/bench/bare
CLEANFILES += %D%/bench/bare
tests_bench_bare_SOURCES = %D%/bench/bare.c
bench-syscall: all %D%/attack/ask %D%/bench/bare
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/syscall.sh $(BENCH_FLAGS)
bench-open: all %D%/bench/clock %D%/bench/bare
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/open.sh $(BENCH_FLAGS)
bench-growth: all %D%/bench/clock
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/growth.sh $(BENCH_FLAGS)
bench-many: all
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/many.sh $(BENCH_FLAGS)
bench-freeze: all %D%/attack/marker
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/bench/freeze.sh $(BENCH_FLAGS)

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS) $(BATS_TESTS) $(BUILD_BATS_TESTS)
if ENABLE_ENGINE_TESTS
check_PROGRAMS += $(ENGINE_UNIT_TESTS)
TESTS += $(ENGINE_UNIT_TESTS) $(ENGINE_BATS_TESTS)
endif

EXTRA_DIST += $(BATS_TESTS) $(ENGINE_BATS_TESTS) \
	%D%/bats/build.bats \
	%D%/runc-suite/prepare.sh
