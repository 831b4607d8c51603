/* fuzz_desk_request: what a stranger may send to the review desk: a path with a query, a cookie, an
 * authorization, a host, a body; by lines, as GET and as POST. What is let by must have been asked for
 * rightly; what is answered without the database and without a monitor is answered, whatever the body is. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/desk.h"
#include "desk/http_find.h"
#include "desk/http_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PATH, COOKIE, BEARER, HOST, ORIGIN, CSRF, LINES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_filters(const struct st_query *q)
{
    struct st_buf words = ST_BUF_INIT;
    struct st_error err = {0};
    struct st_find f;
    char cursor[ST_CURSOR_SIZE];

    if (st_find_parse(q, 0, &f, &err) < 0)
        return;
    if (f.after) {
        st_cursor_write(&f.cursor, cursor);
        if (strcmp(cursor, st_query_get(q, "cursor")) != 0)
            abort();
    }
    if (f.text)
        st_sets_words(f.text, &words);
    st_buf_free(&words);
}

static const char token[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
static const char secret[] = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

static int nobody(void *ctx, struct st_buf *ids, size_t *n, struct st_error *err)
{
    (void)ctx;
    (void)ids;
    (void)err;
    *n = 0;
    return 0;
}

static int ask_nobody(void *ctx, const char *id, const struct st_buf *request, struct st_buf *answer,
                      struct st_error *err)
{
    (void)ctx;
    (void)answer;
    if (!*id || strchr(id, '/') || !request->len)
        abort();
    return st_fail(err, ENOENT, "nobody is called %s", id);
}

/* By the token, or by a session; and then a POST as its own page sends it. */
static bool is_right(const struct st_http_request *r, unsigned flags)
{
    bool bearer = r->authorization && strstr(r->authorization, token),
         session = r->cookie && strstr(r->cookie, secret);

    if (session && !bearer && (flags & ST_ROUTE_ACTS))
        return r->origin && r->csrf && strcmp(r->csrf, secret) == 0;
    return bearer || session;
}

/* Handlers that need neither the database nor a folder. */
static bool is_light(st_handler *h)
{
    st_handler *const light[] = {
        st_answer_root,    st_answer_health,  st_answer_session, st_answer_login,       st_answer_logout,
        st_answer_pending, st_answer_approve, st_answer_deny,    st_answer_pause,       st_answer_resume,
        st_answer_kill,    st_answer_review,  st_answer_reviews, st_answer_review_close};

    for (size_t i = 0; i < sizeof(light) / sizeof(light[0]); i++)
        if (h == light[i])
            return true;
    return false;
}

static void answer(struct st_desk *desk, const struct st_route *route, struct st_http_request *r,
                   struct st_session *session)
{
    struct st_http_answer a = {0};
    struct st_db *none = NULL;
    struct st_call call = {.desk = desk, .r = r, .a = &a, .session = session, .db = &none};

    if (!is_light(route->handler))
        return;
    route->handler(&call);
    if (!a.status)
        abort();
    /* A token may be written with escapes. */
    if (route->handler == st_answer_login && a.status == 204 && !strstr(r->body.data, token) &&
        !strchr(r->body.data, '\\'))
        abort();
    st_http_answer_free(&a);
}

static void ask(struct st_http_request *r)
{
    static const struct st_live live = {.list = nobody, .ask = ask_nobody};
    struct st_session sessions[ST_SESSIONS_MAX] = {0}, *session;
    struct st_login login;
    struct st_desk desk = {.live = &live, .quarantine_dir = "/nonexistent", .gate = {.login = &login}};
    struct st_http_answer a = {0};
    const struct st_route *route = st_route_find(r, &a);

    st_login_init(&login, token, NULL, "ann", sessions, 0);
    memcpy(sessions[3].id, secret, sizeof(secret));
    memcpy(sessions[3].csrf, secret, sizeof(secret));
    if (route && st_gate_check(&desk.gate, r, route->flags, 0, &session, &a) == 0) {
        if (!(route->flags & ST_ROUTE_OPEN) && !is_right(r, route->flags))
            abort();
        answer(&desk, route, r, session);
    }
    st_http_answer_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_free char *copy = st_xstrndup((const char *)data, size);
    char *lines[LINES] = {0}, *rest = copy, *query;
    struct st_http_request r = {.content_type = "application/json"};
    struct st_error err = {0};

    for (int i = 0; i < LINES && rest; i++)
        lines[i] = strsep(&rest, "\n");
    query = lines[PATH] ? strchr(lines[PATH], '?') : NULL;
    if (query)
        *query++ = '\0';
    r.path = lines[PATH] ? lines[PATH] : "";
    r.cookie = lines[COOKIE];
    r.authorization = lines[BEARER];
    r.host = lines[HOST];
    r.origin = lines[ORIGIN];
    r.csrf = lines[CSRF];
    if (rest)
        st_buf_add(&r.body, rest, strlen(rest) < ST_HTTP_BODY_MAX ? strlen(rest) : ST_HTTP_BODY_MAX);
    if (query && st_query_parse(query, strlen(query), &r.query, &err) == 0)
        look_at_filters(&r.query);
    r.method = "GET";
    ask(&r);
    r.method = "POST";
    ask(&r);
    st_http_request_free(&r);
    return 0;
}
