# L3: a container's config.json, prepared; by the shim and by the precreate hook.
noinst_LIBRARIES += libbundle.a
libbundle_a_SOURCES = \
	%D%/edit.c %D%/edit.h \
	%D%/find.c %D%/find.h \
	%D%/image.c %D%/image.h \
	%D%/landlock.c %D%/landlock.h \
	%D%/plan.c %D%/plan.h
