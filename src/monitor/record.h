/* record: payloads of the records that the monitor makes of itself and of the container's life. Pure: facts
 * in, canonical JSON out. */
#pragma once

#include "base/buf.h"
#include "monitor/processes.h"
#include "monitor/syscalls.h"
#include "monitor/teller.h"
#include "monitor/warden.h"
#include "monitor/watch.h"

#include <stdint.h>

struct st_policy_facts {
    const char *name, *sha256, *mode;
};

struct st_start_facts {
    pid_t worker;
    const struct st_processes *processes;
    const char *files;                    /* what of the file systems is watched; NULL: nothing */
    const char *reach;                    /* what it can reach past the watch; NULL: nothing */
    const char *network, *network_detail; /* "on", "joined" (another monitor judges), "degraded", "off" */
};

/* lifecycle, op "start". */
void st_record_start(struct st_buf *out, const struct st_watch *w, const struct st_policy_facts *policy,
                     const struct st_start_facts *facts);

struct st_stop_facts {
    bool status_known;
    int status; /* of waitpid */
    const char *reason;
    uint64_t events, refused; /* records of this run, this one included */
    int64_t duration_ms;
    const struct st_tree_totals *processes; /* NULL: not watched */
    const struct st_syscalls *syscalls;     /* NULL: nobody asked about any */
};

/* lifecycle, op "stop". */
void st_record_stop(struct st_buf *out, const struct st_stop_facts *facts);

/* sensor: one of our own parts changed its state. detail may be NULL. */
void st_record_sensor(struct st_buf *out, const char *name, const char *state, const char *detail);

struct st_trace_gap {
    const char *reason;
    uint64_t not_recorded; /* uses that were refused for it, and requests that were not carried out */
    int64_t duration_ms;
};

/* sensor: the trace could not be written for a while. */
void st_record_trace_gap(struct st_buf *out, const struct st_trace_gap *gap);

/* sensor: a sink lost records, can't be reached, or is reached again. r NULL: the teller is gone. */
void st_record_sink(struct st_buf *out, const struct st_tell_report *r, const char *sink);

/* sensor, of a worker that was lost. */
void st_record_loss(struct st_buf *out, const struct st_loss *loss, const char *then);
