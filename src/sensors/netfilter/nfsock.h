/* nfsock: netlink sockets of the namespace in which they were opened, as plain fds: they may be inherited,
 * passed on and shared. Only the kernel's own messages are read: with CAP_NET_ADMIN a process of the
 * namespace can send to any netlink socket there. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* NETLINK_NETFILTER, close-on-exec, non-blocking, bound. rcvbuf 0: as the system has it. */
int st_nfsock_open(int rcvbuf, struct st_error *err);

/* The same for any netlink protocol, with multicast groups as a bit mask. */
int st_nfsock_open_groups(int protocol, uint32_t groups, int rcvbuf, struct st_error *err);

/* A switch of SOL_NETLINK. -1 with errno where it fails. */
int st_nfsock_turn_on(int fd, int option);

/* To the kernel; 0 or -errno. What it asks for is done when this returns. */
int st_nfsock_send(int fd, const void *message, size_t n);

/* One datagram of the kernel. Returns its length, -EAGAIN: none is there, -ENOBUFS: some were lost,
 * -EMSGSIZE: it did not fit and is gone. */
ssize_t st_nfsock_receive(int fd, void *room, size_t size);

/* So many at once at most. */
#define ST_NFSOCK_MANY 8

/* All that is there, up to n datagrams, each into the next `size` bytes of the room: one call where one after
 * the other would need a last one that finds nothing. lens: how long each is; 0: not the kernel's; SIZE_MAX:
 * it did not fit and is gone. Returns how many, -EAGAIN or -ENOBUFS as above. */
int st_nfsock_receive_many(int fd, void *room, size_t size, unsigned n, size_t lens[ST_NFSOCK_MANY]);

/* Which message of a batch the kernel refused, and what it said. */
struct st_nfsock_refusal {
    int errnum;   /* positive; 0: none */
    uint32_t seq; /* the first that was refused */
    char why[128];
};

/* Sends requests whose sequence numbers are first to last, and reads what the kernel says about them; the
 * last that can be answered carries NLM_F_ACK. The kernel does the work before send returns: an answer that
 * is not there then was read by somebody else (-ENODATA). What answers other requests is dropped. */
int st_nfsock_batch(int fd, const void *batch, size_t len, uint32_t first, uint32_t last,
                    struct st_nfsock_refusal *refusal, struct st_error *err);

/* Sequence numbers for a while, other ones than those that another process that shares the socket may have
 * asked with. */
uint32_t st_nfsock_seq(void);
