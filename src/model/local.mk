# L1: what is talked about.
noinst_LIBRARIES += libmodel.a
libmodel_a_SOURCES = \
	%D%/addr.c %D%/addr.h \
	%D%/boundary.c %D%/boundary.h \
	%D%/caps.c %D%/caps.h \
	%D%/boundary_words.c \
	%D%/event_copy.c %D%/event_copy.h \
	%D%/event.c %D%/event.h \
	%D%/footing.h \
	%D%/host.c %D%/host.h \
	%D%/mutation.c %D%/mutation.h \
	%D%/names.h \
	%D%/policy_name.h \
	%D%/sink_spec.c %D%/sink_spec.h \
	%D%/str.h \
	%D%/verdict.c %D%/verdict.h
