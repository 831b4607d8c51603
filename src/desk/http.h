/* http: what a request of the review desk is, and what an answer. Knows no library: who serves
 * (http_server.h) fills in the one and sends the other, and tests do without a network. */
#pragma once

#include "base/buf.h"
#include "desk/http_query.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_HTTP_BODY_MAX 8192
#define ST_HTTP_USER_MAX 64

struct st_http_request {
    const char *method, *path; /* the path as it was sent, without the query */
    struct st_query query;
    /* Headers; NULL: there is none. */
    const char *host, *origin, *fetch_site, *cookie, *authorization, *csrf, *content_type, *etag;
    struct st_buf body;
    bool local; /* by a local socket: peer_uid is the kernel's word */
    unsigned peer_uid;
    char user[ST_HTTP_USER_MAX + 1]; /* who is logged in; "": nobody */
    const char *tail;                /* what stands in the place of * in the route: an ID */
    size_t tail_len;
};

struct st_http_answer {
    unsigned status;
    const char *type;  /* static; NULL: application/json */
    const void *fixed; /* bytes that stay; NULL: body */
    size_t fixed_len;
    struct st_buf body;
    /* Headers; empty: not sent. */
    char location[128], cookie[256], etag[80];
    unsigned retry_after; /* seconds */
};

void st_http_request_free(struct st_http_request *r);
void st_http_answer_free(struct st_http_answer *a);

/* {"error":{"code":…,"message":…}}. code: a word that stays; message: for people. Returns status. */
unsigned st_http_refuse(struct st_http_answer *a, unsigned status, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
