/* What the kernel tells about processes, by our BPF programs, of real ones in a group of our own. */
#include "unit.h"

#include "base/cleanup.h"
#include "sensors/process_stream.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 20000

struct world {
    struct st_process_stream stream;
    char group[128];
    struct st_process_told told[8192];
    size_t n;
};

static const char *hierarchy(void)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct statfs fs;

    for (size_t i = 0; i < N_OF(places); i++)
        if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
            return places[i];
    fail_msg("no control groups of version 2 are mounted");
    return NULL;
}

static int make(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    struct st_error err = {0};
    st_auto_fd dir = -1;

    snprintf(w->group, sizeof(w->group), "%s/st-unit-%d", hierarchy(), (int)getpid());
    assert_int_equal(mkdir(w->group, 0755), 0);
    dir = open(w->group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (st_process_stream_open(&w->stream, true, &err) < 0 ||
        st_process_stream_watch(&w->stream, dir, &err) < 0)
        fail_msg("%s", err.msg);
    *state = w;
    return 0;
}

static int unmake(void **state)
{
    struct world *w = *state;

    st_process_stream_close(&w->stream);
    while (rmdir(w->group) < 0)
        usleep(1000);
    free(w);
    return 0;
}

static void note(void *ctx, const struct st_process_told *told)
{
    struct world *w = ctx;

    if (w->n < N_OF(w->told))
        w->told[w->n++] = *told;
}

static void enter(const struct world *w)
{
    char path[160];
    int fd;

    snprintf(path, sizeof(path), "%s/cgroup.procs", w->group);
    fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, "0", 1) != 1)
        _exit(99);
    close(fd);
}

/* In the group; returns its status. */
static int do_there(struct world *w, void (*act)(void), pid_t *pid)
{
    int status;

    *pid = fork();
    if (*pid == 0) {
        enter(w);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(*pid, &status, 0), *pid);
    w->n = 0;
    while (st_process_stream_read(&w->stream, note, w))
        continue;
    return status;
}

static const struct st_process_told *first(const struct world *w, enum st_process_news kind, pid_t pid)
{
    static const struct st_process_told none;

    for (size_t i = 0; i < w->n; i++)
        if (w->told[i].kind == kind && (!pid || w->told[i].pid == pid))
            return &w->told[i];
    fail_msg("not told: kind %d of %d", (int)kind, (int)pid);
    return &none;
}

static void fork_and_exec(void)
{
    if (fork() == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", NULL);
        _exit(98);
    }
    wait(NULL);
    _exit(3);
}

static void forks_executions_and_ends_are_told_in_order(void **state)
{
    struct world *w = *state;
    const struct st_process_told *fork, *exec, *end;
    struct stat sb;
    pid_t pid;

    do_there(w, fork_and_exec, &pid);
    fork = first(w, ST_NEWS_FORK, 0);
    assert_int_equal(fork->parent, pid);
    assert_int_equal(fork->by, pid);
    assert_int_equal(fork->by_pid, pid);
    exec = first(w, ST_NEWS_EXEC, fork->pid);
    end = first(w, ST_NEWS_EXIT, fork->pid);
    assert_true(fork < exec && exec < end);
    assert_string_equal(exec->comm, "sh");
    assert_int_equal(stat("/bin/sh", &sb), 0);
    assert_int_equal(exec->ino, sb.st_ino);
    assert_true(exec->start_ns == fork->start_ns && end->start_ns == fork->start_ns && fork->start_ns > 0);
    assert_int_equal(end->status, 7 << 8);
    assert_int_equal(first(w, ST_NEWS_EXIT, pid)->status, 3 << 8);
    assert_int_equal(st_bpf_ring_lost(&w->stream.ring), 0);
}

static void kill_own(void)
{
    raise(SIGKILL);
}

static void who_is_killed_is_told_with_its_signal(void **state)
{
    struct world *w = *state;
    pid_t pid;
    int status = do_there(w, kill_own, &pid);

    assert_int_equal(first(w, ST_NEWS_EXIT, pid)->status, status);
    assert_true(WIFSIGNALED(status));
}

static void *fork_in_thread(void *arg)
{
    (void)arg;
    if (fork() == 0)
        _exit(0);
    wait(NULL);
    return NULL;
}

static void thread_ends_all(void)
{
    pthread_t t;

    pthread_create(&t, NULL, fork_in_thread, NULL);
    pthread_join(t, NULL);
    exit(5);
}

static void threads_are_no_processes(void **state)
{
    struct world *w = *state;
    size_t forks = 0, ends = 0;
    pid_t pid;

    do_there(w, thread_ends_all, &pid);
    for (size_t i = 0; i < w->n; i++) {
        forks += w->told[i].kind == ST_NEWS_FORK;
        ends += w->told[i].kind == ST_NEWS_EXIT;
    }
    assert_int_equal(forks, 1);
    assert_int_equal(ends, 2);
    assert_int_equal(first(w, ST_NEWS_FORK, 0)->by_pid, pid);
    assert_int_not_equal(first(w, ST_NEWS_FORK, 0)->by, pid);
    assert_int_equal(first(w, ST_NEWS_EXIT, pid)->status, 5 << 8);
}

static void make_sibling(void)
{
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
        _exit(0);
}

static void a_sibling_is_told_with_who_made_it(void **state)
{
    struct world *w = *state;
    const struct st_process_told *fork;
    pid_t pid;

    do_there(w, make_sibling, &pid);
    fork = first(w, ST_NEWS_FORK, 0);
    assert_int_equal(fork->by_pid, pid);
    assert_int_equal(fork->parent, getpid());
    wait(NULL);
}

static void others_are_not_told_of(void **state)
{
    struct world *w = *state;

    if (fork() == 0)
        _exit(0);
    wait(NULL);
    st_process_stream_read(&w->stream, note, w);
    assert_int_equal(w->n, 0);
}

static void fork_often(void)
{
    for (int i = 0; i < MANY; i++) {
        pid_t pid = vfork();

        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
}

static void what_finds_no_room_is_counted(void **state)
{
    struct world *w = *state;
    size_t told;
    pid_t pid;

    do_there(w, fork_often, &pid);
    told = w->n;
    assert_true(told < N_OF(w->told)); /* nobody read meanwhile: the ring was full */
    assert_int_equal(told + st_bpf_ring_lost(&w->stream.ring), 2 * MANY + 1);
    /* and it goes on when there is room again */
    do_there(w, kill_own, &pid);
    first(w, ST_NEWS_EXIT, pid);
}

static void an_end_wakes_who_waits(void **state)
{
    struct world *w = *state;
    struct pollfd p = {.fd = w->stream.ring.fd, .events = POLLIN};
    pid_t pid = fork();

    if (pid == 0) {
        enter(w);
        _exit(0);
    }
    assert_int_equal(poll(&p, 1, -1), 1);
    waitpid(pid, NULL, 0);
    st_process_stream_read(&w->stream, note, w);
    assert_int_equal(poll(&p, 1, 0), 0);
}

/* Is epoll told within a moment? It is by a wake-up alone, not by what is there. */
static bool wakes(int epfd, int timeout_ms)
{
    struct epoll_event ev;

    return epoll_wait(epfd, &ev, 1, timeout_ms) == 1;
}

static void fork_thrice(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = vfork();

        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
}

static void enter_and_do(struct world *w, void (*act)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        enter(w);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void who_comes_by_itself_is_woken_by_one_fork_too_many_only(void **state)
{
    struct world *w = *state;
    struct epoll_event ev = {.events = EPOLLIN};
    st_auto_fd epfd = epoll_create1(EPOLL_CLOEXEC);

    assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, w->stream.ring.fd, &ev), 0);
    st_process_stream_comes(&w->stream, 3);
    enter_and_do(w, fork_thrice);
    assert_false(wakes(epfd, 0));
    st_process_stream_read(&w->stream, note, w);
    assert_int_equal(w->n, 7); /* three forks, and four ends */
    st_process_stream_comes(&w->stream, 2);
    enter_and_do(w, fork_thrice);
    assert_true(wakes(epfd, -1));
    st_process_stream_comes(&w->stream, UINT64_MAX);
    st_process_stream_read(&w->stream, note, w);
    assert_false(wakes(epfd, 0));
    enter_and_do(w, fork_thrice);
    assert_false(wakes(epfd, 0));
}

static void who_wants_to_sleep_is_told_what_it_has_not_read(void **state)
{
    struct world *w = *state;
    struct epoll_event ev = {.events = EPOLLIN};
    st_auto_fd epfd = epoll_create1(EPOLL_CLOEXEC);

    assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, w->stream.ring.fd, &ev), 0);
    st_process_stream_comes(&w->stream, UINT64_MAX);
    enter_and_do(w, fork_thrice);
    assert_false(st_process_stream_sleep(&w->stream));
    st_process_stream_read(&w->stream, note, w);
    assert_true(st_process_stream_sleep(&w->stream));
    assert_false(wakes(epfd, 0));
    enter_and_do(w, fork_thrice);
    assert_true(wakes(epfd, -1));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make, unmake)
    const struct CMUnitTest tests[] = {
        T(forks_executions_and_ends_are_told_in_order),
        T(who_is_killed_is_told_with_its_signal),
        T(threads_are_no_processes),
        T(a_sibling_is_told_with_who_made_it),
        T(others_are_not_told_of),
        T(what_finds_no_room_is_counted),
        T(an_end_wakes_who_waits),
        T(who_comes_by_itself_is_woken_by_one_fork_too_many_only),
        T(who_wants_to_sleep_is_told_what_it_has_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
