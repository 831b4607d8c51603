# L2: freeze, thaw, kill.
noinst_LIBRARIES += librespond.a
librespond_a_SOURCES = \
	%D%/cgroup.c %D%/cgroup.h \
	%D%/freezer.c %D%/freezer.h \
	%D%/kill.c %D%/kill.h
