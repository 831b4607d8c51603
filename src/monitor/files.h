/* files: the filesystem sensor at work in the monitor: fanotify's events become events of ours.
 *
 * Sorts out who is meant: host actors on the container's file system pass and are not blamed on it; the
 * runtime, while it sets the container up, passes too; everybody else is judged. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "monitor/depth.h"
#include "monitor/execs.h"
#include "monitor/guards.h"
#include "monitor/late.h"
#include "monitor/memfd.h"
#include "monitor/opened.h"
#include "monitor/pipeline.h"
#include "monitor/processes.h"
#include "monitor/restless.h"
#include "sensors/marks.h"
#include "sensors/notify.h"
#include "sensors/process.h"

struct st_files {
    struct st_pipeline *pipeline;
    struct st_opened *opened;  /* NULL: nothing is notified */
    struct st_notify *filters; /* whose are to be known before a program runs; NULL: likewise */
    struct st_processes *processes;
    int fan;
    int fds;         /* of /proc/self/fd, from where the path of what is opened is found soonest */
    bool refuse_all; /* after a loss, or where it could reach past its watch: nothing is judged any more */
    bool closing;    /* what it must not write is still to be made read-only */
    struct st_membership members;
    pid_t init, self, warden;
    bool init_runs;    /* the first process has executed its program */
    dev_t runtime_dev; /* program of the runtime, which the first process is until then */
    ino_t runtime_ino;
    dev_t memory_dev; /* of files in memory; 0: not known */
    struct st_files_entrant {
        pid_t pid;
        ino_t ino;
        bool runtime;
    } entrant; /* looked at last */
    struct st_guards guards;
    struct st_late late;
    struct st_depth_watch depth;
    struct st_execs execs;
    struct st_restless restless;
    struct st_buf watched;    /* which mounts are, for people */
    struct st_error no_memfd; /* why exec_of_memfd does not hold; errnum 0: it does, or need not */
    enum st_memfd memfd;
    uint64_t host_uses, setup_uses, overflows;
    const struct st_process_facts *who; /* opens right now */
    bool partly;                        /* only what it takes to judge it is known of who */
    struct st_asker asker;              /* who executed last */
    struct st_process_room room;        /* scratch */
    char path[8192];
};

/* Put the marks. All of *f is zero. mounts: the container's, which are taken over, and our own. */
int st_files_open(struct st_files *f, struct st_pipeline *p, struct st_watch *w,
                  struct st_mount_tables *mounts, struct st_error *err);

/* After the loss of a worker: its marks are in the group still, and everything that they report is refused.
 */
void st_files_take_over(struct st_files *f, struct st_pipeline *p, struct st_watch *w);

/* What was reported by now, some of it. false: nothing was. */
bool st_files_work(struct st_files *f);

/* What could not be judged or found yet: when to look again (monotonic ns, or -1), and do so. */
int64_t st_files_deadline(const struct st_files *f);
void st_files_tick(struct st_files *f);

/* There is no work: nothing is kept for more of it. */
void st_files_rest(struct st_files *f);

/* Of the events of files_told.c: what is opened, and whether `who` is the runtime on its way
 * in. */
void st_files_describe(struct st_files *f, int fd, struct st_event *ev);
bool st_files_enters(struct st_files *f);

/* What is told afterwards: mounts that appear, and opens under depth record. */
int st_files_attach(struct st_files *f, struct st_loop *loop);
/* One read of these opens, as st_fan_read. */
int st_files_read_told(struct st_files *f);
/* The kernel's queue was full: on the trace, and in enforce mode the container stands still. */
void st_files_note_loss(struct st_files *f);

/* What was reported and not read yet, when the container has ended. */
void st_files_drain(struct st_files *f);
