/* demo_tell: a demonstration in words, or in JSON, one object for each step. What the agent or the trace says
 * was chosen by others: it is made safe for a terminal. */
#include "cli/demo.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/printable.h"
#include "cli/pause_view.h"
#include "cli/show.h"
#include "cli/term.h"

#include <stdio.h>
#include <string.h>

#define LINES_SHOWN 6

static void put(const struct st_buf *out)
{
    fwrite(out->data, 1, out->len, stdout);
    fflush(stdout); /* a step is seen when it happens */
}

/* "agent      text", the words in a column of their own. */
static void add_row(struct st_buf *out, bool color, const char *who, const char *text)
{
    st_buf_addf(out, "   %s%-10s%s%s\n", st_term_on(color, ST_TERM_DIM), who, st_term_off(color), text);
}

/* Each line of what somebody printed, as long as there are not too many. */
static void add_said(struct st_buf *out, bool color, const char *who, const char *text, size_t len)
{
    for (int i = 0; len && i < LINES_SHOWN; i++) {
        const char *newline = memchr(text, '\n', len);
        size_t n = newline ? (size_t)(newline - text) : len;
        st_auto_buf line = ST_BUF_INIT;

        st_add_printable(&line, text, n);
        if (i == LINES_SHOWN - 1 && newline && (size_t)(newline - text) + 1 < len)
            st_buf_adds(&line, " …");
        if (line.len)
            add_row(out, color, i ? "" : who, st_buf_cstr(&line));
        n += newline != NULL;
        text += n;
        len -= n;
    }
}

static void add_fault(struct st_buf *out, bool color, const char *fault)
{
    st_buf_addf(out, "   %sNOT SHOWN%s %s\n", st_term_on(color, ST_TERM_ALARM), st_term_off(color), fault);
}

/* ---- JSON ---- */

static void begin_json(struct st_jw *w, struct st_buf *out)
{
    st_jw_init(w, out);
    st_jw_object(w);
}

static void end_json(struct st_jw *w, struct st_buf *out)
{
    st_jw_end(w, '}');
    st_buf_addc(out, '\n');
    put(out);
}

/* What `sandtrace verify --json` said is an object in one line. */
static void add_object(struct st_jw *w, const char *key, const struct st_buf *text)
{
    size_t len = text->len && text->data[text->len - 1] == '\n' ? text->len - 1 : text->len;

    if (len == 0 || text->data[0] != '{')
        return;
    st_jw_key(w, key);
    st_jw_raw(w, text->data, len);
}

/* ---- the parts ---- */

void st_demo_tell_begin(const struct st_demo_teller *t)
{
    bool color = t->cli->color;
    st_auto_buf out = ST_BUF_INIT;

    if (t->cli->json)
        return;
    st_buf_addf(&out, "%s%s%s: %s\n", st_term_on(color, ST_TERM_COMMAND), t->scenario->name,
                st_term_off(color), t->scenario->summary);
    put(&out);
}

void st_demo_tell_step(const struct st_demo_teller *t, const struct st_demo_step *step)
{
    bool color = t->cli->color;
    st_auto_buf out = ST_BUF_INIT;

    if (t->cli->json)
        return;
    st_buf_addf(&out, "\n%d. %s\n   %s%-10s%s%s$ %s%s\n", t->steps, step->does,
                st_term_on(color, ST_TERM_DIM), "agent", st_term_off(color),
                st_term_on(color, ST_TERM_COMMAND), step->command, st_term_off(color));
    put(&out);
}

void st_demo_tell_pause(struct st_demo_teller *t, const char *container, const struct st_json_node *pause,
                        const char *text)
{
    st_auto_buf out = ST_BUF_INIT;

    if (t->cli->json)
        return;
    if (!t->paused++) {
        st_pause_show_pending(&out, container, pause, text, NULL, t->cli->color);
    } else {
        const char *id = st_json_str(st_json_get(pause, "pause_id"), NULL);
        bool held = st_json_true(st_json_get(pause, "held"));
        st_auto_free char *line = st_xasprintf("SECURITY_PAUSE %s: %sthe container stands still",
                                               id ? id : "", held ? "the operation waits, " : "");

        add_row(&out, t->cli->color, "sandtrace", line);
    }
    put(&out);
}

static const char *word_of(enum st_demo_answer answer)
{
    static const char *const words[] = {[ST_DEMO_NOT_ASKED] = NULL,
                                        [ST_DEMO_DENY] = "deny",
                                        [ST_DEMO_ALLOW] = "approve",
                                        [ST_DEMO_KILL] = "kill"};

    return words[answer];
}

static void result_json(const struct st_demo_teller *t, const struct st_demo_step *step,
                        const struct st_buf *said, const struct st_demo_seen *record,
                        const struct st_demo_seen *decided, const char *fault)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    begin_json(&w, &out);
    st_jw_kstr(&w, "answer", word_of(step->answer));
    st_jw_kstr(&w, "command", step->command);
    add_object(&w, "decided", &decided->record);
    st_jw_kstr(&w, "does", step->does);
    st_jw_kstr(&w, "fault", fault);
    add_object(&w, "record", &record->record);
    st_jw_key(&w, "said");
    st_jw_strn(&w, st_buf_cstr(said), said->len);
    st_jw_kstr(&w, "scenario", t->scenario->name);
    st_jw_kbool(&w, "shown", !fault);
    st_jw_kint(&w, "step", t->steps);
    end_json(&w, &out);
}

static void add_record(struct st_buf *out, bool color, const char *who, const struct st_demo_seen *seen)
{
    if (seen->line.len)
        st_buf_addf(out, "   %s%-10s%s#%llu %s\n", st_term_on(color, ST_TERM_DIM), who, st_term_off(color),
                    (unsigned long long)seen->seq, st_buf_cstr(&seen->line));
}

void st_demo_tell_result(struct st_demo_teller *t, const struct st_demo_step *step, const struct st_buf *said,
                         const struct st_demo_seen *record, const struct st_demo_seen *decided,
                         const char *fault)
{
    static const char *const decisions[] = {[ST_DEMO_DENY] = "denied, as nobody allows it",
                                            [ST_DEMO_ALLOW] = "approved, once",
                                            [ST_DEMO_KILL] = "killed"};
    bool color = t->cli->color;
    st_auto_buf out = ST_BUF_INIT;

    t->shown += !fault;
    if (t->cli->json) {
        result_json(t, step, said, record, decided, fault);
        return;
    }
    if (step->answer && !fault)
        add_row(&out, color, "decision", decisions[step->answer]);
    if (step->answer != ST_DEMO_KILL || fault)
        add_said(&out, color, "agent", st_buf_cstr(said), said->len);
    add_record(&out, color, "record", record);
    add_record(&out, color, "", decided);
    if (fault)
        add_fault(&out, color, fault);
    put(&out);
}

void st_demo_tell_verify(struct st_demo_teller *t, const struct st_demo_forgery *f, const struct st_buf *said,
                         const char *fault)
{
    bool color = t->cli->color;
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    t->shown += !fault;
    if (t->cli->json) {
        begin_json(&w, &out);
        st_jw_kstr(&w, "does", f ? f->does : NULL);
        st_jw_kstr(&w, "fault", fault);
        st_jw_kstr(&w, "scenario", t->scenario->name);
        st_jw_kbool(&w, "shown", !fault);
        st_jw_kint(&w, "step", t->steps);
        add_object(&w, "verify", said);
        end_json(&w, &out);
        return;
    }
    st_buf_addf(&out, "\n%d. %s\n", t->steps,
                f ? f->does : "The container has ended, the trace is closed. Does it hold?");
    st_buf_addf(&out, "   %s%-10s%s%s$ sandtrace verify %s%s\n", st_term_on(color, ST_TERM_DIM), "you",
                st_term_off(color), st_term_on(color, ST_TERM_COMMAND), f ? "forged.jsonl" : "trace.jsonl",
                st_term_off(color));
    add_said(&out, color, "", st_buf_cstr(said), said->len);
    if (fault)
        add_fault(&out, color, fault);
    put(&out);
}

void st_demo_tell_server(struct st_demo_teller *t, uint64_t arrived, uint64_t sent, const char *fault)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    t->shown += !fault;
    if (t->cli->json) {
        begin_json(&w, &out);
        st_jw_kint(&w, "arrived", (int64_t)arrived);
        st_jw_kstr(&w, "fault", fault);
        st_jw_kstr(&w, "scenario", t->scenario->name);
        st_jw_kint(&w, "sent", (int64_t)sent);
        st_jw_kbool(&w, "shown", !fault);
        st_jw_kint(&w, "step", t->steps);
        end_json(&w, &out);
        return;
    }
    st_buf_addf(&out, "\n%d. What has the server got?\n   %-10s", t->steps, "server");
    st_buf_addf(&out, "%llu bytes in all, of a file of %llu\n", (unsigned long long)arrived,
                (unsigned long long)sent);
    if (fault)
        add_fault(&out, t->cli->color, fault);
    put(&out);
}

void st_demo_tell_end(const struct st_demo_teller *t, const char *kept, int64_t ms)
{
    bool color = t->cli->color, all = t->shown == t->steps;
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    if (t->cli->json) {
        begin_json(&w, &out);
        st_jw_kint(&w, "duration_ms", ms);
        st_jw_kstr(&w, "kept", kept);
        st_jw_kbool(&w, "ok", all);
        st_jw_kstr(&w, "scenario", t->scenario->name);
        st_jw_kint(&w, "steps", t->steps);
        st_jw_kint(&w, "steps_shown", t->shown);
        end_json(&w, &out);
        return;
    }
    st_buf_addf(&out, "\n%s%s%s: %d of %d shown in %.1f s; ",
                st_term_on(color, all ? ST_TERM_GOOD : ST_TERM_ALARM), t->scenario->name, st_term_off(color),
                t->shown, t->steps, (double)ms / 1000);
    if (kept)
        st_buf_addf(&out, "the trace is %s/%s.jsonl, the key %s.pub\n", kept, t->scenario->name,
                    t->scenario->name);
    else
        st_buf_adds(&out, "nothing of it is left (--keep DIR keeps the trace)\n");
    put(&out);
}
