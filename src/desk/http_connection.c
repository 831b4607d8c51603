/* http_connection: see http_connection.h. */
#include "desk/http_connection.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* On every answer. Nothing of ours is framed, guessed at, kept by anybody, or loads anything from elsewhere.
 */
static const struct {
    const char *name, *value;
} always[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
};

void *st_connection_begin(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct st_connection *c = st_xcalloc(1, sizeof(*c));

    c->server = cls;
    c->mhd = mhd;
    c->uri = st_xstrdup(uri);
    return c;
}

void st_connection_end(void *cls, struct MHD_Connection *mhd, void **at, enum MHD_RequestTerminationCode why)
{
    struct st_connection *c = *at;

    (void)cls;
    (void)mhd;
    (void)why;
    if (!c)
        return;
    st_http_request_free(&c->request);
    st_http_answer_free(&c->answer);
    free(c->uri);
    free(c);
    *at = NULL;
}

/* ---- the answer ---- */

static void add_headers(struct MHD_Response *r, const struct st_http_answer *a)
{
    char number[16];

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        MHD_add_response_header(r, always[i].name, always[i].value);
    MHD_add_response_header(r, "Content-Type", a->type ? a->type : "application/json");
    /* A file of the page may be kept where its tag is asked about each time; nothing else is. */
    MHD_add_response_header(r, "Cache-Control", a->etag[0] ? "no-cache" : "no-store");
    if (a->etag[0])
        MHD_add_response_header(r, "ETag", a->etag);
    if (a->location[0])
        MHD_add_response_header(r, "Location", a->location);
    if (a->cookie[0])
        MHD_add_response_header(r, "Set-Cookie", a->cookie);
    if (a->retry_after) {
        snprintf(number, sizeof(number), "%u", a->retry_after);
        MHD_add_response_header(r, "Retry-After", number);
    }
    if (a->status == 401)
        MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
}

static enum MHD_Result send_answer(struct st_connection *c)
{
    struct st_http_answer *a = &c->answer;
    struct MHD_Response *r;
    enum MHD_Result rc;

    c->state = ST_CONN_DONE;
    if (a->fixed) {
        r = MHD_create_response_from_buffer(a->fixed_len, (void *)(uintptr_t)a->fixed,
                                            MHD_RESPMEM_PERSISTENT);
    } else {
        r = MHD_create_response_from_buffer(a->body.len, a->body.data, MHD_RESPMEM_MUST_FREE);
        if (r)
            a->body = (struct st_buf)ST_BUF_INIT; /* the library's now */
    }
    if (!r)
        return MHD_NO;
    add_headers(r, a);
    rc = MHD_queue_response(c->mhd, a->status ? a->status : 500, r);
    MHD_destroy_response(r);
    return rc;
}

static enum MHD_Result send_stream(struct st_connection *c)
{
    struct MHD_Response *r = st_stream_response(c);
    enum MHD_Result rc;

    if (!r)
        return send_answer(c);
    c->state = ST_CONN_DONE;
    c->answer.type = "text/event-stream";
    add_headers(r, &c->answer);
    rc = MHD_queue_response(c->mhd, 200, r);
    MHD_destroy_response(r);
    return rc;
}

/* ---- the request ---- */

static const char *header(struct st_connection *c, const char *name)
{
    return MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, name);
}

static void note_peer(struct st_connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t len = sizeof(peer);

    c->request.local =
        c->server->local && info && getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0;
    c->request.peer_uid = peer.uid;
}

static bool read_request(struct st_connection *c, const char *method)
{
    struct st_http_request *r = &c->request;
    char *query = strchr(c->uri, '?');
    struct st_error err = {0};

    r->method = method;
    r->host = header(c, "Host");
    r->origin = header(c, "Origin");
    r->fetch_site = header(c, "Sec-Fetch-Site");
    r->cookie = header(c, "Cookie");
    r->authorization = header(c, "Authorization");
    r->csrf = header(c, "X-CSRF-Token");
    r->content_type = header(c, "Content-Type");
    r->etag = header(c, "If-None-Match");
    note_peer(c);
    if (query)
        *query++ = '\0';
    r->path = c->uri;
    if (!query || st_query_parse(query, strlen(query), &r->query, &err) == 0)
        return true;
    st_http_refuse(&c->answer, 400, "bad_request", "%s", err.msg);
    return false;
}

static unsigned check(struct st_connection *c)
{
    return st_gate_check(&c->server->desk->gate, &c->request, c->route->flags, st_now_mono_ns(), &c->session,
                         &c->answer);
}

/* Header only: is it to be answered at all? */
static enum MHD_Result begin(struct st_connection *c, const char *method)
{
    bool readable = read_request(c, method);

    c->state = ST_CONN_BODY;
    if (!st_gate_host_fits(c->request.host)) {
        struct st_session *none;

        st_gate_check(&c->server->desk->gate, &c->request, 0, st_now_mono_ns(), &none, &c->answer);
        return send_answer(c);
    }
    if (!readable)
        return send_answer(c);
    c->route = st_route_find(&c->request, &c->answer);
    if (!c->route || check(c))
        return send_answer(c);
    return MHD_YES;
}

static void take_body(struct st_connection *c, const char *data, size_t len)
{
    if (c->request.body.len + len > ST_HTTP_BODY_MAX)
        c->too_long = true;
    else
        st_buf_add(&c->request.body, data, len);
}

static enum MHD_Result act(struct st_connection *c)
{
    /* The session may have ended while the body came, and its place be another's. */
    if (c->session && check(c))
        return send_answer(c);
    c->job.handler = c->route->handler;
    c->job.call =
        (struct st_call){.desk = c->server->desk, .r = &c->request, .a = &c->answer, .session = c->session};
    if (c->too_long) {
        st_http_refuse(&c->answer, 413, "too_long", "more than %d bytes", ST_HTTP_BODY_MAX);
        return send_answer(c);
    }
    if (c->route->flags & ST_ROUTE_STREAM)
        return send_stream(c);
    if (c->route->flags & ST_ROUTE_QUICK) {
        c->route->handler(&c->job.call);
        return send_answer(c);
    }
    c->job.call.session = NULL; /* it may end while a worker is at it */
    if (!st_pool_give(c->server->pool, &c->job)) {
        c->answer.retry_after = 1;
        st_http_refuse(&c->answer, 503, "busy", "too much is asked at once");
        return send_answer(c);
    }
    c->state = ST_CONN_WORKED_ON;
    MHD_suspend_connection(c->mhd);
    return MHD_YES;
}

enum MHD_Result st_connection_go_on(void *cls, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version, const char *data, size_t *len,
                                    void **at)
{
    struct st_connection *c = *at;

    (void)cls;
    (void)mhd;
    (void)url;
    (void)version;
    if (!c)
        return MHD_NO;
    if (c->state == ST_CONN_NEW)
        return begin(c, method);
    if (*len) {
        take_body(c, data, *len);
        *len = 0;
        return MHD_YES;
    }
    /* WORKED_ON: the pool has given it back. */
    return c->state == ST_CONN_BODY ? act(c) : send_answer(c);
}
