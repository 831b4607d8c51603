/* sock_find: the socket that a flow belongs to, as the kernel knows it: its inode and owner's uid. What is
 * opened here belongs to the network namespace of who opens it, goes on showing that one, and pins it. */
#pragma once

#include "base/error.h"
#include "sensors/net/flow_tuple.h"

/* TCP and UDP by sock_diag; raw and ping sockets by /proc/net, which every kernel has. */
struct st_sock_tables {
    int diag;
    int raw4, raw6, ping4, ping6; /* -1: this kernel or namespace has none */
    uint32_t asked;               /* questions so far, by which answers are known */
};

#define ST_SOCK_TABLES_NONE                                                                                  \
    {                                                                                                        \
        .diag = -1, .raw4 = -1, .raw6 = -1, .ping4 = -1, .ping6 = -1                                         \
    }

/* In the network namespace of the calling thread. */
int st_sock_tables_open(struct st_sock_tables *out, struct st_error *err);
void st_sock_tables_close(struct st_sock_tables *t);

struct st_sock_found {
    uint32_t inode; /* 0: the process has closed it, and the kernel finishes what it had to say */
    uint32_t uid;
    bool listening;      /* it waits for connections, as of a flow that comes in */
    bool raw;            /* a raw socket, which can say that it is any other */
    unsigned candidates; /* more than 1: others would fit as well */
};

/* src is the container's side. ifindex: the device that the packet leaves by or came by; 0: not known. 0,
 * -ENOENT (no socket fits; SCTP's own are not looked for), or another negative errno. Never waits. */
int st_sock_find(struct st_sock_tables *t, const struct st_flow_tuple *flow, unsigned ifindex,
                 struct st_sock_found *out);
