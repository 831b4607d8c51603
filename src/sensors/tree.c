/* tree: see tree.h. The living are found by their number; the dead only by their children. */
#include "sensors/tree.h"

#include "base/mem.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#define KEPT 64 /* generations of the dead that are remembered above a process */
#define NEXT 4
#define SLOTS 20
#define SLOT_NS (1000000000LL / SLOTS)

/* Name of a program, shared by all who were forked while it ran. */
struct program {
    size_t refs, len;
    char bytes[];
};

struct node {
    struct st_table_link link; /* while it is alive */
    struct node *parent;       /* NULL: none, or forgotten */
    size_t refs;               /* nodes whose parent it is, and itself while it is alive */
    struct program *exe;
    uint64_t start_ns;
    pid_t pid;
    int32_t depth, children, let; /* let: forks of children of it that were let and not seen yet */
    bool alive, cut, ran;
    uint8_t n_next;
    struct {
        uint64_t ino;
        struct program *exe;
    } next[NEXT]; /* files that it wants to run */
    char comm[ST_COMM_SIZE];
};

/* A thread that was let fork. */
struct leave {
    struct st_table_link link;
    pid_t tid, parent; /* parent 0: of nobody who is alive and in the book */
    uint64_t parent_start_ns;
};

struct st_tree {
    struct st_table alive, let;
    size_t n, max;
    struct st_tree_totals totals;
    int64_t slot; /* number of the present one */
    uint32_t forks[SLOTS];
};

static uint64_t hash_of(pid_t pid)
{
    return (uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

struct st_tree *st_tree_new(size_t max)
{
    struct st_tree *t = st_xcalloc(1, sizeof(*t));

    t->max = max;
    return t;
}

/* ---- nodes ---- */

static struct node *find(const struct st_tree *t, pid_t pid)
{
    for (struct st_table_link *l = st_table_find(&t->alive, hash_of(pid)); l; l = st_table_find_next(l)) {
        struct node *n = st_table_entry(l, struct node, link);

        if (n->pid == pid)
            return n;
    }
    return NULL;
}

static void unref_program(struct program *p)
{
    if (p && --p->refs == 0)
        free(p);
}

static void forget_next(struct node *n)
{
    for (size_t i = 0; i < n->n_next; i++)
        unref_program(n->next[i].exe);
    n->n_next = 0;
}

/* The dead go with their last descendant. */
static void release(struct st_tree *t, struct node *n)
{
    while (n && --n->refs == 0) {
        struct node *parent = n->parent;

        unref_program(n->exe);
        forget_next(n);
        free(n);
        t->n--;
        n = parent;
    }
}

static void end(struct st_tree *t, struct node *n)
{
    st_table_remove(&t->alive, &n->link);
    n->alive = false;
    if (n->parent)
        n->parent->children--;
    t->totals.alive--;
    release(t, n);
}

/* A chain of processes that each begin the next one and end must not grow for ever. */
static void forget_far(struct st_tree *t, struct node *n)
{
    for (int i = 0; n && i < KEPT; i++)
        n = n->parent;
    if (!n || !n->parent || n->alive)
        return;
    release(t, n->parent);
    n->parent = NULL;
    n->cut = true;
}

static void forget_dead(struct st_tree *t)
{
    for (struct st_table_link *l = t->alive.oldest; l; l = l->newer) {
        struct node *n = st_table_entry(l, struct node, link);

        if (!n->parent || n->parent->alive)
            continue;
        release(t, n->parent);
        n->parent = NULL;
        n->cut = true;
    }
}

static void note_most(int64_t *most, int64_t now)
{
    if (now > *most)
        *most = now;
}

/* NULL: no room. */
static struct node *add(struct st_tree *t, pid_t pid, uint64_t start_ns, struct node *parent)
{
    struct node *n;

    if (t->n >= t->max)
        forget_dead(t);
    if (t->n >= t->max) {
        t->totals.untold++;
        return NULL;
    }
    n = st_xcalloc(1, sizeof(*n));
    n->pid = pid;
    n->start_ns = start_ns;
    n->refs = 1;
    n->alive = true;
    if (parent) {
        n->parent = parent;
        n->depth = parent->depth + 1;
        n->exe = parent->exe;
        n->ran = parent->ran;
        memcpy(n->comm, parent->comm, sizeof(n->comm));
        parent->refs++;
        parent->children++;
        note_most(&t->totals.most_children, parent->children);
        if (n->exe)
            n->exe->refs++;
    }
    st_table_add(&t->alive, &n->link, hash_of(pid));
    t->n++;
    t->totals.alive++;
    note_most(&t->totals.most_processes, t->totals.alive);
    note_most(&t->totals.most_depth, n->depth);
    forget_far(t, n);
    return n;
}

/* Two starts that are known and differ are of two processes. */
static bool is_another(const struct node *n, uint64_t start_ns)
{
    return n->start_ns && start_ns && n->start_ns != start_ns;
}

/* ---- time ---- */

static void turn(struct st_tree *t, int64_t now_ns)
{
    int64_t slot = now_ns / SLOT_NS, steps = slot - t->slot;

    if (steps <= 0)
        return;
    for (int64_t i = 0; i < steps && i < SLOTS; i++)
        t->forks[(t->slot + 1 + i) % SLOTS] = 0;
    t->slot = slot;
}

static int64_t forks_of_last_second(struct st_tree *t, int64_t now_ns)
{
    int64_t n = 0;

    turn(t, now_ns);
    for (size_t i = 0; i < SLOTS; i++)
        n += t->forks[i];
    return n;
}

static void count_fork(struct st_tree *t, int64_t now_ns)
{
    note_most(&t->totals.most_forks, forks_of_last_second(t, now_ns) + 1);
    t->forks[t->slot % SLOTS]++;
}

/* ---- leave to fork ---- */

static struct leave *find_leave(const struct st_tree *t, pid_t tid)
{
    for (struct st_table_link *l = st_table_find(&t->let, hash_of(tid)); l; l = st_table_find_next(l)) {
        struct leave *leave = st_table_entry(l, struct leave, link);

        if (leave->tid == tid)
            return leave;
    }
    return NULL;
}

static void take_back(struct st_tree *t, struct leave *leave)
{
    struct node *parent = find(t, leave->parent);

    if (parent && parent->start_ns == leave->parent_start_ns && parent->let > 0)
        parent->let--;
    st_table_remove(&t->let, &leave->link);
    free(leave);
}

void st_tree_let_none(struct st_tree *t, pid_t tid)
{
    struct leave *leave = find_leave(t, tid);

    if (leave)
        take_back(t, leave);
}

/* Whose child it will be; NULL: of somebody who is not in the book. */
static struct node *parent_to_be(const struct st_tree *t, const struct st_tree_caller *who)
{
    struct node *caller = find(t, who->pid);

    return caller && who->for_parent ? caller->parent : caller;
}

static int32_t depth_to_be(const struct st_tree *t, const struct st_tree_caller *who)
{
    const struct node *caller = find(t, who->pid);

    return caller ? caller->depth + (who->for_parent ? 0 : 1) : 1;
}

void st_tree_would(struct st_tree *t, const struct st_tree_caller *who, int64_t now_ns,
                   struct st_tree_counts *out)
{
    const struct node *parent;

    st_tree_let_none(t, who->tid);
    parent = parent_to_be(t, who);
    *out =
        (struct st_tree_counts){.depth = depth_to_be(t, who),
                                .children = parent && parent->alive ? parent->children + parent->let + 1 : 1,
                                .processes = t->totals.alive + (int64_t)t->let.n + 1,
                                .forks = forks_of_last_second(t, now_ns) + 1};
}

void st_tree_let(struct st_tree *t, const struct st_tree_caller *who, int64_t now_ns)
{
    struct node *parent = parent_to_be(t, who);
    struct leave *leave;

    st_tree_let_none(t, who->tid);
    leave = st_xcalloc(1, sizeof(*leave));
    leave->tid = who->tid;
    if (parent && parent->alive) {
        leave->parent = parent->pid;
        leave->parent_start_ns = parent->start_ns;
        parent->let++;
    }
    st_table_add(&t->let, &leave->link, hash_of(who->tid));
    count_fork(t, now_ns);
}

size_t st_tree_waiting(const struct st_tree *t, pid_t *tids, size_t max)
{
    size_t n = 0;

    for (struct st_table_link *l = t->let.oldest; l && n < max; l = l->newer)
        tids[n++] = st_table_entry(l, struct leave, link)->tid;
    return n;
}

/* ---- facts ---- */

/* A sibling of the caller has the caller's parent, also where that is dead and the kernel names another. */
static struct node *parent_of(const struct st_tree *t, const struct st_tree_fork *fork)
{
    struct node *caller = find(t, fork->by_pid);

    if (!caller)
        return find(t, fork->parent);
    return fork->parent == fork->by_pid ? caller : caller->parent;
}

bool st_tree_forked(struct st_tree *t, const struct st_tree_fork *fork, int64_t now_ns)
{
    struct leave *leave = find_leave(t, fork->by);
    struct node *known = find(t, fork->child);
    bool let = leave != NULL;

    if (let)
        take_back(t, leave);
    else
        count_fork(t, now_ns);
    t->totals.forks++;
    if (known) /* whose end was not told */
        end(t, known);
    add(t, fork->child, fork->start_ns, parent_of(t, fork));
    return let;
}

static struct node *meet(struct st_tree *t, pid_t pid, uint64_t start_ns)
{
    struct node *n = find(t, pid);

    if (n && is_another(n, start_ns)) {
        end(t, n);
        n = NULL;
    }
    if (!n)
        return add(t, pid, start_ns, NULL);
    if (!n->start_ns)
        n->start_ns = start_ns;
    return n;
}

void st_tree_is_there(struct st_tree *t, pid_t pid)
{
    meet(t, pid, 0);
}

static struct program *make_program(struct st_str path)
{
    struct program *p = st_xmalloc(sizeof(*p) + path.len);

    p->refs = 1;
    p->len = path.len;
    memcpy(p->bytes, path.p, path.len);
    return p;
}

void st_tree_will_run(struct st_tree *t, pid_t pid, uint64_t ino, struct st_str path)
{
    struct node *n = find(t, pid);

    if (!n || !path.p)
        return;
    if (n->n_next == NEXT) /* of an execution that failed */
        forget_next(n);
    n->next[n->n_next].ino = ino;
    n->next[n->n_next++].exe = make_program(path);
}

bool st_tree_ran(struct st_tree *t, const struct st_tree_run *run)
{
    struct node *n = meet(t, run->pid, run->start_ns);
    bool known = false;

    if (!n)
        return false;
    n->ran = true;
    memset(n->comm, 0, sizeof(n->comm));
    memcpy(n->comm, run->comm, strnlen(run->comm, sizeof(n->comm) - 1));
    for (size_t i = n->n_next; !known && i-- > 0;) {
        known = n->next[i].ino == run->ino;
        if (!known)
            continue;
        unref_program(n->exe);
        n->exe = n->next[i].exe;
        n->exe->refs++;
    }
    forget_next(n);
    return known;
}

void st_tree_set_exe(struct st_tree *t, pid_t pid, struct st_str exe)
{
    struct node *n = find(t, pid);

    if (!n || !exe.p || (n->exe && n->exe->len == exe.len && memcmp(n->exe->bytes, exe.p, exe.len) == 0))
        return;
    unref_program(n->exe);
    n->exe = make_program(exe);
}

bool st_tree_ended(struct st_tree *t, pid_t pid, uint64_t start_ns)
{
    struct node *n = find(t, pid);

    st_tree_let_none(t, pid);
    if (!n || is_another(n, start_ns))
        return false;
    end(t, n);
    return true;
}

void st_tree_adopt(struct st_tree *t, pid_t parent, pid_t child)
{
    if (!find(t, child))
        add(t, child, 0, find(t, parent));
}

static int compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

void st_tree_keep_only(struct st_tree *t, const pid_t *pids, size_t n)
{
    struct st_table_link *next;

    for (struct st_table_link *l = t->alive.oldest; l; l = next) {
        struct node *node = st_table_entry(l, struct node, link);

        next = l->newer;
        if (!bsearch(&node->pid, pids, n, sizeof(*pids), compare_pids))
            end(t, node);
    }
}

/* ---- looking ---- */

static struct st_str exe_of(const struct node *n)
{
    return n->exe ? (struct st_str){n->exe->bytes, n->exe->len} : (struct st_str){0};
}

bool st_tree_find(const struct st_tree *t, pid_t pid, struct st_tree_facts *out)
{
    const struct node *n = find(t, pid);

    if (!n)
        return false;
    *out = (struct st_tree_facts){.pid = pid,
                                  .parent = n->parent ? n->parent->pid : 0,
                                  .start_ns = n->start_ns,
                                  .depth = n->depth,
                                  .children = n->children,
                                  .ran = n->ran,
                                  .comm = st_str(n->comm),
                                  .exe = exe_of(n)};
    return true;
}

size_t st_tree_ancestry(const struct st_tree *t, pid_t pid, struct st_ancestor *out, size_t max, bool *cut)
{
    const struct node *n = find(t, pid);
    size_t count = 0;

    *cut = n && n->cut;
    for (n = n ? n->parent : NULL; n && count < max; n = n->parent) {
        out[count++] = (struct st_ancestor){.pid = n->pid, .comm = st_str(n->comm), .exe = exe_of(n)};
        *cut |= n->cut;
    }
    *cut |= n != NULL;
    return count;
}

bool st_tree_counts_of(const struct st_tree *t, pid_t child, int64_t now_ns, struct st_tree_counts *out)
{
    const struct node *n = find(t, child);
    int64_t oldest = now_ns / SLOT_NS - SLOTS;

    if (!n)
        return false;
    *out = (struct st_tree_counts){
        .depth = n->depth, .children = n->parent ? n->parent->children : 1, .processes = t->totals.alive};
    for (int64_t slot = t->slot; slot > t->slot - SLOTS && slot > oldest && slot >= 0; slot--)
        out->forks += t->forks[slot % SLOTS];
    return true;
}

const struct st_tree_totals *st_tree_totals(const struct st_tree *t)
{
    return &t->totals;
}

void st_tree_free(struct st_tree *t)
{
    if (!t)
        return;
    while (t->let.oldest)
        take_back(t, st_table_entry(t->let.oldest, struct leave, link));
    while (t->alive.oldest)
        end(t, st_table_entry(t->alive.oldest, struct node, link));
    free(t->alive.buckets);
    free(t->let.buckets);
    free(t);
}
