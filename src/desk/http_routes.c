/* http_routes: which path is answered by what. A new answer is one line here. */
#include "desk/desk.h"

#include <string.h>

static const struct st_route routes[] = {
    /* clang-format off */
    {"GET",  "/",                              ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_root},
    {"GET",  "/sandbox-audit",                 ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_index},
    {"GET",  "/sandbox-audit/*",               ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_index},
    {"GET",  "/sandbox-audit/*/*",             ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_index},
    {"GET",  "/assets/*",                      ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_asset},
    {"GET",  "/healthz",                       ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_health},
    {"GET",  "/login",                         ST_ROUTE_OPEN | ST_ROUTE_QUICK, st_answer_login_link},
    {"POST", "/api/login",                     ST_ROUTE_OPEN | ST_ROUTE_LOGIN | ST_ROUTE_QUICK, st_answer_login},
    {"POST", "/api/logout",                    ST_ROUTE_ACTS | ST_ROUTE_LOGIN | ST_ROUTE_QUICK, st_answer_logout},
    {"GET",  "/api/session",                   ST_ROUTE_QUICK, st_answer_session},
    {"GET",  "/api/sandbox-audit/events",      0, st_answer_events},
    {"GET",  "/api/sandbox-audit/events/*",    0, st_answer_event},
    {"GET",  "/api/sandbox-audit/summary",     0, st_answer_summary},
    {"GET",  "/api/sandbox-audit/timeline",    0, st_answer_timeline},
    {"GET",  "/api/sandbox-audit/flows",       0, st_answer_flows},
    {"GET",  "/api/containers",                0, st_answer_containers},
    {"GET",  "/api/containers/*",              0, st_answer_container},
    {"POST", "/api/containers/*/pause",        ST_ROUTE_ACTS, st_answer_pause},
    {"POST", "/api/containers/*/resume",       ST_ROUTE_ACTS, st_answer_resume},
    {"POST", "/api/containers/*/kill",         ST_ROUTE_ACTS, st_answer_kill},
    {"GET",  "/api/pending",                   0, st_answer_pending},
    {"POST", "/api/pending/*/approve",         ST_ROUTE_ACTS, st_answer_approve},
    {"POST", "/api/pending/*/deny",            ST_ROUTE_ACTS, st_answer_deny},
    {"GET",  "/api/reviews",                   0, st_answer_reviews},
    {"GET",  "/api/reviews/*",                 0, st_answer_review},
    {"POST", "/api/reviews/*/close",           ST_ROUTE_ACTS, st_answer_review_close},
    {"GET",  "/api/traces/*/verify",           0, st_answer_verify},
    {"GET",  "/api/stream",                    ST_ROUTE_STREAM, NULL},
    {"GET",  "/api/openapi.json",              ST_ROUTE_QUICK, st_answer_openapi},
    {"GET",  "/metrics",                       ST_ROUTE_METRICS, st_answer_metrics},
    {0},
    /* clang-format on */
};

const struct st_route *st_routes(void)
{
    return routes;
}

/* The first * is the tail. */
static bool matches(const char *pattern, const char *path, const char **tail, size_t *len)
{
    *tail = NULL;
    while (*pattern) {
        if (*pattern == '*') {
            size_t n = strcspn(path, "/");

            if (n == 0)
                return false;
            if (!*tail) {
                *tail = path;
                *len = n;
            }
            path += n;
            pattern++;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return !*path;
}

const struct st_route *st_route_find(struct st_http_request *r, struct st_http_answer *a)
{
    /* HEAD is GET: the body is left out by who sends it. */
    const char *method = strcmp(r->method, "HEAD") == 0 ? "GET" : r->method;
    bool other = false;

    for (const struct st_route *route = routes; route->pattern; route++) {
        if (!matches(route->pattern, r->path, &r->tail, &r->tail_len))
            continue;
        if (strcmp(route->method, method) == 0)
            return route;
        other = true;
    }
    if (other)
        st_http_refuse(a, 405, "wrong_method", "this can't be asked for by this method");
    else
        st_http_refuse(a, 404, "not_found", "there is nothing here");
    return NULL;
}
