# L0: no knowledge of containers.
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	%D%/arena.c %D%/arena.h \
	%D%/bare.h \
	%D%/base64.c %D%/base64.h \
	%D%/buf.c %D%/buf.h \
	%D%/cleanup.h \
	%D%/clock.c %D%/clock.h \
	%D%/diag.c %D%/diag.h \
	%D%/duration.c %D%/duration.h \
	%D%/error.c %D%/error.h \
	%D%/idle.h \
	%D%/io.c %D%/io.h \
	%D%/json.c %D%/json.h \
	%D%/json_edit.c %D%/json_edit.h \
	%D%/json_write.c %D%/json_write.h \
	%D%/keyed_hash.c %D%/keyed_hash.h \
	%D%/mem.c %D%/mem.h \
	%D%/path.c %D%/path.h \
	%D%/mountinfo.c %D%/mountinfo.h \
	%D%/procstat.c %D%/procstat.h \
	%D%/printable.c %D%/printable.h \
	%D%/sha256_text.c %D%/sha256_text.h \
	%D%/sha256.c %D%/sha256.h \
	%D%/spawn.c %D%/spawn.h \
	%D%/suggest.c %D%/suggest.h \
	%D%/table.c %D%/table.h \
	%D%/toml.c %D%/toml.h %D%/toml_private.h \
	%D%/toml_value.c \
	%D%/yaml.c %D%/yaml.h \
	%D%/yaml_fault.c %D%/yaml_fault.h
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(YAJL_CFLAGS) $(YAML_CFLAGS) $(NETTLE_CFLAGS)
BASE_LIBS = $(YAJL_STATIC_LIBS) $(YAML_LIBS) $(NETTLE_LIBS)
