/* request: see request.h. */
#include "sensors/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#define PAGE 4096u

ssize_t st_memory_of_task(void *ctx, uint64_t address, void *out, size_t n)
{
    struct iovec here = {out, n}, there = {(void *)(uintptr_t)address, n};
    ssize_t got = process_vm_readv(*(const pid_t *)ctx, &here, 1, &there, 1, 0);

    return got < 0 ? -errno : got;
}

/* A string up to its NUL; page by page, as the next one may not be there. */
static int read_string(st_memory_reader read, void *ctx, uint64_t address, struct st_request_object *out)
{
    size_t len = 0;

    while (len < sizeof(out->path)) {
        size_t room = sizeof(out->path) - len, page = PAGE - (size_t)((address + len) % PAGE);
        size_t want = page < room ? page : room;
        ssize_t got = read(ctx, address + len, out->path + len, want);
        const char *end;

        if (got <= 0 || (size_t)got > want)
            return -EFAULT;
        end = memchr(out->path + len, '\0', (size_t)got);
        if (end) {
            out->len = (size_t)(end - out->path);
            return 0;
        }
        len += (size_t)got;
    }
    return -ENAMETOOLONG;
}

static int read_object(const struct seccomp_data *call, const struct st_mutation *what,
                       const struct st_mutation_object *at, st_memory_reader read, void *ctx,
                       struct st_request_object *out)
{
    uint64_t address;

    out->present = at->dir != ST_ARG_NONE || at->path != ST_ARG_NONE;
    if (!out->present)
        return 0;
    out->dir = at->dir == ST_ARG_NONE ? AT_FDCWD : (int)call->args[at->dir];
    if (at->path == ST_ARG_NONE) {
        out->by_fd = true;
        return 0;
    }
    address = call->args[at->path];
    if (address == 0 && what->null_path) {
        out->by_fd = true;
        return 0;
    }
    return read_string(read, ctx, address, out);
}

/* An address of a socket: only those with a name in a file system matter. The name need not end in a NUL. */
static int read_address(const struct seccomp_data *call, st_memory_reader read, void *ctx,
                        struct st_request *out)
{
    const size_t head = offsetof(struct sockaddr_un, sun_path);
    uint64_t len = (uint32_t)call->args[2];
    struct sockaddr_un addr;
    struct st_request_object *o = &out->object;

    memset(&addr, 0, sizeof(addr));
    out->nothing = true;
    if ((int)len < 0 || len < sizeof(addr.sun_family) || len > sizeof(struct sockaddr_storage))
        return 0; /* the kernel says EINVAL */
    if (len > sizeof(addr))
        len = sizeof(addr);
    if (read(ctx, call->args[1], &addr, len) != (ssize_t)len)
        return -EFAULT;
    if (addr.sun_family != AF_UNIX || len <= head || addr.sun_path[0] == '\0')
        return 0;
    out->nothing = false;
    o->present = true;
    o->dir = AT_FDCWD;
    o->len = strnlen(addr.sun_path, len - head);
    memcpy(o->path, addr.sun_path, o->len);
    o->path[o->len] = '\0';
    return 0;
}

static void read_flags(const struct seccomp_data *call, struct st_request *out)
{
    const struct st_mutation *what = out->what;

    out->follow = what->follow;
    if (what->flags == ST_ARG_NONE) {
        if (what->kind == ST_MUT_OPEN) /* creat */
            out->flags = O_CREAT | O_WRONLY | O_TRUNC;
        return;
    }
    out->flags = (uint32_t)call->args[what->flags]; /* an int in all of them */
    switch (what->flag_kind) {
    case ST_MUT_OPEN_FLAGS:
        if (out->flags & O_NOFOLLOW || (out->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
            out->follow = false;
        break;
    case ST_MUT_AT_FLAGS:
        out->empty_ok = (out->flags & AT_EMPTY_PATH) != 0;
        if (out->flags & AT_SYMLINK_NOFOLLOW)
            out->follow = false;
        break;
    case ST_MUT_LINK_FLAGS:
        out->empty_ok = (out->flags & AT_EMPTY_PATH) != 0;
        out->follow = (out->flags & AT_SYMLINK_FOLLOW) != 0;
        break;
    case ST_MUT_NO_FLAGS:
    case ST_MUT_RENAME_FLAGS:
    case ST_MUT_UNLINK_FLAGS: break;
    }
}

int st_request_decode(const struct seccomp_data *call, st_memory_reader read, void *ctx,
                      struct st_request *out)
{
    const struct st_mutation *what = st_mutation_by_nr(call->nr);
    int rc;

    if (!what)
        return -ENOSYS;
    out->what = what;
    out->flags = 0;
    out->empty_ok = out->nothing = false;
    out->object.present = out->object.by_fd = out->target.present = out->target.by_fd = false;
    out->object.len = out->target.len = 0;
    read_flags(call, out);
    if (what->kind == ST_MUT_BIND)
        return read_address(call, read, ctx, out);
    rc = read_object(call, what, &what->object, read, ctx, &out->object);
    return rc < 0 ? rc : read_object(call, what, &what->target, read, ctx, &out->target);
}
