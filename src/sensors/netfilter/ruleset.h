/* ruleset: our rules in a container's network namespace. They hold no policy, only what was decided: what is
 * not is queued, and the mark of the verdict becomes the mark of the flow (docs/network.md).
 *
 * In the network of the machine they are about one control group: whatever else is there does not meet them,
 * and keeps its marks.
 *
 * Whoever holds the socket by which they were installed can change them, also another process; a process
 * that does not can't, where the kernel knows owners. They stay when all of us are gone. */
#pragma once

#include "base/error.h"
#include "model/addr.h"
#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/nft_batch.h"

#include <stddef.h>

/* Of a packet, in the queue's verdict, and then of its flow. 0: nothing is decided. */
enum st_flow_mark {
    ST_MARK_OPEN = 1, /* goes as it likes */
    ST_MARK_NAME,     /* whom it means is yet to be told: packets with data are queued */
    ST_MARK_COUNT,    /* its bytes are limited: packets with data are queued */
    ST_MARK_DNS,      /* every packet is queued, both ways */
    ST_MARK_REFUSED   /* nothing goes: TCP is reset, UDP answered by ICMP, the rest dropped */
};

#define ST_RULESET_RESOLVERS 32   /* at most */
#define ST_RULESET_ALIVE_MS 2000  /* without a renewal, nothing leaves after this */
#define ST_RULESET_OPEN_MAX 65536 /* destinations, of each family */

struct st_ruleset;

/* Whose packets the rules are about: those of sockets that were made in this group, or below it. */
struct st_ruleset_group {
    uint32_t level; /* how many directories it is below the root of its hierarchy; 0: all packets of the
                       namespace */
    uint64_t id;    /* inode of its directory */
};

#define ST_RULESET_TABLE "sandtrace" /* of a namespace that is all ours */
#define ST_RULESET_NAME 256          /* bytes */

/* For a group: under a name that is the container's alone. */
void st_ruleset_name(const char *container, char out[ST_RULESET_NAME]);

struct st_ruleset_order {
    uint16_t queue;
    struct st_ruleset_group group;
    const char *table; /* NULL: ST_RULESET_TABLE */
    bool enforce;      /* false: audit: what nobody reads or judges goes through */
    bool dead_man;     /* needs st_ruleset_renew() each second */
    /* Both random, not 0, known to nobody: what has not passed our rules does not bear them. One is the mark,
     * the other the priority: a packet socket could try all values of one. */
    uint32_t stamp, seal;
    const struct st_addr *resolvers;
    size_t n_resolvers;
    /* Another one, of whatever namespace: what the kernel could not do there is not tried again, as each try
     * that fails costs milliseconds. NULL: not known. */
    const struct st_ruleset *like;
};

struct st_ruleset {
    int fd; /* borrowed */
    uint16_t queue;
    struct st_ruleset_group group;
    char table[ST_RULESET_NAME];
    bool enforce, dead_man;
    uint32_t stamp, seal;
    /* What the kernel could. */
    bool owner;        /* nobody else can change the rules, and they stay when we die */
    bool native_queue; /* else by the target of iptables */
    bool egress;       /* devices can be guarded */
    bool begun;        /* what goes by a name may begin without a question: it is logged (nflog.h) */
    bool log;          /* what a guard drops is logged, too; known after the first guard */
    bool odd;          /* which half is renewed next */
    struct st_nft_kept renewals[2]; /* of its halves; made by the first */
};

/* The mark for the queue's verdict on a packet that bears the other one: in the network of the machine its
 * bits are others' but for a few. mark 0: as it is. */
uint32_t st_ruleset_verdict(const struct st_ruleset *r, uint32_t borne, uint32_t mark);

/* By group: the marks of flows that may be ours; how many. */
size_t st_ruleset_marks_of_ours(const struct st_mark_bits **out);

/* All at once, or nothing. fd is a socket of the namespace (st_nfsock_open()), which stays the caller's. What
 * an earlier run left there is replaced; -EPERM: somebody who lives owns it; -EPROTONOSUPPORT: the kernel
 * can't tell packets by groups. */
int st_ruleset_install(struct st_ruleset *r, int fd, const struct st_ruleset_order *order,
                       struct st_error *err);

/* Those of the order, where it named none when it was installed. */
int st_ruleset_add_resolvers(struct st_ruleset *r, const struct st_ruleset_order *order,
                             struct st_error *err);

/* For a process that inherits the socket of an installed one. */
void st_ruleset_adopt(struct st_ruleset *r, int fd, const struct st_ruleset_order *order);

/* New flows to there need no judgement, for so long, or for ever (0); again: from now on. When this returns,
 * it holds. protocol: TCP, UDP, UDP-Lite, SCTP, DCCP. Not for a group: who else is there sees the same flows,
 * and which are whose must be known. */
int st_ruleset_open(struct st_ruleset *r, const struct st_addr *addr, uint8_t protocol, uint16_t port,
                    uint64_t timeout_ms, struct st_error *err);

/* New TCP connections to there begin without a question, and are told of by ST_NFLOG_BEGUN: their data are
 * asked about as under ST_MARK_NAME. Not by group, and only where begun is. */
int st_ruleset_open_name(struct st_ruleset *r, const struct st_addr *addr, uint16_t port, uint64_t timeout_ms,
                         struct st_error *err);

/* No destination is open any more; flows that are go on. */
int st_ruleset_close_all(struct st_ruleset *r, struct st_error *err);

/* The dead man's switch, each second. */
int st_ruleset_renew(struct st_ruleset *r, struct st_error *err);

/* At once, and for good unless renewed: nothing leaves but by lo. */
int st_ruleset_cut(struct st_ruleset *r, struct st_error *err);

/* Only what passed our rules leaves by this device (never lo): what a packet socket writes does not. Again:
 * no harm. -EOPNOTSUPP: the kernel has no such hook. */
int st_ruleset_guard(struct st_ruleset *r, const char *device, struct st_error *err);

int st_ruleset_remove(struct st_ruleset *r, struct st_error *err);
