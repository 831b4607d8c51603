/* fold: see fold.h. Entries are in a table by hash and in a queue by the end of their window, which is the
 * order in which they were made, since all windows are equally long. */
#include "audit/fold.h"

#include "audit/payload.h"
#include "base/buf.h"
#include "base/mem.h"
#include "model/event_copy.h"

#include <stdlib.h>
#include <sys/random.h>

struct entry {
    struct entry *next_in_bucket;
    struct entry *next, *prev; /* in the queue */
    uint64_t hash;
    struct st_buf key;
    struct st_event_copy *copy;
    uint64_t pending; /* counted and not yet dropped */
    int64_t first_us, last_us, ends_ns;
};

struct st_fold {
    struct st_fold_options o;
    uint64_t seed;
    struct entry **buckets;
    size_t n_buckets, n;
    size_t waiting;     /* entries with something pending */
    uint64_t pending;   /* of all entries together */
    struct entry queue; /* head of the ring; the oldest is its next */
    struct st_buf key;  /* of the event that is being looked up */
};

struct st_fold *st_fold_new(const struct st_fold_options *o)
{
    struct st_fold *f = st_xcalloc(1, sizeof(*f));

    f->o = *o;
    if (!f->o.entries)
        f->o.entries = ST_FOLD_ENTRIES;
    f->n_buckets = 2 * f->o.entries;
    f->buckets = st_xpages(f->n_buckets, sizeof(struct entry *));
    f->queue.next = f->queue.prev = &f->queue;
    if (getrandom(&f->seed, sizeof(f->seed), 0) != (ssize_t)sizeof(f->seed))
        abort();
    return f;
}

static void free_entry(struct entry *e)
{
    st_buf_free(&e->key);
    free(e->copy);
    free(e);
}

void st_fold_free(struct st_fold *f)
{
    if (!f)
        return;
    for (struct entry *e = f->queue.next, *next; e != &f->queue; e = next) {
        next = e->next;
        free_entry(e);
    }
    st_buf_free(&f->key);
    st_free_pages(f->buckets, f->n_buckets, sizeof(struct entry *));
    free(f);
}

static bool foldable(const struct st_fold *f, const struct st_event *ev, const struct st_verdict *v)
{
    if (f->o.window_ns <= 0 || ev->count > 1)
        return false;
    if (v && (v->action == ST_ACT_PAUSED || v->action == ST_ACT_KILLED))
        return false;
    if (v && (v->result != ST_ALLOW || v->action != ST_ACT_NONE) && !f->o.refusals)
        return false;
    if (ev->type == ST_EV_NETWORK_EGRESS || ev->type == ST_EV_NETWORK_INGRESS)
        return ev->net.bytes_sent == ST_UNKNOWN && ev->net.bytes_received == ST_UNKNOWN &&
               ev->net.packets_sent == ST_UNKNOWN && ev->net.packets_received == ST_UNKNOWN;
    return ev->type == ST_EV_FILESYSTEM || ev->type == ST_EV_DNS_QUERY || ev->type == ST_EV_PROCESS ||
           ev->type == ST_EV_SYSCALL;
}

/* Without what may differ among identical events. */
static struct st_event in_common(const struct st_event *ev)
{
    struct st_event out = *ev;

    out.count = 0;
    out.process.pid = out.process.container_pid = 0;
    out.process.cwd = (struct st_str){0};
    out.process.n_ancestry = 0;
    if (ev->type != ST_EV_PROCESS)
        out.process.argv = (struct st_str){0};
    if (ev->type == ST_EV_FILESYSTEM)
        out.fs.size = ST_UNKNOWN;
    return out;
}

static void add_text(struct st_buf *key, struct st_str s)
{
    st_buf_add(key, &s.len, sizeof(s.len));
    if (s.p)
        st_buf_add(key, s.p, s.len);
}

/* Everything that a record would say of it, as bytes. */
static void make_key(struct st_buf *key, const struct st_event *common, const struct st_verdict *v)
{
    const int head[] = {(int)common->type, (int)common->tier, v ? (int)v->result : 0, v ? (int)v->action : 0,
                        v ? (int)v->severity : 0};
    size_t bound = st_payload_bound(common);

    st_buf_clear(key);
    st_buf_add(key, head, sizeof(head));
    if (v) {
        add_text(key, v->rule);
        add_text(key, v->reason);
        add_text(key, st_str(v->policy_sha256));
    }
    st_buf_reserve(key, bound);
    key->len = (size_t)(st_payload_put(key->data + key->len, common) - key->data);
}

/* Seeded, so that nobody can choose names that meet in one bucket; a meeting costs time only. */
static uint64_t hash_of(const struct st_fold *f, const struct st_buf *key)
{
    uint64_t h = f->seed ^ key->len;

    for (size_t i = 0; i < key->len; i += 8) {
        uint64_t v = 0;

        memcpy(&v, key->data + i, key->len - i < 8 ? key->len - i : 8);
        h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static struct entry **slot(const struct st_fold *f, uint64_t hash)
{
    return &f->buckets[hash % f->n_buckets];
}

static struct entry *find(const struct st_fold *f, uint64_t hash)
{
    for (struct entry *e = *slot(f, hash); e; e = e->next_in_bucket)
        if (e->hash == hash && e->key.len == f->key.len && memcmp(e->key.data, f->key.data, f->key.len) == 0)
            return e;
    return NULL;
}

static void enqueue(struct st_fold *f, struct entry *e, int64_t now_ns)
{
    e->ends_ns = now_ns + f->o.window_ns;
    e->prev = f->queue.prev;
    e->next = &f->queue;
    e->prev->next = e;
    f->queue.prev = e;
}

static void dequeue(struct entry *e)
{
    e->prev->next = e->next;
    e->next->prev = e->prev;
}

static void forget(struct st_fold *f, struct entry *e)
{
    struct entry **at = slot(f, e->hash);

    while (*at != e)
        at = &(*at)->next_in_bucket;
    *at = e->next_in_bucket;
    dequeue(e);
    f->n--;
}

/* Room for one more: the oldest entry that owes nothing goes. */
static bool make_room(struct st_fold *f, int64_t now_ns)
{
    struct entry *oldest = f->queue.next;

    while (oldest != &f->queue && oldest->pending == 0 &&
           (oldest->ends_ns <= now_ns || f->n >= f->o.entries)) {
        forget(f, oldest);
        free_entry(oldest);
        oldest = f->queue.next;
    }
    return f->n < f->o.entries;
}

static void remember(struct st_fold *f, const struct st_event *common, const struct st_verdict *v,
                     uint64_t hash, int64_t now_ns)
{
    struct entry *e = st_xcalloc(1, sizeof(*e));

    e->hash = hash;
    st_buf_add(&e->key, f->key.data, f->key.len);
    e->copy = st_event_copy(common, v);
    e->next_in_bucket = *slot(f, hash);
    *slot(f, hash) = e;
    enqueue(f, e, now_ns);
    f->n++;
}

bool st_fold_add(struct st_fold *f, const struct st_event *ev, const struct st_verdict *v, int64_t now_ns)
{
    struct st_event common;
    struct entry *e;
    uint64_t hash;

    if (!foldable(f, ev, v))
        return false;
    common = in_common(ev);
    if (st_payload_bound(&common) > ST_RECORD_MAX)
        return false;
    make_key(&f->key, &common, v);
    hash = hash_of(f, &f->key);
    e = find(f, hash);
    if (e && e->pending == 0 &&
        e->ends_ns <= now_ns) { /* its window ended unnoticed: this is a first one again */
        dequeue(e);
        enqueue(f, e, now_ns);
        return false;
    }
    if (!e) {
        if (make_room(f, now_ns))
            remember(f, &common, v, hash, now_ns);
        return false;
    }
    if (e->pending++ == 0) {
        e->first_us = ev->wall_us;
        f->waiting++;
    }
    e->last_us = ev->wall_us;
    f->pending++;
    return true;
}

/* The oldest entry with something pending. Those before it owe nothing, and are as old. */
static struct entry *first_waiting(const struct st_fold *f)
{
    struct entry *e = f->queue.next;

    if (!f->waiting)
        return NULL;
    while (e->pending == 0)
        e = e->next;
    return e;
}

bool st_fold_peek(struct st_fold *f, int64_t now_ns, const struct st_event **ev, const struct st_verdict **v)
{
    struct entry *e = first_waiting(f);

    if (!e || e->ends_ns > now_ns)
        return false;
    e->copy->ev.count = e->pending;
    e->copy->ev.first_us = e->first_us;
    e->copy->ev.last_us = e->last_us;
    e->copy->ev.wall_us = e->last_us;
    *ev = &e->copy->ev;
    *v = &e->copy->verdict;
    return true;
}

void st_fold_drop(struct st_fold *f)
{
    struct entry *e = first_waiting(f);

    if (!e)
        return;
    forget(f, e);
    f->waiting--;
    f->pending -= e->pending;
    free_entry(e);
}

uint64_t st_fold_pending(const struct st_fold *f)
{
    return f->pending;
}

int64_t st_fold_deadline(const struct st_fold *f)
{
    const struct entry *e = first_waiting(f);

    return e ? e->ends_ns : -1;
}
