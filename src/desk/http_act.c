/* http_act: what a person decides: approve, deny, pause, resume, kill. Said to the container's monitor by its
 * control socket with the name of who is logged in and that it came by the desk; what the monitor answers is
 * the answer. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/http_live.h"

#include <errno.h>
#include <string.h>

#define REASON_MAX 1024

struct order {
    struct st_json_doc *doc;
    const char *reason;
    bool always, force;
};

static void order_free(struct order *o)
{
    st_json_free(o->doc);
}

/* false: a has the refusal. */
static bool read_order(struct st_call *c, struct order *o)
{
    const struct st_json_limits limits = {.max_depth = 4, .max_nodes = 32};
    const struct st_buf *body = &c->r->body;
    const struct st_json_node *root, *reason;
    struct st_error err = {0};

    *o = (struct order){0};
    if (!body->len)
        return true;
    if (!c->r->content_type || strncmp(c->r->content_type, "application/json", 16) != 0) {
        st_http_refuse(c->a, 415, "not_json", "the body is JSON, and Content-Type says so");
        return false;
    }
    if (st_json_parse(st_buf_cstr(body), body->len, &limits, &o->doc, &err) < 0) {
        st_call_bad(c, &err);
        return false;
    }
    root = st_json_root(o->doc);
    reason = st_json_get(root, "reason");
    o->reason = st_json_str(reason, NULL);
    o->always = st_json_true(st_json_get(root, "always"));
    o->force = st_json_true(st_json_get(root, "force"));
    if (!st_json_is(root, ST_JSON_OBJECT) || (reason && !st_json_is(reason, ST_JSON_NULL) && !o->reason) ||
        (o->reason && strlen(o->reason) > REASON_MAX)) {
        st_http_refuse(c->a, 400, "bad_request", "an object is wanted, with a reason of at most %d bytes",
                       REASON_MAX);
        return false;
    }
    return true;
}

static void write_request(const struct st_call *c, const struct order *o, const char *request,
                          const char *pause_id, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    if (o->always)
        st_jw_kbool(&w, "always", true);
    if (o->force)
        st_jw_kbool(&w, "force", true);
    st_jw_kstr(&w, "name", c->r->user);
    st_jw_kstr(&w, "pause_id", pause_id);
    if (o->reason && *o->reason)
        st_jw_kstr(&w, "reason", o->reason);
    st_jw_kstr(&w, "request", request);
    st_jw_kstr(&w, "via", "desk");
    st_jw_end(&w, '}');
}

static unsigned status_of(const char *code)
{
    if (strcmp(code, "no_such_pause") == 0 || strcmp(code, "ended") == 0)
        return 404;
    return strcmp(code, "not_permitted") == 0 ? 403 : strcmp(code, "busy") == 0 ? 503 : 409;
}

static void tell(struct st_call *c, const char *id, const struct st_live_answer *a)
{
    const struct st_json_node *error = st_json_get(a->root, "error"),
                              *pause = st_json_get(a->root, "pause_id");
    const char *code = st_json_str(st_json_get(error, "code"), NULL);
    const char *message = st_json_str(st_json_get(error, "message"), NULL);
    struct st_jw w;

    if (!st_json_true(st_json_get(a->root, "ok"))) {
        st_http_refuse(c->a, status_of(code ? code : ""), code ? code : "refused", "%s",
                       message ? message : "refused");
        return;
    }
    st_jw_init(&w, &c->a->body);
    st_jw_object(&w);
    if (st_json_true(st_json_get(a->root, "already")))
        st_jw_kbool(&w, "already", true);
    st_jw_kstr(&w, "container", id);
    st_jw_kbool(&w, "ok", true);
    if (pause)
        st_live_copy(&w, "pause_id", a, pause);
    st_jw_end(&w, '}');
    c->a->status = 200;
}

static void send_order(struct st_call *c, const char *id, const struct order *o, const char *request,
                       const char *pause_id)
{
    st_auto_live_answer a = {0};
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err = {0};
    int rc;

    write_request(c, o, request, pause_id, &text);
    rc = st_live_ask(c->desk->live, id, &text, &a, &err);
    if (rc == -ENOENT)
        st_http_refuse(c->a, 404, "no_such_container", "%s", err.msg);
    else if (rc < 0)
        st_http_refuse(c->a, 502, "unreachable", "%s", err.msg);
    else
        tell(c, id, &a);
}

/* ---- a container ---- */

static void act_on_container(struct st_call *c, const char *request)
{
    st_auto_free char *id = st_call_id(c);
    struct order o;

    if (!id) {
        st_http_refuse(c->a, 404, "no_such_container", "this is no ID of a container");
        return;
    }
    if (read_order(c, &o))
        send_order(c, id, &o, request, NULL);
    order_free(&o);
}

void st_answer_pause(struct st_call *c)
{
    act_on_container(c, "pause");
}

void st_answer_resume(struct st_call *c)
{
    act_on_container(c, "resume");
}

void st_answer_kill(struct st_call *c)
{
    act_on_container(c, "kill");
}

/* ---- what waits ---- */

static bool waits_there(const struct st_live *l, const char *id, const char *pause_id)
{
    st_auto_live_answer a = {0};
    struct st_error err = {0};

    if (st_live_ask_plain(l, id, "pending", &a, &err) < 0)
        return false;
    st_json_each (pause, st_json_get(a.root, "pending")) {
        const char *found = st_json_str(st_json_get(pause, "pause_id"), NULL);

        if (found && strcmp(found, pause_id) == 0)
            return true;
    }
    return false;
}

static void decide(struct st_call *c, const char *request)
{
    st_auto_free char *pause_id = st_call_id(c);
    st_auto_buf ids = ST_BUF_INIT;
    struct st_error err = {0};
    struct order o;
    size_t n = 0;

    if (!read_order(c, &o))
        return;
    if (c->desk->live->list(c->desk->live->ctx, &ids, &n, &err) < 0) {
        st_call_failed(c, &err);
        order_free(&o);
        return;
    }
    for (const char *id = ids.data; pause_id && n > 0; n--, id += strlen(id) + 1)
        if (waits_there(c->desk->live, id, pause_id)) {
            send_order(c, id, &o, request, pause_id);
            order_free(&o);
            return;
        }
    order_free(&o);
    st_http_refuse(c->a, 404, "no_such_pause", "nothing of this id waits; somebody else may have decided");
}

void st_answer_approve(struct st_call *c)
{
    decide(c, "approve");
}

void st_answer_deny(struct st_call *c)
{
    decide(c, "deny");
}

void st_answer_pending(struct st_call *c)
{
    struct st_error err = {0};

    if (st_live_pending(c->desk->live, &c->a->body, &err) < 0)
        st_call_failed(c, &err);
    else
        c->a->status = 200;
}
