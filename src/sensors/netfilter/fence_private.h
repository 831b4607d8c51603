/* fence_private: what the rules of a fence are (fence_rules.c), for who installs them (fence.c). */
#pragma once

#include "sensors/netfilter/fence.h"
#include "sensors/netfilter/nft_batch.h"

#include <netinet/in.h> /* before what the kernel has of the same */

#include <linux/netfilter.h>

#define ST_FENCE_ALIVE_A "alive_a"
#define ST_FENCE_ALIVE_B "alive_b"
#define ST_FENCE_OUT4 "out4"
#define ST_FENCE_OUT6 "out6"
#define ST_FENCE_BARE4 "bare4"
#define ST_FENCE_BARE6 "bare6"
#define ST_FENCE_IN4 "in4"
#define ST_FENCE_IN6 "in6"
#define ST_FENCE_SEEN4 "seen4"
#define ST_FENCE_SEEN6 "seen6"
#define ST_FENCE_QUERY4 "query4"
#define ST_FENCE_QUERY6 "query6"

#define ST_FENCE_DAY_MS 86400000U

static inline struct st_nft_place st_fence_place(const struct st_fence *f)
{
    return (struct st_nft_place){NFPROTO_NETDEV, f->table};
}

static inline bool st_fence_has_ports(uint8_t protocol)
{
    return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
           protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP;
}

/* Sets, and the chains that are no device's; the table is there. */
void st_fence_build(struct st_nft_batch *b, const struct st_fence *f);

/* Both chains of a device. */
void st_fence_build_guard(struct st_nft_batch *b, const struct st_fence *f, const char *device, int index);

/* Fills the half of the switch that this names. */
void st_fence_build_alive(struct st_nft_batch *b, const struct st_fence *f, const char *set);

/* The rule for messages of this length. */
void st_fence_build_query(struct st_nft_batch *b, const struct st_fence *f, bool six, size_t len);
