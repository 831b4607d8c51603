/* guarded: see guarded.h. */
#include "sensors/guarded.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define SLOTS (4 * ST_GUARDED_MAX)
#define DEPTH_MAX 32

struct object {
    dev_t dev;
    ino_t ino;
    int fd; /* O_PATH */
    char *path;
};

struct st_guarded {
    struct object list[ST_GUARDED_MAX];
    size_t n;
    uint16_t slots[SLOTS]; /* index + 1, open addressing; 0: free */
};

struct walk {
    struct st_guarded *g;
    char path[PATH_MAX]; /* of the directory that is being looked at, without a slash at the end */
    size_t len;
    bool whole; /* nothing was left out */
};

struct st_guarded *st_guarded_new(void)
{
    return st_xpages(1, sizeof(struct st_guarded));
}

void st_guarded_free(struct st_guarded *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++) {
        close(g->list[i].fd);
        free(g->list[i].path);
    }
    st_free_pages(g, 1, sizeof(*g));
}

size_t st_guarded_count(const struct st_guarded *g)
{
    return g->n;
}

void st_guarded_each(const struct st_guarded *g, void (*take)(void *ctx, int fd), void *ctx)
{
    for (size_t i = 0; i < g->n; i++)
        take(ctx, g->list[i].fd);
}

void st_guarded_freep(struct st_guarded **g)
{
    st_guarded_free(*g);
    *g = NULL;
}

static size_t slot_of(const struct st_guarded *g, dev_t dev, ino_t ino)
{
    size_t at = (size_t)((uint64_t)ino * 0x9e3779b97f4a7c15u ^ (uint64_t)dev) % SLOTS;

    while (g->slots[at]) {
        const struct object *o = &g->list[g->slots[at] - 1];

        if (o->dev == dev && o->ino == ino)
            break;
        at = (at + 1) % SLOTS;
    }
    return at;
}

const char *st_guarded_find(const struct st_guarded *g, dev_t dev, ino_t ino)
{
    size_t at = slot_of(g, dev, ino);

    return g->slots[at] ? g->list[g->slots[at] - 1].path : NULL;
}

/* Takes the fd over. */
static void add(struct walk *w, int fd, const char *path)
{
    struct st_guarded *g = w->g;
    struct stat sb;
    size_t at;

    if (fstat(fd, &sb) < 0 || g->slots[at = slot_of(g, sb.st_dev, sb.st_ino)]) {
        close(fd);
        return;
    }
    if (g->n == ST_GUARDED_MAX) {
        w->whole = false;
        close(fd);
        return;
    }
    g->list[g->n] = (struct object){.dev = sb.st_dev, .ino = sb.st_ino, .fd = fd, .path = st_xstrdup(path)};
    g->slots[at] = (uint16_t)++g->n;
}

static int open_entry(int dirfd, const char *name)
{
    return openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_directory(int fd)
{
    struct stat sb;

    return fstat(fd, &sb) == 0 && S_ISDIR(sb.st_mode);
}

static bool enter(struct walk *w, const char *name, size_t *before)
{
    size_t n = strlen(name);

    *before = w->len;
    if (w->len + 1 + n >= sizeof(w->path)) {
        w->whole = false;
        return false;
    }
    w->path[w->len] = '/';
    memcpy(w->path + w->len + 1, name, n + 1);
    w->len += 1 + n;
    return true;
}

static void leave(struct walk *w, size_t before)
{
    w->len = before;
    w->path[before] = '\0';
}

static void walk(struct walk *w, int dirfd, const char *rest, unsigned depth);

/* One entry that fits the first component; rest is what follows it, or NULL. */
static void visit(struct walk *w, int dirfd, const char *name, const char *rest, unsigned depth)
{
    st_auto_fd fd = open_entry(dirfd, name);
    size_t before;

    if (fd < 0 || !enter(w, name, &before))
        return;
    if (!rest)
        add(w, st_steal_fd(&fd), w->path);
    else if (is_directory(fd))
        walk(w, fd, rest, depth + 1);
    leave(w, before);
}

static void each_entry(struct walk *w, int dirfd, const char *glob, const char *rest, unsigned depth)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (dir && w->whole && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (!glob || fnmatch(glob, entry->d_name, FNM_NOESCAPE) == 0))
            visit(w, dirfd, entry->d_name, rest, depth);
}

/* `**`: the directory itself and all below it. */
static void take_tree(struct walk *w, int dirfd, unsigned depth)
{
    add(w, fcntl(dirfd, F_DUPFD_CLOEXEC, 0), w->len ? w->path : "/");
    if (depth >= DEPTH_MAX) {
        w->whole = false;
        return;
    }
    each_entry(w, dirfd, NULL, NULL, depth);
    each_entry(w, dirfd, NULL, "**", depth);
}

static void walk(struct walk *w, int dirfd, const char *rest, unsigned depth)
{
    char component[NAME_MAX + 1];
    size_t len = strcspn(rest, "/");
    const char *after = rest[len] == '/' ? rest + len + 1 : NULL;

    if (strcmp(rest, "**") == 0) {
        take_tree(w, dirfd, depth);
        return;
    }
    if (depth >= DEPTH_MAX || len == 0 || len > NAME_MAX) {
        w->whole = false;
        return;
    }
    memcpy(component, rest, len);
    component[len] = '\0';
    if (strpbrk(component, "*?"))
        each_entry(w, dirfd, component, after, depth);
    else
        visit(w, dirfd, component, after, depth);
}

bool st_guarded_collect(struct st_guarded *g, int root_fd, const char *pattern)
{
    const char *stars = strstr(pattern, "**");
    struct walk w = {.g = g, .whole = true};

    if (pattern[0] != '/' || (stars && stars[2] != '\0'))
        return false;
    walk(&w, root_fd, pattern + 1, 0);
    return w.whole;
}
