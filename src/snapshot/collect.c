/* collect: see collect.h. */
#include "snapshot/collect.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "monitor/snapshot.h"
#include "snapshot/confine.h"
#include "snapshot/gather.h"
#include "snapshot/pieces.h"
#include "snapshot/state.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STATE_SHARE_NS 2500000000LL /* of the time, for processes at most */
#define REAP_MS 1000                /* for one that was killed; who does not die then is left behind */

static void take_state(const struct st_collect *c, int proc, struct st_collected *out)
{
    int64_t limit = st_now_mono_ns() + STATE_SHARE_NS;
    struct st_state_facts facts = {.proc = proc,
                                   .group = c->group,
                                   .init = c->init,
                                   .deadline_ns = limit < c->deadline_ns ? limit : c->deadline_ns};
    st_auto_buf text = ST_BUF_INIT;

    st_state_write(&facts, &text);
    st_buf_addc(&text, '\n');
    if (st_write_all(c->state_fd, text.data, text.len) < 0)
        _exit(3);
    out->processes = facts.processes;
    out->sockets = facts.sockets;
    out->mounts = facts.mounts;
}

static const char *what_of(uint32_t kind)
{
    return kind == ST_SNAPSHOT_CREATED    ? "created"
           : kind == ST_SNAPSHOT_MODIFIED ? "modified"
           : kind == ST_SNAPSHOT_DELETED  ? "deleted"
                                          : NULL;
}

static void take_listed(struct st_gather *g, const struct st_collect *c)
{
    struct st_piece piece;

    for (size_t at = 0; st_piece_next(c->pieces, &at, &piece);) {
        const char *what = what_of(piece.kind);
        st_auto_free char *path =
            what && piece.name_len < PATH_MAX ? st_xstrndup(piece.name, piece.name_len) : NULL;

        if (path && path[0] == '/')
            st_gather_path(g, c->layer, path, what);
    }
}

static void take_files(const struct st_collect *c, struct st_collected *out)
{
    struct st_tar tar = {.fd = c->tar_fd};
    struct st_gather g = {.tar = &tar,
                          .list_fd = c->list_fd,
                          .max_bytes = c->max_bytes,
                          .deadline_ns = c->deadline_ns,
                          .overlay = c->overlay};

    if (c->layer >= 0 && c->overlay)
        st_gather_tree(&g, c->layer);
    else if (c->layer >= 0)
        take_listed(&g, c);
    if (st_tar_finish(&tar) < 0 || st_gather_finish(&g) < 0)
        _exit(3);
    out->files = (int64_t)g.files;
    out->deleted = (int64_t)g.deleted;
    out->omitted = (int64_t)g.omitted;
    out->tar_bytes = (int64_t)tar.bytes;
    out->late = g.late;
}

_Noreturn static void child(const struct st_collect *c, pid_t parent, struct st_collected *out)
{
    struct st_error err = {0};
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || proc < 0 || st_confine_collector(&err) < 0)
        _exit(2);
    take_state(c, proc, out);
    take_files(c, out);
    out->done = true;
    _exit(0);
}

/* Has it ended by then? */
static bool ends_by(int pidfd, int64_t limit_ns)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    for (;;) {
        int64_t left = limit_ns - st_now_mono_ns();
        int rc = poll(&p, 1, left > 0 ? (int)(left / 1000000) + 1 : 0);

        if (rc > 0)
            return true;
        if ((rc == 0 && left <= 0) || (rc < 0 && errno != EINTR))
            return false;
    }
}

static int await(pid_t pid, int64_t limit_ns, struct st_error *err)
{
    st_auto_fd pidfd = pidfd_open(pid, 0);
    bool in_time = pidfd >= 0 && ends_by(pidfd, limit_ns);
    int status = 0;

    if (!in_time) {
        kill(pid, SIGKILL);
        if (pidfd >= 0 && ends_by(pidfd, st_now_mono_ns() + REAP_MS * 1000000LL))
            waitpid(pid, NULL, 0);
        return st_fail(err, ETIMEDOUT, "the container was not looked at in time");
    }
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        return st_fail(err, EIO, "who looked at the container was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == 3)
        return st_fail(err, EIO, "what was found could not be written");
    return WEXITSTATUS(status) ? st_fail(err, EIO, "the container could not be looked at") : 0;
}

int st_collect(const struct st_collect *c, struct st_collected *out, struct st_error *err)
{
    struct st_collected *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t parent = getpid(), pid;
    int rc;

    if (shared == MAP_FAILED)
        return st_fail_errno(err, "shared memory");
    pid = fork();
    if (pid == 0)
        child(c, parent, shared);
    rc = pid < 0 ? st_fail_errno(err, "fork") : await(pid, c->kill_ns, err);
    if (rc == 0 && !shared->done)
        rc = st_fail(err, EIO, "the container was not looked at to the end");
    if (rc == 0)
        *out = *shared;
    munmap(shared, sizeof(*shared));
    return rc;
}
