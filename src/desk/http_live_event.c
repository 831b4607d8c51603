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
                                  .subject = copy(x.subject),
                                  .command = copy(x.command),
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
    free(e->subject);
    free(e->command);
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

/* What a word is made of: letters and digits; all beyond ASCII is taken for letters. */
static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

static const char *next_word(const char *at, const char *end)
{
    while (at < end && !is_word(*at))
        at++;
    return at;
}

/* Do the words of the phrase stand here, one after the other? The last may be longer. */
static bool stands_at(const char *text, const char *text_end, const char *phrase, const char *end)
{
    for (;;) {
        for (; phrase < end && is_word(*phrase); text++, phrase++)
            if (text == text_end || tolower((unsigned char)*text) != tolower((unsigned char)*phrase))
                return false;
        phrase = next_word(phrase, end);
        if (phrase == end)
            return true;
        if (text < text_end && is_word(*text))
            return false;
        text = next_word(text, text_end);
    }
}

static bool has_phrase(const char *text, const char *phrase, const char *end)
{
    const char *text_end = text + strlen(text);

    for (text = next_word(text, text_end); text < text_end; text = next_word(text, text_end)) {
        if (stands_at(text, text_end, phrase, end))
            return true;
        while (text < text_end && is_word(*text))
            text++;
    }
    return false;
}

bool st_live_words(const char *text, const char *query)
{
    bool any = false;

    while (*query) {
        const char *end = query + strcspn(query, " "), *phrase = next_word(query, end);

        if (phrase < end && !has_phrase(text, phrase, end))
            return false;
        any |= phrase < end;
        query = end + strspn(end, " ");
    }
    return any; /* signs alone are found nowhere */
}

bool st_live_event_fits(const struct st_live_event *e, const struct st_find *f)
{
    return (!f->analysis_id || strcmp(f->analysis_id, e->analysis_id) == 0) &&
           (!f->container || strcmp(f->container, e->container) == 0) && in_list(&f->severity, e->severity) &&
           in_list(&f->kind, e->kind) && in_list(&f->verdict, e->result) &&
           (f->blocked < 0 || f->blocked == e->blocked) && e->ts >= f->since && e->ts < f->until &&
           (!f->text || st_live_words(e->subject, f->text) || st_live_words(e->command, f->text));
}
