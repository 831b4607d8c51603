/* watch_view: see watch_view.h. */
#include "cli/watch_view.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "cli/pause_view.h"
#include "cli/show.h"
#include "cli/term.h"

#include <stdio.h>
#include <string.h>

#define ID_SHOWN 12

static void put(const struct st_buf *out)
{
    fwrite(out->data, 1, out->len, stdout);
}

static void show_container(struct st_buf *out, const char *container)
{
    st_buf_addf(out, "%-*.*s  ", ID_SHOWN, ID_SHOWN, container);
}

/* ---- one event a line ---- */

static enum st_term_style style_of(const struct st_decoded *d)
{
    if (d->verdict.action == ST_ACT_PAUSED || d->verdict.action == ST_ACT_KILLED ||
        d->verdict.result == ST_DENY)
        return ST_TERM_ALARM;
    return d->verdict.result == ST_ANOMALY ? ST_TERM_WARN : ST_TERM_GOOD;
}

static const struct st_json_node *member(const struct st_json_doc *doc, const char *key)
{
    return st_json_get(st_json_root(doc), key);
}

static const char *text_of(const struct st_json_doc *doc, const char *key)
{
    const char *s = st_json_str(member(doc, key), NULL);

    return s ? s : "";
}

static void add_text(struct st_buf *out, const char *before, const char *s)
{
    if (!*s)
        return;
    st_buf_adds(out, before);
    st_show_text(out, st_str(s));
}

static void show_by(struct st_buf *out, const struct st_json_doc *doc)
{
    const struct st_json_node *by = member(doc, "by");
    const char *name = st_json_str(st_json_get(by, "name"), NULL);
    const char *how = st_json_str(st_json_get(by, "how"), NULL);

    add_text(out, " by ", name ? name : how ? how : "");
    add_text(out, ": ", text_of(doc, "reason"));
}

/* Records that have no struct of their own, in words. */
static void show_own(struct st_buf *out, const struct st_decoded *d)
{
    st_auto_json doc = NULL;

    if (st_json_parse(d->ev.json.p, d->ev.json.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return;
    switch (d->ev.type) {
    case ST_EV_SECURITY_RESUME:
        add_text(out, "", text_of(doc, "decision"));
        add_text(out, " ", text_of(doc, "pause_id"));
        show_by(out, doc);
        return;
    case ST_EV_POLICY_CHANGE:
        add_text(out, "", text_of(doc, "change"));
        add_text(out, " ", text_of(doc, "pause_id"));
        show_by(out, doc);
        return;
    case ST_EV_SENSOR:
        add_text(out, "", text_of(doc, "name"));
        add_text(out, " ", text_of(doc, "state"));
        add_text(out, ": ", text_of(doc, "detail"));
        return;
    case ST_EV_LIFECYCLE:
        add_text(out, "", text_of(doc, "op"));
        add_text(out, ": ", text_of(doc, "reason"));
        add_text(out, ", policy ", st_json_str(st_json_get(member(doc, "policy"), "name"), NULL) ?: "");
        return;
    case ST_EV_FILESYSTEM:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS:
    case ST_EV_DNS_QUERY:
    case ST_EV_PROCESS:
    case ST_EV_SYSCALL:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: st_show_subject(out, d);
    }
}

static bool is_use(enum st_event_type type)
{
    return type == ST_EV_FILESYSTEM || type == ST_EV_NETWORK_EGRESS || type == ST_EV_NETWORK_INGRESS ||
           type == ST_EV_DNS_QUERY || type == ST_EV_PROCESS || type == ST_EV_SYSCALL;
}

static void show_line(struct st_watch_view *v, const char *container, const struct st_decoded *d)
{
    st_auto_buf out = ST_BUF_INIT;
    char time[ST_RFC3339_SIZE];

    st_format_rfc3339(d->ev.wall_us, time);
    st_buf_addf(&out, "%s%.12s%s  ", st_term_on(v->color, ST_TERM_DIM), time + 11, st_term_off(v->color));
    show_container(&out, container);
    st_buf_addf(&out, "%s%-7s%s  %s%-15.*s%s  ", st_term_on(v->color, style_of(d)),
                is_use(d->ev.type) ? st_show_outcome(&d->verdict) : "", st_term_off(v->color),
                st_term_on(v->color, ST_TERM_TYPE), (int)d->type_name.len, d->type_name.p,
                st_term_off(v->color));
    if (d->known_type && is_use(d->ev.type))
        st_show_subject(&out, d);
    else
        show_own(&out, d);
    if (d->ev.process.present && d->known_type && is_use(d->ev.type)) {
        st_buf_addf(&out, "  %s", st_term_on(v->color, ST_TERM_DIM));
        st_show_actor(&out, d);
        st_buf_adds(&out, st_term_off(v->color));
    }
    if (d->verdict.rule.p && d->verdict.result != ST_ALLOW) {
        st_buf_adds(&out, "  by ");
        st_show_text(&out, d->verdict.rule);
    }
    st_buf_addc(&out, '\n');
    put(&out);
}

/* ---- a pause ---- */

/* The answer to `pending` for one pause; NULL: decided meanwhile, or nobody to ask. */
static const struct st_json_node *ask_pause(const struct st_watch_view *v, const char *container,
                                            const char *pause_id, struct st_answer *answer)
{
    st_auto_boxes boxes = {0};
    st_auto_buf request = ST_BUF_INIT;
    struct st_error err = {0};
    const struct st_box *box;
    struct st_jw w;

    if (st_boxes_read(v->state_dir, &boxes, &err) < 0 || !(box = st_boxes_find(&boxes, container, &err)))
        return NULL;
    st_jw_init(&w, &request);
    st_jw_object(&w);
    st_jw_kstr(&w, "pause_id", pause_id);
    st_jw_kstr(&w, "request", "pending");
    st_jw_end(&w, '}');
    if (st_ask(box, request.data, request.len, answer, &err) < 0)
        return NULL;
    return st_json_first(st_json_get(answer->root, "pending"));
}

/* From the records alone: the pause, and the one before it that caused it. */
static void show_pause_by_records(struct st_watch_view *v, const char *container,
                                  const struct st_json_doc *doc, struct st_buf *out)
{
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT, by = ST_BUF_INIT;
    struct st_decoded cause;
    struct st_frame f;
    const char *why;
    struct st_pause_view view = {.container = container,
                                 .pause_id = text_of(doc, "pause_id"),
                                 .held = st_json_true(member(doc, "held")),
                                 .by_person = !*text_of(doc, "cause"),
                                 .config = v->config};

    if (view.by_person) {
        show_by(&by, doc);
        view.by = by.len > 4 ? by.data + 4 : NULL;
    } else if (v->paused.len &&
               st_frame_read((struct st_str){.p = v->paused.data, .len = v->paused.len}, &scratch, &f,
                             &why) == ST_FRAME_OK &&
               st_decode(decoder, &f, &cause, NULL) == 0 &&
               cause.event_id.len == strlen(text_of(doc, "cause")) &&
               memcmp(cause.event_id.p, text_of(doc, "cause"), cause.event_id.len) == 0) {
        view.event = &cause;
    }
    st_pause_show(out, &view, v->color);
}

static void show_pause(struct st_watch_view *v, const char *container, const struct st_decoded *d)
{
    st_auto_json doc = NULL;
    st_auto_answer answer = {0};
    st_auto_buf out = ST_BUF_INIT;
    const struct st_json_node *pause = NULL;

    if (st_json_parse(d->ev.json.p, d->ev.json.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return;
    if (*text_of(doc, "cause"))
        pause = ask_pause(v, container, text_of(doc, "pause_id"), &answer);
    if (pause)
        st_pause_show_pending(&out, container, pause, st_buf_cstr(&answer.text), v->config, v->color);
    else
        show_pause_by_records(v, container, doc, &out);
    put(&out);
}

/* A permitted use, or a mark of the trace's own: too many for a person who has not asked. */
static bool is_common(const struct st_decoded *d)
{
    return d->known_type &&
           ((is_use(d->ev.type) && d->verdict.result == ST_ALLOW) || d->ev.type == ST_EV_CHECKPOINT);
}

void st_watch_view_event(struct st_watch_view *v, const char *container, const struct st_frame *f,
                         const struct st_decoded *d, bool chosen)
{
    if (d->known_type && d->ev.type == ST_EV_SECURITY_PAUSE) {
        show_pause(v, container, d);
        return;
    }
    if (d->verdict.action == ST_ACT_PAUSED) {
        st_buf_clear(&v->paused);
        st_buf_add(&v->paused, f->line.p, f->line.len);
    }
    if (chosen && (v->all || !is_common(d)))
        show_line(v, container, d);
}

void st_watch_view_gap(struct st_watch_view *v, const char *container, struct st_str line)
{
    st_auto_json doc = NULL;
    st_auto_buf out = ST_BUF_INIT;
    int64_t missed;

    if (st_json_parse(line.p, line.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0 ||
        !st_json_int(member(doc, "missed"), &missed))
        return;
    st_buf_addf(&out, "%14s", "");
    show_container(&out, container);
    st_buf_addf(&out, "%s%lld events came faster than they could be shown; they are in the trace%s\n",
                st_term_on(v->color, ST_TERM_WARN), (long long)missed, st_term_off(v->color));
    put(&out);
}

void st_watch_view_pending(struct st_watch_view *v, const struct st_box *box)
{
    static const char request[] = "{\"request\":\"pending\"}";
    st_auto_answer answer = {0};
    st_auto_buf out = ST_BUF_INIT;
    struct st_error err = {0};

    if (st_ask(box, request, sizeof(request) - 1, &answer, &err) < 0)
        return;
    st_json_each (pause, st_json_get(answer.root, "pending"))
        st_pause_show_pending(&out, box->id, pause, st_buf_cstr(&answer.text), v->config, v->color);
    if (out.len)
        put(&out);
}

void st_watch_view_free(struct st_watch_view *v)
{
    st_buf_free(&v->paused);
}
