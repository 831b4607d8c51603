/* resolve: what a path means to a task that is about to use it: the object, by the same way that the kernel
 * will go, in that task's view (root, present directory, fds), and its path in the container's.
 *
 * The walk is by O_PATH only, component by component where there are links: nothing is opened, no permission
 * event is raised, no device is touched. What it finds may be another thing a moment later: a refusal is
 * safe, a permission is only as good as the floor beneath it. Errors are those that the kernel would have
 * given, with one of our own: -EXDEV, an object of another container's or the host's mounts. */
#pragma once

#include "base/cleanup.h"
#include "model/str.h"
#include "sensors/own_mounts.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define ST_RESOLVED_MAX 8192

/* What is remembered, or kept open, from one question to the next. */
struct st_resolver_kept {
    struct st_own_mounts own;
    int fds;  /* of /proc/self/fd, from where a path is found soonest; -1: none */
    int task; /* of /proc/TID: of this task and no other, even if its number is used again; -1: none */
};

/* Who uses the path. */
struct st_resolver {
    pid_t tid;                     /* in our pid namespace */
    pid_t leader;                  /* its thread group */
    pid_t container_pid;           /* the same, as the container numbers it; 0: not known */
    struct st_resolver_kept *kept; /* NULL: nothing is */
};

enum st_resolve_flags {
    ST_RESOLVE_FOLLOW = 1, /* a symbolic link in the last place is followed */
    ST_RESOLVE_ENTRY = 2,  /* the entry of a directory is meant (to be made, moved or removed), not what it
                              leads to */
    ST_RESOLVE_EMPTY = 4,  /* an empty path is the object of the fd */
    ST_RESOLVE_LOOK = 8 /* who asks may be done with a look: the object is opened (st_resolved_open), and its
                           path is found (st_resolved_find_path), when that is wanted */
};

struct st_resolved {
    int parent;   /* directory that has or will have the entry; -1: reached without one */
    int object;   /* -1: there is none, or it was only looked at */
    bool there;   /* the object */
    bool foreign; /* named by an fd that is of no mount of the container: its path would be of another tree */
    bool dot;     /* the last component was none that could be an entry: `.`, `..`, `/` */
    bool slash;   /* a slash behind the last component: a directory is meant */
    bool own_proc;           /* went through /proc/self: the path there has our number of the process */
    bool is_mount;           /* the object is the root of a mount: the entry's directory is on another one */
    char name[NAME_MAX + 1]; /* entry in parent */
    struct stat sb;          /* of the object: its place, kind, size and names */
    uint64_t mount;          /* of the object; 0: not known */
    uint64_t parent_mount;   /* 0: not known yet */
    size_t path_len;         /* 0: it has no path (a pipe, a file without a name) */
    char path[ST_RESOLVED_MAX];
};

#define ST_RESOLVED_NONE                                                                                     \
    {                                                                                                        \
        .parent = -1, .object = -1                                                                           \
    }

/* dirfd: a number of the task's, or AT_FDCWD. path NULL: the object of dirfd itself. 0 or -errno. A last
 * component that is missing is no error: there is false. */
int st_resolve(const struct st_resolver *who, int dirfd, const char *path, unsigned flags,
               struct st_resolved *out);
void st_resolved_close(struct st_resolved *r);

/* Its path, as the container has it now. who must be who it was resolved for. */
void st_resolved_find_path(const struct st_resolver *who, struct st_resolved *r);
/* object, of what was looked at. -ESTALE: another one is there by now. */
int st_resolved_open(struct st_resolved *r);
/* Of the directory that has or will have the entry; 0: can't be told. */
uint64_t st_resolved_mount(struct st_resolved *r);

#define st_auto_resolved __attribute__((cleanup(st_resolved_close))) struct st_resolved

static inline struct st_str st_resolved_path(const struct st_resolved *r)
{
    return r->path_len ? (struct st_str){.p = r->path, .len = r->path_len} : (struct st_str){0};
}
