/* network: the sensor of connections at work in the monitor: what a container wants to send or take in
 * becomes an event that is judged before it happens.
 *
 * In the container's network namespace, and in no other, lies a table of ours (sensors/netfilter/ruleset.h;
 * where that is the host's, it is about the container's control group alone) that hands every packet of an
 * undecided flow to a queue. Here it is judged; the answer marks its flow, so that the kernel lets the rest
 * of it by, or not, without asking again. What a name leads to is learned from the answers of the container's
 * resolvers; a flow to such an address is free once it has shown, by the name in its TLS hello or HTTP
 * request, that it means the name that was allowed. docs/network.md. */
#pragma once

#include "base/error.h"
#include "monitor/loop.h"
#include "monitor/netshare.h"
#include "monitor/pipeline.h"
#include "sensors/callers.h"
#include "sensors/net/dns_answer.h"
#include "sensors/net/dns_asked.h"
#include "sensors/net/dns_tally.h"
#include "sensors/net/flow_book.h"
#include "sensors/net/names.h"
#include "sensors/net/reassembly.h"
#include "sensors/net/resolvers.h"
#include "sensors/netfilter/links.h"
#include "sensors/netfilter/nfqueue.h"
#include "sensors/netfilter/ruleset.h"
#include "sensors/raw_reply.h"
#include "sensors/sock_owner.h"

struct st_network {
    struct st_pipeline *pipeline;
    struct st_loop *loop;
    bool on, failed;
    ino_t ahead;     /* opened in this namespace before the container was met; 0: it was not */
    bool bound;      /* the queue is */
    unsigned logged; /* so are that many of the logs */
    bool inherited;  /* of a worker that was lost: only to be taken away */
    bool enforce;    /* else everything passes, and is recorded */
    bool in_use;     /* there was a flow, or there may have been */
    bool by_group;   /* in the host's network: only what is of the container's control group */
    int rules_fd, queue_fd, events_fd, dump_fd, links_fd, frames_fd, begun_fd;
    int diag_fd; /* by group */
    struct st_raw_reply replies;
    struct st_netshare share; /* with monitors of the same namespace: one keeps the rules */
    struct st_ruleset rules;
    struct st_ruleset_order order;
    char table[ST_RULESET_NAME]; /* of that order, by group */
    struct st_resolvers resolvers;
    bool raw_sockets; /* the container can make its own packets: what comes in by lo may be its own */
    bool inner_names; /* a name may lead to an address of a private network */
    bool limits;      /* some rule counts bytes */
    bool simple;      /* a verdict depends on nothing but the connection: it may be kept */
    struct st_network_outside { /* where the container may change its network: network_outside.c */
        bool on;
        bool kept; /* the devices that came first are held */
        bool lost; /* one is not: it is about to end */
        int post;  /* outpost.h; the watch's */
        int home;  /* our own network's namespace */
        int asked; /* socket within, by which it is asked what that is called there */
    } outside;
    struct st_membership members;
    struct st_names *names;
    struct st_flow_book *book;
    struct st_flows *streams; /* beginnings of flows whose name is yet to be told, and of DNS over TCP */
    struct st_dns_asked *asked;
    struct st_dns_tally *tally;
    struct st_callers callers; /* off: the owner of each socket is looked for */
    struct st_sock_owners *owners;
    int64_t looked_ms; /* since then that many open files were looked at, to find whose a flow is */
    unsigned looked;
    int64_t renew_ns; /* the dead man's switch; 0: there is none */
    int64_t retry_ns; /* become the keeper; 0: not about to */
    unsigned retries;
    int64_t news_ns;  /* news of flows are not heard before; 0: at once */
    int64_t check_ns; /* look after flows whose first packets wait; 0: there are none */
    size_t n_waiting, n_held;
    uint64_t unread;  /* messages of the kernel that we could not read */
    uint32_t frames;  /* that packet sockets wrote and that did not leave: the number of the next one */
    uint32_t begun;   /* connections by name that the kernel let begin: likewise */
    bool lets_begin;  /* it may have */
    char detail[512]; /* how it is done here, for the first record */
    /* scratch */
    struct st_dns_message message;
    struct st_dns_answers answers;
    uint8_t reply[2048];
    struct st_nfqueue_room rooms[4];
};

/* Installs the table and opens all sockets; where the policy limits the network and that can't be kept here
 * (host network, CAP_NET_ADMIN), the container must not start. Not on: there is nothing to watch, detail says
 * why. */
int st_network_open(struct st_network *n, struct st_pipeline *p, struct st_watch *w, struct st_error *err);
/* As much of it as can be done as soon as there is the network namespace that will be the container's alone
 * (scout.h); st_network_open() does the rest, or all anew where it turns out to be another. */
int st_network_open_ahead(struct st_network *n, struct st_pipeline *p, const struct st_watch *w, int ns,
                          struct st_error *err);
/* After the loss of a worker: what it had installed lets nothing by any more, and is to be taken away in the
 * end. */
void st_network_inherit(struct st_network *n, struct st_pipeline *p, struct st_watch *w);

/* Is the container held to a policy that could refuse it anything of the network? */
bool st_network_limits(const struct st_network *n);

int st_network_attach(struct st_network *n, struct st_loop *loop, struct st_error *err);

/* Where the container may change its network: each device that it has got so far is held. Before it is let do
 * anything. */
void st_network_settle(struct st_network *n);

/* The policy is another: what was decided for good is asked again. */
void st_network_reconsider(struct st_network *n);

/* When something is due (monotonic ns, or -1), and what is. */
int64_t st_network_deadline(const struct st_network *n);
void st_network_tick(struct st_network *n);

/* The dead man's switch: the same. */
int64_t st_network_renewal(const struct st_network *n);
void st_network_renew(struct st_network *n);

/* Nothing leaves any more. */
void st_network_cut(struct st_network *n);

/* The container has ended: what is left to be recorded. */
void st_network_drain(struct st_network *n);

/* Takes the table away and closes everything. */
void st_network_close(struct st_network *n);

/* Before the process ends: as closing, but where nobody else has the network, which goes with the container,
 * sockets are left to that end. The kernel takes some ten milliseconds to close them. */
void st_network_leave(struct st_network *n, const struct st_order_network *order);
