/* fence: rules of ours at the other end of a container's cables, where a container that may change its own
 * network has no reach. They are the floor beneath the rules within (ruleset.h): what was judged there and
 * allowed is opened here, before it goes; nothing else passes, whatever became of those rules.
 *
 * One table of the family netdev for each container's namespace, in the namespace in which the cables end; no
 * other table is touched. Each device has two chains: `from` it (ingress), closed, before any bridge or route
 * has seen a packet; and `to` it (egress), which drops nothing and notes who has called. */
#pragma once

#include "base/error.h"
#include "model/addr.h"

#include <stddef.h>

#define ST_FENCE_QUERY_MAX 200 /* bytes of a message to a resolver */
#define ST_FENCE_QUERIES 64    /* such messages at a time */

struct st_fence_query {
    struct st_addr to;
    uint8_t len;
    uint8_t bytes[ST_FENCE_QUERY_MAX];
};

struct st_fence {
    int fd; /* borrowed */
    char table[32];
    bool owner; /* nobody else can change it; found out */
    bool dead_man;
    bool odd; /* which half of the switch is renewed next */
    /* Lengths of messages for which there is a rule, of either family; and what may go right now. */
    bool lengths[2][ST_FENCE_QUERY_MAX + 1];
    struct st_fence_query queries[ST_FENCE_QUERIES];
    size_t next_query;
};

/* ns: number of the container's namespace, by which the table is named: one that an earlier run left is
 * replaced; -EPERM: somebody who lives owns it. */
int st_fence_install(struct st_fence *f, int fd, uint64_t ns, bool dead_man, struct st_error *err);

/* One that somebody else has put up, and left: to be removed. */
void st_fence_adopt(struct st_fence *f, int fd, uint64_t ns);

/* What comes from this device is held. Again: no harm. */
int st_fence_guard(struct st_fence *f, const char *device, int index, struct st_error *err);

/* To there, for a day after each use. port: 0 where the protocol has none. When this returns, it holds. */
int st_fence_open(struct st_fence *f, const struct st_addr *to, uint8_t protocol, uint16_t port,
                  struct st_error *err);

/* Answers to a flow from there, if a packet of it has indeed come by a device. */
int st_fence_accept(struct st_fence *f, const struct st_addr *from, uint8_t protocol, uint16_t port,
                    uint16_t own_port, struct st_error *err);

/* Exactly this message by UDP to port 53, for some seconds. -EMSGSIZE: it is too long. */
int st_fence_query(struct st_fence *f, const struct st_fence_query *query, struct st_error *err);

/* Nothing is open any more; flows neither. */
int st_fence_close_all(struct st_fence *f, struct st_error *err);

int st_fence_renew(struct st_fence *f, struct st_error *err);
int st_fence_cut(struct st_fence *f, struct st_error *err);
int st_fence_remove(struct st_fence *f, struct st_error *err);

/* Pure: the key of one piece of a message, of n bytes; how many pieces it has is returned. */
#define ST_FENCE_KEY_MAX 64
size_t st_fence_query_key(const struct st_fence_query *query, size_t piece, uint8_t key[ST_FENCE_KEY_MAX],
                          size_t *n);
