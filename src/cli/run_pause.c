/* run_pause: see run_pause.h. */
#include "cli/run_pause.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/pause_view.h"
#include "cli/request.h"
#include "cli/term.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define HEARD_MAX ((size_t)2 << 20)
#define TYPED_MAX 256

static const char follow[] =
    "{\"follow\":true,\"request\":\"events\",\"since\":0,\"types\":[\"security_pause\",\"security_resume\"]}";

int st_run_pauses_open(struct st_run_pauses *p, const char *state_dir, const char *id, struct st_error *err)
{
    st_auto_free char *dir = st_xasprintf("%s/%s", state_dir, id);

    p->box.id = st_xstrdup(id);
    p->box.dirfd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (p->box.dirfd < 0)
        return st_fail_errno(err, "%s", dir);
    p->events = st_ask_on(&p->box, follow, sizeof(follow) - 1, err);
    return p->events < 0 ? -err->errnum : 0;
}

void st_run_pauses_close(struct st_run_pauses *p)
{
    free(p->box.id);
    st_close(&p->box.dirfd);
    st_close(&p->events);
    st_buf_free(&p->heard);
    st_buf_free(&p->typed);
    st_buf_free(&p->told);
    *p = (struct st_run_pauses)ST_RUN_PAUSES_NONE;
}

/* ---- saying ---- */

static bool can_ask(const struct st_run_pauses *p)
{
    return st_run_term_is_ours(p->term);
}

/* To the terminal where there is one, else to standard error. */
static void say(const struct st_run_pauses *p, const char *text, size_t len)
{
    (void)st_write_all(can_ask(p) ? p->term->fd : STDERR_FILENO, text, len);
}

static void ask(const struct st_run_pauses *p)
{
    st_auto_buf out = ST_BUF_INIT;
    bool c = p->color;

    st_buf_addf(&out, "%sallow %so%snce, %sa%slways, %sd%seny or %sk%sill?%s ", st_term_on(c, ST_TERM_WARN),
                c ? "\033[4m" : "[", c ? "\033[24m" : "]", c ? "\033[4m" : "[", c ? "\033[24m" : "]",
                c ? "\033[4m" : "[", c ? "\033[24m" : "]", c ? "\033[4m" : "[", c ? "\033[24m" : "]",
                st_term_off(c));
    say(p, out.data, out.len);
}

/* The terminal is the person's until the answer; what was typed before was not meant for the question. */
static void begin_asking(struct st_run_pauses *p, const char *id)
{
    snprintf(p->asked, sizeof(p->asked), "%s", id);
    st_buf_clear(&p->typed);
    tcflush(p->term->fd, TCIFLUSH);
    ask(p);
}

static void end_asking(struct st_run_pauses *p)
{
    p->asked[0] = '\0';
    st_buf_clear(&p->typed);
    tcflush(p->term->fd, TCIFLUSH);
    if (p->raw)
        st_run_term_raw(p->term);
}

static bool was_told(struct st_run_pauses *p, const char *id)
{
    st_auto_free char *line = st_xasprintf("%s\n", id);

    if (strstr(st_buf_cstr(&p->told), line))
        return true;
    st_buf_adds(&p->told, line);
    return false;
}

static void show(struct st_run_pauses *p, const struct st_answer *answer, const struct st_json_node *pause)
{
    st_auto_buf out = ST_BUF_INIT;
    bool here = can_ask(p);

    if (here && p->raw)
        st_run_term_restore(p->term);
    st_buf_adds(&out, "\n");
    st_pause_show_pending(&out, p->box.id, pause, st_buf_cstr(&answer->text), p->config, here && p->color);
    say(p, out.data, out.len);
}

/* ---- what waits ---- */

static const char *id_of(const struct st_json_node *pause)
{
    const char *id = st_json_str(st_json_get(pause, "pause_id"), NULL);

    return id ? id : "";
}

/* Shows what is new; asks about the first that is a decision. */
static void look(struct st_run_pauses *p)
{
    static const char request[] = "{\"request\":\"pending\"}";
    st_auto_answer answer = {0};
    struct st_error err = {0};
    const struct st_json_node *next = NULL;
    bool still = false, asks = st_ask(&p->box, request, sizeof(request) - 1, &answer, &err) == 0;

    st_json_each (pause, asks ? st_json_get(answer.root, "pending") : NULL) {
        if (!next && !st_json_true(st_json_get(pause, "by_person")))
            next = pause;
        still |= p->asked[0] && strcmp(p->asked, id_of(pause)) == 0;
        if (st_json_true(st_json_get(pause, "by_person")) && !was_told(p, id_of(pause)))
            show(p, &answer, pause);
    }
    p->waits = next != NULL;
    if (p->asked[0] && !still) {
        static const char over[] = "\n(decided elsewhere, or over)\n";

        say(p, over, sizeof(over) - 1);
        end_asking(p);
    }
    if (!next || p->asked[0])
        return;
    if (!was_told(p, id_of(next)))
        show(p, &answer, next);
    if (can_ask(p))
        begin_asking(p, id_of(next));
}

void st_run_pauses_hear(struct st_run_pauses *p)
{
    char bytes[65536];
    ssize_t n = recv(p->events, bytes, sizeof(bytes), MSG_DONTWAIT);
    const char *last;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        st_close(&p->events); /* the monitor has gone, or is about to */
        look(p);
        return;
    }
    st_buf_add(&p->heard, bytes, (size_t)n);
    last = memrchr(p->heard.data, '\n', p->heard.len);
    if (!last && p->heard.len < HEARD_MAX)
        return;
    /* Records are only the news that there is news: what waits is what the monitor says. */
    st_buf_clear(&p->heard);
    look(p);
}

bool st_run_pauses_asks(const struct st_run_pauses *p)
{
    return p->asked[0] != '\0';
}

/* ---- deciding ---- */

static void decide(struct st_run_pauses *p, enum st_run_answer answer)
{
    bool kills = answer == ST_ANSWER_KILL, denies = answer == ST_ANSWER_DENY;
    st_auto_answer said = {0};
    st_auto_buf body = ST_BUF_INIT;
    struct st_error err = {0};
    struct st_jw w;

    st_jw_init(&w, &body);
    st_jw_object(&w);
    if (answer == ST_ANSWER_ALWAYS)
        st_jw_kbool(&w, "always", true);
    st_request_members(&w, kills ? "kill" : denies ? "deny" : "approve", kills ? NULL : p->asked, NULL);
    st_jw_end(&w, '}');
    if (st_ask(&p->box, body.data, body.len, &said, &err) < 0) {
        st_auto_free char *line = st_xasprintf("sandtrace: %s\n", err.msg);

        say(p, line, strlen(line));
    }
    end_asking(p);
    if (!kills)
        look(p); /* the next one, if any */
}

void st_run_pauses_deny(struct st_run_pauses *p)
{
    static const char newline[] = "\n";

    say(p, newline, 1);
    decide(p, ST_ANSWER_DENY);
}

void st_run_pauses_answer(struct st_run_pauses *p)
{
    char bytes[TYPED_MAX];
    ssize_t n = read(p->term->fd, bytes, sizeof(bytes));
    enum st_run_answer answer;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        st_run_pauses_deny(p);
        return;
    }
    st_buf_add(&p->typed, bytes, (size_t)n);
    if (!memchr(bytes, '\n', (size_t)n) && p->typed.len < TYPED_MAX)
        return;
    answer = st_run_read_answer(p->typed.data, p->typed.len);
    st_buf_clear(&p->typed);
    if (answer == ST_ANSWER_NONE)
        ask(p);
    else
        decide(p, answer);
}
