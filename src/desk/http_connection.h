/* http_connection: one request from its first line to its answer. Private to the server. */
#pragma once

#include "desk/http_hub.h"
#include "desk/http_pool.h"

#include <microhttpd.h>

struct st_stream;

struct st_server {
    struct st_desk *desk;
    struct st_pool *pool;
    struct MHD_Daemon *daemon;
    struct st_stream *streams;
    bool local; /* by a local socket */
};

enum st_conn_state { ST_CONN_NEW, ST_CONN_BODY, ST_CONN_WORKED_ON, ST_CONN_DONE };

struct st_connection {
    struct st_job job; /* first: the pool gives it back */
    struct st_server *server;
    struct MHD_Connection *mhd;
    enum st_conn_state state;
    char *uri;
    const struct st_route *route;
    bool too_long;
    struct st_http_request request;
    struct st_http_answer answer;
    struct st_session *session;
};

/* Callbacks of the library; cls is the server. */
void *st_connection_begin(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result st_connection_go_on(void *cls, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version, const char *data, size_t *len,
                                    void **at);
void st_connection_end(void *cls, struct MHD_Connection *mhd, void **at, enum MHD_RequestTerminationCode why);

/* http_stream.c. NULL: the answer has the refusal. */
struct MHD_Response *st_stream_response(struct st_connection *c);
void st_streams_wake(struct st_server *server);
