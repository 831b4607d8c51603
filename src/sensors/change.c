/* change: see change.h. Which errors a call gets by what is there is tried against the kernel itself, in
 * tests/bats/mutations.bats. */
#include "sensors/change.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>

struct finder {
    const struct st_request *request;
    const struct st_resolver *who;
    struct st_resolved *object, *target;
    struct st_change *out;
};

static void fails(struct finder *f, int error)
{
    f->out->is = ST_CHANGE_ERROR;
    f->out->error = error;
}

static void is_event(struct finder *f, enum st_fs_op op, unsigned access)
{
    struct st_ev_filesystem *fs = &f->out->fs;

    st_resolved_find_path(f->who, f->object);
    f->out->is = ST_CHANGE_EVENT;
    *fs = (struct st_ev_filesystem){
        .op = op, .access = access, .path = st_resolved_path(f->object), .size = ST_UNKNOWN};
    if (!fs->path.p)
        f->out->is = ST_CHANGE_UNKNOWN;
    if (!f->object->there)
        return;
    fs->dev = f->object->sb.st_dev;
    fs->ino = f->object->sb.st_ino;
    if (S_ISREG(f->object->sb.st_mode))
        fs->size = f->object->sb.st_size;
}

/* Errors that depend on nothing but the names; all others are ours, or a sign of something odd. */
static bool is_plain(int error)
{
    static const int plain[] = {ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EFAULT, EBADF};

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (plain[i] == error)
            return true;
    return false;
}

static bool find(struct finder *f, const struct st_request_object *o, unsigned flags, struct st_resolved *out)
{
    int rc = st_resolve(f->who, o->dir, o->by_fd ? NULL : o->path, flags | ST_RESOLVE_LOOK, out);

    if (rc == 0)
        return true;
    if (is_plain(-rc))
        fails(f, -rc);
    else
        f->out->is = ST_CHANGE_UNKNOWN;
    return false;
}

static bool find_object(struct finder *f, unsigned flags)
{
    if (f->request->follow)
        flags |= ST_RESOLVE_FOLLOW;
    if (f->request->empty_ok)
        flags |= ST_RESOLVE_EMPTY;
    return find(f, &f->request->object, flags, f->object);
}

static bool is_directory(const struct st_resolved *r)
{
    return r->there && S_ISDIR(r->sb.st_mode);
}

/* ---- open ---- */

static void open_existing(struct finder *f, uint64_t flags)
{
    unsigned access = 0;

    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
        fails(f, EEXIST);
        return;
    }
    if (is_directory(f->object)) {
        fails(f, EISDIR);
        return;
    }
    if (S_ISLNK(f->object->sb.st_mode)) {
        fails(f, ELOOP);
        return;
    }
    if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_ACCMODE) == O_RDWR)
        access |= ST_ACCESS_READ;
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC))
        access |= ST_ACCESS_WRITE;
    if (access == ST_ACCESS_READ) {
        f->out->is = ST_CHANGE_NOTHING; /* O_CREAT of what is there is reading it */
        return;
    }
    is_event(f, ST_FS_OPEN, access);
    if (f->object->path_len == 0)
        f->out->is = ST_CHANGE_NOTHING;
}

static void find_open(struct finder *f)
{
    uint64_t flags = f->request->flags;

    if (flags & O_PATH) { /* neither reads nor writes nor makes */
        f->out->is = ST_CHANGE_NOTHING;
        return;
    }
    if (!find_object(f, 0))
        return;
    if ((flags & O_TMPFILE) == O_TMPFILE && f->object->there) {
        is_event(f, ST_FS_CREATE, ST_ACCESS_CREATE | ST_ACCESS_WRITE); /* in that directory */
        return;
    }
    if (f->object->there) {
        open_existing(f, flags);
        return;
    }
    if (!(flags & O_CREAT) || f->object->slash) {
        fails(f, flags & O_CREAT ? EISDIR : ENOENT);
        return;
    }
    is_event(f, ST_FS_CREATE, ST_ACCESS_CREATE | ((flags & O_ACCMODE) != O_RDONLY ? ST_ACCESS_WRITE : 0));
}

/* ---- entries of directories ---- */

static void find_create(struct finder *f)
{
    bool socket = f->request->what->kind == ST_MUT_BIND;
    bool directory = f->request->what->nr == SYS_mkdirat;

#ifdef SYS_mkdir
    directory |= f->request->what->nr == SYS_mkdir;
#endif
    if (f->request->nothing) {
        f->out->is = ST_CHANGE_NOTHING;
        return;
    }
    if (!find_object(f, ST_RESOLVE_ENTRY))
        return;
    if (f->object->there)
        fails(f, socket ? EADDRINUSE : EEXIST);
    else if (f->object->slash && !directory)
        fails(f, ENOENT);
    else
        is_event(f, ST_FS_CREATE, ST_ACCESS_CREATE);
}

static bool removes_directory(const struct st_request *r)
{
#ifdef SYS_rmdir
    if (r->what->nr == SYS_rmdir)
        return true;
#endif
    return r->what->flag_kind == ST_MUT_UNLINK_FLAGS && (r->flags & AT_REMOVEDIR);
}

static void find_delete(struct finder *f)
{
    bool rmdir = removes_directory(f->request);

    if (!find_object(f, ST_RESOLVE_ENTRY))
        return;
    if (f->object->dot)
        fails(f, rmdir ? EINVAL : EISDIR);
    else if (!f->object->there)
        fails(f, ENOENT);
    else if (rmdir != is_directory(f->object))
        fails(f, rmdir ? ENOTDIR : EISDIR);
    else
        is_event(f, ST_FS_DELETE, ST_ACCESS_DELETE);
}

static void find_rename(struct finder *f)
{
    bool exchange = (f->request->flags & RENAME_EXCHANGE) != 0;
    unsigned access = ST_ACCESS_DELETE;

    if (!find_object(f, ST_RESOLVE_ENTRY) || !find(f, &f->request->target, ST_RESOLVE_ENTRY, f->target))
        return;
    if (f->object->dot || f->target->dot) {
        fails(f, EBUSY);
        return;
    }
    if (!f->object->there || (exchange && !f->target->there)) {
        fails(f, ENOENT);
        return;
    }
    if ((f->request->flags & RENAME_NOREPLACE) && f->target->there) {
        fails(f, EEXIST);
        return;
    }
    if (exchange) /* what was there comes here */
        access |= ST_ACCESS_CREATE | ST_ACCESS_WRITE;
    is_event(f, ST_FS_RENAME, access);
    st_resolved_find_path(f->who, f->target);
    f->out->fs.target = st_resolved_path(f->target);
    if (!f->out->fs.target.p)
        f->out->is = ST_CHANGE_UNKNOWN;
}

static void find_link(struct finder *f)
{
    if (!find_object(f, 0) || !find(f, &f->request->target, ST_RESOLVE_ENTRY, f->target))
        return;
    if (!f->object->there) {
        fails(f, ENOENT);
        return;
    }
    if (f->target->there) {
        fails(f, EEXIST);
        return;
    }
    if (is_directory(f->object)) {
        fails(f, EPERM);
        return;
    }
    is_event(f, ST_FS_LINK,
             ST_ACCESS_READ | ST_ACCESS_WRITE); /* a second name gives all that the first does */
    st_resolved_find_path(f->who, f->target);
    f->out->fs.target = st_resolved_path(f->target);
    if (!f->out->fs.target.p) {
        f->out->is = ST_CHANGE_UNKNOWN;
    } else if (f->object->path_len == 0 && !f->object->foreign) { /* a file that had no name gets one */
        f->out->is = ST_CHANGE_EVENT;
        f->out->fs.op = ST_FS_CREATE;
        f->out->fs.access = ST_ACCESS_CREATE | ST_ACCESS_WRITE;
        f->out->fs.path = f->out->fs.target;
        f->out->fs.target = (struct st_str){0};
    }
}

/* ---- objects ---- */

static void find_existing(struct finder *f, enum st_fs_op op, unsigned access)
{
    if (!find_object(f, 0))
        return;
    if (!f->object->there)
        fails(f, ENOENT);
    else if (op == ST_FS_MODIFY && is_directory(f->object) && !f->request->object.by_fd)
        fails(f, EISDIR);
    else
        is_event(f, op, access);
    if (f->out->is == ST_CHANGE_UNKNOWN && !f->object->foreign)
        f->out->is = ST_CHANGE_NOTHING;
}

void st_change_find(const struct st_request *request, const struct st_resolver *who,
                    struct st_resolved *object, struct st_resolved *target, struct st_change *out)
{
    struct finder f = {request, who, object, target, out};

    *out = (struct st_change){.is = ST_CHANGE_UNKNOWN, .fs.size = ST_UNKNOWN};
    object->parent = object->object = target->parent = target->object = -1;
    object->path_len = target->path_len = 0;
    object->foreign = target->foreign = object->there = target->there = false;
    switch (request->what->kind) {
    case ST_MUT_OPEN: find_open(&f); break;
    case ST_MUT_CREATE:
    case ST_MUT_BIND: find_create(&f); break;
    case ST_MUT_DELETE: find_delete(&f); break;
    case ST_MUT_RENAME: find_rename(&f); break;
    case ST_MUT_LINK: find_link(&f); break;
    case ST_MUT_MODIFY: find_existing(&f, ST_FS_MODIFY, ST_ACCESS_WRITE); break;
    case ST_MUT_ATTRIB: find_existing(&f, ST_FS_ATTRIB, ST_ACCESS_ATTRIB); break;
    }
}
