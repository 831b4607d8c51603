/* process_cache: see process_cache.h. The open directory of a process in /proc is that of this process for
 * ever: a number that is used again does not lead there. */
#include "sensors/process_cache.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "model/event_copy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 64
#define GOOD_FOR_NS 100000000LL
#define LOOKED_FOR_NS 1000000LL /* of many questions in a row one look is enough */

struct entry {
    pid_t tid; /* 0: none */
    int dir, registers;
    int64_t owner, read_ns, looked_ns;
    struct st_process_facts facts;
    struct st_event_copy *kept; /* the bytes that they point to */
};

/* What is kept; there is none while there is no work. */
struct store {
    struct entry entries[ENTRIES];
    struct st_process_room room; /* of who is not kept, or not yet */
};

struct st_process_cache {
    const struct st_membership *members;
    int64_t told_ns;     /* executions before that were told of; 0: nobody tells */
    struct store *store; /* NULL: nothing was asked since the last time that it was emptied */
};

struct st_process_cache *st_process_cache_new(const struct st_membership *members)
{
    struct st_process_cache *c = st_xcalloc(1, sizeof(*c));

    c->members = members;
    return c;
}

static struct store *open_store(struct st_process_cache *c)
{
    if (c->store)
        return c->store;
    c->store = st_xcalloc(1, sizeof(*c->store));
    for (size_t i = 0; i < ENTRIES; i++)
        c->store->entries[i].dir = c->store->entries[i].registers = -1;
    return c->store;
}

static void drop(struct entry *e)
{
    st_close(&e->dir);
    st_close(&e->registers);
    free(e->kept);
    e->kept = NULL;
    e->tid = 0;
}

void st_process_cache_clear(struct st_process_cache *c)
{
    if (!c || !c->store)
        return;
    for (size_t i = 0; i < ENTRIES; i++)
        drop(&c->store->entries[i]);
    free(c->store);
    c->store = NULL;
}

void st_process_cache_free(struct st_process_cache *c)
{
    st_process_cache_clear(c);
    free(c);
}

/* Whoever was given its facts may still use them: what it has is freed when its place is needed. */
void st_process_cache_forget(struct st_process_cache *c, pid_t pid)
{
    struct entry *all = c->store ? c->store->entries : NULL;

    for (size_t i = 0; all && i < ENTRIES; i++)
        if (all[i].tid == pid || all[i].facts.leader == pid)
            all[i].tid = 0;
}

void st_process_cache_told(struct st_process_cache *c, int64_t moment_ns)
{
    c->told_ns = moment_ns;
}

/* Also an execution that nobody has told us of. */
static bool runs_the_same(const struct st_process_cache *c, struct entry *e, int64_t now_ns)
{
    struct st_str exe = e->facts.process.exe;
    char now[4096];
    ssize_t n;

    if (now_ns == c->told_ns || now_ns - e->looked_ns < LOOKED_FOR_NS)
        return true;
    e->looked_ns = now_ns;
    n = readlinkat(e->dir, "exe", now, sizeof(now));
    return n >= 0 && (size_t)n == exe.len && memcmp(now, exe.p, exe.len) == 0;
}

static bool is_good(const struct st_process_cache *c, struct entry *e, int64_t owner, int64_t now_ns)
{
    if (owner != ST_UNKNOWN && e->owner != ST_UNKNOWN && e->owner != owner)
        return false;
    return now_ns - e->read_ns < GOOD_FOR_NS && runs_the_same(c, e, now_ns);
}

static struct entry *find(struct st_process_cache *c, pid_t tid)
{
    struct entry *all = c->store ? c->store->entries : NULL;

    for (size_t i = 0; all && i < ENTRIES; i++)
        if (all[i].tid == tid)
            return &all[i];
    return NULL;
}

static struct entry *make_room(struct store *s)
{
    struct entry *oldest = &s->entries[0];

    for (size_t i = 0; i < ENTRIES && oldest->tid; i++)
        if (!s->entries[i].tid || s->entries[i].read_ns < oldest->read_ns)
            oldest = &s->entries[i];
    drop(oldest);
    return oldest;
}

static const struct st_process_facts *keep(struct entry *e, const struct st_process_facts *fresh)
{
    const struct st_event bearer = {.type = ST_EV_FILESYSTEM, .process = fresh->process};

    e->kept = st_event_copy(&bearer, NULL);
    e->facts = *fresh;
    e->facts.process = e->kept->ev.process;
    return &e->facts;
}

const struct st_process_facts *st_process_cached(struct st_process_cache *c, pid_t tid, int64_t owner,
                                                 int64_t now_ns)
{
    struct store *s = open_store(c);
    const struct st_process_facts *fresh = &s->room.facts;
    struct entry *e = find(c, tid);
    st_auto_fd dir = -1;
    char path[32];

    if (e && is_good(c, e, owner, now_ns)) {
        if (owner != ST_UNKNOWN)
            e->owner = owner;
        return &e->facts;
    }
    if (e)
        drop(e);
    snprintf(path, sizeof(path), "/proc/%d", (int)tid);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || !st_process_read(tid, c->members, &s->room))
        return NULL;
    if (!fresh->in_container || fresh->process.incomplete)
        return fresh;
    e = make_room(s);
    e->tid = tid;
    e->owner = owner;
    e->read_ns = e->looked_ns = now_ns;
    e->dir = st_steal_fd(&dir);
    return keep(e, fresh);
}

bool st_process_cache_knew(struct st_process_cache *c, pid_t tid, int64_t moment_ns)
{
    const struct entry *e = find(c, tid);

    return e && e->read_ns < moment_ns;
}

int st_process_cache_folder(struct st_process_cache *c, pid_t tid)
{
    const struct entry *e = find(c, tid);

    return e ? e->dir : -1;
}

int st_process_cache_registers(struct st_process_cache *c, pid_t tid)
{
    struct entry *e = find(c, tid);

    if (e && e->registers < 0)
        e->registers = openat(e->dir, "syscall", O_RDONLY | O_CLOEXEC);
    return e ? e->registers : -1;
}
