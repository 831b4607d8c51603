/* http_gate: may this request be answered at all? Host, origin, log-in, CSRF token, read-only: decided here
 * and nowhere else, before anything of the request's own is looked at. */
#pragma once

#include "desk/http_login.h"

/* What a route is. */
enum {
    ST_ROUTE_OPEN = 1,    /* without a log-in: nothing in it is data */
    ST_ROUTE_ACTS = 2,    /* changes something: not in read-only mode, and not by a page of somebody else */
    ST_ROUTE_LOGIN = 4,   /* gives or takes a session */
    ST_ROUTE_METRICS = 8, /* open where metrics are */
    ST_ROUTE_STREAM = 16,
    ST_ROUTE_QUICK = 32, /* answered at once: neither the database nor a monitor is asked */
};

struct st_gate {
    struct st_login *login;
    bool read_only, metrics_open;
};

/* 0: go on; r->user is who is logged in, *session theirs (NULL: by the token). Else the status of the refusal
 * in a. */
unsigned st_gate_check(const struct st_gate *g, struct st_http_request *r, unsigned route, int64_t now_ns,
                       struct st_session **session, struct st_http_answer *a);

/* Names by which a server of this machine only can be asked for: localhost, 127.0.0.1, [::1], any port. A
 * name that somebody's DNS leads here is none of them. */
bool st_gate_host_fits(const char *host);
