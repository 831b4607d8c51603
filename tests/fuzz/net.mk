# Fuzzers of src/sensors/net: what comes in packets. The C library's own reader of DNS is a second opinion.
LDADD_FUZZ_NET = libsensorsnet.a libmodel.a libbase.a $(BASE_LIBS)
FUZZERS += \
	%D%/fuzz_dns \
	%D%/fuzz_dns_suspect \
	%D%/fuzz_http_head \
	%D%/fuzz_packet \
	%D%/fuzz_quic \
	%D%/fuzz_reassembly \
	%D%/fuzz_resolvers \
	%D%/fuzz_tls_hello
tests_fuzz_fuzz_dns_SOURCES = %D%/fuzz_dns.c
tests_fuzz_fuzz_dns_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_dns_LDADD = $(LDADD_FUZZ_NET) -lresolv
tests_fuzz_fuzz_dns_suspect_SOURCES = %D%/fuzz_dns_suspect.c
tests_fuzz_fuzz_dns_suspect_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_dns_suspect_LDADD = $(LDADD_FUZZ_NET)
tests_fuzz_fuzz_http_head_SOURCES = %D%/fuzz_http_head.c
tests_fuzz_fuzz_http_head_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_http_head_LDADD = $(LDADD_FUZZ_NET)
tests_fuzz_fuzz_packet_SOURCES = %D%/fuzz_packet.c
tests_fuzz_fuzz_packet_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_packet_LDADD = $(LDADD_FUZZ_NET)
tests_fuzz_fuzz_reassembly_SOURCES = %D%/fuzz_reassembly.c
tests_fuzz_fuzz_reassembly_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_reassembly_LDADD = $(LDADD_FUZZ_NET)
tests_fuzz_fuzz_quic_SOURCES = %D%/fuzz_quic.c
tests_fuzz_fuzz_quic_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_quic_LDADD = $(LDADD_FUZZ_NET)
tests_fuzz_fuzz_resolvers_SOURCES = %D%/fuzz_resolvers.c
tests_fuzz_fuzz_resolvers_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_resolvers_LDADD = $(LDADD_FUZZ_NET)
tests_fuzz_fuzz_tls_hello_SOURCES = %D%/fuzz_tls_hello.c
tests_fuzz_fuzz_tls_hello_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_tls_hello_LDADD = $(LDADD_FUZZ_NET)
EXTRA_DIST += %D%/http_head.dict %D%/resolvers.dict %D%/tls_hello.dict
