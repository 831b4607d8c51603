/* ruleset_private: what the rules are (ruleset_rules.c), for who installs them (ruleset.c). */
#pragma once

#include "sensors/netfilter/nft_batch.h"
#include "sensors/netfilter/ruleset.h"

#include <netinet/in.h> /* before what the kernel has of the same */

#include <linux/netfilter.h>

static const struct st_nft_place st_ruleset_inet = {NFPROTO_INET, "sandtrace"};
static const struct st_nft_place st_ruleset_netdev = {NFPROTO_NETDEV, "sandtrace"};

/* What a message needs of the kernel. */
enum st_need { ST_NEED_NOTHING, ST_NEED_TABLE, ST_NEED_NETDEV, ST_NEED_QUEUE, ST_NEED_LOG, ST_NEED_EGRESS };

/* Sets, chains and rules of the inet table, which is there. */
void st_ruleset_build(struct st_nft_batch *b, const struct st_ruleset *r,
                      const struct st_ruleset_order *order);

/* Chain and rules of one device. */
void st_ruleset_build_guard(struct st_nft_batch *b, const struct st_ruleset *r, const char *device);

/* Fills the half of the switch that this names; the other one stays. */
void st_ruleset_build_alive(struct st_nft_batch *b, const struct st_ruleset *r, const char *set);

#define ST_SET_ALIVE_A "alive_a"
#define ST_SET_ALIVE_B "alive_b"
#define ST_SET_OPEN4 "open4"
#define ST_SET_OPEN6 "open6"
