# Fuzzers (libFuzzer): ../configure CC=clang --enable-fuzzers --enable-sanitizers, then make fuzz FUZZ_SECONDS=60.
# One a hostile input, fuzz_NAME.c, with its seeds in corpus/NAME and, where it helps, words in NAME.dict.
FUZZ_SECONDS = 60
LDFLAGS_FUZZ = $(AM_LDFLAGS) -fsanitize=fuzzer
LDADD_FUZZ_OCI = liboci.a libmodel.a libbase.a $(OCISPEC_LIBS) $(BASE_LIBS)
FUZZERS = \
	%D%/fuzz_argv \
	%D%/fuzz_boundary \
	%D%/fuzz_config_json \
	%D%/fuzz_control \
	%D%/fuzz_state
include tests/fuzz/audit.mk

tests_fuzz_fuzz_argv_SOURCES = %D%/fuzz_argv.c
tests_fuzz_fuzz_argv_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_argv_LDADD = $(LDADD_FUZZ_OCI)
tests_fuzz_fuzz_boundary_SOURCES = %D%/fuzz_boundary.c
tests_fuzz_fuzz_boundary_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_boundary_LDADD = libsensors.a libaudit.a libmodel.a libbase.a $(BASE_LIBS) $(SODIUM_LIBS)
tests_fuzz_fuzz_config_json_SOURCES = %D%/fuzz_config_json.c
tests_fuzz_fuzz_config_json_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_config_json_LDADD = $(LDADD_FUZZ_OCI)
tests_fuzz_fuzz_control_SOURCES = %D%/fuzz_control.c tests/unit/worker_support.c tests/unit/worker_support.h
tests_fuzz_fuzz_control_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/unit
tests_fuzz_fuzz_control_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_control_LDADD = libmonitor.a libsensors.a libsensorsnf.a libsensorsnet.a librespond.a libaudit.a libpolicy.a libmodel.a libbase.a \
	$(BASE_LIBS) $(SODIUM_LIBS) $(SECCOMP_LIBS) $(CAPNG_LIBS) $(NETFILTER_LIBS)
tests_fuzz_fuzz_state_SOURCES = %D%/fuzz_state.c hooks/state_pid.c
tests_fuzz_fuzz_state_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/hooks
tests_fuzz_fuzz_state_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_state_LDADD = $(LDADD_FUZZ_OCI)

FUZZERS += %D%/fuzz_request
tests_fuzz_fuzz_request_SOURCES = %D%/fuzz_request.c
tests_fuzz_fuzz_request_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_request_LDADD = libsensors.a libmodel.a libbase.a $(BASE_LIBS)

FUZZERS += %D%/fuzz_exec
tests_fuzz_fuzz_exec_SOURCES = %D%/fuzz_exec.c
tests_fuzz_fuzz_exec_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_exec_LDADD = libsensors.a libmodel.a libbase.a $(BASE_LIBS)

FUZZERS += %D%/fuzz_desk_request
tests_fuzz_fuzz_desk_request_SOURCES = %D%/fuzz_desk_request.c
tests_fuzz_fuzz_desk_request_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(SODIUM_CFLAGS)
tests_fuzz_fuzz_desk_request_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_desk_request_LDADD = libdeskhttp.a libdesk.a libaudit.a libmodel.a libbase.a $(BASE_LIBS) $(SQLITE_LIBS) $(SODIUM_LIBS) $(MICROHTTPD_LIBS)

FUZZERS += %D%/fuzz_engines
tests_fuzz_fuzz_engines_SOURCES = %D%/fuzz_engines.c src/cli/engine.c src/cli/engine.h src/cli/engine_docker.c src/cli/engine_podman.c \
	src/cli/engine_containerd.c src/cli/engine_toml.c src/cli/engine_toml.h
tests_fuzz_fuzz_engines_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_engines_LDADD = libbase.a $(BASE_LIBS)
EXTRA_DIST += %D%/engines.dict

FUZZERS += %D%/fuzz_review
tests_fuzz_fuzz_review_SOURCES = %D%/fuzz_review.c
tests_fuzz_fuzz_review_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_review_LDADD = libdesk.a libbase.a $(BASE_LIBS)

include tests/fuzz/policy.mk
include tests/fuzz/net.mk
include tests/fuzz/netfilter.mk

# Their names, one a line, for who gives some more time than others.
.PHONY: fuzz fuzzers
fuzzers:
	@printf '%s\n' $(FUZZERS)
if ENABLE_FUZZERS
noinst_PROGRAMS += $(FUZZERS)
fuzz: $(FUZZERS)
	$(AM_V_at)$(SHELL) $(srcdir)/%D%/run.sh $(FUZZ_SECONDS) $(srcdir) $(FUZZERS)
else
EXTRA_PROGRAMS += $(FUZZERS)
fuzz:
	@echo "make fuzz: run configure with CC=clang --enable-fuzzers --enable-sanitizers" >&2; exit 1
endif
EXTRA_DIST += %D%/run.sh %D%/argv.dict %D%/config_json.dict %D%/control.dict %D%/state.dict %D%/corpus
