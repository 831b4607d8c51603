/* execs: see execs.h. */
#include "monitor/execs.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* A thread that was allowed and has died did not report its open; so soon nobody else has its number. */
#define LET_NS 50000000

/* By the clock that the kernel stamps files with. */
static int64_t now_of_files(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME_COARSE, &ts);
    return ts.tv_sec * (int64_t)1000000000 + ts.tv_nsec;
}

/* upperdir=… of an overlay's options. */
static int open_upper(const char *options)
{
    const char *from = strstr(options, ",upperdir=");
    char path[PATH_MAX];

    if (!from)
        return -1;
    from += strlen(",upperdir=");
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(from, ","), from);
    return path[0] == '/' ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

void st_execs_open(struct st_execs *x, const struct st_mounts *container, const char *rootfs)
{
    x->root_mount = x->upper = -1;
    x->start_ns = now_of_files();
    x->start_mono_ns = st_now_mono_ns();
    for (size_t i = 0; i < container->n; i++) {
        const struct st_mount *m = &container->list[i];

        if (strcmp(m->point, rootfs) != 0)
            continue;
        x->root_mount = m->id; /* the last one is on top */
        x->root_dev = makedev(m->major, m->minor);
        st_close(&x->upper);
        x->upper = strcmp(m->type, "overlay") == 0 ? open_upper(m->super) : -1;
    }
}

/* ---- where the file comes from ---- */

/* A clock that was set back since takes the start with it. */
static int64_t start_by_clock(struct st_execs *x)
{
    int64_t start = now_of_files() - (st_now_mono_ns() - x->start_mono_ns);

    if (start < x->start_ns)
        x->start_ns = start;
    return x->start_ns;
}

static bool is_new(struct st_execs *x, const struct statx *sx)
{
    return sx->stx_ctime.tv_sec * 1000000000 + sx->stx_ctime.tv_nsec >= start_by_clock(x);
}

/* The same path there; false: there is none. */
static bool name_in_upper(const struct st_execs *x, struct st_str path, char name[PATH_MAX])
{
    if (x->upper < 0 || path.len < 2 || path.len >= PATH_MAX)
        return false;
    memcpy(name, path.p + 1, path.len - 1);
    name[path.len - 1] = '\0';
    return true;
}

static bool is_in_upper(const struct st_execs *x, struct st_str path)
{
    struct stat sb;
    char name[PATH_MAX];

    return name_in_upper(x, path, name) && fstatat(x->upper, name, &sb, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A mapping for writing, made through an overlay, is open on the file below, and only there is it seen. Which
 * file that is must be certain. */
static bool is_being_written_below(const struct st_execs *x, const struct st_ev_filesystem *fs, bool deleted)
{
    bool of_overlay = x->upper >= 0 && fs->dev == x->root_dev;
    char name[PATH_MAX];
    st_auto_fd below = -1;
    struct stat sb;

    if (deleted || !name_in_upper(x, fs->path, name))
        return of_overlay;
    below = openat(x->upper, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (below < 0)
        return errno != ENOENT && errno != ENOTDIR; /* it lies in a layer that nobody writes */
    if (fstat(below, &sb) < 0 || sb.st_ino != fs->ino)
        return of_overlay;
    return st_is_being_written(below);
}

static bool is_of_image(const struct st_execs *x, const struct statx *sx, const struct st_program *p,
                        struct st_str path)
{
    return !p->is_new && !p->deleted && !p->memfd && (sx->stx_mask & STATX_MNT_ID) &&
           sx->stx_mnt_id == (uint64_t)x->root_mount && !is_in_upper(x, path);
}

static void describe_hash(struct st_execs *x, int fd, const struct statx *sx, bool of_image, bool decide,
                          struct st_program *p)
{
    uint64_t most = decide ? ST_HASH_DECIDE_MAX : ST_HASH_RECORD_MAX;

    if (of_image && !decide)
        return;
    /* What is of the image can't be written without becoming another file. */
    if (!p->unhashed && st_hashes_of(&x->hashes, fd, sx, most, decide && !of_image, x->sha256))
        p->sha256 = (struct st_str){.p = x->sha256, .len = ST_SHA256_HEX};
    else
        p->unhashed = true;
}

static bool begins_with(struct st_str s, const char *text)
{
    size_t n = strlen(text);

    return s.p && s.len >= n && memcmp(s.p, text, n) == 0;
}

/* For a decision by content: nobody writes to it now, before it is looked at; and who wants to begin has to
 * ask us, who are busy, and then refuse until it runs. */
static bool hold(struct st_execs *x, const struct st_fan_event *seen, const struct st_ev_filesystem *fs)
{
    struct stat sb;

    return fstat(seen->fd, &sb) == 0 && !st_is_being_written(seen->fd) &&
           !is_being_written_below(x, fs, sb.st_nlink == 0) &&
           st_pins_add(&x->pins, seen->tid, fs->dev, fs->ino);
}

static void describe_program(struct st_execs *x, const struct st_fan_event *seen, const struct statx *file,
                             bool decide, struct st_ev_filesystem *fs)
{
    struct st_program *p = &fs->program;
    struct statx held;

    p->unhashed = decide && !hold(x, seen, fs);
    /* Before it was held it may have been another one still. */
    if (decide)
        file = statx(seen->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &held) < 0 ? NULL : &held;
    if (!file) {
        p->is_new = p->unhashed = true;
        return;
    }
    p->is_new = is_new(x, file);
    p->deleted = file->stx_nlink == 0;
    p->memfd = p->deleted && begins_with(fs->path, "/memfd:");
    describe_hash(x, seen->fd, file, is_of_image(x, file, p, fs->path), decide, p);
}

/* ---- which of the files of one execve it is ---- */

/* The first of a call is what was asked for. A later one comes from the same thread in the same call:
 * registers, path and arguments are what they were, and a file was opened before for which the kernel opens
 * another. Who makes two calls look like one hides nothing: what the first record says of the arguments holds
 * for both. */
static bool is_continued(struct st_execs *x, pid_t tid, uint64_t call, const struct st_event *ev,
                         bool goes_on)
{
    struct st_exec_seen *s = &x->calls[(unsigned)tid % ST_EXEC_CALLS];
    bool same = call && s->tid == tid && s->call == call && s->goes_on &&
                !(s->dev == ev->fs.dev && s->ino == ev->fs.ino);

    if (same)
        s->goes_on = goes_on;
    else
        *s = (struct st_exec_seen){tid, call, ev->fs.dev, ev->fs.ino, goes_on};
    return same;
}

/* Arguments; what identifies the call, or 0. */
static uint64_t read_call(struct st_execs *x, pid_t tid, const char *registers)
{
    struct st_exec_call call = {0};
    struct st_exec_pages memory;

    x->argv.len = 0;
    x->argv.incomplete = true;
    st_exec_call_parse(registers, &call);
    if (!call.known)
        return 0;
    st_exec_pages_init(&memory, st_memory_of_task, &tid);
    st_exec_argv_read(call.argv, st_memory_of_pages, &memory, &x->argv);
    return st_exec_call_hash(&call, &x->argv, st_memory_of_pages, &memory) | 1;
}

/* As the kernel will find it; as it stands there, where there is no such file. */
static struct st_str find_interpreter(struct st_execs *x, pid_t tid, const struct st_process_facts *facts,
                                      struct st_str written)
{
    const struct st_resolver who = {tid, facts->leader, facts->process.container_pid, NULL};
    struct st_resolved *r = &x->found;
    char path[ST_PROGRAM_LINE_MAX + 1];
    bool found;

    memcpy(path, written.p, written.len);
    path[written.len] = '\0';
    *r = (struct st_resolved)ST_RESOLVED_NONE;
    found = st_resolve(&who, AT_FDCWD, path, ST_RESOLVE_FOLLOW, r) == 0 && r->object >= 0 && r->path_len;
    st_resolved_close(r);
    return found ? (struct st_str){r->path, r->path_len} : written;
}

void st_execs_describe(struct st_execs *x, const struct st_fan_event *seen, const char *registers,
                       const struct st_process_facts *facts, const struct statx *file, bool decide_by_hash,
                       struct st_event *ev)
{
    struct st_program_head head;
    ssize_t n = pread(seen->fd, x->head, sizeof(x->head), 0);
    uint64_t call = read_call(x, seen->tid, registers);
    struct st_ev_process proc = {.op = ST_PROC_EXEC,
                                 .path = ev->fs.path,
                                 .depth = ST_UNKNOWN,
                                 .children = ST_UNKNOWN,
                                 .processes = ST_UNKNOWN,
                                 .forks = ST_UNKNOWN,
                                 .exit_code = ST_UNKNOWN,
                                 .exit_signal = ST_UNKNOWN};

    st_program_look(x->head, n < 0 ? 0 : (size_t)n, &head);
    describe_program(x, seen, file, decide_by_hash, &ev->fs);
    x->let[(unsigned)seen->tid % ST_EXEC_CALLS] = (struct st_exec_let){seen->tid, ev->fs.dev, ev->fs.ino, 0};
    if (is_continued(x, seen->tid, call, ev, head.goes_on))
        return;
    proc.target = ev->fs.target;
    proc.program = ev->fs.program;
    proc.incomplete = x->argv.incomplete;
    if (call && (x->argv.len || !x->argv.incomplete))
        proc.argv = (struct st_str){.p = x->argv.bytes, .len = x->argv.len};
    if (head.interpreter.p)
        proc.interpreter = find_interpreter(x, seen->tid, facts, head.interpreter);
    ev->type = ST_EV_PROCESS;
    ev->proc = proc;
}

/* ---- the second report ---- */

void st_execs_let(struct st_execs *x, pid_t tid, int fd)
{
    struct st_exec_let *let = &x->let[(unsigned)tid % ST_EXEC_CALLS];
    struct stat sb;

    if (let->tid != tid && fstat(fd, &sb) == 0) /* it waited, and others came */
        *let = (struct st_exec_let){tid, sb.st_dev, sb.st_ino, 0};
    if (let->tid == tid)
        let->until_ns = st_now_mono_ns() + LET_NS;
}

bool st_execs_is_let(struct st_execs *x, pid_t tid, int fd)
{
    struct st_exec_let *let = &x->let[(unsigned)tid % ST_EXEC_CALLS];
    struct stat sb;

    if (let->tid != tid)
        return false;
    let->tid = 0;
    return st_now_mono_ns() < let->until_ns && fstat(fd, &sb) == 0 && sb.st_dev == let->dev &&
           sb.st_ino == let->ino;
}
