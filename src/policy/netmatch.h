/* netmatch: which destinations of which rules have a name or an address. Private to src/policy.
 *
 * Names in a tree of labels from the right, addresses in a tree of bits; both lists of what was found are in
 * the order of the rules. Ports and protocols are looked at by who asked. */
#pragma once

#include "model/addr.h"
#include "model/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netmatch;

struct netmatch *st_netmatch_new(void);
void st_netmatch_free(struct netmatch *m);

/* Which destination of which rule; plain: it has neither ports nor a protocol. */
struct net_ref {
    uint32_t rule, dest;
    bool plain;
};

/* Rules are added in ascending order. host: canonical pattern, borrowed. */
void st_netmatch_add_host(struct netmatch *m, const char *host, struct net_ref ref);
void st_netmatch_add_prefix(struct netmatch *m, const struct st_addr *addr, unsigned bits,
                            struct net_ref ref);
void st_netmatch_add_any(struct netmatch *m, struct net_ref ref);

/* After the last add, before the first question. */
void st_netmatch_finish(struct netmatch *m);

/* False: enough, no more from this list (a later one of the same list has a higher rule). */
typedef bool st_netmatch_hit(void *ctx, struct net_ref ref);

/* host: canonical. */
void st_netmatch_host(const struct netmatch *m, const char *host, size_t len, st_netmatch_hit *hit,
                      void *ctx);
void st_netmatch_addr(const struct netmatch *m, const struct st_addr *addr, st_netmatch_hit *hit, void *ctx);
void st_netmatch_any(const struct netmatch *m, st_netmatch_hit *hit, void *ctx);
