# L2: the configuration file.
noinst_LIBRARIES += libconfig.a
libconfig_a_SOURCES = \
	%D%/config.c %D%/config.h \
	%D%/config_private.h \
	%D%/group.c \
	%D%/sinks.c
