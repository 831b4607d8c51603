/* worker_private: what worker.c (events) and worker_start.c (opening) share. */
#pragma once

#include "audit/sign.h"
#include "monitor/control.h"
#include "monitor/engines.h"
#include "monitor/files.h"
#include "monitor/mutations.h"
#include "monitor/network.h"
#include "monitor/news.h"
#include "monitor/pipeline.h"
#include "monitor/quarantine.h"
#include "monitor/record.h"
#include "monitor/scout.h"
#include "monitor/warden.h"
#include "sensors/places.h"

struct st_worker {
    struct st_watch *watch;
    const struct st_loss *loss;
    int link;
    struct st_loop loop;
    struct st_control control;
    struct st_engines engines;
    struct st_bus bus;
    struct st_teller teller;
    struct st_news news; /* tells control, bus and sinks what was recorded */
    struct st_signer *signer;
    struct st_buf filter;         /* that it is confined by */
    struct st_pipeline pipeline;  /* policy, trace, pauses */
    struct st_membership members; /* who belongs to the container */
    struct st_files files;
    unsigned opens; /* in a row, without a call in between */
    struct st_mutations mutations;
    struct st_processes processes;
    struct st_network network;
    struct st_places
        places;            /* of the machine that no container may reach, until this one has been looked at */
    struct st_buf reach;   /* what the container can reach past the watch; empty: nothing */
    struct st_scout scout; /* looks for its network before the container is met */
    bool continued;        /* the trace has records of an earlier run */
    bool exited;           /* the first process has ended; others may still be in the group */
    bool summed;           /* the summary of the file system is */
    bool sealed;           /* stop record and final checkpoint are in the trace, or in its batch */
    bool warden_lost;
    struct st_quarantine quarantine;
    int64_t poll_ns;   /* look at the group again at this time (v1 tells nobody that it is empty); 0: no */
    int64_t retry_ns;  /* the trace could not be written: frozen, try again at this time; 0: all is well */
    int64_t failed_ns; /* since when */
    struct st_error failure;
    bool trace_lost; /* no retry will help: this worker ends, the next one looks what is there */
    struct st_stop_facts stop;
};

/* Signer, policy, filter: what needs no container yet. */
int st_worker_prepare(struct st_worker *w, struct st_error *err);
/* The network is looked for from here on, where it can be before the container is named. */
void st_worker_scout(struct st_worker *w);
/* The container, once it is named. prepared: there is something to do until then. */
int st_worker_meet(struct st_worker *w, bool prepared, struct st_error *err);
/* Trace, sensors, control socket, state file, bus: all that needs the privileges that go next. */
int st_worker_open(struct st_worker *w, struct st_error *err);

/* For the loop: whose turn is next, and the turns. */
struct st_loop_eager st_worker_eager(void *ctx, int last);
bool st_worker_on_eager(void *ctx, int fd, short events);
void st_worker_on_files(void *ctx, uint32_t events);

/* The policy that the order names, in the mode that it asks for. diags may be NULL. */
int st_worker_load_policy(const struct st_order *o, struct st_policy **out, struct st_diagnostics *diags,
                          struct st_error *err);

/* state.json as it is now. */
int st_worker_write_state(struct st_worker *w, struct st_error *err);

/* Now, without looking at it first. */
void st_worker_end_container(struct st_worker *w);
/* As the pipeline asks for it. */
void st_worker_kill(void *ctx, const struct st_violation *why);
void st_worker_on_link(void *ctx, uint32_t events);
void st_worker_record_sensor(struct st_worker *w, const char *name, const char *state, const char *detail);
/* Has it ended, and is there nothing left to wait for? Then the trace is sealed. */
void st_worker_look(struct st_worker *w);

/* The first record, on disk: start, or (with w->loss) the loss of the worker before. */
int st_worker_record_start(struct st_worker *w, struct st_error *err);

/* Answers requests of the control socket; see st_control_answer. */
bool st_worker_answer(void *ctx, struct st_client *client, const char *request,
                      const struct st_json_node *body, struct st_buf *out);
