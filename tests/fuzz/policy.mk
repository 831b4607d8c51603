# Fuzzers of src/policy: a policy's text, and what patterns match.
LDADD_FUZZ_POLICY = libpolicy.a libmodel.a libbase.a $(BASE_LIBS) $(POLICY_LIBS)
FUZZERS += %D%/fuzz_policy %D%/fuzz_match
tests_fuzz_fuzz_policy_SOURCES = %D%/fuzz_policy.c
tests_fuzz_fuzz_policy_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_policy_LDADD = $(LDADD_FUZZ_POLICY)
tests_fuzz_fuzz_match_SOURCES = %D%/fuzz_match.c
tests_fuzz_fuzz_match_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_match_LDADD = $(LDADD_FUZZ_POLICY)
EXTRA_DIST += %D%/policy.dict
