/* run_place: see run_place.h. */
#include "cli/run_place.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/run_groups.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>

#define RUNS ".runs"
#define ID_BYTES 6

static bool is_id(const char *name)
{
    return strlen(name) == ST_RUN_ID_SIZE - 1 && strncmp(name, "run-", 4) == 0 &&
           strspn(name + 4, "0123456789abcdef") == 2 * (size_t)ID_BYTES;
}

/* ---- what is there ---- */

/* Its owner is dead where the lock is free; while we look nobody makes a new one. */
static void sweep(int runs)
{
    int copy = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    if (!dir)
        st_close(&copy);
    while (dir && (entry = readdir(dir))) {
        st_auto_fd one = -1, lock = -1;

        if (!is_id(entry->d_name))
            continue;
        one = openat(runs, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        lock = one >= 0 ? openat(one, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
        if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
            continue;
        st_run_groups_end(entry->d_name);
        unlinkat(one, "fs", AT_REMOVEDIR);
        unlinkat(one, "lock", 0);
        unlinkat(runs, entry->d_name, AT_REMOVEDIR);
    }
}

/* ---- a new one ---- */

static void choose_id(char out[ST_RUN_ID_SIZE])
{
    unsigned char bytes[ID_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        abort(); /* the kernel has no such case */
    snprintf(out, ST_RUN_ID_SIZE, "run-%02x%02x%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3],
             bytes[4], bytes[5]);
}

static int make_dir(int runs, struct st_run_place *p, struct st_error *err)
{
    st_auto_fd dir = -1;

    if (mkdirat(runs, p->id, 0700) < 0)
        return st_fail_errno(err, "make %s", p->dir);
    dir = openat(runs, p->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    p->lock = dir >= 0 ? openat(dir, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (p->lock < 0 || flock(p->lock, LOCK_EX | LOCK_NB) < 0 || mkdirat(dir, "fs", 0700) < 0)
        return st_fail_errno(err, "make %s", p->dir);
    return 0;
}

int st_run_place_make(const struct st_config *config, struct st_run_place *out, struct st_error *err)
{
    st_auto_free char *path = st_xasprintf("%s/" RUNS, config->state_dir);
    st_auto_fd runs = -1, all = -1;

    if (strpbrk(path, ",:\\"))
        return st_fail(
            err, EINVAL,
            "state_dir %s: no overlay can be made below it; leave commas, colons and backslashes out",
            config->state_dir);
    if (st_mkdir_p(config->state_dir, 0755, err) < 0)
        return -err->errnum;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return st_fail_errno(err, "make %s", path);
    runs = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    all = runs >= 0 ? openat(runs, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (all < 0 || flock(all, LOCK_EX) < 0)
        return st_fail_errno(err, "lock %s", path);
    sweep(runs);
    choose_id(out->id);
    out->dir = st_xasprintf("%s/%s", path, out->id);
    out->fs = st_xasprintf("%s/fs", out->dir);
    return make_dir(runs, out, err);
}

int st_run_place_enter(const struct st_run_place *place, struct st_error *err)
{
    if (unshare(CLONE_NEWNS) < 0)
        return st_fail_errno(err, "a mount namespace of our own");
    /* What the host unmounts must not stay mounted because of us; nothing of ours goes to the host. */
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return st_fail_errno(err, "keep our mounts to ourselves");
    if (mount("sandtrace", place->fs, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
        return st_fail_errno(err, "mount a tmpfs on %s", place->fs);
    return 0;
}

void st_run_place_remove(struct st_run_place *place)
{
    if (place->dir) {
        st_auto_free char *lock = st_xasprintf("%s/lock", place->dir);

        st_run_groups_end(place->id);
        umount2(place->fs, MNT_DETACH);
        rmdir(place->fs);
        unlink(lock);
        rmdir(place->dir);
    }
    free(place->dir);
    free(place->fs);
    st_close(&place->lock);
    *place = (struct st_run_place)ST_RUN_PLACE_NONE;
}
