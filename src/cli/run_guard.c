/* run_guard: see run_guard.h. */
#include "cli/run_guard.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* In its own session: what is meant for the caller's group is not meant for it. */
static void settle(void)
{
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t all;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int fd = 0; nothing >= 0 && fd < 3; fd++)
        dup2(nothing, fd);
    prctl(PR_SET_NAME, "sandtrace-guard");
}

_Noreturn static void guard(int line, struct st_run_place *place, const struct st_run_runtime *runtime,
                            const struct st_run_term *term)
{
    struct st_error ignored = {0};
    char byte;
    ssize_t n;

    settle();
    do
        n = read(line, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1) {
        st_run_term_restore(term);
        (void)st_run_delete(runtime, &ignored);
        st_run_place_remove(place);
    }
    _exit(0);
}

int st_run_guard_start(struct st_run_guard *g, struct st_run_place *place,
                       const struct st_run_runtime *runtime, const struct st_run_term *term,
                       struct st_error *err)
{
    int line[2];

    if (pipe2(line, O_CLOEXEC) < 0)
        return st_fail_errno(err, "a pipe");
    g->pid = fork();
    if (g->pid == 0) {
        st_close(&line[1]);
        guard(line[0], place, runtime, term);
    }
    st_close(&line[0]);
    g->line = line[1];
    return g->pid < 0 ? st_fail_errno(err, "fork") : 0;
}

void st_run_guard_dismiss(struct st_run_guard *g)
{
    if (g->pid <= 0)
        return;
    (void)st_write_all(g->line, "x", 1);
    st_close(&g->line);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    g->pid = 0;
}
