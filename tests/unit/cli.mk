# Unit tests of L5's command: a verb's own files are compiled into the test.
UNIT_TESTS += %D%/test_cli_client
tests_unit_test_cli_client_SOURCES = %D%/test_cli_client.c src/cli/control_client.c src/cli/control_client.h
tests_unit_test_cli_client_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_client_LDADD = libmonitor.a $(UNIT_LDADD_BASE)

UNIT_TESTS += %D%/test_cli_progress
tests_unit_test_cli_progress_SOURCES = %D%/test_cli_progress.c src/cli/progress.c src/cli/progress.h
tests_unit_test_cli_progress_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_progress_LDADD = $(UNIT_LDADD_BASE)

UNIT_TESTS += %D%/test_cli_run
tests_unit_test_cli_run_SOURCES = %D%/test_cli_run.c src/cli/beside.c src/cli/run_answer.c src/cli/run_args.c src/cli/run_folder.c src/cli/run_runtime.c src/cli/run_spec.c
tests_unit_test_cli_run_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_run_LDADD = $(UNIT_LDADD_BASE)

UNIT_TESTS += %D%/test_cli_engines
tests_unit_test_cli_engines_SOURCES = %D%/test_cli_engines.c src/cli/engine.c src/cli/engine.h src/cli/engine_docker.c src/cli/engine_podman.c \
	src/cli/engine_containerd.c src/cli/engine_toml.c src/cli/engine_toml.h
tests_unit_test_cli_engines_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_engines_LDADD = $(UNIT_LDADD_BASE)

UNIT_TESTS += %D%/test_cli_demo
tests_unit_test_cli_demo_SOURCES = %D%/test_cli_demo.c src/cli/demo_server.c src/cli/demo_net.h
tests_unit_test_cli_demo_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_demo_LDADD = $(UNIT_LDADD_BASE)
