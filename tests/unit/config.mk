# Unit tests of src/config.
UNIT_TESTS += %D%/test_config_load
tests_unit_test_config_load_SOURCES = %D%/test_config_load.c %D%/unit.h
tests_unit_test_config_load_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_config_load_LDADD = libconfig.a libmodel.a $(UNIT_LDADD_BASE)
