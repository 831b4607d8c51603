/* pause_view: see pause_view.h. */
#include "cli/pause_view.h"

#include "audit/frame.h"
#include "cli/show.h"
#include "cli/term.h"

#include <string.h>

#define ARGV_SHOWN 400

void st_show_duration(struct st_buf *out, int64_t ms)
{
    int64_t s = ms < 0 ? 0 : (ms + 500) / 1000;

    if (s >= 86400)
        st_buf_addf(out, "%lld d %02lld h", (long long)(s / 86400), (long long)(s / 3600 % 24));
    else if (s >= 3600)
        st_buf_addf(out, "%lld h %02lld m", (long long)(s / 3600), (long long)(s / 60 % 60));
    else if (s >= 60)
        st_buf_addf(out, "%lld m %02lld s", (long long)(s / 60), (long long)(s % 60));
    else
        st_buf_addf(out, "%lld s", (long long)s);
}

struct block {
    struct st_buf *out;
    bool color;
};

static void label(const struct block *b, const char *name)
{
    st_buf_addf(b->out, "%s┃%s %s%-13s%s", st_term_on(b->color, ST_TERM_ALARM), st_term_off(b->color),
                st_term_on(b->color, ST_TERM_DIM), name, st_term_off(b->color));
}

static void end_line(const struct block *b)
{
    st_buf_addc(b->out, '\n');
}

static void show_process(const struct block *b, const struct st_process *p)
{
    label(b, "who");
    st_show_text(b->out, p->comm.p ? p->comm : p->exe);
    st_buf_addf(b->out, "[%d], host pid %d", (int)p->container_pid, (int)p->pid);
    if (p->uid != ST_UNKNOWN)
        st_buf_addf(b->out, ", uid %lld", (long long)p->uid);
    if (p->exe.p) {
        st_buf_adds(b->out, ", ");
        st_show_text(b->out, p->exe);
    }
    end_line(b);
    if (p->argv.p && p->argv.len) {
        label(b, "command");
        st_show_argv(b->out, p->argv, ARGV_SHOWN);
        end_line(b);
    }
    if (p->n_ancestry) {
        label(b, "started by");
        for (size_t i = 0; i < p->n_ancestry; i++) {
            const struct st_ancestor *a = &p->ancestry[i];

            st_buf_adds(b->out, i ? " ← " : "");
            st_show_text(b->out, a->comm.p ? a->comm : a->exe);
            st_buf_addf(b->out, "[%d]", (int)a->pid);
        }
        end_line(b);
    }
}

/* Of a file that is to be executed: for who wants to know what it is, and for a rule that allows it. */
static void show_hash(const struct block *b, const struct st_decoded *d)
{
    const struct st_str *sha256 = d->ev.type == ST_EV_PROCESS      ? &d->ev.proc.program.sha256
                                  : d->ev.type == ST_EV_FILESYSTEM ? &d->ev.fs.program.sha256
                                                                   : NULL;

    if (!sha256 || !sha256->p)
        return;
    label(b, "sha256");
    st_show_text(b->out, *sha256);
    end_line(b);
}

static void show_rule(const struct block *b, const struct st_pause_view *v)
{
    const struct st_verdict *verdict = &v->event->verdict;

    label(b, "why");
    if (verdict->reason.p)
        st_show_text(b->out, verdict->reason);
    end_line(b);
    label(b, "rule");
    if (verdict->rule.p)
        st_show_text(b->out, verdict->rule);
    else
        st_buf_adds(b->out, "none: the policy's default");
    if (v->rule_file) {
        st_buf_adds(b->out, "  ");
        st_show_text(b->out, st_str(v->rule_file));
        st_buf_addf(b->out, ":%lld", (long long)v->rule_line);
    }
    end_line(b);
}

/* What `pause.on_timeout` of the policy means for who reads it. */
static const char *timeout_words(const char *on_timeout)
{
    static const char *const words[][2] = {{"deny", "refused"}, {"kill", "killed"}, {"resume", "allowed"}};

    for (size_t i = 0; on_timeout && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i][0], on_timeout) == 0)
            return words[i][1];
    return "over";
}

static void show_waiting(const struct block *b, const struct st_pause_view *v)
{
    label(b, "now");
    st_buf_adds(b->out, v->by_person ? "the container stands still"
                        : v->held    ? "the operation waits, the container stands still"
                                     : "the operation was refused, the container stands still");
    if (v->expires) {
        st_buf_addf(b->out, "; %s by itself in ", timeout_words(v->on_timeout));
        st_show_duration(b->out, v->expires_ms);
    }
    end_line(b);
}

static void show_command(const struct block *b, const struct st_pause_view *v, const char *name,
                         const char *verb, const char *object, const char *option)
{
    label(b, name);
    st_buf_addf(b->out, "%ssandtrace %s%s%s %s%s%s\n", st_term_on(b->color, ST_TERM_COMMAND), verb,
                v->config ? " --config " : "", v->config ? v->config : "", object, option,
                st_term_off(b->color));
}

static void show_commands(const struct block *b, const struct st_pause_view *v)
{
    if (v->by_person) {
        show_command(b, v, "go on", "resume", v->container, "");
    } else {
        show_command(b, v, "allow once", "approve", v->pause_id, "");
        show_command(b, v, "allow always", "approve", v->pause_id, " --always");
        show_command(b, v, "deny", "deny", v->pause_id, "");
    }
    show_command(b, v, "kill", "kill", v->container, "");
}

void st_pause_show(struct st_buf *out, const struct st_pause_view *v, bool color)
{
    const struct block b = {out, color};

    st_buf_addf(out, "%s┏━━ SECURITY_PAUSE  %s%s%s", st_term_on(color, ST_TERM_ALARM), v->pause_id,
                v->event ? "  " : "", v->event ? st_severity_name(v->event->verdict.severity) : "");
    st_buf_addf(out, "%s\n", st_term_off(color));
    label(&b, "container");
    st_show_text(out, st_str(v->container));
    end_line(&b);
    if (v->event) {
        label(&b, "what");
        st_show_subject(out, v->event);
        end_line(&b);
        show_hash(&b, v->event);
        if (v->event->ev.process.present)
            show_process(&b, &v->event->ev.process);
        show_rule(&b, v);
    }
    if (v->by) {
        label(&b, "by");
        st_show_text(out, st_str(v->by));
        end_line(&b);
    }
    show_waiting(&b, v);
    show_commands(&b, v);
    st_buf_addf(out, "%s┗━━%s\n", st_term_on(color, ST_TERM_ALARM), st_term_off(color));
}

void st_pause_show_pending(struct st_buf *out, const char *container, const struct st_json_node *pause,
                           const char *text, const char *config, bool color)
{
    const struct st_json_node *event = st_json_get(pause, "event");
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_decoded decoded;
    struct st_frame frame;
    const char *why, *id = st_json_str(st_json_get(pause, "pause_id"), NULL);
    struct st_pause_view v = {
        .container = container,
        .pause_id = id ? id : "?",
        .held = st_json_true(st_json_get(pause, "held")),
        .by_person = st_json_true(st_json_get(pause, "by_person")),
        .on_timeout = st_json_str(st_json_get(pause, "on_timeout"), NULL),
        .rule_file = st_json_str(st_json_get(pause, "rule_file"), NULL),
        .config = config,
    };
    size_t start, end;

    v.expires = st_json_int(st_json_get(pause, "expires_ms"), &v.expires_ms);
    st_json_int(st_json_get(pause, "rule_line"), &v.rule_line);
    if (st_json_is(event, ST_JSON_OBJECT)) {
        st_json_span(event, &start, &end);
        if (st_frame_read((struct st_str){.p = text + start, .len = end - start}, &scratch, &frame, &why) ==
                ST_FRAME_OK &&
            st_decode(decoder, &frame, &decoded, NULL) == 0)
            v.event = &decoded;
    }
    st_pause_show(out, &v, color);
}
