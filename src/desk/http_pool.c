/* http_pool: see http_pool.h. */
#include "desk/http_pool.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

#define WAITING_MAX 512
#define STACK_SIZE ((size_t)512 << 10)

struct st_pool {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct st_job *first, **last, *done;
    unsigned waiting;
    int done_fd;
};

static struct st_job *take(struct st_pool *p)
{
    struct st_job *job;

    pthread_mutex_lock(&p->lock);
    while (!p->first)
        pthread_cond_wait(&p->news, &p->lock);
    job = p->first;
    p->first = job->next;
    if (!p->first)
        p->last = &p->first;
    p->waiting--;
    pthread_mutex_unlock(&p->lock);
    return job;
}

static void give_back(struct st_pool *p, struct st_job *job)
{
    uint64_t one = 1;

    pthread_mutex_lock(&p->lock);
    job->next = p->done;
    p->done = job;
    pthread_mutex_unlock(&p->lock);
    while (write(p->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

static void *work(void *arg)
{
    struct st_pool *p = arg;
    struct st_db *db = NULL;

    for (;;) {
        struct st_job *job = take(p);

        job->call.db = &db;
        job->handler(&job->call);
        job->call.db = NULL;
        give_back(p, job);
    }
    return NULL;
}

static int start_threads(struct st_pool *p, unsigned threads)
{
    sigset_t all, before;
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);

    if (rc == 0)
        rc = pthread_attr_setstacksize(&attr, STACK_SIZE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
    for (unsigned i = 0; rc == 0 && i < threads; i++) {
        pthread_t thread;

        rc = pthread_create(&thread, &attr, work, p);
        if (rc == 0)
            pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

/* Lives as long as the process: its threads do. */
int st_pool_new(unsigned threads, struct st_pool **out, struct st_error *err)
{
    struct st_pool *p = st_xcalloc(1, sizeof(*p));
    int rc;

    p->last = &p->first;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->news, NULL);
    p->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = p->done_fd < 0 ? errno : start_threads(p, threads);
    if (rc)
        return st_fail(err, rc, "start threads: %s", strerror(rc));
    *out = p;
    return 0;
}

int st_pool_done_fd(const struct st_pool *p)
{
    return p->done_fd;
}

bool st_pool_give(struct st_pool *p, struct st_job *job)
{
    bool room;

    job->next = NULL;
    pthread_mutex_lock(&p->lock);
    room = p->waiting < WAITING_MAX;
    if (room) {
        *p->last = job;
        p->last = &job->next;
        p->waiting++;
        pthread_cond_signal(&p->news);
    }
    pthread_mutex_unlock(&p->lock);
    return room;
}

struct st_job *st_pool_done(struct st_pool *p)
{
    struct st_job *done;
    uint64_t n;

    while (read(p->done_fd, &n, sizeof(n)) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&p->lock);
    done = p->done;
    p->done = NULL;
    pthread_mutex_unlock(&p->lock);
    return done;
}

unsigned st_pool_waiting(struct st_pool *p, unsigned *room)
{
    unsigned n;

    pthread_mutex_lock(&p->lock);
    n = p->waiting;
    pthread_mutex_unlock(&p->lock);
    *room = WAITING_MAX;
    return n;
}
