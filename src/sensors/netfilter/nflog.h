/* nflog: frames that a device's guard (st_ruleset_guard()) did not let out. They came from packet sockets:
 * everything else is stamped on its way. Each has a number: where one is missing, some were lost. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_NFLOG_GROUP 5353 /* of the namespace in which the guard is */

struct st_nflog_frame {
    uint32_t seq; /* from 0, one by one */
    uint32_t outdev;
    int64_t uid;          /* of the socket's owner; -1: not told */
    const uint8_t *bytes; /* behind the link's own header, the first of them */
    size_t len;
    uint16_t protocol; /* ETH_P_*, as the sender says */
};

/* A socket of the present namespace that is given the frames. */
int st_nflog_open(struct st_error *err);

/* As st_conntrack_read(); bytes are valid during each() only. -ENOBUFS: some were lost (seq says how many).
 */
int st_nflog_read(int fd, unsigned max, void (*each)(void *ctx, const struct st_nflog_frame *frame),
                  void *ctx);

/* Pure: one netlink message, n bytes of which are there. */
bool st_nflog_parse(const void *message, size_t n, struct st_nflog_frame *out);
