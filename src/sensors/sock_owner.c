/* sock_owner: see sock_owner.h. A listing of open files makes the kernel put together each of them, so it is
 * the last thing to do. Who made the last connections makes the next one, as a rule, and with the same
 * descriptor: one link. Else the socket was made just now, and has the highest descriptor of its process,
 * most likely of the youngest one: a look at the top of each. Only then all of all. */
#include "sensors/sock_owner.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LAST_FINDS 8
#define TOP 3          /* descriptors looked at first; bash keeps one far above all others */
#define MAX_GROUPS 256 /* the container's own and those below */
#define MAX_DEPTH 8
#define PIECE 4096 /* of a listing */
#define MAX_ENTRIES (PIECE / 24)

struct find {
    pid_t pid;
    int fd;
};

struct st_sock_owners {
    struct st_sock_tables tables;
    pid_t outsider; /* that was found to hold one; 0: none yet */
    int group;
    size_t n_finds;
    struct find finds[LAST_FINDS]; /* the last one first */
};

struct hunt {
    struct st_sock_owners *owners;
    const struct st_flow_tuple *flow;
    unsigned ifindex, inode;
    char socket[32]; /* what the link reads */
    unsigned looked;
    unsigned groups;
    bool cut;    /* there was more to look at */
    bool closed; /* meanwhile */
    bool quick;  /* only where a new socket is most likely */
    struct find found;
};

struct st_sock_owners *st_sock_owners_new(struct st_sock_tables *tables)
{
    struct st_sock_owners *o = st_xcalloc(1, sizeof(*o));

    o->tables = *tables;
    *tables = (struct st_sock_tables)ST_SOCK_TABLES_NONE;
    o->group = -1;
    return o;
}

void st_sock_owners_tell_group(struct st_sock_owners *o, int group)
{
    o->group = group;
}

void st_sock_owners_free(struct st_sock_owners *o)
{
    if (!o)
        return;
    st_sock_tables_close(&o->tables);
    free(o);
}

/* ---- open files ---- */

static bool is_it(struct hunt *h, int dir, const char *name)
{
    char link[sizeof(h->socket)];
    ssize_t n = readlinkat(dir, name, link, sizeof(link));

    h->looked++;
    return n == (ssize_t)strlen(h->socket) && memcmp(link, h->socket, (size_t)n) == 0;
}

static bool is_at(struct hunt *h, pid_t pid, int fd)
{
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
    if (!is_it(h, AT_FDCWD, path))
        return false;
    h->found = (struct find){pid, fd};
    return true;
}

/* The size of the directory is how many files are open (Linux 6.2; before that it is 0). A new one has the
 * lowest number that is free: just below that, where only few are higher. */
static bool is_on_top(struct hunt *h, pid_t pid)
{
    char path[32];
    struct stat sb;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    h->looked++;
    if (stat(path, &sb) < 0 || sb.st_size <= 0 || sb.st_size > INT_MAX)
        return false;
    for (int below = 1; below <= TOP && below <= (int)sb.st_size; below++)
        if (is_at(h, pid, (int)sb.st_size - below))
            return true;
    return false;
}

/* Of one piece of a listing, from its end. */
static bool is_among(struct hunt *h, int dir, pid_t pid, const char *bytes, size_t n)
{
    const struct dirent64 *all[MAX_ENTRIES];
    size_t count = 0;

    for (size_t at = 0; at < n && count < MAX_ENTRIES;) {
        const struct dirent64 *d = (const void *)(bytes + at);

        all[count++] = d;
        at += d->d_reclen;
    }
    while (count--) {
        const char *name = all[count]->d_name;

        if (name[0] == '.')
            continue;
        if (h->looked >= ST_OWNER_LINKS) {
            h->cut = true;
            return false;
        }
        if (!is_it(h, dir, name))
            continue;
        h->found = (struct find){pid, (int)strtol(name, NULL, 10)};
        return true;
    }
    return false;
}

static bool is_anywhere(struct hunt *h, pid_t pid)
{
    _Alignas(struct dirent64) char bytes[PIECE];
    char path[32];
    st_auto_fd dir = -1;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        h->looked++;
        return false; /* gone */
    }
    while ((n = getdents64(dir, bytes, sizeof(bytes))) > 0) {
        if (is_among(h, dir, pid, bytes, (size_t)n))
            return true;
        if (h->cut)
            return false;
    }
    return false;
}

/* ---- processes ---- */

static bool is_with(struct hunt *h, pid_t pid)
{
    return h->quick ? is_on_top(h, pid) : is_anywhere(h, pid);
}

/* The last line of the text is taken off it. 0: there is no more. */
static pid_t last_pid(char *text, size_t *n)
{
    while (*n && text[*n - 1] == '\n')
        text[--*n] = '\0';
    while (*n && text[*n - 1] != '\n')
        --*n;
    return (pid_t)strtol(text + *n, NULL, 10);
}

static bool is_in_text(struct hunt *h, char *text, size_t n)
{
    text[n] = '\0';
    while (n && !h->cut) {
        pid_t pid = last_pid(text, &n);

        if (h->looked >= ST_OWNER_LINKS)
            h->cut = true;
        else if (pid > 0 && is_with(h, pid))
            return true;
    }
    return false;
}

/* Among the processes of this group itself, a piece of the list after the other. */
static bool is_in_group(struct hunt *h, int group)
{
    char text[PIECE + 1];
    st_auto_fd fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    size_t n = 0, whole;
    ssize_t got = -1;

    if (fd < 0)
        return false;
    while (!h->cut && (got = read(fd, text + n, PIECE - n)) > 0) {
        char rest[16];

        n += (size_t)got;
        for (whole = n; whole && text[whole - 1] != '\n';)
            whole--;
        n -= whole;
        if (n > sizeof(rest))
            return false; /* no list of numbers */
        memcpy(rest, text + whole, n);
        if (is_in_text(h, text, whole))
            return true;
        memcpy(text, rest, n);
    }
    return false;
}

static bool is_in_or_below(struct hunt *h, int group, unsigned depth);

static bool is_below(struct hunt *h, int group, unsigned depth, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n && !h->cut;) {
        const struct dirent64 *d = (const void *)(bytes + at);
        st_auto_fd below = -1;

        at += d->d_reclen;
        if (d->d_type != DT_DIR || d->d_name[0] == '.')
            continue;
        below = openat(group, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0 && is_in_or_below(h, below, depth + 1))
            return true;
    }
    return false;
}

static bool has_groups(int group)
{
    struct stat sb;

    return fstat(group, &sb) == 0 && sb.st_nlink != 2;
}

static bool is_in_or_below(struct hunt *h, int group, unsigned depth)
{
    _Alignas(struct dirent64) char bytes[PIECE];
    st_auto_fd list = -1;
    ssize_t n;

    if (++h->groups > MAX_GROUPS || depth > MAX_DEPTH)
        h->cut = true;
    if (h->cut)
        return false;
    if (is_in_group(h, group))
        return true;
    if (!has_groups(group))
        return false;
    list = openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* from its beginning */
    while (list >= 0 && !h->cut && (n = getdents64(list, bytes, sizeof(bytes))) > 0)
        if (is_below(h, group, depth, bytes, (size_t)n))
            return true;
    return false;
}

/* ---- one question ---- */

static bool is_where_one_was(struct hunt *h)
{
    const struct st_sock_owners *o = h->owners;

    for (size_t i = 0; i < o->n_finds; i++)
        if (is_at(h, o->finds[i].pid, o->finds[i].fd))
            return true;
    return false;
}

static bool is_with_the_last(struct hunt *h)
{
    const struct st_sock_owners *o = h->owners;

    for (size_t i = 0; i < o->n_finds && !h->cut; i++)
        if (is_with(h, o->finds[i].pid))
            return true;
    return false;
}

/* Short connections are over before we look: whoever has closed it need not be looked for among all. */
static bool is_closed(struct hunt *h)
{
    struct st_sock_found sock;

    h->looked++;
    h->closed = st_sock_find(&h->owners->tables, h->flow, h->ifindex, &sock) < 0 || sock.inode != h->inode;
    return h->closed;
}

static bool is_found(struct hunt *h)
{
    if (is_where_one_was(h))
        return true;
    for (int quick = 1; quick >= 0; quick--) {
        h->quick = quick;
        h->groups = 0;
        if (is_closed(h))
            return false;
        if (is_with_the_last(h) || is_in_or_below(h, h->owners->group, 0))
            return true;
    }
    return false;
}

/* In front; a process stands there once. */
static void remember(struct st_sock_owners *o, struct find found)
{
    size_t at = 0;

    while (at < o->n_finds && o->finds[at].pid != found.pid)
        at++;
    if (at == o->n_finds && o->n_finds < LAST_FINDS)
        o->n_finds++;
    else if (at == LAST_FINDS)
        at--;
    memmove(o->finds + 1, o->finds, at * sizeof(o->finds[0]));
    o->finds[0] = found;
}

static void unknown(struct st_sock_owner *out, const char *why)
{
    out->incomplete = true;
    out->why = why;
}

void st_sock_owner_of(struct st_sock_owners *o, const struct st_flow_tuple *flow, unsigned ifindex,
                      struct st_sock_owner *out)
{
    struct hunt h = {.owners = o};
    struct st_sock_found sock;
    int rc = st_sock_find(&o->tables, flow, ifindex, &sock);

    *out = (struct st_sock_owner){.uid = -1};
    if (rc < 0) {
        unknown(out,
                rc == -ENOENT ? "no socket of this flow is known" : "the kernel does not say whose it is");
        return;
    }
    out->uid = sock.uid;
    out->listening = sock.listening;
    if (sock.inode == 0) {
        unknown(out, "the socket is closed");
        return;
    }
    h.flow = flow;
    h.ifindex = ifindex;
    h.inode = sock.inode;
    snprintf(h.socket, sizeof(h.socket), "socket:[%u]", sock.inode);
    if (is_found(&h)) {
        remember(o, h.found);
        out->pid = h.found.pid;
    }
    out->looked = h.looked;
    if (!out->pid)
        unknown(out, h.closed ? "the socket is closed"
                     : h.cut  ? "more open files and processes than we look at"
                              : "no process of the container holds the socket");
    else if (sock.candidates > 1)
        unknown(out, "one of several sockets that fit");
    else if (sock.raw)
        unknown(out, "by a raw socket, which can name any sender");
}

/* ---- outside ---- */

/* In our own network: neither a container that shares the one we watch, nor a process of the container that
 * was handed the socket while we looked elsewhere. */
static bool is_of_ours(pid_t pid)
{
    struct stat own, theirs;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    return stat("/proc/self/ns/net", &own) == 0 && stat(path, &theirs) == 0 && own.st_dev == theirs.st_dev &&
           own.st_ino == theirs.st_ino;
}

static bool is_with_outsider(struct hunt *h, pid_t pid)
{
    h->looked = 0;
    h->cut = false;
    return is_with(h, pid) && is_of_ours(pid);
}

static pid_t find_outsider(struct hunt *h)
{
    _Alignas(struct dirent64) char bytes[PIECE];
    st_auto_fd dir = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t n;

    while (dir >= 0 && (n = getdents64(dir, bytes, sizeof(bytes))) > 0)
        for (size_t at = 0; at < (size_t)n;) {
            const struct dirent64 *d = (const void *)(bytes + at);
            pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

            at += d->d_reclen;
            if (pid > 0 && is_with_outsider(h, pid))
                return pid;
        }
    return 0;
}

bool st_sock_held_outside(struct st_sock_owners *o, const struct st_flow_tuple *flow, unsigned ifindex)
{
    struct hunt h = {.owners = o};
    struct st_sock_found sock;

    if (st_sock_find(&o->tables, flow, ifindex, &sock) < 0 || !sock.inode || sock.raw || sock.candidates > 1)
        return false;
    snprintf(h.socket, sizeof(h.socket), "socket:[%u]", sock.inode);
    if (is_in_or_below(&h, o->group, 0) || h.cut)
        return false;
    if (o->outsider && is_with_outsider(&h, o->outsider))
        return true;
    o->outsider = find_outsider(&h);
    return o->outsider != 0;
}
