# L2: what is allowed.
noinst_LIBRARIES += libpolicy.a
libpolicy_a_SOURCES = \
	%D%/addrtree.c %D%/addrtree.h \
	%D%/claims.c %D%/claims.h \
	%D%/compile.c \
	%D%/depth.c %D%/depth.h \
	%D%/eval.c \
	%D%/eval_exec.c \
	%D%/eval_fs.c \
	%D%/eval_generic.c \
	%D%/eval_net.c \
	%D%/explain.c \
	%D%/fields.c %D%/fields.h \
	%D%/hashmatch.c %D%/hashmatch.h \
	%D%/judge.h \
	%D%/find.c %D%/find.h \
	%D%/lint.c %D%/lint.h \
	%D%/load.c %D%/load.h \
	%D%/netmatch.c %D%/netmatch.h \
	%D%/parse.h \
	%D%/parse_exec.c \
	%D%/parse_match.c \
	%D%/parse_net.c \
	%D%/parse_paths.c \
	%D%/parse_rule.c \
	%D%/parse_settings.c \
	%D%/parse_writes.c \
	%D%/pathmatch.c %D%/pathmatch.h \
	%D%/pathtree.h \
	%D%/pathwalk.c \
	%D%/pattern.c %D%/pattern.h \
	%D%/plan.c \
	%D%/policy.c %D%/policy.h \
	%D%/reach.c %D%/reach.h \
	%D%/reader.c %D%/reader.h \
	%D%/reason.c \
	%D%/refs.h \
	%D%/rule.h \
	%D%/snapshot.h \
	%D%/trie.c %D%/trie.h
libpolicy_a_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
POLICY_LIBS = $(SECCOMP_LIBS)
