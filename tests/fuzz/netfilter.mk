# Fuzzer of src/sensors/netfilter: what the kernel says.
FUZZERS += %D%/fuzz_netlink
tests_fuzz_fuzz_netlink_SOURCES = %D%/fuzz_netlink.c
tests_fuzz_fuzz_netlink_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_netlink_LDADD = libsensorsnf.a libmodel.a libbase.a $(BASE_LIBS) $(NETFILTER_LIBS)
