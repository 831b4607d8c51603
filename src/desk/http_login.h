/* http_login: who is let in: the token, a link that works once, sessions that end. Kept in memory,
 * which is the caller's: one that outlives the process that speaks HTTP lets people stay logged in when that
 * dies; who restarts the whole server logs everybody out. The clock (monotonic, ns) is the caller's too. */
#pragma once

#include "desk/http.h"
#include "desk/http_limit.h"
#include "desk/http_secret.h"

#define ST_SESSION_COOKIE "sandtrace_session"
#define ST_SESSIONS_MAX 64
#define ST_SESSION_IDLE_NS (INT64_C(12) * 3600 * 1000000000)    /* unused so long: over */
#define ST_SESSION_AGE_NS (INT64_C(7) * 24 * 3600 * 1000000000) /* over in any case */
#define ST_CODE_NS (INT64_C(600) * 1000000000)

struct st_session {
    char id[ST_SECRET_SIZE], csrf[ST_SECRET_SIZE]; /* id "": a free place */
    char user[ST_HTTP_USER_MAX + 1];
    int64_t made_ns, used_ns;
};

struct st_login {
    char token[ST_SECRET_SIZE];
    char code[ST_SECRET_SIZE]; /* "": used, or none */
    int64_t code_until_ns;
    char user[ST_HTTP_USER_MAX + 1]; /* who a log-in is taken for that names nobody */
    struct st_limit wrong;           /* tokens */
    struct st_limit wrong_codes;     /* apart: any page can have a browser open links */
    struct st_session *sessions;     /* ST_SESSIONS_MAX */
};

/* token: as st_secret_file() gives it; code NULL: no link. sessions: ST_SESSIONS_MAX of them, zeroed or as
 * another one left them. */
void st_login_init(struct st_login *l, const char *token, const char *code, const char *user,
                   struct st_session *sessions, int64_t now_ns);

/* By the code of the link. NULL: wrong, used or too old. It is used up only where it was right. */
struct st_session *st_login_by_code(struct st_login *l, const char *code, int64_t now_ns);

/* A new session. user NULL: the one of the login. */
struct st_session *st_login_open(struct st_login *l, const char *user, int64_t now_ns);
void st_login_close(struct st_session *s);

/* The session of a request's cookie, which lives on by it; NULL: none. */
struct st_session *st_login_session(struct st_login *l, const char *cookie_header, int64_t now_ns);

/* Is this place still that of the session which had this id? Then it lives on by it. */
bool st_session_stands(struct st_session *s, const char *id, int64_t now_ns);

/* Authorization: Bearer TOKEN */
bool st_login_bearer(const struct st_login *l, const char *authorization);

/* A name that a person may go by in a trace: printable, not too long. */
bool st_login_name_fits(const char *name);

/* Set-Cookie of a session; NULL: takes it away. */
void st_login_cookie(const struct st_session *s, char *out, size_t size);
