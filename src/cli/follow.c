/* follow: see follow.h. The folder is watched, since rotation renames the file. */
#include "cli/follow.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <string.h>
#include <sys/inotify.h>

int st_follow_begin(struct st_follow *f, const char *file, struct st_error *err)
{
    const char *slash = strrchr(file, '/');
    st_auto_free char *folder = slash ? st_xstrndup(file, (size_t)(slash - file) + 1) : st_xstrdup("./");

    f->fd = inotify_init1(IN_CLOEXEC);
    if (f->fd < 0)
        return st_fail_errno(err, "watch %s", folder);
    if (inotify_add_watch(f->fd, folder, IN_MODIFY | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO) < 0)
        return st_fail_errno(err, "watch %s", folder);
    return 0;
}

int st_follow_wait(struct st_follow *f, struct st_error *err)
{
    char events[4096] __attribute__((aligned(8)));
    ssize_t n;

    do
        n = read(f->fd, events, sizeof(events));
    while (n < 0 && errno == EINTR);
    return n < 0 ? st_fail_errno(err, "wait for the trace") : 0;
}

void st_follow_end(struct st_follow *f)
{
    st_close(&f->fd);
}
