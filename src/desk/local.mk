# L4: the review desk: what traces say in one database, and who may look at it.
noinst_LIBRARIES += libdesk.a
libdesk_a_SOURCES = \
	%D%/db.c %D%/db.h \
	%D%/extract.c %D%/extract.h \
	%D%/feed.c %D%/feed.h \
	%D%/folder.c %D%/folder.h \
	%D%/index.c %D%/index.h \
	%D%/ingest.c %D%/ingest.h \
	%D%/pipeline.c %D%/pipeline.h \
	%D%/places.c %D%/places.h \
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

# What answers by HTTP, apart from it: only sandtrace-desk has the library.
include %D%/web/web.mk
noinst_LIBRARIES += libdeskhttp.a
libdeskhttp_a_SOURCES = \
	%D%/desk.h \
	%D%/http.c %D%/http.h \
	%D%/http_call.c \
	%D%/http_connection.c %D%/http_connection.h \
	%D%/http_event_write.c %D%/http_event_write.h \
	%D%/http_events.c \
	%D%/http_filter.c \
	%D%/http_find.c %D%/http_find.h \
	%D%/http_gate.c %D%/http_gate.h \
	%D%/http_limit.c %D%/http_limit.h \
	%D%/http_login.c %D%/http_login.h \
	%D%/http_pool.c %D%/http_pool.h \
	%D%/http_query.c %D%/http_query.h \
	%D%/http_routes.c \
	%D%/http_secret.c %D%/http_secret.h \
	%D%/http_server.c %D%/http_server.h \
	%D%/http_session.c \
	%D%/http_static.c %D%/http_static.h \
	%D%/http_act.c \
	%D%/http_containers.c \
	%D%/http_flows.c \
	%D%/http_hub.c %D%/http_hub.h \
	%D%/http_live.c %D%/http_live.h \
	%D%/http_live_event.c %D%/http_live_event.h \
	%D%/http_metrics.c \
	%D%/http_reviews.c %D%/http_reviews.h \
	%D%/http_sets.c %D%/http_sets.h \
	%D%/http_stream.c \
	%D%/http_summary.c \
	%D%/http_timeline.c \
	%D%/http_top.c %D%/http_top.h \
	%D%/http_traces.c \
	%D%/live.h
nodist_libdeskhttp_a_SOURCES = %D%/web_files.c
libdeskhttp_a_CPPFLAGS = $(libdesk_a_CPPFLAGS) $(MICROHTTPD_CFLAGS)
DESK_HTTP_LIBS = libdeskhttp.a $(DESK_LIBS) $(MICROHTTPD_LIBS)

# The page, carried in the program.
DESK_FILES = $(DESK_WEB) %D%/openapi.json
%D%/web_files.c: $(DESK_FILES) %D%/embed.sh %D%/web/web.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cd $(srcdir) && files= && for f in $(DESK_FILES); do files="$$files $$(cd $$(dirname $$f) && pwd)/$$(basename $$f)"; done && \
		cd $(abs_builddir) && $(SHELL) $(abs_srcdir)/%D%/embed.sh $$files >$@.tmp && mv $@.tmp $@
%D%/libdeskhttp_a-web_files.$(OBJEXT): $(DESK_FILES)
CLEANFILES += %D%/web_files.c
EXTRA_DIST += $(DESK_FILES) %D%/embed.sh %D%/web/web.mk
