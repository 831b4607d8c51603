/* review_tell: see review_tell.h. */
#include "desk/review_tell.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#define TOLD "told.jsonl"

/* In memory, so that it need not be read. */
static int make_input(const char *what, const struct st_review *r, struct st_error *err)
{
    st_auto_buf task = ST_BUF_INIT, text = ST_BUF_INIT;
    st_auto_fd fd = memfd_create("review", MFD_CLOEXEC);
    struct st_jw w;

    st_review_write_all(r, &task);
    st_jw_init(&w, &text);
    st_jw_object(&w);
    st_jw_kstr(&w, "event", what);
    st_jw_key(&w, "review");
    st_jw_raw(&w, task.data, task.len);
    st_jw_end(&w, '}');
    st_buf_addc(&text, '\n');
    if (fd < 0 || st_write_all(fd, text.data, text.len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return st_fail_errno(err, "write to memory");
    return st_fd_above(st_steal_fd(&fd), 3);
}

static int await(pid_t pid, struct st_error *err)
{
    st_auto_fd pidfd = pidfd_open(pid, 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    int64_t until = st_now_mono_ns() + ST_REVIEW_TELL_MS * 1000000LL, left;
    int status = 0, rc = 0;

    while (pidfd >= 0 && rc <= 0 && (left = until - st_now_mono_ns()) > 0)
        rc = poll(&p, 1, (int)(left / 1000000) + 1);
    if (rc <= 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (rc <= 0)
        return st_fail(err, ETIMEDOUT, "did not end within %d s, and was killed", ST_REVIEW_TELL_MS / 1000);
    if (WIFSIGNALED(status))
        return st_fail(err, EIO, "was killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status) ? st_fail(err, EIO, "ended with code %d", WEXITSTATUS(status)) : 0;
}

static int run(const char *const *argv, int in, struct st_error *err)
{
    static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", NULL};
    st_auto_fd null = st_fd_above(open("/dev/null", O_WRONLY | O_CLOEXEC), 3);
    const int fds[] = {in, null, null};
    const struct st_spawn how = {
        .program = argv[0], .argv = argv, .envp = env, .fds = fds, .n_fds = 3, .cgroup_fd = -1, .say_fd = -1};
    pid_t pid;
    int rc;

    if (null < 0)
        return st_fail_errno(err, "/dev/null");
    rc = st_spawn(&how, &pid);
    return rc < 0 ? st_fail(err, -rc, "could not be started: %s", strerror(-rc)) : await(pid, err);
}

static void note(const struct st_review *r, const char *what, const char *program, const char *failure)
{
    st_auto_fd folder = open(r->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    st_auto_fd fd =
        folder < 0 ? -1 : openat(folder, TOLD, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    st_auto_buf line = ST_BUF_INIT;
    char now[ST_RFC3339_SIZE];
    struct st_jw w;

    st_format_rfc3339(st_now_wall_us(), now);
    st_jw_init(&w, &line);
    st_jw_object(&w);
    st_jw_kstr(&w, "at", now);
    st_jw_kstr(&w, "event", what);
    st_jw_kstr(&w, "failure", failure);
    st_jw_kstr(&w, "program", program);
    st_jw_end(&w, '}');
    st_buf_addc(&line, '\n');
    if (fd >= 0)
        (void)st_write_all(fd, line.data, line.len);
}

int st_review_tell(const char *const *argv, const char *what, const struct st_review *r, struct st_error *err)
{
    struct st_error why = {0};
    st_auto_fd in = make_input(what, r, &why);
    int rc = in < 0 ? in : run(argv, in, &why);

    note(r, what, argv[0], rc < 0 ? why.msg : NULL);
    return rc < 0 ? st_fail(err, why.errnum, "on_review: %s %s", argv[0], why.msg) : 0;
}
