/* pipeline: see pipeline.h. Chunks are a ring: `filled` of them were handed over, `written` of those are
 * done; the one that is being filled is the reader's until it is handed over. */
#include "desk/pipeline.h"

#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define CHUNKS 4
#define EVENTS 1024
#define TEXT_SIZE ((size_t)1 << 20)

struct chunk {
    int64_t trace;
    struct st_event_row *events;
    size_t n;
    struct st_buf text; /* of the events */
};

struct st_pipeline {
    struct st_rows *rows;
    struct chunk chunks[CHUNKS];
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    unsigned filled, written;
    bool stop;
    int rc; /* of the first chunk that failed: no other is written after it */
    struct st_error err;
};

struct st_pipeline *st_pipeline_new(struct st_rows *rows)
{
    struct st_pipeline *p = st_xcalloc(1, sizeof(*p));

    p->rows = rows;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p;
}

void st_pipeline_free(struct st_pipeline *p)
{
    if (!p)
        return;
    st_pipeline_rest(p);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void st_pipeline_freep(struct st_pipeline **p)
{
    st_pipeline_free(*p);
    *p = NULL;
}

/* ---- writing ---- */

static int write_chunk(struct st_pipeline *p, struct chunk *c, struct st_error *err)
{
    int rc = c->n ? st_rows_add(p->rows, c->trace, c->events, c->n, err) : 0;

    c->n = 0;
    st_buf_clear(&c->text);
    if (c->text.cap > 2 * TEXT_SIZE) /* there was a huge line */
        st_buf_free(&c->text);
    return rc;
}

static void *work(void *arg)
{
    struct st_pipeline *p = arg;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct st_error err = {0};
        int rc = p->rc;

        while (p->filled == p->written && !p->stop)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->stop)
            break;
        if (rc == 0) {
            pthread_mutex_unlock(&p->lock);
            rc = write_chunk(p, &p->chunks[p->written % CHUNKS], &err);
            pthread_mutex_lock(&p->lock);
            p->err = err;
        }
        p->rc = rc;
        p->written++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Where there can be no thread it goes without. */
static void begin_thread(struct st_pipeline *p)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
    p->threaded = pthread_create(&p->thread, NULL, work, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Waits until at most so many chunks are to be written. */
static int wait_for(struct st_pipeline *p, unsigned left, struct st_error *err)
{
    int rc;

    pthread_mutex_lock(&p->lock);
    while (p->filled - p->written > left)
        pthread_cond_wait(&p->changed, &p->lock);
    rc = p->rc;
    if (rc < 0)
        *err = p->err;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* ---- filling ---- */

static struct chunk *being_filled(struct st_pipeline *p)
{
    return &p->chunks[p->filled % CHUNKS];
}

/* Gives the chunk away, and waits until there is one that is free. */
static int hand_over(struct st_pipeline *p, struct st_error *err)
{
    if (!p->threaded)
        begin_thread(p);
    if (!p->threaded)
        return write_chunk(p, being_filled(p), err);
    pthread_mutex_lock(&p->lock);
    p->filled++;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return wait_for(p, CHUNKS - 1, err);
}

int st_pipeline_add(struct st_pipeline *p, int64_t trace, bool broken, const struct st_frame *f,
                    struct st_error *err)
{
    struct chunk *c = being_filled(p);
    struct st_event_row *e;
    int rc;

    if (c->n && (c->n == EVENTS || c->trace != trace || c->text.cap - c->text.len <= st_extract_most(f))) {
        rc = hand_over(p, err);
        if (rc < 0)
            return rc;
        c = being_filled(p);
    }
    if (!c->events)
        c->events = st_xcalloc(EVENTS, sizeof(*c->events));
    if (!c->n)
        st_buf_reserve(&c->text, TEXT_SIZE - 1);
    c->trace = trace;
    e = &c->events[c->n++];
    *e = (struct st_event_row){.seq = f->seq, .broken = broken};
    st_extract(f, &c->text, &e->x);
    st_rows_prepare(p->rows, e);
    return 0;
}

int st_pipeline_drain(struct st_pipeline *p, struct st_error *err)
{
    int rc;

    if (!p->threaded)
        return write_chunk(p, being_filled(p), err);
    rc = hand_over(p, err);
    return rc < 0 ? rc : wait_for(p, 0, err);
}

void st_pipeline_rest(struct st_pipeline *p)
{
    if (p->threaded) {
        pthread_mutex_lock(&p->lock);
        p->stop = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    for (int i = 0; i < CHUNKS; i++) {
        free(p->chunks[i].events);
        st_buf_free(&p->chunks[i].text);
        p->chunks[i] = (struct chunk){0};
    }
    p->threaded = p->stop = false;
    p->filled = p->written = 0;
    p->rc = 0;
}
