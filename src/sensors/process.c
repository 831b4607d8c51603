/* process: see process.h. */
#include "sensors/process.h"

#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_SIZE 4096

struct status {
    char name[32];
    pid_t tgid, ppid, inner_pid;
    int64_t uid, gid;
};

static const char *field(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, name, len) == 0)
            return line + len;
    return NULL;
}

static int64_t number(const char *text, const char *name)
{
    const char *value = field(text, name);

    return value ? strtoll(value, NULL, 10) : ST_UNKNOWN;
}

/* The first line is the name, in which the kernel escapes newlines: no later line can be forged by it. */
static void parse_status(const char *text, struct status *out)
{
    const char *name = field(text, "Name:\t"), *inner;
    size_t len = name ? strcspn(name, "\n") : 0;

    snprintf(out->name, sizeof(out->name), "%.*s", (int)len, name ? name : "");
    out->tgid = (pid_t)number(text, "Tgid:\t");
    out->ppid = (pid_t)number(text, "PPid:\t");
    out->uid = number(text, "Uid:\t");
    out->gid = number(text, "Gid:\t");
    inner = field(text, "NStgid:\t");
    out->inner_pid = 0;
    for (char *end; inner && *inner && *inner != '\n'; inner = end) {
        out->inner_pid = (pid_t)strtol(inner, &end, 10);
        if (end == inner)
            break;
        while (*end == '\t')
            end++;
    }
}

static bool read_status(pid_t pid, struct status *out)
{
    char path[48], text[STATUS_SIZE];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (st_read_piece_at(AT_FDCWD, path, text, sizeof(text)) < 0)
        return false;
    parse_status(text, out);
    return true;
}

static struct st_str read_link(pid_t pid, const char *what, char *out, size_t size)
{
    char path[48];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    n = readlink(path, out, size);
    if (n < 0)
        return (struct st_str){0};
    return (struct st_str){.p = out, .len = (size_t)n};
}

static struct st_str read_argv(pid_t pid, char *out, size_t size)
{
    char path[48];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, out, size);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return (struct st_str){0};
    if (n > 0 && out[n - 1] == '\0')
        n--;
    return (struct st_str){.p = out, .len = (size_t)n};
}

static bool has_controller(const char *line, const char *controller)
{
    const char *list = strchr(line, ':');
    size_t len = strlen(controller), at = 0;

    if (!list)
        return false;
    for (list++; list[at] != ':' && list[at] != '\0'; at += strcspn(list + at, ",:"), at += list[at] == ',')
        if (strncmp(list + at, controller, len) == 0 && (list[at + len] == ',' || list[at + len] == ':'))
            return true;
    return len == 0 && list[0] == ':';
}

bool st_process_is_member(pid_t pid, const struct st_membership *m)
{
    char file[48], text[8192], *save = NULL;
    size_t len = strlen(m->path);

    snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
    if (st_read_piece_at(AT_FDCWD, file, text, sizeof(text)) < 0)
        return true; /* gone, or unreadable: the container is blamed, not the host */
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *path;

        if (!has_controller(line, m->controller))
            continue;
        path = strchr(strchr(line, ':') + 1, ':') + 1;
        return strncmp(path, m->path, len) == 0 && (path[len] == '\0' || path[len] == '/');
    }
    return true;
}

/* From this one on, as the kernel has it now. */
static void read_ancestry(struct st_process_room *r, pid_t parent)
{
    struct st_process *p = &r->facts.process;
    bool at_top = p->container_pid == 1;

    while (!at_top && parent > 1 && p->n_ancestry < ST_ANCESTORS) {
        struct st_ancestor *a = &r->ancestry[p->n_ancestry];
        char *names = r->names[p->n_ancestry];
        struct status s;

        if (!read_status(parent, &s)) {
            p->incomplete = true;
            return;
        }
        memcpy(names, s.name, sizeof(s.name));
        a->pid = parent;
        a->comm = st_str(names);
        a->exe = read_link(parent, "exe", names + 32, 512);
        p->n_ancestry++;
        at_top = s.inner_pid == 1;
        parent = s.ppid;
    }
}

static void recall(struct st_process_room *r, size_t i, const struct st_ancestor *known)
{
    char *names = r->names[i];
    size_t len = known->exe.len < 512 ? known->exe.len : 512;

    snprintf(names, 32, "%.*s", (int)known->comm.len, known->comm.p);
    r->ancestry[i] = (struct st_ancestor){.pid = known->pid, .comm = st_str(names)};
    if (known->exe.p) {
        memcpy(names + 32, known->exe.p, len);
        r->ancestry[i].exe = (struct st_str){names + 32, len};
    } else {
        r->ancestry[i].exe = read_link(known->pid, "exe", names + 32, 512);
    }
}

/* Above who was started from outside the kernel is asked, once: the book keeps it. */
static void find_origin(struct st_process_room *r, struct st_tree *tree, pid_t top)
{
    const struct st_process *p = &r->facts.process;
    size_t n = p->n_ancestry;
    struct status s;

    if (!read_status(top, &s))
        return;
    if (s.inner_pid != 1)
        read_ancestry(r, s.ppid);
    if (!p->incomplete && p->n_ancestry < ST_ANCESTORS)
        st_tree_set_origin(tree, top, r->ancestry + n, p->n_ancestry - n);
}

/* The same of who was started from outside itself. */
static void find_own_origin(struct st_process_room *r, struct st_tree *tree, pid_t parent)
{
    const struct st_process *p = &r->facts.process;
    struct st_tree_facts own;
    bool top = tree && st_tree_find(tree, r->facts.leader, &own) && own.parent == 0 && !own.placed;

    read_ancestry(r, parent);
    if (top && !p->incomplete && p->n_ancestry > 0 && p->n_ancestry < ST_ANCESTORS)
        st_tree_set_origin(tree, r->facts.leader, r->ancestry, p->n_ancestry);
}

/* The kernel's chain leads past those that have ended, to who took their children over: the book's does not,
 * and costs nothing. */
static void recall_ancestry(struct st_process_room *r, struct st_tree *tree, pid_t parent)
{
    struct st_ancestor known[ST_ANCESTORS];
    struct st_process *p = &r->facts.process;
    bool cut = false;
    size_t n = tree ? st_tree_ancestry(tree, r->facts.leader, known, ST_ANCESTORS, &cut) : 0;
    struct st_tree_facts top;

    for (size_t i = 0; i < n; i++)
        recall(r, i, &known[i]);
    p->n_ancestry = n;
    p->incomplete |= cut && n < ST_ANCESTORS;
    if (n == 0)
        find_own_origin(r, tree, parent);
    else if (!cut && st_tree_find(tree, known[n - 1].pid, &top) && top.parent == 0 && !top.placed)
        find_origin(r, tree, top.pid);
}

pid_t st_process_leader(pid_t tid)
{
    struct status s;

    return read_status(tid, &s) ? s.tgid : 0;
}

pid_t st_process_parent(pid_t pid)
{
    struct status s;

    return read_status(pid, &s) ? s.ppid : 0;
}

/* What the kernel says of itself. */
static void tell(struct st_process_room *r, const struct status *s)
{
    struct st_process *p = &r->facts.process;

    r->facts.leader = s->tgid;
    memcpy(r->comm, s->name, sizeof(r->comm));
    p->pid = s->tgid;
    p->container_pid = s->inner_pid;
    p->uid = s->uid;
    p->gid = s->gid;
    p->comm = st_str(r->comm);
}

bool st_process_recognise(struct st_asker *a, pid_t pid, const struct st_tree *tree,
                          struct st_process_room *r)
{
    struct st_tree_facts known;
    char text[STATUS_SIZE];
    struct status s;

    if (!st_tree_find(tree, pid, &known) || !known.judged || known.exe.len > sizeof(r->exe) ||
        st_asker_status(a, pid, text, sizeof(text)) < 0)
        return false;
    parse_status(text, &s);
    if (s.tgid != pid)
        return false;
    r->facts.process = (struct st_process){.present = true};
    r->facts.in_container = true;
    r->facts.parent_outside = false;
    tell(r, &s);
    memcpy(r->exe, known.exe.p, known.exe.len);
    r->facts.process.exe = (struct st_str){r->exe, known.exe.len};
    return true;
}

struct st_str st_process_argv(pid_t tid, struct st_process_room *r)
{
    return read_argv(tid, r->argv, sizeof(r->argv));
}

bool st_process_read(pid_t tid, const struct st_membership *m, struct st_process_room *r)
{
    struct st_process_facts *f = &r->facts;
    struct st_process *p = &f->process;
    struct status s;

    *p = (struct st_process){.present = true, .pid = tid, .uid = ST_UNKNOWN, .gid = ST_UNKNOWN};
    f->in_container = st_process_is_member(tid, m);
    if (!read_status(tid, &s)) {
        p->incomplete = true;
        return false;
    }
    tell(r, &s);
    p->exe = read_link(tid, "exe", r->exe, sizeof(r->exe));
    p->cwd = read_link(tid, "cwd", r->cwd, sizeof(r->cwd));
    p->argv = read_argv(tid, r->argv, sizeof(r->argv));
    p->ancestry = r->ancestry;
    p->incomplete = !p->exe.p || !p->cwd.p || !p->argv.p;
    f->parent_outside = s.ppid > 0 && !st_process_is_member(s.ppid, m);
    recall_ancestry(r, m->tree, s.ppid);
    return true;
}
