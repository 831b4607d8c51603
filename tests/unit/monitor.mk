# Unit tests of L4.
UNIT_LDADD_MONITOR = libmonitor.a libsensors.a libsensorsnf.a libsensorsnet.a librespond.a libaudit.a libpolicy.a libmodel.a libbase.a \
	$(BASE_LIBS) $(SODIUM_LIBS) $(SECCOMP_LIBS) $(CAPNG_LIBS) $(NETFILTER_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/test_monitor_loop %D%/test_monitor_order
tests_unit_test_monitor_loop_SOURCES = %D%/test_monitor_loop.c
tests_unit_test_monitor_loop_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_loop_LDADD = $(UNIT_LDADD_MONITOR)
tests_unit_test_monitor_order_SOURCES = %D%/test_monitor_order.c
tests_unit_test_monitor_order_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_order_LDADD = $(UNIT_LDADD_MONITOR)
UNIT_TESTS += %D%/test_monitor_outbox
# Peers are judged by who they are: these want to be root.
ENGINE_UNIT_TESTS += %D%/test_monitor_bus %D%/test_monitor_control
tests_unit_test_monitor_outbox_SOURCES = %D%/test_monitor_outbox.c
tests_unit_test_monitor_outbox_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_outbox_LDADD = $(UNIT_LDADD_MONITOR)
tests_unit_test_monitor_bus_SOURCES = %D%/test_monitor_bus.c
tests_unit_test_monitor_bus_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_bus_LDADD = $(UNIT_LDADD_MONITOR)
tests_unit_test_monitor_control_SOURCES = %D%/test_monitor_control.c
tests_unit_test_monitor_control_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_control_LDADD = $(UNIT_LDADD_MONITOR)
UNIT_TESTS += %D%/test_monitor_answers
tests_unit_test_monitor_answers_SOURCES = %D%/test_monitor_answers.c %D%/worker_support.c %D%/worker_support.h
tests_unit_test_monitor_answers_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_answers_LDADD = $(UNIT_LDADD_MONITOR)
UNIT_TESTS += %D%/test_monitor_hashes
tests_unit_test_monitor_hashes_SOURCES = %D%/test_monitor_hashes.c
tests_unit_test_monitor_hashes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_hashes_LDADD = $(UNIT_LDADD_MONITOR)
UNIT_TESTS += %D%/test_monitor_summary
tests_unit_test_monitor_summary_SOURCES = %D%/test_monitor_summary.c
tests_unit_test_monitor_summary_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_summary_LDADD = $(UNIT_LDADD_MONITOR)
# Leaves no group of an engine's: root moves itself.
ENGINE_UNIT_TESTS += %D%/test_monitor_teller
tests_unit_test_monitor_teller_SOURCES = %D%/test_monitor_teller.c
tests_unit_test_monitor_teller_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_teller_LDADD = $(UNIT_LDADD_MONITOR)
UNIT_TESTS += %D%/test_monitor_pipeline
tests_unit_test_monitor_pipeline_SOURCES = %D%/test_monitor_pipeline.c %D%/worker_support.c %D%/worker_support.h
tests_unit_test_monitor_pipeline_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_pipeline_LDADD = $(UNIT_LDADD_MONITOR)
UNIT_TESTS += %D%/test_monitor_kept
tests_unit_test_monitor_kept_SOURCES = %D%/test_monitor_kept.c
tests_unit_test_monitor_kept_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_kept_LDADD = $(UNIT_LDADD_MONITOR)
# Has to put others behind a real-time process: root.
ENGINE_UNIT_TESTS += %D%/test_monitor_standstill
tests_unit_test_monitor_standstill_SOURCES = %D%/test_monitor_standstill.c
tests_unit_test_monitor_standstill_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_standstill_LDADD = $(UNIT_LDADD_MONITOR)

UNIT_TESTS += %D%/test_monitor_lists
tests_unit_test_monitor_lists_SOURCES = %D%/test_monitor_lists.c
tests_unit_test_monitor_lists_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_monitor_lists_LDADD = $(UNIT_LDADD_MONITOR)
