/* fuzz_desk_request: what a stranger may send to the review desk: a path with a query, a cookie, an
 * authorization, a host, a body; by lines. What is let by must have been asked for rightly. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/mem.h"
#include "desk/desk.h"
#include "desk/http_find.h"
#include "desk/http_sets.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char token[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    st_auto_free char *copy = st_xstrndup((const char *)data, size);
    char *lines[LINES] = {0}, *rest = copy, *query;
    struct st_http_request r = {.method = "GET"};
    struct st_http_answer a = {0};
    struct st_error err = {0};
    struct st_session sessions[ST_SESSIONS_MAX] = {0}, *session;
    struct st_login login;
    const struct st_gate gate = {.login = &login};
    const struct st_route *route;
    st_auto_json doc = NULL;

    for (int i = 0; i < LINES && rest; i++)
        lines[i] = strsep(&rest, "\n");
    st_login_init(&login, token, NULL, "ann", sessions, 0);
    query = lines[PATH] ? strchr(lines[PATH], '?') : NULL;
    if (query)
        *query++ = '\0';
    r.path = lines[PATH] ? lines[PATH] : "";
    r.cookie = lines[COOKIE];
    r.authorization = lines[BEARER];
    r.host = lines[HOST];
    r.origin = lines[ORIGIN];
    r.csrf = lines[CSRF];
    if (query && st_query_parse(query, strlen(query), &r.query, &err) == 0)
        look_at_filters(&r.query);
    route = st_route_find(&r, &a);
    if (route && !(route->flags & ST_ROUTE_OPEN) &&
        st_gate_check(&gate, &r, route->flags, 0, &session, &a) == 0 &&
        (!r.authorization || !strstr(r.authorization, token)))
        abort();
    if (rest)
        st_json_parse(rest, strlen(rest), ST_JSON_DEFAULT_LIMITS, &doc, &err);
    st_http_request_free(&r);
    st_http_answer_free(&a);
    return 0;
}
