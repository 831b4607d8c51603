/* nfqueue: packets that wait for our word. Who binds the queue and dies, or unbinds, drops all that wait.
 *
 * An inbound packet that says it came in by lo may be of the container's own making (a packet socket can put
 * any frame there): an answer of DNS by lo counts only where its query left by lo. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_NFQUEUE_LENGTH 16384              /* packets that may wait */
#define ST_NFQUEUE_BUFFER (16 * 1024 * 1024) /* bytes of those that we have not read */

/* For one packet, as large as they come. */
struct st_nfqueue_room {
    _Alignas(8) char bytes[128 * 1024];
};

/* What an answer to a packet needs. */
struct st_nfqueue_ticket {
    uint32_t id;
    uint32_t mark; /* that the packet bears */
};

struct st_nfqueue_packet {
    struct st_nfqueue_ticket ticket;
    uint8_t hook;           /* NF_INET_LOCAL_OUT, NF_INET_LOCAL_IN, NF_INET_FORWARD */
    uint32_t indev, outdev; /* 0: none */
    int64_t uid;            /* of the socket's owner; -1: not told */
    bool checksum_pending;  /* the transport's checksum is yet to be filled in */
    bool bundle;            /* of several that are cut apart later: UDP, each a datagram of its own */
    bool whole;             /* all of the packet is in bytes */
    const uint8_t *bytes;   /* from the IP header on */
    size_t len;
};

/* Of a socket of its own (st_nfsock_open(ST_NFQUEUE_BUFFER)). fail_open: what finds no room goes through, as
 * an audit wants it; else it is dropped. */
int st_nfqueue_bind(int fd, uint16_t queue, bool fail_open, struct st_error *err);
int st_nfqueue_unbind(int fd, uint16_t queue, struct st_error *err);

/* Whatever waits, up to max packets, and the rest of what was read with the last of them: up to n at a time.
 * bytes are valid during each() only. Returns how many, 0: none; -errno:
 * the socket is of no use. Messages that are not what they should be are not given (their packet waits, and
 * goes with the queue) but counted in *malformed, which may be NULL. */
int st_nfqueue_read(int fd, struct st_nfqueue_room *rooms, unsigned n, unsigned max,
                    void (*each)(void *ctx, const struct st_nfqueue_packet *p), void *ctx,
                    uint64_t *malformed);

/* accept with a mark (ruleset.h) says it of the whole flow: ST_MARK_REFUSED is how to refuse so that the
 * application hears of it. accept with mark 0 lets this one packet go; without accept it vanishes, and the
 * flow stays as it was. 0 or -errno (-ENOENT can't be told: no answer is asked for). */
int st_nfqueue_verdict(int fd, uint16_t queue, uint32_t id, bool accept, uint32_t mark);

/* Accepts, with this in the place of the packet: its sender may share the memory that it is in (sendfile,
 * MSG_ZEROCOPY) and have changed it since. len is the packet's own; all sums are filled in. */
int st_nfqueue_replace(int fd, uint16_t queue, uint32_t id, uint32_t mark, const void *bytes, size_t len);

/* Pure: one netlink message, n bytes of which are there. */
bool st_nfqueue_parse(const void *message, size_t n, struct st_nfqueue_packet *out);
