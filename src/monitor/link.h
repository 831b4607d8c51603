/* link: what warden and worker say to each other: fixed structs over a socket pair, nothing to parse.
 *
 * The warden trusts no worker: a message that is not expected now, or of the wrong size, is taken for
 * a worker gone wrong. */
#pragma once

#include <stdint.h>

enum st_link_kind {
    /* worker to warden */
    ST_LINK_READY = 1, /* first record is on disk; once */
    ST_LINK_FAILED,    /* could not start; text says why; once, instead of READY */
    ST_LINK_RECORDED,  /* a recovering worker has recorded the failure of the one before it; once. value 1:
                          and has a snapshot taken; it says KILL itself */
    ST_LINK_DONE,      /* the container has ended and the trace is sealed; exits next */
    ST_LINK_KILL,      /* kill the container (value: why, enum st_link_why) */
    ST_LINK_NETWORK,   /* with the socket that owns the rules of the network; once, before READY */
    ST_LINK_SNAPSHOT,  /* with a socket for sandtrace-snapshot (snapshot.h), which is to be started */
    /* warden to worker */
    ST_LINK_MEET, /* the container's first process is value; once, to a worker that was started before it */
    ST_LINK_STALLED, /* you stood still for value ms; the container was frozen meanwhile and runs again */
};

struct st_link_message {
    uint32_t kind;
    uint32_t reserved;
    int64_t value;
    char text[2048]; /* NUL-terminated; FAILED only */
};

/* 0 or -errno. A message is sent and received whole (SOCK_SEQPACKET). */
int st_link_send(int fd, enum st_link_kind kind, int64_t value, const char *text);

/* The same with an fd, which stays the sender's. */
int st_link_send_fd(int link, enum st_link_kind kind, int fd);

/* 1: got one; 0: the other side is gone; -EAGAIN: none waits; other negative: not a message. */
int st_link_receive(int fd, struct st_link_message *out);

/* The same where an fd may come with it: the caller's from then on; -1: none did. */
int st_link_receive_fd(int fd, struct st_link_message *out, int *passed);

/* Why a worker that has ended did not start: by its own message where that is still there. */
const char *st_link_last_words(int fd, struct st_link_message *m);
