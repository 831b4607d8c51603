/* backend: what a kind of sink has to do; the rest is in sink.c. Private to src/audit/sinks. */
#pragma once

#include "audit/sinks/queue.h"
#include "base/error.h"

#include <poll.h>

struct st_backend_state {
    const char *target; /* a path; "" where there is none */
    int fd;             /* -1: not connected */
    size_t done;        /* bytes of the present record that are out */
    pid_t pid;          /* exec: of the program that runs, fd is its pidfd; 0: none */
    int64_t kill_ns;    /* exec: when it has had its time */
};

enum st_send {
    ST_SENT, /* the record is out */
    ST_WAIT, /* not now: wait for what poll says */
    ST_LOST, /* this record can't be sent; err says why */
    ST_GONE  /* nobody is there; keep the record, close, try again later */
};

struct st_backend {
    bool lines; /* a reader gets lines: losses are told in between */
    /* NULL: nothing to connect to. Never waits. */
    int (*connect)(struct st_backend_state *s, struct st_error *err);
    enum st_send (*send)(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                         struct st_error *err);
    void (*close)(struct st_backend_state *s);
    /* NULL: fd for POLLOUT. */
    int (*poll)(const struct st_backend_state *s, short *events);
};

extern const struct st_backend st_backend_file, st_backend_stdout, st_backend_unix, st_backend_syslog,
    st_backend_journald, st_backend_exec;

/* Closes fd; for backends that have no more than that. */
void st_backend_close_fd(struct st_backend_state *s);

/* The syslog priority (0 to 7) of a record. */
int st_backend_priority(const struct st_queued *item);
