/* http_login: see http_login.h. */
#include "desk/http_login.h"

#include "base/json_write.h"
#include "base/printable.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define WRONG_BURST 10
#define WRONG_EACH_NS INT64_C(3000000000)

void st_login_init(struct st_login *l, const char *token, const char *code, const char *user,
                   struct st_session *sessions, int64_t now_ns)
{
    *l = (struct st_login){.wrong = {.burst = WRONG_BURST, .each_ns = WRONG_EACH_NS},
                           .wrong_codes = {.burst = WRONG_BURST, .each_ns = WRONG_EACH_NS},
                           .sessions = sessions};
    snprintf(l->token, sizeof(l->token), "%s", token);
    snprintf(l->code, sizeof(l->code), "%s", code ? code : "");
    snprintf(l->user, sizeof(l->user), "%.*s", ST_HTTP_USER_MAX,
             st_login_name_fits(user) ? user : "somebody");
    l->code_until_ns = now_ns + ST_CODE_NS;
}

bool st_login_name_fits(const char *name)
{
    size_t len = name ? strlen(name) : 0;

    for (size_t i = 0, n; i < len; i += n) {
        n = st_utf8_len((const unsigned char *)name + i, len - i);
        if (!n || st_acts_on_terminal((const unsigned char *)name + i, n))
            return false;
    }
    return len > 0 && len <= ST_HTTP_USER_MAX;
}

static bool is_over(const struct st_session *s, int64_t now_ns)
{
    return !s->id[0] || now_ns - s->used_ns > ST_SESSION_IDLE_NS || now_ns - s->made_ns > ST_SESSION_AGE_NS;
}

void st_login_close(struct st_session *s)
{
    sodium_memzero(s, sizeof(*s));
}

/* A free place, or that of the session which was not used for longest. */
static struct st_session *place(struct st_login *l, int64_t now_ns)
{
    struct st_session *best = &l->sessions[0];

    for (size_t i = 0; i < ST_SESSIONS_MAX; i++) {
        if (is_over(&l->sessions[i], now_ns))
            return &l->sessions[i];
        if (l->sessions[i].used_ns < best->used_ns)
            best = &l->sessions[i];
    }
    return best;
}

struct st_session *st_login_open(struct st_login *l, const char *user, int64_t now_ns)
{
    struct st_session *s = place(l, now_ns);

    *s = (struct st_session){.made_ns = now_ns, .used_ns = now_ns};
    st_secret_make(s->csrf);
    snprintf(s->user, sizeof(s->user), "%s", user ? user : l->user);
    st_secret_make(s->id); /* last: who is killed on the way leaves a free place */
    return s;
}

struct st_session *st_login_by_code(struct st_login *l, const char *code, int64_t now_ns)
{
    if (!l->code[0] || now_ns > l->code_until_ns || !code || !st_secret_is(l->code, code, strlen(code)))
        return NULL;
    sodium_memzero(l->code, sizeof(l->code));
    return st_login_open(l, NULL, now_ns);
}

struct st_session *st_login_session(struct st_login *l, const char *cookie_header, int64_t now_ns)
{
    size_t len;
    const char *given = st_cookie_find(cookie_header, ST_SESSION_COOKIE, &len);
    struct st_session *found = NULL;

    for (size_t i = 0; given && i < ST_SESSIONS_MAX; i++) /* all of them: the time tells nothing of which */
        if (st_secret_is(l->sessions[i].id, given, len))
            found = &l->sessions[i];
    if (!found)
        return NULL;
    if (is_over(found, now_ns)) {
        st_login_close(found);
        return NULL;
    }
    found->used_ns = now_ns;
    return found;
}

bool st_session_stands(struct st_session *s, const char *id, int64_t now_ns)
{
    if (is_over(s, now_ns) || !st_secret_is(s->id, id, strlen(id)))
        return false;
    s->used_ns = now_ns;
    return true;
}

bool st_login_bearer(const struct st_login *l, const char *authorization)
{
    static const char scheme[] = "Bearer ";

    return authorization && strncmp(authorization, scheme, sizeof(scheme) - 1) == 0 &&
           st_secret_is(l->token, authorization + sizeof(scheme) - 1,
                        strlen(authorization) - sizeof(scheme) + 1);
}

void st_login_cookie(const struct st_session *s, char *out, size_t size)
{
    snprintf(out, size, ST_SESSION_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict%s", s ? s->id : "",
             s ? "" : "; Max-Age=0");
}
