/* places: see places.h. */
#include "sensors/places.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOCKETS_MAX (16u << 20)
#define PLACES_AT_ONCE 32

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return len == 1 || (strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/'));
}

static bool is_of(const struct st_place *p, const struct st_mount *m)
{
    return p->major == m->major && p->minor == m->minor;
}

bool st_place_in(const struct st_place *p, const struct st_mount *m)
{
    return is_of(p, m) && is_below(p->path, m->root);
}

bool st_place_above(const struct st_place *p, const struct st_mount *m)
{
    return is_of(p, m) && is_below(m->root, p->path);
}

void st_places_add(struct st_places *all, const struct st_mounts *host, const char *path, unsigned kind)
{
    char real[PATH_MAX];
    const struct st_mount *m = realpath(path, real) ? st_mounts_cover(host, real) : NULL;
    const char *rest;
    struct st_place *p;

    if (!m)
        return;
    if (all->n % PLACES_AT_ONCE == 0) /* one by one would leave as many holes in the heap */
        all->list = st_xrealloc(all->list, (all->n + PLACES_AT_ONCE) * sizeof(*all->list));
    p = &all->list[all->n++];
    rest = m->point[1] ? real + strlen(m->point) : real;
    *p = (struct st_place){.major = m->major, .minor = m->minor, .name = st_xstrdup(real), .kind = kind};
    if (m->root[1])
        p->path = st_xasprintf("%s%s", m->root, rest);
    else
        p->path = st_xstrdup(*rest ? rest : "/");
}

void st_places_free(struct st_places *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->list[i].path);
        free(all->list[i].name);
    }
    free(all->list);
    *all = (struct st_places){0};
}

/* ---- engines ---- */

static bool is_engine(const char *path)
{
    static const char *const patterns[] = {
        "*/docker.sock",  "*/containerd.sock",   "*/podman.sock",        "*/containerd.sock.ttrpc",
        "*/crio.sock",    "*/cri-dockerd.sock",  "*/buildkitd.sock",     "*/libvirt-sock",
        "*/snapd.socket", "*/system_bus_socket", "/run/user/[0-9]*/bus", "/run/user/[0-9]*/systemd/private"};

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (fnmatch(patterns[i], path, 0) == 0)
            return true;
    return false;
}

static void add_of_type(struct st_places *all, const struct st_mounts *host, const char *path, mode_t type,
                        unsigned kind)
{
    struct stat sb;

    if (stat(path, &sb) == 0 && (sb.st_mode & S_IFMT) == type)
        st_places_add(all, host, path, kind);
}

void st_places_add_engines(struct st_places *all, const struct st_mounts *host, unsigned kind)
{
    /* Of engines that are in another network, and what has a name that says nothing. */
    static const char *const known[] = {
        "/run/docker.sock",         "/run/containerd/containerd.sock", "/run/podman/podman.sock",
        "/run/crio/crio.sock",      "/run/dbus/system_bus_socket",     "/run/systemd/private",
        "/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket"};
    st_auto_buf text = ST_BUF_INIT;
    char *save = NULL;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        add_of_type(all, host, known[i], S_IFSOCK, kind);
    add_of_type(all, host, "/run/containerd/s", S_IFDIR, kind); /* where containerd's shims listen */
    /* "…: refs protocol flags type state inode PATH" */
    if (st_read_file("/proc/net/unix", SOCKETS_MAX, &text, NULL) < 0 || text.len == 0)
        return;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *path = strchr(line, '/');

        if (path && is_engine(path))
            add_of_type(all, host, path, S_IFSOCK, kind);
    }
}

void st_places_add_stores(struct st_places *all, const struct st_mounts *host, unsigned kind)
{
    static const char *const known[] = {"/var/lib/docker",  "/var/lib/containerd", "/var/lib/containers",
                                        "/var/lib/kubelet", "/run/containerd",     "/run/docker",
                                        "/run/containers",  "/run/runc",           "/run/crun"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        add_of_type(all, host, known[i], S_IFDIR, kind);
}
