/* control: the socket at which the monitor answers: one JSON object a line. formats.md, 5; docs/control.md.
 *
 * The worker owns it. Peers are judged by the kernel's word (SO_PEERCRED, SO_PEERGROUPS) before a byte of
 * theirs is read. A client that sends too much, too odd or never reads is cut off; none can hold the monitor
 * up, and those of the group can't take all places. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "monitor/loop.h"
#include "monitor/outbox.h"
#include "monitor/ring.h"

#include <stdbool.h>
#include <sys/types.h>

#define ST_CONTROL_CLIENTS 16
#define ST_CONTROL_GROUP_CLIENTS 8 /* of them for others than root */
#define ST_CONTROL_LINE_MAX ((size_t)1 << 20)

struct st_control;

/* Which records a follower wants: sets of bits, by enum st_event_type and enum st_result. */
struct st_interest {
    uint32_t types, results;
};

struct st_client {
    struct st_control *control;
    int fd;
    uid_t uid;
    pid_t pid;       /* who connected */
    bool awaits_end; /* sent `stopped`: is answered when the trace is sealed */
    bool follows;    /* gets each record that the filter lets by */
    bool closing;    /* nothing more is read; gone once it has its answers */
    struct st_interest filter;
    struct st_buf in;
    struct st_outbox out;
    uint32_t watched; /* epoll's events */
};

/* Answers one request into out, which begins as an empty buffer: JSON objects, one a line, the last without
 * newline. Returns false where the answer comes later. */
typedef bool (*st_control_answer)(void *ctx, struct st_client *client, const char *request,
                                  const struct st_json_node *body, struct st_buf *out);

struct st_control {
    int listen_fd;
    int64_t gid;    /* group that may ask, besides root; -1: none */
    const char *id; /* of the container */
    struct st_loop *loop;
    st_control_answer answer;
    /* Is this process one of the container's own? They have nothing to decide; may be NULL. */
    bool (*is_inside)(void *ctx, pid_t pid);
    void *ctx;
    struct st_client clients[ST_CONTROL_CLIENTS];
};

/* Bind control.sock in the state directory. */
int st_control_open(struct st_control *c, int state_dirfd, int64_t gid, const char *id, struct st_error *err);
int st_control_attach(struct st_control *c, struct st_loop *loop, st_control_answer answer, void *ctx,
                      struct st_error *err);

static inline bool st_interest_takes(const struct st_interest *f, const struct st_ring_entry *e)
{
    return (f->types >> e->type & 1) && (f->results >> e->result & 1);
}

/* A record, for those who follow; and at the end of a round, what is to be sent. */
void st_control_tell(struct st_control *c, const struct st_ring_entry *entry, const char *line);
void st_control_flush(struct st_control *c);

/* Bytes of a peer: whole lines are answered, the rest waits for more. Loop and socket are left alone. */
void st_client_feed(struct st_client *client, const char *bytes, size_t n);

/* Tell all who wait for the end, and hang up. */
void st_control_end(struct st_control *c);

/* {"error":{"code":…,"message":…},"ok":false} */
void st_control_refusal(struct st_buf *out, const char *code, const char *message);
