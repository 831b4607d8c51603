/* request: a notified syscall taken apart: which paths, fds and flags it names. Arguments and memory belong
 * to a stranger: every length is bounded, nothing is believed to stay as it was read. */
#pragma once

#include "model/mutation.h"

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/types.h>

/* Reads n bytes of the task's memory. Returns how many could be, from the first on; negative: none. */
typedef ssize_t (*st_memory_reader)(void *ctx, uint64_t address, void *out, size_t n);

/* Of a live task. ctx points to its tid (pid_t). */
ssize_t st_memory_of_task(void *ctx, uint64_t address, void *out, size_t n);

struct st_request_object {
    bool present;
    bool by_fd; /* dir is open on the object itself; there is no path */
    int dir;    /* number of the task's, or AT_FDCWD */
    size_t len;
    char path[PATH_MAX]; /* NUL-terminated, as the task wrote it */
};

struct st_request {
    const struct st_mutation *what;
    uint64_t flags; /* 0 where it has none; of an open: O_* */
    bool follow;    /* a symbolic link in the last place */
    bool empty_ok;  /* an empty path is the object of dir */
    bool nothing;   /* no path of a file system is concerned after all (a socket without a name) */
    struct st_request_object object, target;
};

/* 0 or -errno, as the kernel would have it (-EFAULT, -ENAMETOOLONG). -ENOSYS: no syscall of the table. */
int st_request_decode(const struct seccomp_data *call, st_memory_reader read, void *ctx,
                      struct st_request *out);
