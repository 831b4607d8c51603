/* http_live_event: see http_live_event.h. */
#include "desk/http_live_event.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "desk/extract.h"
#include "desk/http_event_write.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *copy(struct st_str s)
{
    return st_xstrndup(s.p ? s.p : "", s.len);
}

/* Unless somebody named it, a trace is called after its container and its time: ID@TIME. */
static struct st_str container_by_name(const struct st_frame *f)
{
    struct st_str id = f->trace_id.text;
    const char *at = f->trace_id.plain && id.p ? memrchr(id.p, '@', id.len) : NULL;

    return at ? (struct st_str){.p = id.p, .len = (size_t)(at - id.p)} : (struct st_str){.p = "", .len = 0};
}

/* As http_event_write.c does it for a row. It has no number yet, and nobody has checked its chain. */
static void write_event(const struct st_frame *f, const struct st_extract *x, struct st_str container,
                        struct st_buf *out)
{
    st_auto_buf trace = ST_BUF_INIT;
    struct st_jw w;

    st_buf_add(&trace, container.p, container.len);
    st_buf_adds(&trace, ".jsonl");
    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_ktext(&w, "action", x->action);
    st_jw_kbool(&w, "allowed", x->result.len == 5 && memcmp(x->result.p, "allow", 5) == 0);
    st_jw_ktext(&w, "analysis_id", x->analysis_id);
    st_jw_kbool(&w, "blocked", x->blocked);
    st_jw_key(&w, "chain");
    st_jw_null(&w);
    st_jw_ktext(&w, "container", container);
    st_jw_key(&w, "detail");
    st_jw_raw(&w, x->raw_detail.p, x->raw_detail.len);
    st_jw_ktext(&w, "event_id", x->event_id);
    st_jw_ktext(&w, "kind", x->kind);
    st_jw_ktext(&w, "path_or_addr", x->path_or_addr);
    st_jw_ktext(&w, "reason", x->reason);
    st_jw_ktext(&w, "result", x->result);
    st_jw_ktext(&w, "rule", x->rule);
    st_jw_kint(&w, "seq", (int64_t)f->seq);
    st_jw_ktext(&w, "severity", x->severity);
    st_jw_ktext(&w, "trace", (struct st_str){.p = st_buf_cstr(&trace), .len = trace.len});
    st_jw_ktime(&w, "ts", x->ts);
    st_jw_end(&w, '}');
}

static char *lower_words(const struct st_extract *x)
{
    struct st_buf b = ST_BUF_INIT;

    st_buf_add(&b, x->subject.p, x->subject.len);
    st_buf_addc(&b, ' ');
    st_buf_add(&b, x->command.p, x->command.len);
    for (char *c = b.data, *end = b.data + b.len; c < end; c++)
        *c = (char)tolower((unsigned char)*c);
    return b.data;
}

bool st_live_event_read(struct st_str container, struct st_str line, struct st_buf *scratch,
                        struct st_live_event *out)
{
    st_auto_buf room = ST_BUF_INIT, json = ST_BUF_INIT;
    struct st_extract x;
    struct st_frame f;
    const char *why;

    *out = (struct st_live_event){0};
    if (st_frame_read(line, scratch, &f, &why) != ST_FRAME_OK)
        return false;
    st_extract(&f, &room, &x);
    if (!container.p)
        container = container_by_name(&f);
    write_event(&f, &x, container, &json);
    *out = (struct st_live_event){.len = json.len,
                                  .words = lower_words(&x),
                                  .analysis_id = copy(x.analysis_id),
                                  .container = copy(container),
                                  .kind = copy(x.kind),
                                  .severity = copy(x.severity),
                                  .result = copy(x.result),
                                  .blocked = x.blocked,
                                  .ts = x.ts};
    out->json = st_steal_ptr(&json.data);
    return true;
}

void st_live_event_free(struct st_live_event *e)
{
    free(e->json);
    free(e->words);
    free(e->analysis_id);
    free(e->container);
    free(e->kind);
    free(e->severity);
    free(e->result);
    *e = (struct st_live_event){0};
}

static bool in_list(const struct st_find_list *l, const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i < l->n; i++)
        if (l->words[i].len == len && memcmp(l->words[i].p, word, len) == 0)
            return true;
    return l->n == 0;
}

/* Every word is somewhere in it. */
static bool has_words(const char *words, const char *text)
{
    while (text && *text) {
        size_t len = strcspn(text, " ");
        char word[256];

        if (len >= sizeof(word))
            return false;
        for (size_t i = 0; i < len; i++)
            word[i] = (char)tolower((unsigned char)text[i]);
        word[len] = '\0';
        if (!strstr(words, word))
            return false;
        text += len + (text[len] == ' ');
    }
    return true;
}

bool st_live_event_fits(const struct st_live_event *e, const struct st_find *f)
{
    return (!f->analysis_id || strcmp(f->analysis_id, e->analysis_id) == 0) &&
           (!f->container || strcmp(f->container, e->container) == 0) && in_list(&f->severity, e->severity) &&
           in_list(&f->kind, e->kind) && in_list(&f->verdict, e->result) &&
           (f->blocked < 0 || f->blocked == e->blocked) && e->ts >= f->since && e->ts < f->until &&
           has_words(e->words, f->text);
}
