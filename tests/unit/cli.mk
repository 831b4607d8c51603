# Unit tests of L5's command: a verb's own files are compiled into the test.
UNIT_TESTS += %D%/test_cli_client
tests_unit_test_cli_client_SOURCES = %D%/test_cli_client.c src/cli/control_client.c src/cli/control_client.h
tests_unit_test_cli_client_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_client_LDADD = libmonitor.a $(UNIT_LDADD_BASE)
