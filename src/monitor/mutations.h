/* mutations: the sensor of changes at work in the monitor: what a seccomp notification asks becomes an event
 * that is judged before it happens, and the answer goes back.
 *
 * Calls that the kernel would refuse by itself (no such file, exists already) get that error and are no
 * event. The runtime, while it sets a process up, passes. */
#pragma once

#include "base/error.h"
#include "monitor/askings.h"
#include "monitor/commission.h"
#include "monitor/depth.h"
#include "monitor/guards.h"
#include "monitor/hands.h"
#include "monitor/loop.h"
#include "monitor/memfd.h"
#include "monitor/opened.h"
#include "monitor/pipeline.h"
#include "monitor/processes.h"
#include "monitor/syscalls.h"
#include "sensors/notify.h"
#include "sensors/process.h"
#include "sensors/request.h"
#include "sensors/resolve.h"

struct st_mutations {
    struct st_pipeline *pipeline;
    struct st_notify *notify;
    struct st_loop *loop;
    struct st_hands hands;
    bool resolved; /* object and target are those of the present question */
    bool resting;  /* no room for more that is held: taken out of the loop */
    enum st_memfd memfd;
    struct st_askings askings;
    struct st_asking *current; /* being judged right now: an answer is not a late one */
    struct st_membership members;
    uint64_t setup_uses, plain_errors;
    struct st_opened opened;
    const struct st_ev_filesystem
        *opening; /* the open that is being judged, as the kernel is going to name it; or NULL */
    struct st_processes *processes; /* NULL: not watched */
    const struct st_guards *guards; /* NULL: files are not watched */
    struct st_depth_watch *depth;   /* NULL: likewise */
    struct st_resolver_kept kept;
    struct st_own_mounts writable;
    struct st_syscalls syscalls;
    const struct st_process_facts *who; /* asks right now */
    /* scratch */
    struct st_process_room room;
    struct st_request request;
    struct st_resolved object, target;
    struct st_errand errand;
    struct st_buf args; /* of a syscall, as JSON */
};

/* Bind the socket of the order. All of *m is zero. */
int st_mutations_open(struct st_mutations *m, struct st_pipeline *p, struct st_watch *w,
                      struct st_error *err);
int st_mutations_attach(struct st_mutations *m, struct st_loop *loop, struct st_error *err);
/* For the loop: who asks again at once. */
int st_mutations_eager(const struct st_mutations *m);
void st_mutations_work_eager(struct st_mutations *m, short events);
void st_mutations_close(struct st_mutations *m);
