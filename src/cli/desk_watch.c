/* desk_watch: see desk_watch.h. */
#include "cli/desk_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "cli/desk_errand.h"
#include "desk/index.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECOND_NS INT64_C(1000000000)
#define AGAIN_MAX_S 8

/* A process that is to be there. */
struct child {
    pid_t pid;        /* 0: none now */
    int64_t again_ns; /* not before */
    unsigned wait_s;  /* how long the last wait was */
    int64_t since_ns;
};

struct watch {
    struct st_desk_order *o;
    bool index;
    pid_t self;
    struct st_errands errands;
    struct child server, indexer;
};

/* In a child, first of all: it ends with us. */
static void follow_parent(pid_t parent)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void start_server(struct watch *w)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        follow_parent(w->self);
        _exit(st_desk_serve(w->o));
    }
    w->server.pid = pid > 0 ? pid : 0;
    /* The link works once, also where the server dies by it. */
    w->o->code[0] = '\0';
}

static void start_indexer(struct watch *w)
{
    const char *argv[8] = {"sandtrace", "index", "--follow", "--db", w->o->db};
    st_auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int fds[3] = {st_fd_above(dup(null), 3), st_fd_above(dup(null), 3), st_fd_above(dup(STDERR_FILENO), 3)};
    pid_t pid;

    if (w->o->config_file) {
        argv[5] = "--config";
        argv[6] = w->o->config_file;
    }
    pid = st_spawn_fork(-1);
    if (pid == 0) {
        struct st_spawn s = {.program = w->o->sandtrace,
                             .argv = argv,
                             .envp = w->errands.envp,
                             .fds = fds,
                             .n_fds = 3,
                             .cgroup_fd = -1,
                             .say_fd = 2};

        follow_parent(w->self);
        st_spawn_become(&s);
    }
    for (int i = 0; i < 3; i++)
        st_close(&fds[i]);
    w->indexer.pid = pid > 0 ? pid : 0;
}

static void ended(struct child *c, int64_t now)
{
    /* One that lived for a while is started at once, one that dies at its start ever later. */
    c->wait_s = now - c->since_ns > 10 * SECOND_NS ? 0 : c->wait_s ? c->wait_s * 2 : 1;
    if (c->wait_s > AGAIN_MAX_S)
        c->wait_s = AGAIN_MAX_S;
    c->pid = 0;
    c->again_ns = now + c->wait_s * SECOND_NS;
}

static void reap(struct watch *w)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == w->server.pid)
            ended(&w->server, st_now_mono_ns());
        if (pid == w->indexer.pid)
            ended(&w->indexer, st_now_mono_ns());
    }
}

static void start_missing(struct watch *w)
{
    int64_t now = st_now_mono_ns();

    if (!w->server.pid && now >= w->server.again_ns) {
        w->server.since_ns = now;
        start_server(w);
    }
    if (w->index && !w->indexer.pid && now >= w->indexer.again_ns) {
        w->indexer.since_ns = now;
        /* Somebody else's is as good, as long as it is there. */
        if (st_index_is_busy(w->o->db))
            w->indexer.again_ns = now + 2 * SECOND_NS;
        else
            start_indexer(w);
    }
}

static void end_all(struct watch *w)
{
    struct child *all[] = {&w->server, &w->indexer};

    for (size_t i = 0; i < 2; i++)
        if (all[i]->pid) {
            kill(all[i]->pid, SIGTERM);
            waitpid(all[i]->pid, NULL, 0);
        }
}

static int loop(struct watch *w, int signals, struct st_error *err)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = w->errands.fd, .events = POLLIN}};

    for (;;) {
        struct signalfd_siginfo info;
        bool all = w->server.pid && (w->indexer.pid || !w->index);

        if (poll(fds, 2, all ? -1 : 500) < 0 && errno != EINTR)
            return st_fail_errno(err, "poll");
        while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
            if (info.ssi_signo != SIGCHLD)
                return 0;
        if (fds[1].revents & POLLIN)
            st_errand_serve(&w->errands);
        reap(w);
        start_missing(w);
    }
}

/* Of all the servers to come. We never look into it: it is written by one who speaks with others. */
static struct st_session *share_sessions(void)
{
    size_t size = ST_SESSIONS_MAX * sizeof(struct st_session);
    void *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return NULL;
    madvise(all, size, MADV_DONTDUMP);
    return all;
}

int st_desk_watch(struct st_desk_order *o, bool index, const char *socket, struct st_error *err)
{
    struct watch w = {.o = o, .index = index, .self = getpid()};
    st_auto_fd signals = -1;
    sigset_t set;
    int rc, ends[2];

    o->sessions = share_sessions();
    if (!o->sessions)
        return st_fail_errno(err, "memory for sessions");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return st_fail_errno(err, "socketpair");
    o->ask_fd = ends[0]; /* kept open here too: a new server goes on with it */
    w.errands = (struct st_errands){.fd = ends[1],
                                    .sandtrace = o->sandtrace,
                                    .config = o->config_file,
                                    .log_dir = o->config->log_dir,
                                    .envp = st_errand_env(),
                                    .parent = w.self};
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return st_fail_errno(err, "signalfd");
    start_missing(&w);
    rc = loop(&w, signals, err);
    end_all(&w);
    if (socket)
        unlink(socket);
    return rc;
}
