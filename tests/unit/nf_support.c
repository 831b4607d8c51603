#include "nf_support.h"

#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/nfsock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- namespaces ---- */

void nf_run(const char *command)
{
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, NULL, NULL};
    char text[1024];
    int status = -1;
    pid_t pid;

    snprintf(text, sizeof(text), "PATH=/usr/sbin:/usr/bin:/sbin:/bin; %s", command);
    argv[2] = text;
    assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("failed: %s", command);
}

static int run_there(void *ctx, struct st_error *err)
{
    (void)err;
    nf_run(ctx);
    return 0;
}

void nf_run_outside(struct nf_world *w, const char *command)
{
    char copy[1024];

    snprintf(copy, sizeof(copy), "%s", command);
    assert_int_equal(st_netns_visit(w->outer, run_there, copy, NULL), 0);
}

/* A process that keeps the outer namespace, and goes with us. */
static void start_keeper(struct nf_world *w)
{
    char path[64], byte;
    int ready[2];

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    w->keeper = fork();
    assert_true(w->keeper >= 0);
    if (w->keeper == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        fail_msg("a network namespace of our own (these tests run as root)");
    close(ready[0]);
    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)w->keeper);
    w->outer = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(w->outer >= 0);
}

int nf_world_open(void **state)
{
    static struct nf_world world;
    struct nf_world *w = &world;
    char command[256];

    *w = (struct nf_world){.rules_fd = -1, .queue_fd = -1};
    w->order = (struct st_ruleset_order){.queue = QUEUE, .enforce = true, .stamp = STAMP, .seal = ~STAMP};
    start_keeper(w);
    if (unshare(CLONE_NEWNET) < 0)
        fail_msg("a network namespace of our own: %s (these tests run as root)", strerror(errno));
    snprintf(command, sizeof(command), "ip link set lo up; ip link add in0 type veth peer name out0 netns %d",
             (int)w->keeper);
    nf_run(command);
    nf_run("ip addr add " INNER4 "/24 dev in0 && ip addr add " INNER6 "/64 dev in0 nodad && "
           "ip link set in0 up && ip route add default via " OUTER4);
    nf_run_outside(w, "ip link set lo up && ip addr add " OUTER4 "/24 dev out0 && ip addr add " OUTER6
                      "/64 dev out0 nodad && ip link set out0 up");
    nf_run("until ip link show in0 | grep -q LOWER_UP; do sleep 0.01; done");
    *state = w;
    return 0;
}

int nf_world_close(void **state)
{
    struct nf_world *w = *state;

    kill(w->keeper, SIGKILL);
    waitpid(w->keeper, NULL, 0);
    close(w->outer);
    return 0;
}

/* ---- rules and queue ---- */

static void must(int rc, const struct st_error *err)
{
    if (rc < 0)
        fail_msg("%s", err->msg);
}

void nf_enforce(struct nf_world *w)
{
    struct st_error err = {0};

    w->rules_fd = st_nfsock_open(0, &err);
    must(w->rules_fd, &err);
    w->queue_fd = st_nfsock_open(ST_NFQUEUE_BUFFER, &err);
    must(w->queue_fd, &err);
    must(st_conntrack_enable(&err), &err);
    must(st_ruleset_install(&w->rules, w->rules_fd, &w->order, &err), &err);
    must(st_nfqueue_bind(w->queue_fd, QUEUE, !w->order.enforce, &err), &err);
}

void nf_release(struct nf_world *w)
{
    struct st_error err = {0};

    must(st_nfqueue_unbind(w->queue_fd, QUEUE, &err), &err);
    must(st_ruleset_remove(&w->rules, &err), &err);
    close(w->rules_fd);
    close(w->queue_fd);
    w->rules_fd = w->queue_fd = -1;
}

static void keep(void *ctx, const struct st_nfqueue_packet *p)
{
    struct nf_asked *asked = ctx;

    asked->packet = *p;
    if (asked->packet.len > sizeof(asked->bytes))
        asked->packet.len = sizeof(asked->bytes);
    memcpy(asked->bytes, p->bytes, asked->packet.len);
    asked->packet.bytes = asked->bytes;
}

static int read_one(struct nf_world *w, struct nf_asked *asked)
{
    static struct st_nfqueue_room room;
    uint64_t malformed = 0;
    int n = st_nfqueue_read(w->queue_fd, &room, 1, 1, keep, asked, &malformed);

    assert_int_equal(malformed, 0);
    return n;
}

void nf_asked(struct nf_world *w, struct nf_asked *asked)
{
    int n;

    while ((n = read_one(w, asked)) == 0)
        nf_wait(w->queue_fd, POLLIN);
    assert_int_equal(n, 1);
}

bool nf_nothing_asked(struct nf_world *w)
{
    struct nf_asked asked;

    return read_one(w, &asked) == 0;
}

void nf_say(struct nf_world *w, const struct nf_asked *asked, bool accept, uint32_t mark)
{
    assert_int_equal(st_nfqueue_verdict(w->queue_fd, QUEUE, asked->packet.ticket.id, accept, mark), 0);
}

struct search {
    uint16_t port;
    int64_t mark;
};

static void look_for(void *ctx, const struct st_ct_flow *flow)
{
    struct search *s = ctx;

    if (flow->dst_port == s->port)
        s->mark = flow->mark;
}

int64_t nf_mark_of(uint16_t dst_port)
{
    struct search s = {dst_port, -1};
    struct st_error err = {0};
    int fd = st_nfsock_open(0, &err);

    must(fd, &err);
    must(st_conntrack_dump(fd, look_for, &s, &err), &err);
    close(fd);
    return s.mark;
}

/* ---- sockets ---- */

socklen_t nf_address(const char *addr, uint16_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, addr, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return sizeof(*four);
    }
    assert_int_equal(inet_pton(AF_INET6, addr, &six->sin6_addr), 1);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    return sizeof(*six);
}

static int make_socket(void *ctx, struct st_error *err)
{
    const struct nf_socket *s = ctx;
    struct sockaddr_storage at;
    socklen_t len = nf_address(s->addr, s->port, &at);
    int on = 1, fd = socket(at.ss_family, s->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    (void)err;
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind(fd, (void *)&at, len), 0);
    if (s->type == SOCK_STREAM)
        assert_int_equal(listen(fd, 4096), 0);
    return fd;
}

int nf_socket(struct nf_world *w, const struct nf_socket *s)
{
    struct nf_socket copy = *s;

    return s->outside ? st_netns_visit(w->outer, make_socket, &copy, NULL) : make_socket(&copy, NULL);
}

int nf_connect(const char *addr, uint16_t port, int type)
{
    struct sockaddr_storage to;
    socklen_t len = nf_address(addr, port, &to);
    int fd = socket(to.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    if (connect(fd, (void *)&to, len) < 0)
        assert_int_equal(errno, EINPROGRESS);
    return fd;
}

int nf_send_to(int fd, const char *addr, uint16_t port, const char *text)
{
    struct sockaddr_storage to;
    socklen_t len = nf_address(addr, port, &to);

    return sendto(fd, text, strlen(text), 0, (void *)&to, len) < 0 ? -errno : 0;
}

void nf_wait(int fd, short events)
{
    struct pollfd p = {fd, events, 0};

    while (poll(&p, 1, -1) != 1)
        assert_int_equal(errno, EINTR);
}

int nf_connected(int fd)
{
    socklen_t len = sizeof(int);
    int error;

    nf_wait(fd, POLLOUT);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    return error;
}
