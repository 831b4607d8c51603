/* tree_private: what the book is made of. Private to tree.c (facts) and tree_limits.c (who may fork). */
#pragma once

#include "base/table.h"
#include "model/event_copy.h"
#include "sensors/tree.h"

#define ST_TREE_NEXT 4
#define ST_TREE_SLOTS 20
#define ST_TREE_SLOT_NS (1000000000LL / ST_TREE_SLOTS)

/* Name of a program, shared by all who were forked while it ran. */
struct st_tree_program {
    size_t refs, len;
    char bytes[];
};

struct st_tree_node {
    struct st_table_link link;   /* while it is alive */
    struct st_tree_node *parent; /* NULL: none, or forgotten */
    size_t refs;                 /* nodes whose parent it is, and itself while it is alive */
    struct st_tree_program *exe;
    struct st_event_copy *origin; /* whose process has the ancestors outside; NULL: not known */
    uint64_t start_ns;
    pid_t pid;
    int32_t depth, children, let; /* let: forks of children of it that were let and not seen yet */
    bool alive, cut, ran, judged;
    uint8_t n_next;
    struct {
        uint64_t ino;
        struct st_tree_program *exe;
    } next[ST_TREE_NEXT]; /* files that it wants to run */
    char comm[ST_COMM_SIZE];
};

/* A thread that was let fork. */
struct st_tree_leave {
    struct st_table_link link;
    pid_t tid, parent; /* parent 0: of nobody who is alive and in the book */
    uint64_t parent_start_ns;
};

struct st_tree {
    struct st_table alive, let;
    size_t n, max;
    struct st_tree_totals totals;
    int64_t slot; /* number of the present one */
    uint32_t forks[ST_TREE_SLOTS];
};

struct st_tree_node *st_tree_node(const struct st_tree *t, pid_t pid); /* that is alive; NULL: none such */

static inline uint64_t st_tree_hash(pid_t pid)
{
    return (uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

static inline void st_tree_note_most(int64_t *most, int64_t now)
{
    if (now > *most)
        *most = now;
}

/* A fork that nobody had been let. */
void st_tree_count_fork(struct st_tree *t, int64_t now_ns);

/* Was this thread let? It has used its leave then. */
bool st_tree_use_leave(struct st_tree *t, pid_t tid);
void st_tree_drop_leaves(struct st_tree *t);
