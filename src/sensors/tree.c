/* tree: see tree.h. The living are found by their number; the dead only by their children. */
#include "sensors/tree_private.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define KEPT 64 /* generations of the dead that are remembered above a process */

struct st_tree *st_tree_new(size_t max)
{
    struct st_tree *t = st_xcalloc(1, sizeof(*t));

    t->max = max;
    return t;
}

/* ---- nodes ---- */

struct st_tree_node *st_tree_node(const struct st_tree *t, pid_t pid)
{
    for (struct st_table_link *l = st_table_find(&t->alive, st_tree_hash(pid)); l;
         l = st_table_find_next(l)) {
        struct st_tree_node *n = st_table_entry(l, struct st_tree_node, link);

        if (n->pid == pid)
            return n;
    }
    return NULL;
}

static void unref_program(struct st_tree_program *p)
{
    if (p && --p->refs == 0)
        free(p);
}

static void forget_next(struct st_tree_node *n)
{
    for (size_t i = 0; i < n->n_next; i++)
        unref_program(n->next[i].exe);
    n->n_next = 0;
}

/* The dead go with their last descendant. */
static void release(struct st_tree *t, struct st_tree_node *n)
{
    while (n && --n->refs == 0) {
        struct st_tree_node *parent = n->parent;

        unref_program(n->exe);
        forget_next(n);
        free(n->origin);
        free(n);
        t->n--;
        n = parent;
    }
}

static void end(struct st_tree *t, struct st_tree_node *n)
{
    st_table_remove(&t->alive, &n->link);
    n->alive = false;
    if (n->parent)
        n->parent->children--;
    t->totals.alive--;
    release(t, n);
}

/* A chain of processes that each begin the next one and end must not grow for ever. */
static void forget_far(struct st_tree *t, struct st_tree_node *n)
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
        struct st_tree_node *n = st_table_entry(l, struct st_tree_node, link);

        if (!n->parent || n->parent->alive)
            continue;
        release(t, n->parent);
        n->parent = NULL;
        n->cut = true;
    }
}

/* NULL: no room. */
static struct st_tree_node *add(struct st_tree *t, pid_t pid, uint64_t start_ns, struct st_tree_node *parent)
{
    struct st_tree_node *n;

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
        n->judged = parent->judged;
        memcpy(n->comm, parent->comm, sizeof(n->comm));
        parent->refs++;
        parent->children++;
        st_tree_note_most(&t->totals.most_children, parent->children);
        if (n->exe)
            n->exe->refs++;
    }
    st_table_add(&t->alive, &n->link, st_tree_hash(pid));
    t->n++;
    t->totals.alive++;
    st_tree_note_most(&t->totals.most_processes, t->totals.alive);
    st_tree_note_most(&t->totals.most_depth, n->depth);
    forget_far(t, n);
    return n;
}

/* Two starts that are known and differ are of two processes. */
static bool is_another(const struct st_tree_node *n, uint64_t start_ns)
{
    return n->start_ns && start_ns && n->start_ns != start_ns;
}

/* ---- facts ---- */

/* A sibling of the caller has the caller's parent, also where that is dead and the kernel names another. */
static struct st_tree_node *parent_of(const struct st_tree *t, const struct st_tree_fork *fork)
{
    struct st_tree_node *caller = st_tree_node(t, fork->by_pid);

    if (!caller)
        return st_tree_node(t, fork->parent);
    return fork->parent == fork->by_pid ? caller : caller->parent;
}

bool st_tree_forked(struct st_tree *t, const struct st_tree_fork *fork, int64_t now_ns)
{
    struct st_tree_node *known = st_tree_node(t, fork->child);
    bool let = st_tree_use_leave(t, fork->by);

    if (!let)
        st_tree_count_fork(t, now_ns);
    t->totals.forks++;
    if (known) /* whose end was not told */
        end(t, known);
    add(t, fork->child, fork->start_ns, parent_of(t, fork));
    return let;
}

static struct st_tree_node *meet(struct st_tree *t, pid_t pid, uint64_t start_ns)
{
    struct st_tree_node *n = st_tree_node(t, pid);

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

static struct st_tree_program *make_program(struct st_str path)
{
    struct st_tree_program *p = st_xmalloc(sizeof(*p) + path.len);

    p->refs = 1;
    p->len = path.len;
    memcpy(p->bytes, path.p, path.len);
    return p;
}

void st_tree_will_run(struct st_tree *t, pid_t pid, uint64_t ino, struct st_str path)
{
    struct st_tree_node *n = st_tree_node(t, pid);

    if (!n || !path.p)
        return;
    if (n->n_next == ST_TREE_NEXT) /* of an execution that failed */
        forget_next(n);
    n->next[n->n_next].ino = ino;
    n->next[n->n_next++].exe = make_program(path);
}

bool st_tree_ran(struct st_tree *t, const struct st_tree_run *run)
{
    struct st_tree_node *n = meet(t, run->pid, run->start_ns);
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
    n->judged = known;
    return known;
}

void st_tree_set_exe(struct st_tree *t, pid_t pid, struct st_str exe)
{
    struct st_tree_node *n = st_tree_node(t, pid);

    if (!n || !exe.p || (n->exe && n->exe->len == exe.len && memcmp(n->exe->bytes, exe.p, exe.len) == 0))
        return;
    unref_program(n->exe);
    n->exe = make_program(exe);
    n->judged = false;
}

bool st_tree_ended(struct st_tree *t, pid_t pid, uint64_t start_ns)
{
    struct st_tree_node *n = st_tree_node(t, pid);

    st_tree_let_none(t, pid);
    if (!n || is_another(n, start_ns))
        return false;
    end(t, n);
    return true;
}

void st_tree_adopt(struct st_tree *t, pid_t parent, pid_t child)
{
    if (!st_tree_node(t, child))
        add(t, child, 0, st_tree_node(t, parent));
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
        struct st_tree_node *node = st_table_entry(l, struct st_tree_node, link);

        next = l->newer;
        if (!bsearch(&node->pid, pids, n, sizeof(*pids), compare_pids))
            end(t, node);
    }
}

/* ---- looking ---- */

static struct st_str exe_of(const struct st_tree_node *n)
{
    return n->exe ? (struct st_str){n->exe->bytes, n->exe->len} : (struct st_str){0};
}

bool st_tree_find(const struct st_tree *t, pid_t pid, struct st_tree_facts *out)
{
    const struct st_tree_node *n = st_tree_node(t, pid);

    if (!n)
        return false;
    *out = (struct st_tree_facts){.pid = pid,
                                  .parent = n->parent ? n->parent->pid : 0,
                                  .start_ns = n->start_ns,
                                  .depth = n->depth,
                                  .children = n->children,
                                  .placed = n->origin != NULL,
                                  .ran = n->ran,
                                  .judged = n->judged,
                                  .comm = st_str(n->comm),
                                  .exe = exe_of(n)};
    return true;
}

size_t st_tree_ancestry(const struct st_tree *t, pid_t pid, struct st_ancestor *out, size_t max, bool *cut)
{
    const struct st_tree_node *n = st_tree_node(t, pid), *top = n;
    size_t count = 0;

    *cut = n && n->cut;
    for (n = n ? n->parent : NULL; n && count < max; n = n->parent) {
        out[count++] = (struct st_ancestor){.pid = n->pid, .comm = st_str(n->comm), .exe = exe_of(n)};
        *cut |= n->cut;
        top = n;
    }
    *cut |= n != NULL;
    if (!*cut && top && top->origin)
        for (size_t i = 0; i < top->origin->ev.process.n_ancestry && count < max; i++)
            out[count++] = top->origin->ev.process.ancestry[i];
    return count;
}

void st_tree_set_origin(struct st_tree *t, pid_t pid, const struct st_ancestor *list, size_t n)
{
    const struct st_event bearer = {.type = ST_EV_FILESYSTEM,
                                    .process = {.present = true, .ancestry = list, .n_ancestry = n}};
    struct st_tree_node *node = st_tree_node(t, pid);

    if (node && !node->origin)
        node->origin = st_event_copy(&bearer, NULL);
}

const struct st_tree_totals *st_tree_totals(const struct st_tree *t)
{
    return &t->totals;
}

void st_tree_free(struct st_tree *t)
{
    if (!t)
        return;
    st_tree_drop_leaves(t);
    while (t->alive.oldest)
        end(t, st_table_entry(t->alive.oldest, struct st_tree_node, link));
    free(t->alive.buckets);
    free(t->let.buckets);
    free(t);
}
