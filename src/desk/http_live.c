/* http_live: see http_live.h. */
#include "desk/http_live.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void st_live_answer_free(struct st_live_answer *a)
{
    st_json_free(a->doc);
    st_buf_free(&a->text);
    *a = (struct st_live_answer){0};
}

static int take_apart(struct st_live_answer *a, struct st_error *err)
{
    if (st_json_parse(st_buf_cstr(&a->text), a->text.len, ST_JSON_DEFAULT_LIMITS, &a->doc, err) < 0)
        return -err->errnum;
    a->root = st_json_root(a->doc);
    return st_json_is(a->root, ST_JSON_OBJECT) ? 0 : st_fail(err, EPROTO, "not an object");
}

int st_live_ask(const struct st_live *l, const char *id, const struct st_buf *request,
                struct st_live_answer *out, struct st_error *err)
{
    int rc = l->ask(l->ctx, id, request, &out->text, err);

    return rc < 0 ? rc : take_apart(out, err);
}

int st_live_ask_plain(const struct st_live *l, const char *id, const char *request,
                      struct st_live_answer *out, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    st_buf_addf(&text, "{\"request\":\"%s\"}", request);
    return st_live_ask(l, id, &text, out, err);
}

bool st_live_state(const struct st_live *l, const char *id, struct st_live_answer *out)
{
    struct st_error err = {0};

    return l->state(l->ctx, id, &out->text, &err) == 0 && take_apart(out, &err) == 0;
}

void st_live_copy(struct st_jw *w, const char *key, const struct st_live_answer *from,
                  const struct st_json_node *node)
{
    size_t start, end;

    st_jw_key(w, key);
    if (!node) {
        st_jw_null(w);
        return;
    }
    st_json_span(node, &start, &end);
    st_jw_raw(w, from->text.data + start, end - start);
}

/* ---- what waits ---- */

static void put_pause(struct st_jw *w, const char *id, const char *agent, const struct st_live_answer *a,
                      const struct st_json_node *pause)
{
    static const char *const same[] = {"by_person",  "event",    "expires_ms", "held",
                                       "on_timeout", "pause_id", NULL};
    const struct st_json_node *event = st_json_get(pause, "event");
    const struct st_json_node *verdict = st_json_get(event, "verdict"),
                              *said = st_json_get(event, "agent_id");
    const char *own = st_json_str(said, NULL);

    st_jw_object(w);
    st_jw_kstr(w, "analysis_id", own ? own : agent ? agent : id);
    st_live_copy(w, same[0], a, st_json_get(pause, same[0]));
    st_jw_kstr(w, "container", id);
    for (size_t i = 1; same[i]; i++)
        st_live_copy(w, same[i], a, st_json_get(pause, same[i]));
    st_live_copy(w, "reason", a, st_json_get(verdict, "reason"));
    st_live_copy(w, "rule", a, st_json_get(verdict, "policy_rule"));
    st_live_copy(w, "rule_file", a, st_json_get(pause, "rule_file"));
    st_live_copy(w, "rule_line", a, st_json_get(pause, "rule_line"));
    st_live_copy(w, "severity", a, st_json_get(verdict, "severity"));
    st_live_copy(w, "since", a, st_json_get(pause, "since"));
    st_jw_end(w, '}');
}

static void put_container(struct st_jw *w, const struct st_live *l, const char *id)
{
    st_auto_live_answer a = {0}, state = {0};
    struct st_error err = {0};
    const char *agent;

    if (st_live_ask_plain(l, id, "pending", &a, &err) < 0)
        return; /* it has just ended, or its monitor is being replaced: nothing can be answered there now */
    if (!st_json_first(st_json_get(a.root, "pending")))
        return;
    agent = st_live_state(l, id, &state) ? st_json_str(st_json_get(state.root, "agent_id"), NULL) : NULL;
    st_json_each (pause, st_json_get(a.root, "pending"))
        put_pause(w, id, agent, &a, pause);
}

int st_live_pending(const struct st_live *l, struct st_buf *out, struct st_error *err)
{
    st_auto_buf ids = ST_BUF_INIT;
    struct st_jw w;
    size_t n = 0;

    if (l->list(l->ctx, &ids, &n, err) < 0)
        return -err->errnum;
    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "pending");
    st_jw_array(&w);
    for (const char *id = ids.data; n > 0; n--, id += strlen(id) + 1)
        put_container(&w, l, id);
    st_jw_end(&w, ']');
    st_jw_end(&w, '}');
    return 0;
}

char *st_call_id(const struct st_call *c)
{
    char *id = st_xstrndup(c->r->tail, c->r->tail_len);

    if (st_percent_decode(id, strlen(id), false) > 0 && !strchr(id, '/') && id[0] != '.' &&
        strlen(id) <= 1024)
        return id;
    free(id);
    return NULL;
}
