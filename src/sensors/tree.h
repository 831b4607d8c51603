/* tree: the book of a container's processes: who was forked by whom, how deep below where it began, and who
 * is alive. Pure: facts go in, in the order in which the kernel tells them; it reads no file and no clock.
 *
 * A process is its number together with its start: a number that is used again is another process. Who began
 * it stays its parent, whatever the kernel says once that one has ended: an ancestor is remembered as long as
 * a descendant lives. A process whose parent is not in the book (the container's first, one that an engine
 * execs) is at depth 0.
 *
 * Memory is bounded. What finds no room is counted (st_tree_totals.untold), never forgotten silently. */
#pragma once

#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_TREE_MAX 32768 /* processes, with the dead who have living descendants */
#define ST_COMM_SIZE 16

struct st_tree;

struct st_tree *st_tree_new(size_t max);
void st_tree_free(struct st_tree *t);

/* ---- facts ---- */

struct st_tree_fork {
    pid_t parent, child; /* parent: as the kernel has it, which with CLONE_PARENT is not who called */
    pid_t by_pid, by;    /* process and thread that called */
    uint64_t start_ns;   /* of the child, since boot; 0: not known */
};

/* false: nobody had been told that it may (st_tree_let): it is to be judged now. */
bool st_tree_forked(struct st_tree *t, const struct st_tree_fork *fork, int64_t now_ns);

/* It wants to run this file: one of a few, since a script brings its interpreter and that its loader. */
void st_tree_will_run(struct st_tree *t, pid_t pid, uint64_t ino, struct st_str path);

struct st_tree_run {
    pid_t pid;
    uint64_t start_ns;
    const char *comm;
    uint64_t ino; /* of the program's file */
};

/* It runs another program. Who is not in the book is from now on. false: not known by which name. */
bool st_tree_ran(struct st_tree *t, const struct st_tree_run *run);

/* It is there, and nothing else is known of it. */
void st_tree_is_there(struct st_tree *t, pid_t pid);

/* The program that it runs, as the kernel names the file. Nothing where the process is not in the book. */
void st_tree_set_exe(struct st_tree *t, pid_t pid, struct st_str exe);

/* Who was above it when it came in from outside, the nearest first: as it was then, since those end or are
 * exchanged. Told once. */
void st_tree_set_origin(struct st_tree *t, pid_t pid, const struct st_ancestor *list, size_t n);

/* It has ended. false: it was not in the book. */
bool st_tree_ended(struct st_tree *t, pid_t pid, uint64_t start_ns);

/* It is there, and this is its parent: found out by looking. Both are in the book then. */
void st_tree_adopt(struct st_tree *t, pid_t parent, pid_t child);

/* Facts were lost: whoever of the book is not among these has ended. pids is sorted. */
void st_tree_keep_only(struct st_tree *t, const pid_t *pids, size_t n);

/* ---- looking ---- */

struct st_tree_facts {
    pid_t pid, parent; /* parent 0: it has none in the book; it may be dead */
    uint64_t start_ns;
    int64_t depth, children; /* children: that are alive */
    bool placed;             /* who was above it is known (st_tree_set_origin) */
    bool ran; /* it, or who it is from, was seen to run a program: else it may be a runtime on its way in */
    bool
        judged; /* what it runs is known by what it asked to run (st_tree_will_run): exe is the name it had */
    struct st_str comm, exe; /* as long as it is in the book; exe NULL: not known */
};

/* Of a process that is alive. */
bool st_tree_find(const struct st_tree *t, pid_t pid, struct st_tree_facts *out);

/* Its ancestors, the parent first; the dead too, and those outside that are known. The strings are good until
 * the next fact. cut: there were more that are forgotten. */
size_t st_tree_ancestry(const struct st_tree *t, pid_t pid, struct st_ancestor *out, size_t max, bool *cut);

/* ---- limits ---- */

/* What would be, or is, with a child. */
struct st_tree_counts {
    int64_t depth;     /* of the child */
    int64_t children;  /* of its parent, with it */
    int64_t processes; /* in all, with it */
    int64_t forks;     /* in the last second, with it */
};

struct st_tree_caller {
    pid_t pid, tid;
    bool for_parent; /* CLONE_PARENT: the child is to be the caller's sibling */
};

/* If the caller were let fork now: with all that were let and have not been seen yet. */
void st_tree_would(struct st_tree *t, const struct st_tree_caller *who, int64_t now_ns,
                   struct st_tree_counts *out);

/* It may: the fork that the kernel tells of next is this one. */
void st_tree_let(struct st_tree *t, const struct st_tree_caller *who, int64_t now_ns);

/* It did not, after all: the thread asks again, or is gone. */
void st_tree_let_none(struct st_tree *t, pid_t tid);

/* The threads that were let and have not been seen to fork; up to max. */
size_t st_tree_waiting(const struct st_tree *t, pid_t *tids, size_t max);

/* Of a child that is there. */
bool st_tree_counts_of(const struct st_tree *t, pid_t child, int64_t now_ns, struct st_tree_counts *out);

/* None is above these: the deepest that there ever was, the most children of one, those that are alive, those
 * of the last second. */
void st_tree_most(struct st_tree *t, int64_t now_ns, struct st_tree_counts *out);

struct st_tree_totals {
    uint64_t forks, untold;
    int64_t alive;
    int64_t most_depth, most_children, most_processes, most_forks;
};

const struct st_tree_totals *st_tree_totals(const struct st_tree *t);
