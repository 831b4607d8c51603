/* raw_reply: sends a ready IP packet (net/packet_reply.h) to the container itself, as if the one it was
 * talking to had answered. Its sockets belong to the network namespace of who opens them, and pin it.
 *
 * The packet goes over lo, as all that goes to an address of one's own, through output and input chains. It
 * should not be tracked there: where conntrack takes it for the beginning of a flow, all that the container
 * sends that way is an answer to it, and established. Hence the mark. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct st_raw_reply {
    int fd4, fd6; /* fd6 -1: no IPv6 here */
};

#define ST_RAW_REPLY_NONE                                                                                    \
    {                                                                                                        \
        .fd4 = -1, .fd6 = -1                                                                                 \
    }

/* In the network namespace of the calling thread. CAP_NET_RAW is needed here and not later; so is
 * CAP_NET_ADMIN for the mark that every packet has (0: none). */
int st_raw_reply_open(struct st_raw_reply *out, uint32_t mark, struct st_error *err);
void st_raw_reply_close(struct st_raw_reply *r);

/* ifindex: the device that the question was about to leave by, for addresses that are local to a link; 0: not
 * known. 0, or -errno. Never waits. */
int st_raw_reply_send(const struct st_raw_reply *r, const uint8_t *packet, size_t n, unsigned ifindex);
