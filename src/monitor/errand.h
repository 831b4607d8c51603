/* errand: one call that was approved, to be made on a task's behalf because the floor, or a race, would keep
 * the task from making it itself. Fixed format: goes from the worker, who worked it out, through the warden,
 * who does not look at it, to a performer of its own, who ends with it.
 *
 * Names are single components, relative to directories that come along as fds, or there is none and the fd is
 * of the object. The performer works with the task's credentials, umask and capabilities. */
#pragma once

#include <limits.h>
#include <stdint.h>
#include <time.h>

struct st_watch;

enum st_errand_kind {
    ST_ERRAND_OPEN = 1, /* of a regular file; answered with an fd */
    ST_ERRAND_MKDIR,
    ST_ERRAND_MKNOD, /* no devices */
    ST_ERRAND_SYMLINK,
    ST_ERRAND_UNLINK,
    ST_ERRAND_RMDIR,
    ST_ERRAND_RENAME,
    ST_ERRAND_LINK,
    ST_ERRAND_TRUNCATE,
    ST_ERRAND_CHMOD,
    ST_ERRAND_CHOWN,
    ST_ERRAND_UTIMES,
    ST_ERRAND_MARK /* watch every open of the mount AT; by_name 0; on nobody's behalf */
};

struct st_errand {
    uint32_t kind;
    int32_t tid;    /* on whose behalf */
    uint32_t relax; /* its mount is read-only because of the floor: work on a writable copy of it */
    uint32_t flags; /* of open, rename */
    uint32_t mode;
    uint32_t uid, gid;
    int32_t by_name; /* an entry of the directory AT; else AT is the object itself */
    int64_t length;
    struct timespec times[2];
    char name[NAME_MAX + 1], target[NAME_MAX + 1];
    /* rename and link, relaxed: both directories are looked for in one copy, of the mount at BASE */
    char path[PATH_MAX], target_path[PATH_MAX];
    char text[PATH_MAX]; /* what a symbolic link says */
};

/* fds that come with it; a place that is not used holds a copy of AT. */
enum { ST_ERRAND_REPLY, ST_ERRAND_AT, ST_ERRAND_TARGET, ST_ERRAND_BASE, ST_ERRAND_FDS };

/* The answer, on the reply socket; an fd comes along where one was opened. */
struct st_errand_result {
    int32_t error; /* errno; 0: done */
    int32_t reserved;
};

/* The worker's side: 0 or -errno. */
int st_errand_send(int socket, const struct st_errand *e, const int fds[ST_ERRAND_FDS]);
/* Send it, with at for all fds, and wait for the answer: only for one whose performer opens nothing on the
 * container's file systems, and so needs no answer of ours. */
int st_errand_do(int socket, const struct st_errand *e, int at);
/* 1: the fd of what was opened, or -1, is the caller's; 0: nobody will answer; -EAGAIN. */
int st_errand_result(int reply, struct st_errand_result *out, int *fd);

/* The warden's side: 1: got one, with its fds; 0: the other side is gone; -EAGAIN; other negative: no errand.
 */
int st_errand_receive(int socket, struct st_errand *e, int fds[ST_ERRAND_FDS]);

/* The performer's side: fd -1: none goes along. */
int st_errand_answer(int reply, int error, int fd);

/* In a child of the warden: do it, answer, end. */
_Noreturn void st_errand_perform(const struct st_watch *watch, const struct st_errand *e,
                                 const int fds[ST_ERRAND_FDS]);
