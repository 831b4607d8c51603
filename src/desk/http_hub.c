/* http_hub: see http_hub.h. */
#include "desk/http_hub.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "desk/http_live.h"
#include "desk/http_live_event.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#define RING 4096                    /* records that are kept for who is slow, */
#define RING_BYTES ((size_t)8 << 20) /* and no more of them than this */
#define QUIET_NS INT64_C(15000000000)
#define BETWEEN_LOOKS_NS 50000000 /* many pauses at once are one look */

struct st_stream_hub {
    const struct st_live *live;
    pthread_mutex_t lock;
    pthread_cond_t look;
    bool dirty;
    int fd;
    struct st_live_event ring[RING];
    uint64_t first, next; /* numbers of the oldest that is kept, and of the next one to come */
    size_t bytes;
    uint64_t gaps;     /* records that we were too slow for ourselves */
    char *pending;     /* as it was told last */
    uint64_t versions; /* how often that changed */
    struct st_hub_numbers numbers;
    struct st_buf scratch;
};

struct st_reader {
    struct st_stream_hub *hub;
    struct st_query query;
    struct st_find find;
    uint64_t next, gaps, version;
    struct st_buf out;
    size_t sent; /* of out */
    int64_t told_ns;
};

static void wake(const struct st_stream_hub *h)
{
    uint64_t one = 1;

    while (write(h->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/* ---- what waits ---- */

static void tell_pending(struct st_stream_hub *h)
{
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err = {0};

    if (st_live_pending(h->live, &text, &err) < 0)
        return;
    pthread_mutex_lock(&h->lock);
    free(h->pending);
    h->pending = st_steal_ptr(&text.data);
    h->versions++;
    pthread_mutex_unlock(&h->lock);
    wake(h);
}

static void *watch_pending(void *arg)
{
    const struct timespec between = {.tv_nsec = BETWEEN_LOOKS_NS};
    struct st_stream_hub *h = arg;

    for (;;) {
        pthread_mutex_lock(&h->lock);
        while (!h->dirty)
            pthread_cond_wait(&h->look, &h->lock);
        h->dirty = false;
        pthread_mutex_unlock(&h->lock);
        tell_pending(h);
        nanosleep(&between, NULL);
    }
    return NULL;
}

void st_hub_look_at_pending(struct st_stream_hub *h)
{
    pthread_mutex_lock(&h->lock);
    h->dirty = true;
    pthread_cond_signal(&h->look);
    pthread_mutex_unlock(&h->lock);
}

int st_hub_new(const struct st_live *live, struct st_stream_hub **out, struct st_error *err)
{
    struct st_stream_hub *h = st_xcalloc(1, sizeof(*h));
    sigset_t all, before;
    pthread_t thread = 0;
    int rc;

    h->live = live;
    h->dirty = true;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->look, NULL);
    h->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = h->fd < 0 ? errno : pthread_create(&thread, NULL, watch_pending, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) {
        st_close(&h->fd);
        free(h);
        return st_fail(err, rc, "start a thread: %s", strerror(rc));
    }
    pthread_detach(thread);
    *out = h;
    return 0;
}

int st_hub_fd(const struct st_stream_hub *h)
{
    return h->fd;
}

void st_hub_heard(struct st_stream_hub *h)
{
    uint64_t n;

    while (read(h->fd, &n, sizeof(n)) < 0 && errno == EINTR)
        ;
}

void st_hub_numbers(struct st_stream_hub *h, struct st_hub_numbers *out)
{
    pthread_mutex_lock(&h->lock);
    *out = h->numbers;
    out->kept = (unsigned)(h->next - h->first);
    pthread_mutex_unlock(&h->lock);
}

/* ---- records ---- */

static void push(struct st_stream_hub *h, struct st_live_event *e)
{
    while (h->next - h->first == RING || (h->next > h->first && h->bytes + e->len > RING_BYTES)) {
        struct st_live_event *oldest = &h->ring[h->first++ % RING];

        h->bytes -= oldest->len;
        st_live_event_free(oldest);
    }
    h->bytes += e->len;
    h->ring[h->next++ % RING] = *e;
    h->numbers.records++;
}

/* {"id":…,"last_seq":…,"missed":…}: a monitor had more to say than we could take. */
static uint64_t missed_of(struct st_str line)
{
    st_auto_json doc = NULL;
    int64_t n = 0;

    if (line.len > 4096 || st_json_parse(line.p, line.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return 0;
    return st_json_int(st_json_get(st_json_root(doc), "missed"), &n) && n > 0 ? (uint64_t)n : 0;
}

static bool changes_pending(const struct st_live_event *e)
{
    return strncmp(e->kind, "security_", 9) == 0 || strcmp(e->kind, "lifecycle") == 0;
}

void st_hub_line(struct st_stream_hub *h, const char *container, struct st_str line)
{
    struct st_live_event e;
    bool record = st_live_event_read(st_str(container), line, &h->scratch, &e),
         look = record && changes_pending(&e);
    uint64_t missed = record ? 0 : missed_of(line);

    pthread_mutex_lock(&h->lock);
    if (record)
        push(h, &e);
    h->gaps += missed;
    h->numbers.missed += missed;
    h->numbers.unreadable += !record && !missed;
    if (look) {
        h->dirty = true;
        pthread_cond_signal(&h->look);
    }
    pthread_mutex_unlock(&h->lock);
    wake(h);
}

/* ---- readers ---- */

struct st_reader *st_reader_new(struct st_stream_hub *h, struct st_query *q, struct st_error *err)
{
    static const char *const known[] = {ST_FIND_NAMES, NULL};
    struct st_reader *r;
    struct st_find find;

    if (st_query_only(q, known, err) < 0 || st_find_parse(q, st_now_wall_us(), &find, err) < 0)
        return NULL;
    pthread_mutex_lock(&h->lock);
    r = h->numbers.readers < ST_READERS_MAX ? st_xcalloc(1, sizeof(*r)) : NULL;
    if (r) {
        h->numbers.readers++;
        *r = (struct st_reader){.hub = h, .query = *q, .find = find, .next = h->next, .gaps = h->gaps};
        *q = (struct st_query){0};
    }
    pthread_mutex_unlock(&h->lock);
    if (!r)
        st_fail(err, EBUSY, "%d people watch already", ST_READERS_MAX);
    else
        st_buf_adds(&r->out, ": sandtrace\nretry: 2000\n\n");
    return r;
}

void st_reader_free(struct st_reader *r)
{
    pthread_mutex_lock(&r->hub->lock);
    r->hub->numbers.readers--;
    pthread_mutex_unlock(&r->hub->lock);
    st_query_free(&r->query);
    st_buf_free(&r->out);
    free(r);
}

static void put(struct st_reader *r, const char *event, const char *data, size_t len)
{
    st_buf_addf(&r->out, "event: %s\ndata: ", event);
    st_buf_add(&r->out, data, len);
    st_buf_adds(&r->out, "\n\n");
}

/* What the ring has not any more, and what never came. */
static void put_gap(struct st_reader *r)
{
    struct st_stream_hub *h = r->hub;
    uint64_t late = h->first > r->next ? h->first - r->next : 0, missed = late + h->gaps - r->gaps;
    char text[64];

    if (!missed)
        return;
    put(r, "gap", text,
        (size_t)snprintf(text, sizeof(text), "{\"missed\":%llu}", (unsigned long long)missed));
    h->numbers.missed += late;
    r->gaps = h->gaps;
    r->next += late;
}

/* The next thing to say, into out, which is empty. The lock is held. */
static void fill(struct st_reader *r, int64_t now_ns)
{
    struct st_stream_hub *h = r->hub;

    if (r->version != h->versions && h->pending) {
        put(r, "pending", h->pending, strlen(h->pending));
        r->version = h->versions;
    }
    put_gap(r);
    while (!r->out.len && r->next < h->next) {
        const struct st_live_event *e = &h->ring[r->next++ % RING];

        if (st_live_event_fits(e, &r->find))
            put(r, "record", e->json, e->len);
    }
    if (!r->out.len && now_ns - r->told_ns >= QUIET_NS)
        st_buf_adds(&r->out, ": quiet\n\n");
}

size_t st_reader_take(struct st_reader *r, char *out, size_t room, int64_t now_ns)
{
    size_t n;

    if (r->sent == r->out.len) {
        st_buf_clear(&r->out);
        r->sent = 0;
        pthread_mutex_lock(&r->hub->lock);
        fill(r, now_ns);
        pthread_mutex_unlock(&r->hub->lock);
    }
    n = r->out.len - r->sent < room ? r->out.len - r->sent : room;
    if (n) {
        memcpy(out, r->out.data + r->sent, n);
        r->told_ns = now_ns;
    }
    r->sent += n;
    return n;
}

bool st_reader_has_news(struct st_reader *r, int64_t now_ns)
{
    bool news;

    if (r->sent < r->out.len || now_ns - r->told_ns >= QUIET_NS)
        return true;
    pthread_mutex_lock(&r->hub->lock);
    news = r->next < r->hub->next || r->gaps != r->hub->gaps || r->version != r->hub->versions;
    pthread_mutex_unlock(&r->hub->lock);
    return news;
}
