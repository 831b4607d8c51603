/* nflog: what the rules tell of and do not ask about, in groups of the namespace in which they are. Each
 * packet has a number: where one is missing, some were lost. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames that a device's guard (st_ruleset_guard()) did not let out. They came from packet sockets:
 * everything else is stamped on its way. */
#define ST_NFLOG_GROUP 5353
/* First packets of connections that go by a name (st_ruleset_open_name()). */
#define ST_NFLOG_BEGUN 5354

#define ST_NFLOG_BUFFER (4 * 1024 * 1024) /* bytes of those that we have not read */

struct st_nflog_frame {
    uint32_t seq; /* from 0, one by one */
    uint32_t outdev;
    int64_t uid;          /* of the socket's owner; -1: not told */
    const uint8_t *bytes; /* behind the link's own header, the first of them */
    size_t len;
    uint16_t protocol; /* ETH_P_*, as the sender says */
};

/* fd: a socket of its own (st_nfsock_open(ST_NFLOG_BUFFER)), which is given the packets of the group. -EPERM:
 * another one is. */
int st_nflog_bind(int fd, uint16_t group, struct st_error *err);

/* As st_conntrack_read(); bytes are valid during each() only. -ENOBUFS: some were lost (seq says how many).
 */
int st_nflog_read(int fd, unsigned max, void (*each)(void *ctx, const struct st_nflog_frame *frame),
                  void *ctx);

/* Pure: one netlink message, n bytes of which are there. */
bool st_nflog_parse(const void *message, size_t n, struct st_nflog_frame *out);
