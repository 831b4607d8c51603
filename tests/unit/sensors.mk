# Unit tests of L3.
UNIT_LDADD_SENSORS = libsensors.a libmodel.a libbase.a $(BASE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/test_sensors_files
tests_unit_test_sensors_files_SOURCES = %D%/test_sensors_files.c
tests_unit_test_sensors_files_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_files_LDADD = $(UNIT_LDADD_SENSORS)
UNIT_TESTS += %D%/test_sensors_process_cache
tests_unit_test_sensors_process_cache_SOURCES = %D%/test_sensors_process_cache.c %D%/unit.h
tests_unit_test_sensors_process_cache_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_process_cache_LDADD = $(UNIT_LDADD_SENSORS)
# Only root is believed to be a runtime.
ENGINE_UNIT_TESTS += %D%/test_sensors_notify
tests_unit_test_sensors_notify_SOURCES = %D%/test_sensors_notify.c %D%/unit.h
tests_unit_test_sensors_notify_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_notify_LDADD = $(UNIT_LDADD_SENSORS)
ENGINE_UNIT_TESTS += %D%/test_sensors_sock_end
tests_unit_test_sensors_sock_end_SOURCES = %D%/test_sensors_sock_end.c %D%/netns_unit.h %D%/unit.h
tests_unit_test_sensors_sock_end_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_sock_end_LDADD = $(UNIT_LDADD_SENSORS)
ENGINE_UNIT_TESTS += %D%/test_sensors_sockets
tests_unit_test_sensors_sockets_SOURCES = %D%/test_sensors_sockets.c %D%/sockets_unit.h \
	%D%/netns_unit.h %D%/unit.h
tests_unit_test_sensors_sockets_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_sockets_LDADD = $(UNIT_LDADD_SENSORS)
ENGINE_UNIT_TESTS += %D%/test_sensors_raw_reply
tests_unit_test_sensors_raw_reply_SOURCES = %D%/test_sensors_raw_reply.c %D%/netns_unit.h %D%/unit.h
tests_unit_test_sensors_raw_reply_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_raw_reply_LDADD = libsensors.a $(UNIT_LDADD_NET)
UNIT_TESTS += %D%/test_sensors_execs
tests_unit_test_sensors_execs_SOURCES = %D%/test_sensors_execs.c %D%/unit.h
tests_unit_test_sensors_execs_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_sensors_execs_LDADD = $(UNIT_LDADD_SENSORS)
