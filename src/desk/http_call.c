/* http_call: what handlers have in common: the database, and how they say that something failed. */
#include "desk/desk.h"

#include <errno.h>

#define PATIENCE_NS INT64_C(3000000000) /* of a worker with one request */

struct st_db *st_call_db(struct st_call *c)
{
    struct st_error err = {0};

    /* Deleted and made anew while we were looking at the old one? */
    if (*c->db && st_db_was_replaced(*c->db))
        st_db_closep(c->db);
    if (!*c->db && st_db_open(c->desk->db_path, ST_DB_READ, c->db, &err) < 0) {
        if (err.errnum == ENOENT)
            st_http_refuse(c->a, 503, "no_index", "there is no index yet; sandtrace index makes it");
        else
            st_http_refuse(c->a, 503, "no_index", "%s", err.msg);
        return NULL;
    }
    st_db_be_patient(*c->db, PATIENCE_NS);
    return *c->db;
}

void st_call_bad(struct st_call *c, const struct st_error *err)
{
    st_http_refuse(c->a, 400, "bad_request", "%s", err->msg);
}

void st_call_failed(struct st_call *c, const struct st_error *err)
{
    /* The database may have been taken away while it was asked: the next call opens it anew. */
    if (c->db && *c->db)
        st_db_closep(c->db);
    if (err->errnum == EBUSY || err->errnum == EINTR)
        st_http_refuse(c->a, 503, "busy", "%s", err->msg);
    else
        st_http_refuse(c->a, 500, "failed", "%s", err->msg);
}
