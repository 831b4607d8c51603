/* desk: what every answer of the review desk is made from. One of it for a server; workers (http_pool.h) have
 * a database each. Nothing in it changes while it serves but the log-in, which the loop alone touches. */
#pragma once

#include "desk/db.h"
#include "desk/http_gate.h"
#include "desk/live.h"

struct st_stream_hub;
struct st_pool;

struct st_desk {
    const char *db_path, *quarantine_dir;
    const struct st_live *live;
    struct st_gate gate;
    struct st_stream_hub *hub;
    struct st_pool *pool;
    int64_t started_ns;
};

/* One request on its way. */
struct st_call {
    struct st_desk *desk;
    struct st_http_request *r;
    struct st_http_answer *a;
    struct st_session *session; /* NULL: by the token, or open; only for what is answered at once */
    struct st_db **db;          /* the worker's, opened by st_call_db(); NULL: there is none */
};

typedef void st_handler(struct st_call *c);

struct st_route {
    const char *method, *pattern; /* a * stands for one part of the path: an ID */
    unsigned flags;
    st_handler *handler;
};

/* NULL: a has the refusal (404, 405). The tail of r is set. */
const struct st_route *st_route_find(struct st_http_request *r, struct st_http_answer *a);

/* Those there are, ends in one without a pattern. */
const struct st_route *st_routes(void);

/* The database, or NULL and a 503 that says why. */
struct st_db *st_call_db(struct st_call *c);

/* 400, and what is wrong with the request. */
void st_call_bad(struct st_call *c, const struct st_error *err);

/* 500, and what failed; 503 where it may pass. */
void st_call_failed(struct st_call *c, const struct st_error *err);

/* Open reviews. */
int64_t st_call_quarantined(const struct st_call *c);

/* Handlers, by file. */
st_handler st_answer_index, st_answer_asset, st_answer_root; /* http_static.c */
st_handler st_answer_health, st_answer_session, st_answer_login, st_answer_login_link,
    st_answer_logout;                                 /* http_session.c */
st_handler st_answer_events, st_answer_event;         /* http_events.c */
st_handler st_answer_summary;                         /* http_summary.c */
st_handler st_answer_timeline;                        /* http_timeline.c */
st_handler st_answer_flows;                           /* http_flows.c */
st_handler st_answer_containers, st_answer_container; /* http_containers.c */
st_handler st_answer_pending, st_answer_approve, st_answer_deny, st_answer_pause, st_answer_resume,
    st_answer_kill;                                                     /* http_act.c */
st_handler st_answer_reviews, st_answer_review, st_answer_review_close; /* http_reviews.c */
st_handler st_answer_verify;                                            /* http_traces.c */
st_handler st_answer_metrics;                                           /* http_metrics.c */
st_handler st_answer_openapi;                                           /* http_static.c */
