/* folder: see folder.h. */
#include "snapshot/folder.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define UNFINISHED ".new."
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define MAX_DEPTH 3 /* of what we make */
#define MAX_NUMBER 9999

static void remove_tree(int parent, const char *name, unsigned depth)
{
    st_auto_fd fd = openat(parent, name, DIR_FLAGS);
    int copy = fd < 0 ? -1 : openat(fd, ".", DIR_FLAGS);
    st_auto_dir dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, e->d_name, 0) < 0 && depth < MAX_DEPTH)
            remove_tree(fd, e->d_name, depth + 1);
    }
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* One whose maker lives is locked. */
static void sweep(int root)
{
    int copy = openat(root, ".", DIR_FLAGS);
    st_auto_dir dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        st_auto_fd fd =
            strncmp(e->d_name, UNFINISHED, strlen(UNFINISHED)) == 0 ? openat(root, e->d_name, DIR_FLAGS) : -1;

        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_tree(root, e->d_name, 0);
    }
}

static int open_root(const char *path, struct st_error *err)
{
    st_auto_fd fd = -1;
    struct stat st;

    if (st_mkdir_p(path, 0700, err) < 0)
        return -err->errnum;
    fd = open(path, DIR_FLAGS);
    if (fd < 0 || fstat(fd, &st) < 0)
        return st_fail_errno(err, "%s", path);
    if (st.st_uid != geteuid() || (st.st_mode & 022))
        return st_fail(err, EPERM, "%s belongs to others, or others may write it; make it root's, mode 0700",
                       path);
    return st_steal_fd(&fd);
}

/* Between mkdir and flock a sweeper could take it for a leftover: then it is made again. */
static int make(struct st_folder *f)
{
    for (int i = 0; i < 100; i++) {
        struct stat st;

        snprintf(f->name, sizeof(f->name), UNFINISHED "%d.%d", (int)getpid(), i);
        if (mkdirat(f->root, f->name, 0700) < 0)
            continue;
        f->dir = openat(f->root, f->name, DIR_FLAGS);
        if (f->dir >= 0 && flock(f->dir, LOCK_EX | LOCK_NB) == 0 &&
            fstatat(f->root, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return 0;
        st_close(&f->dir);
    }
    return -1;
}

int st_folder_begin(struct st_folder *f, const char *dir, struct st_error *err)
{
    f->root = open_root(dir, err);
    if (f->root < 0)
        return f->root;
    sweep(f->root);
    return make(f) < 0 ? st_fail_errno(err, "make a folder in %s", dir) : 0;
}

int st_folder_create(const struct st_folder *f, const char *name, struct st_error *err)
{
    int fd = openat(f->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd < 0 ? st_fail_errno(err, "make %s", name) : fd;
}

int st_folder_write(const struct st_folder *f, const char *name, const void *bytes, size_t n,
                    struct st_error *err)
{
    st_auto_fd fd = st_folder_create(f, name, err);
    int rc = fd < 0 ? fd : st_write_all(fd, bytes, n);

    if (fd >= 0 && rc == 0 && fsync(fd) < 0)
        rc = -errno;
    return fd >= 0 && rc < 0 ? st_fail(err, -rc, "write %s: %s", name, strerror(-rc)) : rc;
}

int st_folder_publish(struct st_folder *f, const char *id, struct st_error *err)
{
    char name[NAME_MAX + 16];

    if (fsync(f->dir) < 0)
        return st_fail_errno(err, "force the snapshot to disk");
    for (unsigned i = 1; i <= MAX_NUMBER; i++) {
        snprintf(name, sizeof(name), i == 1 ? "%s" : "%s.%u", id, i);
        if (renameat2(f->root, f->name, f->root, name, RENAME_NOREPLACE) == 0) {
            memcpy(f->name, name, strlen(name) + 1);
            flock(f->dir, LOCK_UN);
            return fsync(f->root) < 0 ? st_fail_errno(err, "force the folder to disk") : 0;
        }
        if (errno != EEXIST)
            return st_fail_errno(err, "name the folder %s", name);
    }
    return st_fail(err, EEXIST, "there are %d folders of %s already", MAX_NUMBER, id);
}

void st_folder_end(struct st_folder *f)
{
    if (f->dir >= 0 && strncmp(f->name, UNFINISHED, strlen(UNFINISHED)) == 0)
        remove_tree(f->root, f->name, 0);
    st_close(&f->dir);
    st_close(&f->root);
}
