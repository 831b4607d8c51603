/* folder: see folder.h. The folder is watched and not each file: rotation renames them. */
#include "desk/folder.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <string.h>
#include <sys/inotify.h>

#define ENDING ".jsonl"

size_t st_trace_name_len(const char *file)
{
    const char *at = NULL, *p = file;

    if (file[0] == '.')
        return 0;
    while ((p = strstr(p, ENDING)))
        at = p++;
    if (!at || at == file || (at[strlen(ENDING)] && at[strlen(ENDING)] != '.'))
        return 0;
    return (size_t)(at - file) + strlen(ENDING);
}

void st_trace_names_free(struct st_trace_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct st_trace_names){0};
}

static int watch(const char *folder, uint32_t what, struct st_error *err)
{
    st_auto_fd fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd < 0 || inotify_add_watch(fd, folder, what) < 0)
        return st_fail_errno(err, "watch %s", folder);
    return st_steal_fd(&fd);
}

int st_folder_watch(const char *folder, struct st_error *err)
{
    return watch(folder, IN_MODIFY | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE,
                 err);
}

int st_folder_watch_gone(const char *file, struct st_error *err)
{
    const char *slash = strrchr(file, '/');
    st_auto_free char *folder = st_xstrndup(file, slash ? (size_t)(slash - file) + 1 : 0);

    return watch(slash ? folder : ".",
                 IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF, err);
}

static void add_name(struct st_trace_names *names, const char *file)
{
    size_t len = st_trace_name_len(file);

    if (!len)
        return;
    for (size_t i = 0; i < names->n; i++)
        if (strlen(names->list[i]) == len && memcmp(names->list[i], file, len) == 0)
            return;
    names->list = st_xrealloc(names->list, (names->n + 1) * sizeof(*names->list));
    names->list[names->n++] = st_xstrndup(file, len);
}

int st_folder_changes(int fd, struct st_trace_names *names, struct st_error *err)
{
    char events[16384] __attribute__((aligned(8)));
    ssize_t n;

    while ((n = read(fd, events, sizeof(events))) > 0 || (n < 0 && errno == EINTR))
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)(events + at);

            /* Which traces are gone is seen by looking at which are there. */
            names->all |= (e->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE | IN_MOVED_FROM)) != 0;
            if (e->len)
                add_name(names, e->name);
            at += (ssize_t)(sizeof(*e) + e->len);
        }
    return n < 0 && errno != EAGAIN ? st_fail_errno(err, "wait for traces") : 0;
}
