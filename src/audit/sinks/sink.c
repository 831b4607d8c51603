/* sink: queue, losses, connecting and trying again. See sink.h. */
#include "audit/sinks/sink.h"

#include "audit/sinks/backend.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/sink_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_NS INT64_C(1000000000)
#define RETRY_MAX_NS INT64_C(30000000000)

struct st_sink {
    char *spec;
    const struct st_backend *backend;
    struct st_backend_state state;
    struct st_sink_options o;
    struct st_queue queue;
    int64_t retry_ns;       /* when to try again, where no fd says so */
    int64_t retry_after_ns; /* how long to wait after the next failure to connect */
    uint64_t lost;          /* not yet told to the owner */
    uint64_t missed;        /* not yet told to the reader */
    char why[ST_SINK_WHY], down[ST_SINK_WHY];
};

static const struct st_backend *const backends[] = {
    [ST_SINK_FILE] = &st_backend_file,         [ST_SINK_STDOUT] = &st_backend_stdout,
    [ST_SINK_UNIX] = &st_backend_unix,         [ST_SINK_SYSLOG] = &st_backend_syslog,
    [ST_SINK_JOURNALD] = &st_backend_journald, [ST_SINK_EXEC] = &st_backend_exec,
};

int st_sink_open(const struct st_sink_options *o, struct st_sink **out, struct st_error *err)
{
    struct st_sink_spec spec;
    const char *fault = st_sink_spec_read(o->spec, &spec);
    struct st_sink *s;

    if (fault)
        return st_fail(err, EINVAL, "sink '%s': %s", o->spec, fault);
    s = st_xcalloc(1, sizeof(*s));
    s->spec = st_xstrdup(o->spec);
    s->backend = backends[spec.kind];
    s->o = *o;
    s->o.spec = s->spec;
    s->state = (struct st_backend_state){.target = s->spec + (spec.target - o->spec), .fd = -1};
    s->retry_after_ns = RETRY_NS;
    st_queue_init(&s->queue, o->queue_bytes ? o->queue_bytes : ST_SINK_QUEUE);
    *out = s;
    return 0;
}

static void lose(struct st_sink *s, const struct st_queued *item, const char *why)
{
    if (item->notice)
        return;
    s->missed++;
    if (item->about_sinks)
        return;
    s->lost++;
    snprintf(s->why, sizeof(s->why), "%.*s", (int)sizeof(s->why) - 1, why);
}

static bool wanted(const struct st_sink *s, const struct st_queued *item)
{
    if (s->o.types && !(s->o.types >> item->type & 1))
        return false;
    return !s->o.refusals || item->result != ST_ALLOW;
}

/* The reader learns of what it missed before what comes next. */
static bool put_notice(struct st_sink *s)
{
    char text[64];
    struct st_queued notice = {.notice = true, .type = ST_EV_SENSOR, .severity = ST_SEV_MEDIUM};
    int n = snprintf(text, sizeof(text), "{\"missed\":%llu}", (unsigned long long)s->missed);

    notice.line = (struct st_str){.p = text, .len = (size_t)n};
    if (!st_queue_put(&s->queue, &notice))
        return false;
    s->missed = 0;
    return true;
}

void st_sink_offer(struct st_sink *s, const struct st_queued *record)
{
    struct st_queued item = *record;

    if (!wanted(s, &item))
        return;
    if (item.line.len && item.line.p[item.line.len - 1] == '\n')
        item.line.len--;
    if ((s->missed && s->backend->lines && !put_notice(s)) || !st_queue_put(&s->queue, &item))
        lose(s, &item, "the queue is full: the reader is too slow, or not there");
}

static void disconnect(struct st_sink *s, int64_t now_ns)
{
    s->backend->close(&s->state);
    s->state.done = 0;
    s->retry_ns = now_ns + s->retry_after_ns;
    s->retry_after_ns = s->retry_after_ns * 2 < RETRY_MAX_NS ? s->retry_after_ns * 2 : RETRY_MAX_NS;
}

static bool ready(struct st_sink *s, int64_t now_ns)
{
    struct st_error err = {0};

    if (!s->backend->connect || s->state.fd >= 0)
        return true;
    if (now_ns < s->retry_ns)
        return false;
    if (s->backend->connect(&s->state, &err) == 0)
        return true;
    snprintf(s->down, sizeof(s->down), "%.*s", (int)sizeof(s->down) - 1, err.msg);
    disconnect(s, now_ns);
    return false;
}

void st_sink_work(struct st_sink *s, int64_t now_ns)
{
    struct st_queued item;
    struct st_error err = {0};

    while (st_queue_peek(&s->queue, &item) && ready(s, now_ns)) {
        switch (s->backend->send(&s->state, &item, now_ns, &err)) {
        case ST_WAIT: s->retry_ns = now_ns + RETRY_NS; return;
        case ST_GONE: disconnect(s, now_ns); return;
        case ST_LOST: lose(s, &item, err.msg); break;
        case ST_SENT:
            s->retry_after_ns = RETRY_NS;
            s->down[0] = '\0';
            break;
        }
        s->state.done = 0;
        st_queue_drop(&s->queue);
    }
}

int st_sink_poll(const struct st_sink *s, short *events)
{
    if (s->backend->poll)
        return s->backend->poll(&s->state, events);
    *events = POLLOUT;
    return st_queue_empty(&s->queue) ? -1 : s->state.fd;
}

int64_t st_sink_deadline(const struct st_sink *s)
{
    short events;

    if (s->state.pid > 0)
        return s->state.kill_ns;
    if (st_queue_empty(&s->queue))
        return -1;
    return st_sink_poll(s, &events) < 0 ? s->retry_ns : -1;
}

const char *st_sink_name(const struct st_sink *s)
{
    return s->spec;
}

uint64_t st_sink_losses(struct st_sink *s, const char **why)
{
    uint64_t lost = s->lost;

    s->lost = 0;
    *why = s->why;
    return lost;
}

const char *st_sink_down(const struct st_sink *s)
{
    return s->down;
}

bool st_sink_idle(const struct st_sink *s)
{
    return st_queue_empty(&s->queue);
}

void st_sink_close(struct st_sink *s)
{
    if (!s)
        return;
    st_sink_work(s, st_now_mono_ns());
    s->backend->close(&s->state);
    st_queue_free(&s->queue);
    free(s->spec);
    free(s);
}

void st_backend_close_fd(struct st_backend_state *s)
{
    st_close(&s->fd);
}

int st_backend_priority(const struct st_queued *item)
{
    static const int by_severity[] = {
        [ST_SEV_NONE] = 6, [ST_SEV_LOW] = 5, [ST_SEV_MEDIUM] = 4, [ST_SEV_HIGH] = 3, [ST_SEV_CRITICAL] = 2};

    if (item->severity == ST_SEV_NONE && item->result != ST_ALLOW)
        return 4;
    return (size_t)item->severity < sizeof(by_severity) / sizeof(by_severity[0]) ? by_severity[item->severity]
                                                                                 : 6;
}
