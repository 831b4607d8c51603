/* io: whole reads, whole writes, whole replacements. Nothing here follows a caller's policy: it
 * either does all of what it says or reports an error. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Read fd to its end into b (appending); more than max bytes is -EFBIG. */
int st_read_fd(int fd, size_t max, struct st_buf *b, struct st_error *err);

/* Read a regular file or pipe at path, relative to dirfd, without a controlling terminal and not
 * through a final symlink unless follow. */
int st_read_file_at(int dirfd, const char *path, bool follow, size_t max, struct st_buf *b,
                    struct st_error *err);
int st_read_file(const char *path, size_t max, struct st_buf *b, struct st_error *err);

/* As st_read_file, for what decides about security: refused (-EPERM) unless the file belongs to root or to
 * the caller and neither group nor others may write it. */
int st_read_trusted_file(const char *path, size_t max, struct st_buf *b, struct st_error *err);

/* Read a small file of a pseudo file system (procfs, cgroupfs) into out, NUL-terminated, final newline
 * removed. Returns its length. Never allocates; longer than size - 1 is -EFBIG. */
ssize_t st_read_small_at(int dirfd, const char *path, char *out, size_t size);
/* The same of a file that the kernel writes as it is read and gives in one piece, as most of /proc/PID: not
 * asked whether there is more. */
ssize_t st_read_piece_at(int dirfd, const char *path, char *out, size_t size);

/* Write all n bytes; EINTR and short writes are carried on. Returns 0 or -errno. */
int st_write_all(int fd, const void *bytes, size_t n);

/* Write text to an existing file of a pseudo file system. Returns 0 or -errno. */
int st_write_small_at(int dirfd, const char *path, const char *text);

/* Replace name in dirfd by bytes: written beside it, then renamed over it. Mode and owner are those
 * of the file that is replaced, or mode where there is none. With sync the data reaches the disk first. */
int st_replace_file_at(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, bool sync,
                       struct st_error *err);

/* mkdir -p; directories made get mode. Returns 0 or negative. */
int st_mkdir_p(const char *path, mode_t mode, struct st_error *err);
