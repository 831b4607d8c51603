/* places: see places.h. */
#include "sensors/places.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOCKETS_MAX (16u << 20)

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
    all->list = st_xrealloc(all->list, (all->n + 1) * sizeof(*all->list));
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
    static const char *const names[] = {
        "docker.sock",      "containerd.sock", "containerd.sock.ttrpc", "podman.sock",  "crio.sock",
        "cri-dockerd.sock", "buildkitd.sock",  "system_bus_socket",     "libvirt-sock", "snapd.socket"};
    const char *name = strrchr(path, '/');

    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name + 1, names[i]) == 0)
            return true;
    return false;
}

static void add_socket(struct st_places *all, const struct st_mounts *host, const char *path, unsigned kind)
{
    struct stat sb;

    if (stat(path, &sb) == 0 && S_ISSOCK(sb.st_mode))
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
        add_socket(all, host, known[i], kind);
    /* "…: refs protocol flags type state inode PATH" */
    if (st_read_file("/proc/net/unix", SOCKETS_MAX, &text, NULL) < 0 || text.len == 0)
        return;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *path = strchr(line, '/');

        if (path && is_engine(path))
            add_socket(all, host, path, kind);
    }
}
