# Unit tests of src/oci.
UNIT_LDADD_OCI = liboci.a libmodel.a $(OCISPEC_LIBS) $(UNIT_LDADD_BASE)

UNIT_TESTS += %D%/test_oci_argv
tests_unit_test_oci_argv_SOURCES = %D%/test_oci_argv.c %D%/words.h %D%/unit.h
tests_unit_test_oci_argv_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_argv_LDADD = $(UNIT_LDADD_OCI)

UNIT_TESTS += %D%/test_oci_config
tests_unit_test_oci_config_SOURCES = %D%/test_oci_config.c %D%/unit.h
tests_unit_test_oci_config_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_config_LDADD = $(UNIT_LDADD_OCI)

UNIT_TESTS += %D%/test_oci_landlock
tests_unit_test_oci_landlock_SOURCES = %D%/test_oci_landlock.c %D%/unit.h
tests_unit_test_oci_landlock_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_landlock_LDADD = $(UNIT_LDADD_OCI)

UNIT_TESTS += %D%/test_oci_select
tests_unit_test_oci_select_SOURCES = %D%/test_oci_select.c %D%/unit.h
tests_unit_test_oci_select_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_select_LDADD = $(UNIT_LDADD_OCI)

UNIT_TESTS += %D%/test_oci_state
tests_unit_test_oci_state_SOURCES = %D%/test_oci_state.c %D%/unit.h
tests_unit_test_oci_state_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_state_LDADD = $(UNIT_LDADD_OCI)

# Against the real runc: our reading of random command lines and its own.
ENGINE_UNIT_TESTS += %D%/test_oci_argv_runc
tests_unit_test_oci_argv_runc_SOURCES = %D%/test_oci_argv_runc.c %D%/words.h %D%/unit.h
tests_unit_test_oci_argv_runc_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_argv_runc_LDADD = $(UNIT_LDADD_OCI)

UNIT_TESTS += %D%/test_oci_openings
tests_unit_test_oci_openings_SOURCES = %D%/test_oci_openings.c %D%/unit.h
tests_unit_test_oci_openings_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_oci_openings_LDADD = $(UNIT_LDADD_OCI)
