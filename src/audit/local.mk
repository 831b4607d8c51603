# L2: what can be proved afterwards.
noinst_LIBRARIES += libaudit.a
libaudit_a_SOURCES = \
	%D%/canonical.c %D%/canonical.h \
	%D%/checkpoint.c %D%/checkpoint.h \
	%D%/decode.c %D%/decode.h \
	%D%/decode_fields.c %D%/decode_fields.h \
	%D%/decompress.c %D%/decompress.h \
	%D%/fold.c %D%/fold.h \
	%D%/frame.c %D%/frame.h \
	%D%/lines.c %D%/lines.h \
	%D%/link.c %D%/link.h \
	%D%/net_names.c %D%/net_names.h \
	%D%/payload_bound.c \
	%D%/payload.c %D%/payload.h \
	%D%/put.c %D%/put.h \
	%D%/record.c %D%/record.h \
	%D%/rotated.c %D%/rotated.h \
	%D%/scan.c %D%/scan.h \
	%D%/scan_text.c %D%/scan_text.h \
	%D%/sign.c %D%/sign.h \
	%D%/sinks/backend.h \
	%D%/sinks/exec.c \
	%D%/sinks/log.c \
	%D%/sinks/queue.c %D%/sinks/queue.h \
	%D%/sinks/sink.c %D%/sinks/sink.h \
	%D%/sinks/stream.c \
	%D%/tail.c %D%/tail.h \
	%D%/torn.c %D%/torn.h \
	%D%/trace.c %D%/trace.h \
	%D%/trace_file.c %D%/trace_private.h \
	%D%/verify.c %D%/verify.h
libaudit_a_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
AUDIT_LIBS = libaudit.a libmodel.a libbase.a $(SODIUM_LIBS) $(BASE_LIBS)
