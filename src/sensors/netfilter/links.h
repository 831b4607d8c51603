/* links: the network devices of the namespace, and news of them. */
#pragma once

#include "base/error.h"

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct st_device {
    int index;
    char name[IF_NAMESIZE];
    bool up, loopback;
    bool gone;     /* removed, or moved to another namespace */
    int other;     /* index of the device that it is made on, or of a cable's other end; 0: none */
    int other_ns;  /* number of the namespace where that is; -1: in this one */
    char kind[16]; /* "veth", "macvlan" …; "": of the machine */
};

/* A socket of the present namespace which tells first of all devices, then of what changes. */
int st_links_open(struct st_error *err);

/* Asks for all devices again: after -ENOBUFS. */
int st_links_ask(int fd, struct st_error *err);

/* Whatever is there. Returns how many, 0: none; -ENOBUFS: some were lost; other: the socket is of no use. */
int st_links_read(int fd, void (*each)(void *ctx, const struct st_device *link), void *ctx);

/* Pure: one netlink message, n bytes of which are there. false: not one about a device. */
bool st_links_parse(const void *message, size_t n, struct st_device *out);
