/* tree_limits: who may fork: what would be, who was let and has not been seen to yet, how many within a
 * second. */
#include "base/mem.h"
#include "sensors/tree_private.h"

#include <stdlib.h>

/* ---- time ---- */

static void turn(struct st_tree *t, int64_t now_ns)
{
    int64_t slot = now_ns / ST_TREE_SLOT_NS, steps = slot - t->slot;

    if (steps <= 0)
        return;
    for (int64_t i = 0; i < steps && i < ST_TREE_SLOTS; i++)
        t->forks[(t->slot + 1 + i) % ST_TREE_SLOTS] = 0;
    t->slot = slot;
}

static int64_t forks_of_last_second(struct st_tree *t, int64_t now_ns)
{
    int64_t n = 0;

    turn(t, now_ns);
    for (size_t i = 0; i < ST_TREE_SLOTS; i++)
        n += t->forks[i];
    return n;
}

void st_tree_count_fork(struct st_tree *t, int64_t now_ns)
{
    st_tree_note_most(&t->totals.most_forks, forks_of_last_second(t, now_ns) + 1);
    t->forks[t->slot % ST_TREE_SLOTS]++;
}

/* ---- leave to fork ---- */

static struct st_tree_leave *find_leave(const struct st_tree *t, pid_t tid)
{
    for (struct st_table_link *l = st_table_find(&t->let, st_tree_hash(tid)); l; l = st_table_find_next(l)) {
        struct st_tree_leave *leave = st_table_entry(l, struct st_tree_leave, link);

        if (leave->tid == tid)
            return leave;
    }
    return NULL;
}

static void take_back(struct st_tree *t, struct st_tree_leave *leave)
{
    struct st_tree_node *parent = st_tree_node(t, leave->parent);

    if (parent && parent->start_ns == leave->parent_start_ns && parent->let > 0)
        parent->let--;
    st_table_remove(&t->let, &leave->link);
    free(leave);
}

bool st_tree_use_leave(struct st_tree *t, pid_t tid)
{
    struct st_tree_leave *leave = find_leave(t, tid);

    if (leave)
        take_back(t, leave);
    return leave != NULL;
}

void st_tree_drop_leaves(struct st_tree *t)
{
    while (t->let.oldest)
        take_back(t, st_table_entry(t->let.oldest, struct st_tree_leave, link));
}

void st_tree_let_none(struct st_tree *t, pid_t tid)
{
    st_tree_use_leave(t, tid);
}

/* Whose child it will be; NULL: of somebody who is not in the book. */
static struct st_tree_node *parent_to_be(const struct st_tree *t, const struct st_tree_caller *who)
{
    struct st_tree_node *caller = st_tree_node(t, who->pid);

    return caller && who->for_parent ? caller->parent : caller;
}

static int32_t depth_to_be(const struct st_tree *t, const struct st_tree_caller *who)
{
    const struct st_tree_node *caller = st_tree_node(t, who->pid);

    return caller ? caller->depth + (who->for_parent ? 0 : 1) : 1;
}

void st_tree_would(struct st_tree *t, const struct st_tree_caller *who, int64_t now_ns,
                   struct st_tree_counts *out)
{
    const struct st_tree_node *parent;

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
    struct st_tree_node *parent = parent_to_be(t, who);
    struct st_tree_leave *leave;

    st_tree_let_none(t, who->tid);
    leave = st_xcalloc(1, sizeof(*leave));
    leave->tid = who->tid;
    if (parent && parent->alive) {
        leave->parent = parent->pid;
        leave->parent_start_ns = parent->start_ns;
        parent->let++;
    }
    st_table_add(&t->let, &leave->link, st_tree_hash(who->tid));
    st_tree_count_fork(t, now_ns);
}

size_t st_tree_waiting(const struct st_tree *t, pid_t *tids, size_t max)
{
    size_t n = 0;

    for (struct st_table_link *l = t->let.oldest; l && n < max; l = l->newer)
        tids[n++] = st_table_entry(l, struct st_tree_leave, link)->tid;
    return n;
}

bool st_tree_counts_of(const struct st_tree *t, pid_t child, int64_t now_ns, struct st_tree_counts *out)
{
    const struct st_tree_node *n = st_tree_node(t, child);
    int64_t oldest = now_ns / ST_TREE_SLOT_NS - ST_TREE_SLOTS;

    if (!n)
        return false;
    *out = (struct st_tree_counts){
        .depth = n->depth, .children = n->parent ? n->parent->children : 1, .processes = t->totals.alive};
    for (int64_t slot = t->slot; slot > t->slot - ST_TREE_SLOTS && slot > oldest && slot >= 0; slot--)
        out->forks += t->forks[slot % ST_TREE_SLOTS];
    return true;
}

void st_tree_most(struct st_tree *t, int64_t now_ns, struct st_tree_counts *out)
{
    *out = (struct st_tree_counts){.depth = t->totals.most_depth,
                                   .children = t->totals.most_children,
                                   .processes = t->totals.alive,
                                   .forks = forks_of_last_second(t, now_ns)};
}
