/* run_session: see run_session.h. */
#include "cli/run_session.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

/* Who is told to end has this long; then all of it is ended. */
#define GRACE_NS ((int64_t)10 * 1000000000)

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

int st_run_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        sigaddset(&set, passed_on[i]);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    /* Blocked, not ignored: that would be handed down to the command. */
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigdelset(&set, SIGPIPE);
    sigdelset(&set, SIGTTOU);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void st_run_fill_standard_fds(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd < 3);
    st_close(&fd);
}

/* ---- signals ---- */

static void look_for_end(struct st_run_session *s)
{
    if (s->ended || waitpid(s->init, &s->status, WNOHANG) != s->init)
        return;
    s->ended = true;
    s->kill_at = 0;
    st_relay_close(&s->streams[0]);
}

static void pass_on(struct st_run_session *s, int sig)
{
    if (s->ended)
        return;
    if (sig == SIGINT && st_run_pauses_asks(s->pauses)) {
        st_run_pauses_deny(s->pauses);
        return;
    }
    kill(s->init, sig);
    /* Who stands still can't handle it, and where nobody is asked that may be so for long. */
    if ((sig == SIGTERM || sig == SIGHUP || (sig != SIGUSR1 && sig != SIGUSR2 && s->pauses->waits)) &&
        !s->kill_at)
        s->kill_at = st_now_mono_ns() + GRACE_NS;
}

static void take_signals(struct st_run_session *s)
{
    struct signalfd_siginfo info;

    while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            look_for_end(s);
        else if (info.ssi_signo == SIGWINCH)
            st_run_term_resize(s->term, s->master);
        else
            pass_on(s, (int)info.ssi_signo);
    }
}

static void kill_when_due(struct st_run_session *s)
{
    struct st_error err = {0};

    if (!s->kill_at || st_now_mono_ns() < s->kill_at)
        return;
    s->kill_at = 0;
    if (st_run_kill(s->runtime, &err) < 0)
        kill(s->init, SIGKILL);
}

static int milliseconds_left(const struct st_run_session *s)
{
    int64_t left = s->kill_at ? s->kill_at - st_now_mono_ns() : 0;

    if (!s->kill_at)
        return -1;
    return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

/* ---- all of it ---- */

enum { SIGNALS, EVENTS, TERMINAL, FIRST_STREAM };
#define FDS (FIRST_STREAM + 2 * ST_RUN_STREAMS)

/* While somebody is asked nothing else is shown, and what is typed is the answer. */
static void wait_for_something(const struct st_run_session *s, struct pollfd fds[FDS])
{
    bool asks = st_run_pauses_asks(s->pauses);

    fds[SIGNALS] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    fds[EVENTS] = (struct pollfd){.fd = s->pauses->events, .events = POLLIN};
    fds[TERMINAL] = (struct pollfd){.fd = asks ? s->term->fd : -1, .events = POLLIN};
    for (size_t i = 0; i < ST_RUN_STREAMS; i++) {
        struct pollfd *two = &fds[FIRST_STREAM + 2 * i];

        two[0] = two[1] = (struct pollfd){.fd = -1};
        if (!asks)
            st_relay_poll(&s->streams[i], &two[0], &two[1]);
    }
    if (poll(fds, FDS, milliseconds_left(s)) < 0)
        for (size_t i = 0; i < FDS; i++)
            fds[i].revents = 0;
}

static bool is_over(const struct st_run_session *s)
{
    for (size_t i = 1; i < ST_RUN_STREAMS; i++)
        if (!st_relay_is_over(&s->streams[i]))
            return false;
    return s->ended;
}

int st_run_attend(struct st_run_session *s)
{
    struct pollfd fds[FDS];

    look_for_end(s);
    while (!is_over(s)) {
        wait_for_something(s, fds);
        if (fds[SIGNALS].revents)
            take_signals(s);
        kill_when_due(s);
        if (fds[EVENTS].revents)
            st_run_pauses_hear(s->pauses);
        if (fds[TERMINAL].revents && st_run_pauses_asks(s->pauses))
            st_run_pauses_answer(s->pauses);
        for (size_t i = 0; i < ST_RUN_STREAMS; i++)
            st_relay_go(&s->streams[i], &fds[FIRST_STREAM + 2 * i], &fds[FIRST_STREAM + 2 * i + 1]);
    }
    return WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}
