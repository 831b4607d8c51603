/* state: see state.h. */
#include "snapshot/state_private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/mountinfo.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ARGV 16384
#define MAX_FDS 4096 /* of one process */
#define MAX_MOUNTS 4096
#define MAX_GROUP_DEPTH 16
#define MAX_PROCS ((size_t)1 << 20)

bool st_state_over(struct st_state *s)
{
    if (s->w.out->len > ST_STATE_BYTES || st_now_mono_ns() > s->facts->deadline_ns)
        s->truncated = true;
    return s->truncated;
}

/* ---- who ---- */

static void add_pid(struct st_state *s, pid_t pid)
{
    if (pid <= 0)
        return;
    if (s->n_pids == ST_STATE_PROCESSES) {
        s->truncated = true;
        return;
    }
    s->pids[s->n_pids++] = pid;
}

static void read_group(struct st_state *s, int group, unsigned depth)
{
    st_auto_buf text = ST_BUF_INIT;
    st_auto_dir dir = NULL;
    struct dirent *e;
    char *save = NULL;
    int copy;

    if (st_read_file_at(group, "cgroup.procs", false, MAX_PROCS, &text, NULL) == 0 && text.len)
        for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            add_pid(s, (pid_t)strtol(line, NULL, 10));
    copy = openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = copy < 0 ? NULL : fdopendir(copy);
    while (dir && (e = readdir(dir)) && !st_state_over(s)) {
        st_auto_fd below = e->d_type == DT_DIR && e->d_name[0] != '.'
                               ? openat(group, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                               : -1;

        if (below >= 0 && depth == MAX_GROUP_DEPTH)
            s->truncated = true;
        else if (below >= 0)
            read_group(s, below, depth + 1);
    }
}

/* ---- one process ---- */

static void put_link(struct st_state *s, int dir, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dir, name, target, sizeof(target));

    if (n < 0)
        return;
    st_jw_key(&s->w, name);
    st_jw_strn(&s->w, target, (size_t)n);
}

static void put_argv(struct st_state *s, int dir)
{
    char text[MAX_ARGV];
    st_auto_fd fd = openat(dir, "cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

    st_jw_key(&s->w, "argv");
    st_jw_array(&s->w);
    for (const char *at = text, *end = text + (n > 0 ? n : 0); at < end;) {
        size_t len = strnlen(at, (size_t)(end - at));

        st_jw_strn(&s->w, at, len);
        at += len + 1;
    }
    st_jw_end(&s->w, ']');
    if (n == (ssize_t)sizeof(text))
        st_jw_kbool(&s->w, "argv_cut", true);
}

static void note_socket(struct st_state *s, const char *target, pid_t pid)
{
    if (strncmp(target, "socket:[", 8) != 0)
        return;
    if (s->n_sockets == ST_STATE_SOCKETS)
        s->truncated = true;
    else
        s->sockets[s->n_sockets++] = (struct st_state_socket){strtoull(target + 8, NULL, 10), pid};
}

static void put_fd(struct st_state *s, int fds, const char *name, pid_t pid)
{
    char target[PATH_MAX];
    struct stat st = {0};
    ssize_t n = readlinkat(fds, name, target, sizeof(target) - 1);

    if (n < 0)
        return;
    target[n] = '\0';
    fstatat(fds, name, &st, AT_SYMLINK_NOFOLLOW);
    note_socket(s, target, pid);
    st_jw_object(&s->w);
    st_jw_kint(&s->w, "fd", strtol(name, NULL, 10));
    st_jw_kstr(&s->w, "for",
               (st.st_mode & 0600) == 0600 ? "read_write"
               : st.st_mode & 0200         ? "write"
                                           : "read");
    st_jw_key(&s->w, "to");
    st_jw_strn(&s->w, target, (size_t)n);
    st_jw_end(&s->w, '}');
}

static void put_fds(struct st_state *s, int dir, pid_t pid)
{
    int fd = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir fds = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    size_t n = 0;

    st_jw_key(&s->w, "files");
    st_jw_array(&s->w);
    while (fds && (e = readdir(fds)) && n < MAX_FDS && !st_state_over(s))
        if (e->d_name[0] != '.') {
            put_fd(s, dirfd(fds), e->d_name, pid);
            n++;
        }
    st_jw_end(&s->w, ']');
    s->truncated |= n == MAX_FDS;
}

/* The n-th number of a line of status; -1: there is none. */
static int64_t number_of(const char *status, const char *line, unsigned n)
{
    const char *at = strstr(status, line);
    char *end;
    int64_t value = -1;

    for (at = at ? at + strlen(line) : NULL; at; n--) {
        value = strtoll(at, &end, 10);
        if (end == at)
            return -1;
        if (n == 0)
            return value;
        at = end;
    }
    return value;
}

/* The kernel escapes newlines in the name, which comes first: no line after it is forged. */
static void put_status(struct st_state *s, const char *status, pid_t pid)
{
    const char *name = strncmp(status, "Name:\t", 6) == 0 ? status + 6 : "";

    st_jw_key(&s->w, "name");
    st_jw_strn(&s->w, name, strcspn(name, "\n"));
    st_jw_kint(&s->w, "pid", pid);
    st_jw_kint(&s->w, "ppid", number_of(status, "\nPPid:", 0));
}

static void put_process(struct st_state *s, pid_t pid)
{
    char name[16], status[16384];
    st_auto_fd dir = -1;

    snprintf(name, sizeof(name), "%d", (int)pid);
    dir = openat(s->facts->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || st_read_small_at(dir, "status", status, sizeof(status)) < 0)
        return;
    s->facts->processes++;
    st_jw_object(&s->w);
    put_argv(s, dir);
    put_link(s, dir, "cwd");
    put_link(s, dir, "exe");
    put_fds(s, dir, pid);
    st_jw_kint(&s->w, "gid", number_of(status, "\nGid:", 1));
    put_status(s, status, pid);
    put_link(s, dir, "root");
    st_jw_kint(&s->w, "threads", number_of(status, "\nThreads:", 0));
    st_jw_kint(&s->w, "uid", number_of(status, "\nUid:", 1));
    st_jw_end(&s->w, '}');
}

/* ---- mounts ---- */

static void put_mounts(struct st_state *s)
{
    st_auto_mounts mounts = {0};

    st_jw_key(&s->w, "mounts");
    st_jw_array(&s->w);
    if (s->facts->init > 0 && st_mounts_read(s->facts->init, &mounts, NULL) == 0)
        for (size_t i = 0; i < mounts.n && i < MAX_MOUNTS && !st_state_over(s); i++) {
            const struct st_mount *m = &mounts.list[i];

            st_jw_object(&s->w);
            st_jw_kstr(&s->w, "options", m->options);
            st_jw_kstr(&s->w, "point", m->point);
            st_jw_kstr(&s->w, "root", m->root);
            st_jw_kstr(&s->w, "source", m->source);
            st_jw_kstr(&s->w, "super", m->super);
            st_jw_kstr(&s->w, "type", m->type);
            st_jw_end(&s->w, '}');
            s->facts->mounts++;
        }
    st_jw_end(&s->w, ']');
}

void st_state_write(struct st_state_facts *f, struct st_buf *out)
{
    struct st_state s = {.facts = f};

    s.pids = st_xcalloc(ST_STATE_PROCESSES, sizeof(*s.pids));
    s.sockets = st_xcalloc(ST_STATE_SOCKETS, sizeof(*s.sockets));
    st_jw_init(&s.w, out);
    if (f->group >= 0)
        read_group(&s, f->group, 0);
    if (s.n_pids == 0)
        add_pid(&s, f->init);
    st_jw_object(&s.w);
    put_mounts(&s);
    st_jw_key(&s.w, "processes");
    st_jw_array(&s.w);
    for (size_t i = 0; i < s.n_pids && !st_state_over(&s); i++)
        put_process(&s, s.pids[i]);
    st_jw_end(&s.w, ']');
    st_state_write_sockets(&s);
    st_jw_kbool(&s.w, "truncated", s.truncated);
    st_jw_end(&s.w, '}');
    free(s.pids);
    free(s.sockets);
}
