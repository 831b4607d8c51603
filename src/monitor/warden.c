/* warden: see warden.h. */
#include "monitor/warden.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "monitor/home.h"
#include "monitor/link.h"
#include "monitor/outpost.h"
#include "monitor/performers.h"
#include "monitor/standby.h"
#include "monitor/standstill.h"
#include "respond/freezer.h"
#include "respond/kill.h"
#include "sensors/fan.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_NS 400000000LL /* a worker that stands still is found after one to two of these */
#define MOVE_NS 2000000000LL
#define FREEZE_NS 1000000000LL
#define KILL_NS 10000000000LL

enum phase {
    STARTING,   /* the hook waits */
    WATCHING,   /* worker at work, container running */
    STALLED,    /* worker stands still, container frozen, grace period runs */
    RECOVERING, /* a new worker records the loss of the last one */
    ENDING      /* trace sealed, worker exits */
};

struct warden {
    struct st_watch *watch;
    st_worker_main worker_main;
    enum phase phase;
    int epfd, sigfd, timerfd, link, errands, ready_fd;
    struct st_performers performers;
    pid_t worker;
    pid_t outpost;                   /* holds the fence of the network; 0: there is none */
    uint64_t beats;                  /* last seen */
    int64_t stalled_ns;              /* when the stall was found */
    struct st_standstill standstill; /* of a worker that is stalled, or has not recorded yet */
    char stop_cause[64];             /* how a worker that we killed had failed */
    struct st_loss loss;
    bool lodger; /* still in a v1 group of the engine's */
    bool quit;
    int exit_code;
};

enum { EV_CHILD, EV_LINK, EV_WORK, EV_TIMER, EV_ERRAND };

static int watch_fd(struct warden *w, int fd, uint32_t events, uint32_t tag, int op)
{
    struct epoll_event ev = {.events = events, .data.u32 = tag};

    return epoll_ctl(w->epfd, op, fd, &ev) < 0 ? -errno : 0;
}

static void set_timer(struct warden *w, int64_t ns)
{
    struct itimerspec at = {.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};

    timerfd_settime(w->timerfd, 0, &at, NULL);
}

/* ---- the hook ---- */

static void answer_hook(struct warden *w, const char *text)
{
    if (w->ready_fd < 0)
        return;
    st_write_all(w->ready_fd, text, strlen(text));
    st_close(&w->ready_fd);
}

static void give_up_start(struct warden *w, const char *why)
{
    answer_hook(w, why);
    w->exit_code = 1;
    w->quit = true;
}

/* ---- the worker ---- */

static void run_child(struct warden *w, int link, int errands, const struct st_loss *loss)
{
    w->watch->errands = errands;
    st_close(&w->ready_fd);
    st_close(&w->epfd);
    st_close(&w->sigfd);
    st_close(&w->timerfd);
    _exit(w->worker_main(w->watch, link, loss));
}

static int spawn_worker(struct warden *w, const struct st_loss *loss)
{
    int pair[2], errands[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, errands) < 0) {
        close(pair[0]);
        close(pair[1]);
        return -errno;
    }
    st_close(&w->link);
    st_close(&w->errands);
    st_close(&w->watch->worker_epfd);
    w->watch->worker_epfd = epoll_create1(EPOLL_CLOEXEC);
    atomic_store(&w->watch->pulse->beats, 0);
    atomic_store(&w->watch->pulse->busy, 0);
    w->beats = 0;
    w->worker = w->watch->worker_epfd < 0 ? -1 : fork();
    if (w->worker < 0) {
        int rc = -errno;

        close(pair[0]);
        close(pair[1]);
        close(errands[0]);
        close(errands[1]);
        return rc;
    }
    if (w->worker == 0) {
        close(pair[0]);
        close(errands[0]);
        run_child(w, pair[1], errands[1], loss);
    }
    close(pair[1]);
    close(errands[1]);
    /* The worker's alone: where it is gone, a runtime that connects must be refused, not kept waiting. */
    st_close(&w->watch->order.listener_fd);
    w->link = pair[0];
    w->errands = errands[0];
    watch_fd(w, w->errands, EPOLLIN, EV_ERRAND, EPOLL_CTL_ADD);
    return watch_fd(w, w->link, EPOLLIN, EV_LINK, EPOLL_CTL_ADD);
}

static void on_errand(struct warden *w)
{
    int rc = st_performers_send(&w->performers, w->watch, w->errands);

    if (rc < 0 && rc != -EAGAIN)
        epoll_ctl(w->epfd, EPOLL_CTL_DEL, w->errands, NULL);
}

/* ---- freezing ---- */

static void freeze(struct warden *w)
{
    int64_t start = st_now_mono_ns();
    const struct st_cgroup *cg = &w->watch->cgroup;

    if (w->phase != STALLED)
        st_watch_cut_network(w->watch);
    w->loss.frozen = false;
    if (!w->watch->can_freeze) {
        st_kill_container(cg, w->watch->life.pidfd, KILL_NS);
        return;
    }
    st_freezer_ask(cg);
    /* Nobody is left to judge what waits; v2 does not confirm before it is answered. */
    if (w->watch->fan >= 0 && w->phase != STALLED)
        st_fan_refuse_all(w->watch->fan, (int)atomic_load(&w->watch->pulse->top_fd));
    w->loss.frozen = st_freezer_confirm(cg, -1, FREEZE_NS) == 0;
    w->loss.freeze_us = (st_now_mono_ns() - start) / 1000;
}

static void kill_container(struct warden *w)
{
    st_kill_container(&w->watch->cgroup, w->watch->life.pidfd, KILL_NS);
}

/* ---- loss and recovery ---- */

static void recover(struct warden *w)
{
    struct st_link_message m;

    if (w->phase == STARTING) {
        give_up_start(w, st_link_last_words(w->link, &m));
        return;
    }
    freeze(w);
    st_snapshots_end(&w->performers.snapshots);
    /* A second loss in a row, or no new worker: nobody can watch or record. It must not run on. */
    if (w->phase == RECOVERING || spawn_worker(w, &w->loss) < 0) {
        kill_container(w);
        w->exit_code = 1;
        w->quit = true;
        return;
    }
    w->phase = RECOVERING;
    st_standstill_begin(&w->standstill, w->worker);
    set_timer(w, CHECK_NS / 4);
}

static void on_exit_status(struct warden *w, const siginfo_t *info)
{
    /* The trace is sealed: how the worker went after that changes nothing. */
    if (w->phase == ENDING) {
        w->quit = true;
        return;
    }
    w->loss.unwritten = atomic_exchange(&w->watch->pulse->unwritten, 0);
    if (w->stop_cause[0])
        snprintf(w->loss.cause, sizeof(w->loss.cause), "%s", w->stop_cause);
    else if (info->si_code == CLD_EXITED && info->si_status == ST_WORKER_TRACE_LOST)
        snprintf(w->loss.cause, sizeof(w->loss.cause),
                 "lost the trace: not as it had left it, or not synced");
    else if (info->si_code == CLD_EXITED)
        snprintf(w->loss.cause, sizeof(w->loss.cause), "ended with code %d", info->si_status);
    else
        snprintf(w->loss.cause, sizeof(w->loss.cause), "killed by signal %d", info->si_status);
    w->stop_cause[0] = '\0';
    recover(w);
}

/* A stopped worker is somebody's work: it is not trusted again. */
static void on_stopped(struct warden *w, int signal)
{
    snprintf(w->stop_cause, sizeof(w->stop_cause), "stopped by signal %d", signal);
    if (w->phase != STARTING)
        freeze(w);
    kill(w->worker, SIGKILL);
}

static void on_child(struct warden *w)
{
    struct signalfd_siginfo drained;

    while (read(w->sigfd, &drained, sizeof(drained)) > 0)
        continue;
    st_performers_reap(&w->performers);
    if (st_outpost_reap(&w->outpost) && w->phase != ENDING) { /* as if the worker were lost */
        snprintf(w->stop_cause, sizeof(w->stop_cause), "lost who holds the fence of its network");
        kill(w->worker, SIGKILL);
    }
    for (siginfo_t info = {0};; info = (siginfo_t){0}) {
        if (waitid(P_PID, (id_t)w->worker, &info, WEXITED | WSTOPPED | WNOHANG) < 0 || info.si_pid == 0)
            return;
        if (info.si_code == CLD_STOPPED) {
            on_stopped(w, info.si_status);
            continue;
        }
        on_exit_status(w, &info);
        return;
    }
}

/* ---- the watchdog: a clock that runs only while work waits ---- */

static bool work_waits(const struct warden *w)
{
    struct pollfd p = {.fd = w->watch->worker_epfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0 || atomic_load(&w->watch->pulse->busy);
}

ST_IDLE_CODE static void sleep_until_work(struct warden *w)
{
    set_timer(w, 0);
    watch_fd(w, w->watch->worker_epfd, EPOLLIN | EPOLLONESHOT, EV_WORK, EPOLL_CTL_MOD);
    st_home_shed();
}

static void on_work(struct warden *w)
{
    w->beats = atomic_load(&w->watch->pulse->beats);
    set_timer(w, CHECK_NS);
}

static void on_stall_found(struct warden *w)
{
    w->phase = STALLED;
    w->stalled_ns = st_now_mono_ns() - CHECK_NS;
    st_standstill_begin(&w->standstill, w->worker);
    freeze(w);
    set_timer(w, CHECK_NS / 4);
}

static void on_stall_over(struct warden *w)
{
    int64_t ms = (st_now_mono_ns() - w->stalled_ns) / 1000000;

    w->phase = WATCHING;
    if (w->watch->can_freeze && !atomic_load(&w->watch->pulse->keep_frozen))
        st_freezer_thaw(&w->watch->cgroup);
    st_link_send(w->link, ST_LINK_STALLED, ms, NULL);
    sleep_until_work(w);
}

/* Its next loss in a row, where it did not even come to record the last, ends the container: see recover().
 */
static void on_grace(struct warden *w)
{
    int64_t stood = st_standstill_look(&w->standstill);

    if (stood < w->watch->order.worker_grace_ns) {
        set_timer(w, CHECK_NS / 4);
        return;
    }
    snprintf(w->stop_cause, sizeof(w->stop_cause), "stood still for %lld ms", (long long)(stood / 1000000));
    set_timer(w, 0);
    kill(w->worker, SIGKILL);
}

/* Once, at the first timer after the start: when the container is busy, or some seconds later. */
static void move_out(struct warden *w)
{
    pid_t all[] = {w->watch->warden, w->worker, w->outpost};

    w->lodger = false;
    st_home_move_out(all, w->outpost ? 3 : 2);
}

ST_IDLE_CODE static void on_timer(struct warden *w)
{
    uint64_t ticks, beats = atomic_load(&w->watch->pulse->beats);
    bool moved = beats != w->beats;

    if (read(w->timerfd, &ticks, sizeof(ticks)) < 0)
        return;
    if (w->lodger)
        move_out(w);
    w->beats = beats;
    if (w->phase == ENDING)
        return; /* its trace is sealed: whether it takes its time to go is no matter */
    if (w->phase == RECOVERING || (w->phase == STALLED && !moved))
        on_grace(w);
    else if (w->phase == STALLED)
        on_stall_over(w);
    else if (!work_waits(w))
        sleep_until_work(w);
    else if (moved)
        set_timer(w, CHECK_NS);
    else
        on_stall_found(w);
}

/* ---- what the worker says ---- */

static void start_watchdog(struct warden *w)
{
    watch_fd(w, w->watch->worker_epfd, EPOLLIN | EPOLLONESHOT, EV_WORK, EPOLL_CTL_ADD);
}

static void on_ready(struct warden *w)
{
    answer_hook(w, "ok\n");
    w->phase = WATCHING;
    w->lodger = st_home_is_lodger();
    start_watchdog(w);
    if (w->lodger)
        set_timer(w, MOVE_NS);
    else
        st_home_shed();
}

static void on_recorded(struct warden *w, bool says_when)
{
    w->phase = WATCHING;
    set_timer(w, 0);
    start_watchdog(w);
    if (w->watch->order.on_failure == ST_FAIL_KILL && !says_when)
        kill_container(w);
}

/* Which message is expected when; anything else comes from a worker gone wrong. */
static void on_message(struct warden *w, const struct st_link_message *m, int passed)
{
    if (m->kind == ST_LINK_NETWORK && w->phase == STARTING && passed >= 0 && w->watch->network < 0) {
        w->watch->network = passed;
        return;
    }
    if (m->kind == ST_LINK_SNAPSHOT && w->phase != STARTING && passed >= 0) {
        st_snapshots_start(&w->performers.snapshots, w->watch, passed);
        close(passed);
        return;
    }
    if (passed >= 0)
        close(passed);
    if (m->kind == ST_LINK_READY && w->phase == STARTING) {
        on_ready(w);
    } else if (m->kind == ST_LINK_FAILED && w->phase == STARTING) {
        give_up_start(w, m->text);
    } else if (m->kind == ST_LINK_FAILED && w->phase == RECOVERING) {
        return; /* it exits next: a second loss in a row ends the container */
    } else if (m->kind == ST_LINK_RECORDED && w->phase == RECOVERING) {
        on_recorded(w, m->value == 1);
    } else if (m->kind == ST_LINK_DONE && w->phase != STARTING && st_lifecycle_ended(&w->watch->life)) {
        w->phase = ENDING;
        st_watch_remove(w->watch);
    } else if (m->kind == ST_LINK_KILL && w->phase != STARTING) {
        kill_container(w);
    } else {
        snprintf(w->stop_cause, sizeof(w->stop_cause), "unexpected message %u", (unsigned)m->kind);
        kill(w->worker, SIGKILL);
    }
}

static void on_link(struct warden *w)
{
    struct st_link_message m;
    int passed, rc = st_link_receive_fd(w->link, &m, &passed);

    if (rc == 1) {
        on_message(w, &m, passed);
        return;
    }
    if (passed >= 0)
        close(passed);
    if (rc == -EAGAIN)
        return;
    /* Gone, or not a message: the exit status tells the rest. */
    epoll_ctl(w->epfd, EPOLL_CTL_DEL, w->link, NULL);
    if (rc < 0) {
        snprintf(w->stop_cause, sizeof(w->stop_cause), "sent what is no message");
        kill(w->worker, SIGKILL);
    }
}

ST_IDLE_CODE static void dispatch(struct warden *w, uint32_t tag)
{
    switch (tag) {
    case EV_CHILD: on_child(w); break;
    case EV_LINK: on_link(w); break;
    case EV_WORK: on_work(w); break;
    case EV_TIMER: on_timer(w); break;
    case EV_ERRAND: on_errand(w); break;
    default: break;
    }
}

static int open_fds(struct warden *w)
{
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    w->epfd = epoll_create1(EPOLL_CLOEXEC);
    w->sigfd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    w->timerfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (w->epfd < 0 || w->sigfd < 0 || w->timerfd < 0 ||
        watch_fd(w, w->sigfd, EPOLLIN, EV_CHILD, EPOLL_CTL_ADD) < 0)
        return -errno;
    return watch_fd(w, w->timerfd, EPOLLIN, EV_TIMER, EPOLL_CTL_ADD);
}

/* The worker is up already: it meets the container at the same time as we do. */
static int await_container(struct warden *w, const struct st_starter *starter)
{
    struct st_error err = {0};
    pid_t pid = 0;

    w->ready_fd = st_standby_wait(starter->socket_fd, starter->runtime_fd, &pid, &err);
    close(starter->socket_fd);
    if (w->ready_fd < 0)
        return -1;
    st_link_send(w->link, ST_LINK_MEET, pid, NULL);
    if (st_watch_meet(w->watch, pid, &err) == 0)
        return 0;
    give_up_start(w, err.msg);
    return -1;
}

ST_IDLE_CODE static void run(struct warden *w)
{
    while (!w->quit) {
        struct epoll_event ev;
        int n = epoll_wait(w->epfd, &ev, 1, -1);

        if (n > 0)
            dispatch(w, ev.data.u32);
        else if (n < 0 && errno != EINTR)
            return;
    }
}

int st_warden_run(struct st_watch *watch, st_worker_main worker, const struct st_starter *starter)
{
    struct warden w = {.watch = watch,
                       .worker_main = worker,
                       .epfd = -1,
                       .sigfd = -1,
                       .timerfd = -1,
                       .link = -1,
                       .errands = -1,
                       .ready_fd = starter->ready_fd};

    watch->runtime = starter->runtime_fd;
    /* Before the worker, who is to have its socket. */
    w.outpost = watch->order.network.outside ? st_outpost_start(&watch->outpost) : 0;
    if (w.outpost < 0 || open_fds(&w) < 0 || spawn_worker(&w, NULL) < 0)
        give_up_start(&w, "sandtrace-monitor: could not start the worker");
    if (!w.quit && (st_watch_has_met(watch) || await_container(&w, starter) == 0))
        run(&w);
    st_close(&w.link);
    st_close(&w.errands);
    st_close(&w.epfd);
    st_close(&w.sigfd);
    st_close(&w.timerfd);
    return w.exit_code;
}
