# L3, the part that speaks to netfilter: rules, queued packets, flows, in a network namespace. A library of its own: only what
# links it needs libmnl and its sisters.
noinst_LIBRARIES += libsensorsnf.a
libsensorsnf_a_SOURCES = \
	%D%/attrs.c %D%/attrs.h \
	%D%/conntrack.c %D%/conntrack.h \
	%D%/conntrack_parse.c \
	%D%/fence.c %D%/fence.h %D%/fence_private.h \
	%D%/fence_rules.c \
	%D%/links.c %D%/links.h \
	%D%/netns.c %D%/netns.h \
	%D%/nflog.c %D%/nflog.h \
	%D%/nfqueue.c %D%/nfqueue.h \
	%D%/nfsock.c %D%/nfsock.h \
	%D%/nsid.c %D%/nsid.h \
	%D%/nft_batch.c %D%/nft_batch.h \
	%D%/nft_deed.c \
	%D%/nft_rule.c %D%/nft_rule.h %D%/nft_expr.h \
	%D%/ruleset.c %D%/ruleset.h \
	%D%/ruleset_group.c \
	%D%/ruleset_parts.c \
	%D%/ruleset_rules.c %D%/ruleset_private.h
libsensorsnf_a_CPPFLAGS = $(AM_CPPFLAGS) $(NETFILTER_CFLAGS)
