/* Who is announced with a filter, and is it still the runtime, on its way into a container? The test itself
 * is the runtime; what comes late finds another program, which must not pass for it. */
#include "sensors/notify.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[96];
static struct st_notify *notify;
static int asked, set_up_still; /* how often, and how often by the runtime */

static bool take(void *ctx, struct st_filter *f, const struct seccomp_notif *question)
{
    (void)ctx;
    asked++;
    set_up_still += st_filter_sets_up(f, (pid_t)question->pid);
    st_filter_answer(f, question->id, 0);
    return true;
}

static int set_up(void **state)
{
    struct st_error err = {0};

    (void)state;
    asked = set_up_still = 0;
    snprintf(dir, sizeof(dir), "/tmp/st-notify.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/s/listener", dir);
    return st_notify_open(path, -1, take, NULL, &notify, &err);
}

static int tear_down(void **state)
{
    char sub[96];

    (void)state;
    st_notify_close(notify);
    snprintf(sub, sizeof(sub), "%s/s", dir);
    rmdir(sub);
    return rmdir(dir);
}

/* ---- a process with a filter ---- */

struct child {
    pid_t pid;
    int filter; /* its listener */
    int tell;   /* what is written here lets it go on */
};

static void send_fd(int to, const char *text, int fd)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec io = {(char *)(uintptr_t)text, strlen(text)};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    if (!c)
        _exit(2);
    *c =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    if (sendmsg(to, &m, 0) != (ssize_t)io.iov_len)
        _exit(2);
}

static int receive_fd(int from)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    char byte;
    struct iovec io = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    struct cmsghdr *c;
    int fd = -1;

    assert_int_equal(recvmsg(from, &m, MSG_CMSG_CLOEXEC), 1);
    c = CMSG_FIRSTHDR(&m);
    if (c)
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    assert_true(fd >= 0);
    return fd;
}

/* getppid(2) is asked about. */
static int load_filter(void)
{
    struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {N_OF(steps), steps};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* In the child, by whatever program it is. */
static void ask_when_told(void)
{
    char byte;

    if (read(0, &byte, 1) == 1)
        getppid();
}

/* program: what it becomes (an fd), with its filter; -1: it stays what it is. asks_before: and asks before.
 */
static struct child child_of(int program, bool asks_before)
{
    struct child c;
    int pair[2], down[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) | pipe(down), 0);
    c.pid = fork();
    assert_true(c.pid >= 0);
    if (c.pid == 0) {
        char *const argv[] = {(char *)(uintptr_t) "ask", NULL}, *const envp[] = {NULL};

        close(down[1]);
        dup2(down[0], 0);
        send_fd(pair[1], "f", load_filter());
        if (asks_before)
            ask_when_told();
        if (program >= 0) {
            syscall(SYS_execveat, program, "", argv, envp, AT_EMPTY_PATH);
            _exit(3);
        }
        ask_when_told();
        _exit(0);
    }
    c.filter = receive_fd(pair[0]);
    close(pair[0]);
    close(pair[1]);
    close(down[0]);
    c.tell = down[1];
    return c;
}

/* As a runtime does. */
static void announce(const struct child *c)
{
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[64];

    snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
    assert_int_equal(connect(fd, (struct sockaddr *)&where, sizeof(where)), 0);
    snprintf(text, sizeof(text), "{\"fds\":[\"seccompFd\"],\"pid\":%d}", (int)c->pid);
    send_fd(fd, text, c->filter);
    close(fd);
}

static void lets_ask(struct child *c)
{
    siginfo_t end;
    int before = asked;

    assert_int_equal(write(c->tell, "x", 1), 1);
    while (asked == before) {
        end.si_pid = 0;
        assert_int_equal(waitid(P_PID, (id_t)c->pid, &end, WEXITED | WNOHANG | WNOWAIT), 0);
        assert_int_equal(end.si_pid, 0); /* it has ended without a question */
        st_notify_work(notify);
    }
}

static void end(struct child *c)
{
    close(c->tell);
    close(c->filter);
    assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

/* It has become its program: /proc says so. */
static void wait_for_program(const struct child *c, int program)
{
    struct stat now, then;
    char link[48];

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)c->pid);
    assert_int_equal(fstat(program, &then), 0);
    do
        assert_int_equal(stat(link, &now), 0);
    while (now.st_ino != then.st_ino || now.st_dev != then.st_dev);
}

/* This very program, with its last byte changed or not. */
static void copy_program(int to, bool changed)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char room[65536], last;
    ssize_t n;
    struct stat sb;

    while ((n = read(from, room, sizeof(room))) > 0)
        assert_int_equal(write(to, room, (size_t)n), n);
    close(from);
    assert_int_equal(fstat(to, &sb), 0);
    if (!changed)
        return;
    assert_int_equal(pread(to, &last, 1, sb.st_size - 1), 1);
    last = (char)(last + 1);
    assert_int_equal(pwrite(to, &last, 1, sb.st_size - 1), 1);
}

static int in_memory(bool changed)
{
    char name[48];
    int fd = memfd_create("copy", MFD_CLOEXEC), again;

    copy_program(fd, changed);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    again = open(name, O_RDONLY); /* what is open for writing can't be run */
    close(fd);
    return again;
}

static int on_disk(void)
{
    char name[96];
    int fd;

    snprintf(name, sizeof(name), "%s/copy", dir);
    fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    copy_program(fd, false);
    close(fd);
    fd = open(name, O_RDONLY);
    unlink(name);
    return fd;
}

/* ---- tests ---- */

static void test_the_runtime_on_its_way_in_is_known(void **state)
{
    struct child c = child_of(-1, false);

    (void)state;
    announce(&c);
    st_notify_meet(notify);
    lets_ask(&c);
    assert_int_equal(set_up_still, 1);
    end(&c);
}

/* A runtime hands a filter over and ends, before we have looked. */
static void announce_and_end(const struct child *c)
{
    pid_t runtime = fork();

    assert_true(runtime >= 0);
    if (runtime == 0) {
        announce(c);
        _exit(0);
    }
    assert_int_equal(waitpid(runtime, NULL, 0), runtime);
}

static void test_a_runtime_that_has_ended_is_known_by_the_first_process(void **state)
{
    struct child c = child_of(-1, false);

    (void)state;
    st_notify_expect(notify, c.pid);
    announce_and_end(&c);
    st_notify_meet(notify);
    lets_ask(&c);
    assert_int_equal(set_up_still, 1);
    end(&c);
}

static void test_a_program_of_the_container_does_not_pass_for_a_runtime_that_has_ended(void **state)
{
    int program = on_disk();
    struct child c = child_of(program, false);

    (void)state;
    st_notify_expect(notify, c.pid);
    wait_for_program(&c, program);
    announce_and_end(&c);
    st_notify_meet(notify);
    lets_ask(&c);
    assert_int_equal(set_up_still, 0);
    end(&c);
    close(program);
}

/* We come late: it is the container's program already. */
static void announced_late(int program, bool is_runtime)
{
    struct child c = child_of(program, false);

    wait_for_program(&c, program);
    announce(&c);
    st_notify_meet(notify);
    lets_ask(&c);
    assert_int_equal(set_up_still, is_runtime);
    end(&c);
    close(program);
}

static void test_a_program_of_the_container_does_not_pass_for_the_runtime(void **state)
{
    (void)state;
    announced_late(on_disk(), false);
}

static void test_a_copy_of_the_runtime_in_memory_is_the_runtime(void **state)
{
    (void)state;
    announced_late(in_memory(false), true);
}

static void test_another_program_in_memory_does_not_pass_for_the_runtime(void **state)
{
    (void)state;
    announced_late(in_memory(true), false);
}

static void test_who_has_become_another_program_is_the_runtime_no_longer(void **state)
{
    int program = on_disk();
    struct child c = child_of(program, true);

    (void)state;
    announce(&c);
    lets_ask(&c);
    assert_int_equal(set_up_still, 1);
    wait_for_program(&c, program);
    lets_ask(&c);
    assert_int_equal(set_up_still, 1);
    end(&c);
    close(program);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_runtime_on_its_way_in_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_runtime_that_has_ended_is_known_by_the_first_process, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_program_of_the_container_does_not_pass_for_a_runtime_that_has_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_program_of_the_container_does_not_pass_for_the_runtime, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_copy_of_the_runtime_in_memory_is_the_runtime, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_another_program_in_memory_does_not_pass_for_the_runtime, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_who_has_become_another_program_is_the_runtime_no_longer, set_up,
                                        tear_down),
    };

    if (argc == 1 && strcmp(argv[0], "ask") == 0) {
        ask_when_told();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
