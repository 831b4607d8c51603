/* guarded: see guarded.h. */
#include "sensors/guarded.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
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
    bool full; /* there was one more than there is room for, or than can be held open */
};

/* What is left of a pattern, seen from a directory. */
struct hope {
    struct st_guarded_pattern *of;
    const char *rest; /* NULL: nothing, the entry itself is meant */
};

struct hopes {
    struct hope *list;
    size_t n;
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

static void give_up(const struct hopes *h)
{
    for (size_t i = 0; i < h->n; i++)
        h->list[i].of->whole = false;
}

/* Takes the fd over. */
static void add(struct walk *w, int fd, const char *path)
{
    struct st_guarded *g = w->g;
    struct stat sb;
    size_t at;

    if (fd < 0) {
        w->full = true;
        return;
    }
    if (fstat(fd, &sb) < 0 || g->slots[at = slot_of(g, sb.st_dev, sb.st_ino)]) {
        close(fd);
        return;
    }
    if (g->n == ST_GUARDED_MAX) {
        w->full = true;
        close(fd);
        return;
    }
    g->list[g->n] = (struct object){.dev = sb.st_dev, .ino = sb.st_ino, .fd = fd, .path = st_xstrdup(path)};
    g->slots[at] = (uint16_t)++g->n;
}

static bool lacks_room(int fd)
{
    return fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
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
    if (w->len + 1 + n >= sizeof(w->path))
        return false;
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

/* ---- what is hoped for ---- */

static bool is_tree(const struct hope *h)
{
    return strcmp(h->rest, "**") == 0;
}

/* The first component of what is left; false: it is none that an entry could have. */
static bool first_of(const struct hope *h, char component[NAME_MAX + 1])
{
    size_t len = strcspn(h->rest, "/");

    if (len == 0 || len > NAME_MAX)
        return false;
    memcpy(component, h->rest, len);
    component[len] = '\0';
    return true;
}

/* What is left of it below an entry that fits its first component. `/x/` and `**` is x as well, whatever it
 * is: then there are two. */
static void add_below(struct hopes *out, const struct hope *h)
{
    const char *slash = strchr(h->rest, '/');
    struct hope next = {h->of, slash ? slash + 1 : NULL};

    if (next.rest && is_tree(&next))
        out->list[out->n++] = (struct hope){h->of, NULL};
    out->list[out->n++] = next;
}

/* How many are fulfilled by the entry itself. */
static size_t fulfilled(const struct hopes *h)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++)
        n += !h->list[i].rest;
    return n;
}

/* ---- the walk ---- */

static void walk(struct walk *w, int dirfd, const struct hopes *h, unsigned depth);

/* One entry that fits; what is hoped for below it, and it itself where nothing is left. */
static void visit(struct walk *w, int dirfd, const char *name, const struct hopes *h, unsigned depth)
{
    size_t itself = fulfilled(h);
    st_auto_fd fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (itself ? 0 : O_DIRECTORY));
    size_t before;

    w->full |= lacks_room(fd);
    if (fd < 0 && !w->full)
        return;
    if (w->full || !enter(w, name, &before)) {
        give_up(h);
        return;
    }
    if (itself)
        add(w, fcntl(fd, F_DUPFD_CLOEXEC, 0), w->path);
    if (itself < h->n && (!itself || is_directory(fd)))
        walk(w, fd, h, depth + 1);
    if (w->full)
        give_up(h);
    leave(w, before);
}

/* What of it an entry of this name fits, from there on. `**` takes the entry and all below it. */
static void fit(const struct hopes *h, const char *name, struct hopes *out)
{
    char glob[NAME_MAX + 1];

    out->n = 0;
    for (size_t i = 0; i < h->n; i++) {
        const struct hope *hope = &h->list[i];

        if (is_tree(hope)) {
            out->list[out->n++] = (struct hope){hope->of, NULL};
            out->list[out->n++] = *hope;
        } else if (first_of(hope, glob) && fnmatch(glob, name, FNM_NOESCAPE) == 0) {
            add_below(out, hope);
        }
    }
}

/* Each is looked at once, whatever number of patterns it fits. */
static void each_entry(struct walk *w, int dirfd, const struct hopes *globs, unsigned depth)
{
    st_auto_free struct hope *room = st_xcalloc(2 * globs->n, sizeof(*room));
    struct hopes fits = {.list = room};
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool lacking = lacks_room(fd);
    st_auto_dir dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    w->full |= lacking;
    while (dir && !w->full && (entry = readdir(dir))) {
        bool unlike = entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        fit(globs, entry->d_name, &fits);
        if (fits.n && !(unlike && !fulfilled(&fits)))
            visit(w, dirfd, entry->d_name, &fits, depth);
    }
    if (w->full)
        give_up(globs);
}

/* Takes those that begin with the same name as the one at `from` out of the list, and visits what has it. */
static void visit_named(struct walk *w, int dirfd, struct hopes *names, size_t from, unsigned depth)
{
    st_auto_free struct hope *room = st_xcalloc(2 * names->n, sizeof(*room));
    struct hopes same = {.list = room};
    char name[NAME_MAX + 1], other[NAME_MAX + 1];

    first_of(&names->list[from], name);
    for (size_t i = from; i < names->n; i++) {
        if (!names->list[i].rest || !first_of(&names->list[i], other) || strcmp(name, other) != 0)
            continue;
        add_below(&same, &names->list[i]);
        names->list[i].rest = NULL; /* done */
    }
    visit(w, dirfd, name, &same, depth);
}

/* Into those that name one entry and those that may fit several. */
static void part(const struct hopes *h, struct hopes *names, struct hopes *globs)
{
    char component[NAME_MAX + 1];

    for (size_t i = 0; i < h->n; i++) {
        const struct hope *hope = &h->list[i];
        struct hopes *to;

        if (!hope->rest)
            continue;
        if (!first_of(hope, component)) {
            hope->of->whole = false;
            continue;
        }
        to = strpbrk(component, "*?") ? globs : names;
        to->list[to->n++] = *hope;
    }
}

static void walk(struct walk *w, int dirfd, const struct hopes *h, unsigned depth)
{
    st_auto_free struct hope *room = st_xcalloc(2 * h->n, sizeof(*room));
    struct hopes names = {.list = room}, globs = {.list = room + h->n};

    part(h, &names, &globs);
    if (depth >= DEPTH_MAX) {
        give_up(&names);
        give_up(&globs);
        return;
    }
    for (size_t i = 0; i < names.n; i++)
        if (names.list[i].rest)
            visit_named(w, dirfd, &names, i, depth);
    if (globs.n)
        each_entry(w, dirfd, &globs, depth);
}

/* The policy's language has escapes, and a `**` inside of a name that goes on below it: what has such is not
 * listed by its components. */
static bool can_be_listed(const char *text)
{
    const char *stars = strstr(text, "**");

    return text[0] == '/' && !strpbrk(text, "\\[") && (!stars || (stars[-1] == '/' && stars[2] == '\0'));
}

void st_guarded_collect(struct st_guarded *g, int root_fd, struct st_guarded_pattern *patterns, size_t n)
{
    st_auto_free struct hope *room = st_xcalloc(n + 1, sizeof(*room));
    struct hopes all = {.list = room};
    struct walk w = {.g = g};

    for (size_t i = 0; i < n; i++) {
        patterns[i].whole = can_be_listed(patterns[i].text);
        if (patterns[i].whole)
            all.list[all.n++] = (struct hope){&patterns[i], patterns[i].text + 1};
    }
    for (size_t i = 0; i < all.n; i++)
        if (is_tree(&all.list[i])) /* of the root */
            add(&w, fcntl(root_fd, F_DUPFD_CLOEXEC, 0), "/");
    if (all.n)
        walk(&w, root_fd, &all, 0);
}
