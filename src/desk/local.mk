# L4: the review desk: what traces say in one database, and who may look at it.
noinst_LIBRARIES += libdesk.a
libdesk_a_SOURCES = \
	%D%/db.c %D%/db.h \
	%D%/extract.c %D%/extract.h \
	%D%/folder.c %D%/folder.h \
	%D%/index.c %D%/index.h \
	%D%/ingest.c %D%/ingest.h \
	%D%/review.c %D%/review.h %D%/review_text.c \
	%D%/review_admit.c %D%/review_admit.h \
	%D%/review_tell.c %D%/review_tell.h \
	%D%/rows.c %D%/rows.h \
	%D%/schema.c %D%/schema.h \
	%D%/source.c %D%/source.h \
	%D%/counts.c %D%/counts.h \
	%D%/trace_row.c %D%/trace_row.h \
	%D%/words.c %D%/words.h
libdesk_a_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
DESK_LIBS = libdesk.a $(SQLITE_LIBS)
