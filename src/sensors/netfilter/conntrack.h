/* conntrack: flows as the kernel tracks them: news of their beginning and, with what they carried, of their
 * end. A flow that the rules refuse is none. */
#pragma once

#include "base/error.h"
#include "model/addr.h"

#include <stddef.h>

#define ST_CONNTRACK_BUFFER (32 * 1024 * 1024) /* some 40,000 news; nothing as long as they are read */

struct st_ct_flow {
    bool ended;
    uint32_t id;
    uint8_t protocol; /* IPPROTO_* */
    /* Who began it; ports are 0 where the protocol has none. */
    struct st_addr src, dst;
    uint16_t src_port, dst_port;
    /* Who answers: another address than dst where it is translated. */
    struct st_addr reply_src;
    uint16_t reply_src_port;
    /* Of the beginner, of the other: IP headers count. UINT64_MAX: not known. */
    uint64_t bytes[2], packets[2];
    int64_t start_ns, stop_ns; /* wall time; 0: not known */
    uint32_t mark;
    uint8_t icmp_type, icmp_code;
    uint16_t icmp_id;
};

/* In the namespace (st_netns_visit): flows that begin from now on are counted and have times. */
int st_conntrack_enable(struct st_error *err);

/* A socket that hears of beginnings and ends in this namespace. Where its buffer is full the kernel keeps the
 * news of an end until there is room; those of a beginning may come late, or not before its end: an end
 * without a beginning stands for both. */
int st_conntrack_open(struct st_error *err);

/* From now on it hears only of flows whose mark has one of these values in these bits: the news of all others
 * are no work to anybody, and none of them waits for us. */
struct st_mark_bits {
    uint32_t value, mask;
};
int st_conntrack_only(int fd, const struct st_mark_bits *marks, size_t n, struct st_error *err);

/* Whatever is there, up to max messages. Returns how many, 0: none; -ENOBUFS: some were lost (call again);
 * other: the socket is of no use. Malformed ones are counted in *malformed, which may be NULL. */
int st_conntrack_read(int fd, unsigned max, void (*each)(void *ctx, const struct st_ct_flow *flow), void *ctx,
                      uint64_t *malformed);

/* All flows that are tracked, with their counters; those that have timed out are evicted by it, which is
 * when the news of their end come. fd: of a socket of its own (st_nfsock_open()). */
int st_conntrack_dump(int fd, void (*each)(void *ctx, const struct st_ct_flow *flow), void *ctx,
                      struct st_error *err);

/* The kernel forgets this flow, and says so as of any end. -ENOENT: it had already. */
int st_conntrack_forget(int fd, const struct st_ct_flow *flow, struct st_error *err);

/* Pure: one netlink message, n bytes of which are there. false: not one about a flow. */
bool st_conntrack_parse(const void *message, size_t n, struct st_ct_flow *out);
