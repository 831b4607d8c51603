# Unit tests of L4's review desk.
UNIT_TESTS += %D%/test_desk_db
tests_unit_test_desk_db_SOURCES = %D%/test_desk_db.c
tests_unit_test_desk_db_CPPFLAGS = $(tests_unit_test_desk_http_CPPFLAGS)
tests_unit_test_desk_db_LDADD = $(tests_unit_test_desk_http_LDADD)

UNIT_TESTS += %D%/test_desk_http
tests_unit_test_desk_http_SOURCES = %D%/test_desk_http.c
tests_unit_test_desk_http_CPPFLAGS = $(UNIT_CPPFLAGS) $(SQLITE_CFLAGS) $(SODIUM_CFLAGS)
tests_unit_test_desk_http_LDADD = libdeskhttp.a libdesk.a libaudit.a libmodel.a $(UNIT_LDADD_BASE) $(SQLITE_LIBS) $(SODIUM_LIBS)

UNIT_TESTS += %D%/test_desk_hub
tests_unit_test_desk_hub_SOURCES = %D%/test_desk_hub.c
tests_unit_test_desk_hub_CPPFLAGS = $(tests_unit_test_desk_http_CPPFLAGS)
tests_unit_test_desk_hub_LDADD = $(tests_unit_test_desk_http_LDADD)

UNIT_TESTS += %D%/test_desk_pipeline
tests_unit_test_desk_pipeline_SOURCES = %D%/test_desk_pipeline.c
tests_unit_test_desk_pipeline_CPPFLAGS = $(UNIT_CPPFLAGS) $(SQLITE_CFLAGS)
tests_unit_test_desk_pipeline_LDADD = libdesk.a libaudit.a libmodel.a $(UNIT_LDADD_BASE) $(SQLITE_LIBS) $(SODIUM_LIBS)
