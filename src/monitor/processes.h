/* processes: the sensor of processes at work in the monitor: keeps the book (sensors/tree.h) by what the
 * kernel tells, records who ended and how, and judges a process that nobody had asked about as soon as it is
 * there.
 *
 * Asking before is for policies that want it: a task that waits for our answer to fork(2) gets EINTR where a
 * signal comes whose handler does not restart calls, which shells do not expect.
 *
 * Where the kernel can't be asked for news (no BPF, no control group of version 2), the book is kept by what
 * forks ask and by counting who is there: a later look than the fact, which is declared. */
#pragma once

#include "monitor/loop.h"
#include "monitor/pipeline.h"
#include "sensors/process_stream.h"
#include "sensors/tree.h"

#include <linux/seccomp.h>

struct st_processes {
    struct st_pipeline *pipeline;
    struct st_tree *tree; /* NULL: not watched */
    struct st_process_stream stream;
    bool streaming;
    char detail[256];   /* why not */
    bool more;          /* is told already than was taken in: at the next turn */
    uint64_t lost;      /* pieces of news that are declared lost */
    uint64_t let_since; /* without news: forks that were let since all were counted */
    /* Judged too late, and too often for a record each: */
    uint64_t over;
    int64_t over_first_us, over_recorded_ns;
    pid_t init;      /* the container's first process; 0: it has ended, or is not there yet */
    bool init_ended; /* as init_status says */
    int init_status;
};

void st_processes_init(struct st_processes *p);

/* What needs no container yet. forks_ask: who forks asks before. polled: the kernel is not to be asked for
 * news. */
void st_processes_prepare(struct st_processes *p, bool forks_ask, bool polled);

/* The container is there. */
void st_processes_meet(struct st_processes *p, struct st_pipeline *pipeline, struct st_watch *w);
int st_processes_attach(struct st_processes *p, struct st_loop *loop, struct st_error *err);

/* What the kernel has told by now, a good deal of it at a time. */
void st_processes_settle(struct st_processes *p);

/* A process is about to run a file, if it is let: what it runs is known by name when it is gone already. */
void st_processes_will_run(struct st_processes *p, pid_t pid, uint64_t ino, struct st_str path);

/* Was it seen to run a program in the container, or may that have been lost? Then it is no runtime on its way
 * in, whatever it runs now. false where the kernel tells nothing (streaming). p may be NULL. */
bool st_processes_has_run(struct st_processes *p, pid_t pid);

/* Has everything been taken in that processes had done when this was asked? false where the kernel tells
 * nothing, or something was lost. p may be NULL. */
bool st_processes_all_told(struct st_processes *p);

/* How the first process ended, as waitpid has it. false: it is not told. For kernels that show that to nobody
 * once somebody has waited for it. */
bool st_processes_init_status(const struct st_processes *p, int *status);

/* A seccomp notification: does this call make a process? */
bool st_processes_is_fork(const struct seccomp_data *call);

/* May this task make one, as far as the limits go? Then it is let. Else counts say why not. */
bool st_processes_let(struct st_processes *p, pid_t tid, const struct seccomp_data *call,
                      struct st_tree_counts *counts);

/* It was let whatever the limits say. */
void st_processes_approved(struct st_processes *p, pid_t tid, const struct seccomp_data *call);

/* The event of a process too many; who is the caller's. */
void st_processes_describe(const struct st_processes *p, const struct st_tree_counts *counts,
                           struct st_event *ev);

/* The last of it is recorded; totals stay. */
void st_processes_end(struct st_processes *p);
void st_processes_close(struct st_processes *p);
