/* footings: see footings.h. */
#include "sensors/footings.h"

#include "base/mem.h"
#include "sensors/marks.h"

#include <stdlib.h>
#include <string.h>

struct finder {
    const struct st_mounts *container, *host;
    const struct st_footings_order *order;
    const struct st_mount *root;
};

/* What of the path lies below dir: "" where it is dir itself; NULL: none of it does. */
static const char *below(const char *path, const char *dir)
{
    size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    if (len == 0 && strcmp(path, "/") == 0)
        return "";
    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/') ? path + len : NULL;
}

static const char *point_in_container(const struct finder *f, const struct st_mount *m)
{
    const char *inner = below(m->point, f->order->rootfs);

    return inner && !*inner ? "/" : inner;
}

static bool is_writable(const struct finder *f, const struct st_mount *m)
{
    const char *point = point_in_container(f, m);

    if (st_option_has(m->options, "ro") || st_option_has(m->super, "ro"))
        return false;
    if (strcmp(point, "/") == 0)
        return !f->order->root_readonly;
    for (size_t i = 0; i < f->order->n_readonly; i++)
        if (strcmp(f->order->readonly[i], point) == 0)
            return false;
    return true;
}

static bool is_same_device(const struct st_mount *a, const struct st_mount *b)
{
    return a->major == b->major && a->minor == b->minor;
}

/* Made for this container: part of its root, or in memory and nowhere on the host. */
static bool is_made_for_it(const struct finder *f, const struct st_mount *m)
{
    if (f->root && is_same_device(m, f->root) && below(m->root, f->root->root))
        return true;
    if (strcmp(m->type, "tmpfs") != 0)
        return false;
    for (size_t i = 0; i < f->host->n; i++)
        if (is_same_device(&f->host->list[i], m))
            return false;
    return true;
}

/* A part of what outer shows is mounted over itself: nothing of it is seen twice. */
static bool is_in_place(const struct st_mount *inner, const struct st_mount *outer)
{
    const char *root = below(inner->root, outer->root), *point = below(inner->point, outer->point);

    return point && strcmp(point, root) == 0;
}

/* The container can write w, and what it shows is also in m, under another path than that of w. */
static bool is_way_into(const struct finder *f, const struct st_mount *w, const struct st_mount *m)
{
    if (w == m || !is_same_device(w, m) || !point_in_container(f, w) || !is_writable(f, w))
        return false;
    if (below(m->root, w->root))
        return !is_in_place(m, w);
    return below(w->root, m->root) && !is_in_place(w, m);
}

static bool is_own(const struct finder *f, const struct st_mount *m)
{
    if (!is_made_for_it(f, m))
        return false;
    if (is_writable(f, m))
        return true;
    for (size_t i = 0; i < f->container->n; i++)
        if (is_way_into(f, &f->container->list[i], m))
            return false;
    return true;
}

/* A table has all mounts of the host as well, while the runtime makes the container: nothing of it is kept.
 */
static void keep_points(struct st_footings *f)
{
    size_t len = 0;
    char *at;

    for (size_t i = 0; i < f->n; i++)
        len += strlen(f->list[i].point) + 1;
    f->list = st_xrealloc(f->list, (f->n + 1) * sizeof(*f->list));
    f->points = at = st_xmalloc(len + 1);
    for (size_t i = 0; i < f->n; i++) {
        size_t size = strlen(f->list[i].point) + 1;

        f->list[i].point = memcpy(at, f->list[i].point, size);
        at += size;
    }
}

void st_footings_find(const struct st_mounts *container, const struct st_mounts *host,
                      const struct st_footings_order *order, struct st_footings *out)
{
    struct finder f = {.container = container, .host = host, .order = order};

    *out = (struct st_footings){.list = st_xcalloc(container->n + 1, sizeof(*out->list))};
    for (size_t i = 0; i < container->n; i++)
        if (strcmp(container->list[i].point, order->rootfs) == 0)
            f.root = &container->list[i]; /* the last one is on top */
    for (size_t i = 0; i < container->n; i++) {
        const struct st_mount *m = &container->list[i];

        if (point_in_container(&f, m))
            out->list[out->n++] = (struct st_footing){.point = point_in_container(&f, m),
                                                      .id = m->id,
                                                      .writable = is_writable(&f, m),
                                                      .own = is_own(&f, m),
                                                      .silent = st_marks_skip(m) != NULL};
    }
    keep_points(out);
}

void st_footings_free(struct st_footings *f)
{
    free(f->list);
    free(f->points);
    *f = (struct st_footings){0};
}
