/* http_reviews: see http_reviews.h. */
#include "desk/http_reviews.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "desk/http_live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void st_reviews_of(const struct st_desk *desk, struct st_reviews *out)
{
    struct st_error err = {0};

    if (st_review_list(desk->quarantine_dir, out, &err) < 0)
        st_reviews_free(out);
}

/* The newest open one. */
static const struct st_review *open_of(const struct st_reviews *all, const char *container)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].state == ST_REVIEW_OPEN && all->list[i].container &&
            strcmp(all->list[i].container, container) == 0)
            return &all->list[i];
    return NULL;
}

void st_review_put(struct st_jw *w, const struct st_reviews *all, const char *container)
{
    st_jw_kbool(w, "quarantined", open_of(all, container) != NULL);
}

void st_review_put_id(struct st_jw *w, const struct st_reviews *all, const char *container)
{
    const struct st_review *r = open_of(all, container);

    st_jw_key(w, "review");
    if (r)
        st_jw_str(w, r->id);
    else
        st_jw_null(w);
}

int64_t st_call_quarantined(const struct st_call *c)
{
    st_auto_reviews all = {0};
    int64_t n = 0;

    st_reviews_of(c->desk, &all);
    for (size_t i = 0; i < all.n; i++)
        n += all.list[i].state == ST_REVIEW_OPEN;
    return n;
}

void st_answer_reviews(struct st_call *c)
{
    static const char *const known[] = {"state", NULL};
    const char *state = st_query_get(&c->r->query, "state");
    st_auto_reviews all = {0};
    struct st_error err = {0};
    size_t shown = 0;

    if (st_query_only(&c->r->query, known, &err) < 0) {
        st_call_bad(c, &err);
        return;
    }
    if (st_review_list(c->desk->quarantine_dir, &all, &err) < 0) {
        st_call_failed(c, &err);
        return;
    }
    st_buf_adds(&c->a->body, "{\"reviews\":[");
    for (size_t i = 0; i < all.n; i++) {
        if (state && *state && strcmp(state, st_review_state_name(all.list[i].state)) != 0)
            continue;
        st_buf_adds(&c->a->body, shown++ ? "," : "");
        st_review_write_all(&all.list[i], &c->a->body);
    }
    st_buf_adds(&c->a->body, "]}");
    c->a->status = 200;
}

static void refuse(struct st_call *c, const struct st_error *err)
{
    if (err->errnum == ENOENT)
        st_http_refuse(c->a, 404, "no_such_review", "%s", err->msg);
    else if (err->errnum == EEXIST)
        st_http_refuse(c->a, 409, "ambiguous", "%s", err->msg);
    else if (err->errnum == EALREADY)
        st_http_refuse(c->a, 409, "closed", "%s", err->msg);
    else if (err->errnum == EINVAL)
        st_call_bad(c, err);
    else
        st_call_failed(c, err);
}

void st_answer_review(struct st_call *c)
{
    st_auto_free char *id = st_call_id(c);
    st_auto_review one = {0};
    struct st_error err = {0};

    if (!id || !st_review_id_ok(id)) {
        st_http_refuse(c->a, 404, "no_such_review", "this is no ID of a review");
        return;
    }
    if (st_review_load(c->desk->quarantine_dir, id, &one, &err) < 0) {
        refuse(c, &err);
        return;
    }
    st_review_write_all(&one, &c->a->body);
    c->a->status = 200;
}

void st_answer_review_close(struct st_call *c)
{
    const struct st_json_limits limits = {.max_depth = 4, .max_nodes = 16};
    st_auto_free char *id = st_call_id(c);
    st_auto_json doc = NULL;
    const char *verdict, *reason;
    struct st_error err = {0};
    char by[ST_HTTP_USER_MAX + 16];

    if (!id || !st_review_id_ok(id)) {
        st_http_refuse(c->a, 404, "no_such_review", "this is no ID of a review");
        return;
    }
    if (st_json_parse(st_buf_cstr(&c->r->body), c->r->body.len, &limits, &doc, &err) < 0) {
        st_call_bad(c, &err);
        return;
    }
    verdict = st_json_str(st_json_get(st_json_root(doc), "verdict"), NULL);
    reason = st_json_str(st_json_get(st_json_root(doc), "reason"), NULL);
    snprintf(by, sizeof(by), "%s (desk)", c->r->user);
    if (st_review_close(c->desk->quarantine_dir, id, verdict ? verdict : "", reason ? reason : "", by, &err) <
        0) {
        refuse(c, &err);
        return;
    }
    c->desk->live->tell_review(c->desk->live->ctx, id);
    st_buf_adds(&c->a->body, "{\"ok\":true}");
    c->a->status = 200;
}
