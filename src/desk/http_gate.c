/* http_gate: see http_gate.h. */
#include "desk/http_gate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool st_gate_host_fits(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len = strlen(names[i]);
        const char *port = host + len + 1;

        if (strncasecmp(host, names[i], len) != 0)
            continue;
        if (!host[len])
            return true;
        if (host[len] == ':' && *port && strspn(port, "0123456789") == strlen(port) && strlen(port) <= 5)
            return true;
    }
    return false;
}

/* Asked for by our own page, or by no page at all. */
static bool from_elsewhere(const struct st_http_request *r)
{
    char own[160];

    snprintf(own, sizeof(own), "http://%.128s", r->host);
    if (r->origin && strcasecmp(r->origin, own) != 0)
        return true;
    return r->fetch_site && strcmp(r->fetch_site, "same-origin") != 0 && strcmp(r->fetch_site, "none") != 0;
}

/* A page of somebody else can send a POST with our cookie in older browsers; it can neither name an origin of
 * ours nor know the token. */
static bool is_ours(const struct st_http_request *r, const struct st_session *s)
{
    bool said = r->origin || (r->fetch_site && strcmp(r->fetch_site, "same-origin") == 0);

    return said && r->csrf && st_secret_is(s->csrf, r->csrf, strlen(r->csrf));
}

static unsigned check_login(const struct st_gate *g, struct st_http_request *r, unsigned route,
                            int64_t now_ns, struct st_session **session, struct st_http_answer *a)
{
    bool open = (route & ST_ROUTE_OPEN) || ((route & ST_ROUTE_METRICS) && g->metrics_open);
    unsigned wait;

    *session = st_login_session(g->login, r->cookie, now_ns);
    if (*session) {
        snprintf(r->user, sizeof(r->user), "%s", (*session)->user);
        return 0;
    }
    if (st_login_bearer(g->login, r->authorization)) {
        snprintf(r->user, sizeof(r->user), "%s", g->login->user);
        return 0;
    }
    if (open)
        return 0;
    if (!r->authorization)
        return st_http_refuse(a, 401, "not_logged_in", "log in first");
    if (!st_limit_allows(&g->login->wrong, now_ns, &wait)) {
        a->retry_after = wait;
        return st_http_refuse(a, 429, "too_many", "too many wrong tokens; wait %u s", wait);
    }
    st_limit_count(&g->login->wrong, now_ns);
    return st_http_refuse(a, 401, "wrong_token", "this is not the token");
}

unsigned st_gate_check(const struct st_gate *g, struct st_http_request *r, unsigned route, int64_t now_ns,
                       struct st_session **session, struct st_http_answer *a)
{
    unsigned refused;

    *session = NULL;
    if (!st_gate_host_fits(r->host))
        return st_http_refuse(a, 421, "wrong_host",
                              "this server is localhost, 127.0.0.1 or [::1], and goes by no other name");
    if (!(route & ST_ROUTE_OPEN) && from_elsewhere(r))
        return st_http_refuse(a, 403, "cross_origin", "a page of another origin may not ask for this");
    refused = check_login(g, r, route, now_ns, session, a);
    if (refused)
        return refused;
    if ((route & ST_ROUTE_LOGIN) && from_elsewhere(r))
        return st_http_refuse(a, 403, "cross_origin", "a page of another origin may not log in");
    if ((route & ST_ROUTE_ACTS) && *session && !is_ours(r, *session))
        return st_http_refuse(a, 403, "csrf",
                              "X-CSRF-Token or Origin is missing or wrong; /api/session has the token");
    if ((route & ST_ROUTE_ACTS) && !(route & ST_ROUTE_LOGIN) && g->read_only)
        return st_http_refuse(a, 403, "read_only",
                              "this review desk only shows; it was started with --read-only");
    return 0;
}
