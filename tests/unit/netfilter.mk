# Unit tests of src/sensors/netfilter, in network namespaces of their own.
UNIT_CPPFLAGS_NF = $(UNIT_CPPFLAGS) $(NETFILTER_CFLAGS)
UNIT_LDADD_NF = libsensorsnf.a libmodel.a libbase.a $(BASE_LIBS) $(NETFILTER_LIBS) $(CMOCKA_LIBS)
NF_SUPPORT = %D%/nf_support.c %D%/nf_support.h %D%/unit.h
ENGINE_UNIT_TESTS += %D%/test_nf_ruleset
tests_unit_test_nf_ruleset_SOURCES = %D%/test_nf_ruleset.c $(NF_SUPPORT)
tests_unit_test_nf_ruleset_CPPFLAGS = $(UNIT_CPPFLAGS_NF)
tests_unit_test_nf_ruleset_LDADD = $(UNIT_LDADD_NF)
ENGINE_UNIT_TESTS += %D%/test_nf_guard
tests_unit_test_nf_guard_SOURCES = %D%/test_nf_guard.c $(NF_SUPPORT)
tests_unit_test_nf_guard_CPPFLAGS = $(UNIT_CPPFLAGS_NF)
tests_unit_test_nf_guard_LDADD = $(UNIT_LDADD_NF)
