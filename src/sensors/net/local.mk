# L3, the part that knows no kernel: what packets say. A library of its own, so that nothing here can call a sensor.
noinst_LIBRARIES += libsensorsnet.a
libsensorsnet_a_SOURCES = \
	%D%/authority.c %D%/authority.h \
	%D%/checksum.c %D%/checksum.h \
	%D%/cursor.h \
	%D%/dns.c %D%/dns.h \
	%D%/dns_answer.c %D%/dns_answer.h \
	%D%/dns_asked.c %D%/dns_asked.h \
	%D%/dns_name.c %D%/dns_name.h \
	%D%/dns_suspect.c %D%/dns_suspect.h \
	%D%/dns_tally.c %D%/dns_tally.h \
	%D%/flow_book.c %D%/flow_book.h \
	%D%/flow_tuple.c %D%/flow_tuple.h \
	%D%/http_head.c %D%/http_head.h \
	%D%/names.c %D%/names.h \
	%D%/packet.c %D%/packet.h \
	%D%/packet_reply.c %D%/packet_reply.h \
	%D%/reassembly.c %D%/reassembly.h \
	%D%/quic.c %D%/quic.h \
	%D%/resolvers.c %D%/resolvers.h \
	%D%/tls_hello.c %D%/tls_hello.h \
	%D%/wire_host.h
