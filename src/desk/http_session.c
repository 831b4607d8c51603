/* http_session: log in, log out, who am I. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "desk/desk.h"

#include <stdio.h>
#include <string.h>

void st_answer_health(struct st_call *c)
{
    st_buf_adds(&c->a->body, "{\"ok\":true}");
    c->a->status = 200;
}

void st_answer_session(struct st_call *c)
{
    struct st_jw w;

    st_jw_init(&w, &c->a->body);
    st_jw_object(&w);
    st_jw_key(&w, "csrf");
    if (c->session)
        st_jw_str(&w, c->session->csrf);
    else
        st_jw_null(&w); /* by the token: there is no cookie that a page could misuse */
    st_jw_kbool(&w, "read_only", c->desk->gate.read_only);
    st_jw_kstr(&w, "user", c->r->user);
    st_jw_kstr(&w, "version", PACKAGE_VERSION);
    st_jw_end(&w, '}');
    c->a->status = 200;
}

/* Another try may be made. */
static bool may_try(struct st_call *c, struct st_limit *wrong, const char *of_what, int64_t now)
{
    unsigned wait;

    if (st_limit_allows(wrong, now, &wait))
        return true;
    c->a->retry_after = wait;
    st_http_refuse(c->a, 429, "too_many", "too many wrong %s; wait %u s", of_what, wait);
    return false;
}

static void let_in(struct st_call *c, const struct st_session *s)
{
    /* The one that came with the request ends here: nobody keeps a session that another person logged in by.
     */
    if (c->session)
        st_login_close(c->session);
    st_login_cookie(s, c->a->cookie, sizeof(c->a->cookie));
}

void st_answer_login(struct st_call *c)
{
    struct st_login *login = c->desk->gate.login;
    const struct st_json_limits limits = {.max_depth = 4, .max_nodes = 16};
    st_auto_json doc = NULL;
    const char *token, *name;
    int64_t now = st_now_mono_ns();

    if (!may_try(c, &login->wrong, "tokens", now))
        return;
    if (st_json_parse(st_buf_cstr(&c->r->body), c->r->body.len, &limits, &doc, NULL) < 0 ||
        !(token = st_json_str(st_json_get(st_json_root(doc), "token"), NULL))) {
        st_http_refuse(c->a, 400, "bad_request", "{\"token\":\"…\"} is wanted");
        return;
    }
    name = st_json_str(st_json_get(st_json_root(doc), "name"), NULL);
    if (name && !st_login_name_fits(name)) {
        st_http_refuse(c->a, 400, "bad_request", "name is at most %d bytes of plain text", ST_HTTP_USER_MAX);
        return;
    }
    if (!st_secret_is(login->token, token, strlen(token))) {
        st_limit_count(&login->wrong, now);
        st_http_refuse(c->a, 403, "wrong_token", "this is not the token");
        return;
    }
    let_in(c, st_login_open(login, name, now));
    c->a->status = 204;
}

void st_answer_login_link(struct st_call *c)
{
    struct st_login *login = c->desk->gate.login;
    const char *code = st_query_get(&c->r->query, "code");
    int64_t now = st_now_mono_ns();
    struct st_session *s;

    if (!may_try(c, &login->wrong_codes, "links; log in by the token, or", now))
        return;
    s = st_login_by_code(login, code, now);
    if (!s) {
        if (code)
            st_limit_count(&login->wrong_codes, now);
        st_answer_index(c); /* it has the form */
        c->a->status = 403;
        return;
    }
    let_in(c, s);
    snprintf(c->a->location, sizeof(c->a->location), "/sandbox-audit");
    c->a->status = 303;
}

void st_answer_logout(struct st_call *c)
{
    if (c->session)
        st_login_close(c->session);
    st_login_cookie(NULL, c->a->cookie, sizeof(c->a->cookie));
    c->a->status = 204;
}
