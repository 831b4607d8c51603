/* The control socket's server with an answerer of our own: lines, bounds, followers, peers that leave. Run
 * by root. */
#include "base/cleanup.h"
#include "model/event.h"
#include "monitor/control.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct fixture {
    char dir[64];
    int dirfd;
    struct st_pulse pulse;
    struct st_loop loop;
    struct st_control control;
    int answers;
};

static bool answer(void *ctx, struct st_client *client, const char *request, const struct st_json_node *body,
                   struct st_buf *out)
{
    struct fixture *f = ctx;

    f->answers++;
    if (strcmp(request, "follow") == 0) {
        client->follows = true;
        client->filter = (struct st_interest){.types = 1u << ST_EV_SYSCALL, .results = UINT32_MAX};
    }
    if (strcmp(request, "wait") == 0) {
        client->awaits_end = true;
        return false;
    }
    if (strcmp(request, "large") == 0)
        for (int i = 0; i < 900000; i++)
            st_buf_addc(out, 'x');
    else
        st_buf_addf(out, "{\"answer\":%zu}", st_json_count(body));
    return true;
}

static void set_up(struct fixture *f)
{
    struct st_error err = {0};

    *f = (struct fixture){0};
    snprintf(f->dir, sizeof(f->dir), "/tmp/control.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_loop_init(&f->loop, epoll_create1(EPOLL_CLOEXEC), &f->pulse);
    assert_int_equal(st_control_open(&f->control, f->dirfd, -1, "box", &err), 0);
    assert_int_equal(st_control_attach(&f->control, &f->loop, answer, f, &err), 0);
}

static void tear_down(struct fixture *f)
{
    st_control_end(&f->control);
    unlinkat(f->dirfd, "control.sock", 0);
    rmdir(f->dir);
    st_close(&f->dirfd);
    st_close(&f->loop.epfd);
}

static int connect_client(const struct fixture *f)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/control.sock", f->dir);
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    return fd;
}

static void run(struct fixture *f)
{
    struct epoll_event ev;

    while (epoll_wait(f->loop.epfd, &ev, 1, 0) > 0)
        f->loop.slots[(uint32_t)ev.data.u64].run(f->loop.slots[(uint32_t)ev.data.u64].ctx, ev.events);
    st_control_flush(&f->control);
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void assert_reads(int fd, const char *text)
{
    char got[4096] = "";
    ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

    got[n < 0 ? 0 : n] = '\0';
    assert_string_equal(got, text);
}

static int clients(const struct fixture *f)
{
    int n = 0;

    for (int i = 0; i < ST_CONTROL_CLIENTS; i++)
        n += f->control.clients[i].fd >= 0;
    return n;
}

static void the_socket_is_for_its_owner_alone(void **state)
{
    struct fixture f;
    struct stat sb;

    (void)state;
    set_up(&f);
    assert_int_equal(fstatat(f.dirfd, "control.sock", &sb, 0), 0);
    assert_int_equal(sb.st_mode & 07777, 0600);
    tear_down(&f);
}

static void requests_are_lines_however_they_are_cut(void **state)
{
    static const char text[] = "{\"request\":\"a\"}\n{\"request\":\"b\",\"x\":1}\n{\"requ";
    struct fixture f;
    st_auto_fd fd = -1;

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        assert_int_equal(send(fd, text + i, 1, 0), 1);
        run(&f);
    }
    assert_reads(fd, "{\"answer\":1}\n{\"answer\":2}\n");
    say(fd, "est\":\"c\"}\n");
    run(&f);
    assert_reads(fd, "{\"answer\":1}\n");
    tear_down(&f);
}

static void what_is_no_request_is_refused_and_the_next_one_answered(void **state)
{
    static const char *const bad[] = {"\n",
                                      "x\n",
                                      "[]\n",
                                      "{}\n",
                                      "{\"request\":1}\n",
                                      "{\"request\":\"a\\u0000b\"}\n",
                                      "{\"request\":\"a\",\"request\":\"b\"}\n",
                                      "[[[[[[[[[[1]]]]]]]]]]\n",
                                      "\"\xff\"\n"};
    struct fixture f;
    st_auto_fd fd = -1;
    char got[1024];

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    for (size_t i = 0; i < N_OF(bad); i++) {
        ssize_t n;

        say(fd, bad[i]);
        run(&f);
        n = recv(fd, got, sizeof(got) - 1, 0);
        assert_true(n > 0);
        got[n] = '\0';
        assert_non_null(strstr(got, "\"code\":\"bad_request\""));
    }
    assert_int_equal(f.answers, 0);
    say(fd, "{\"request\":\"a\"}\n");
    run(&f);
    assert_reads(fd, "{\"answer\":1}\n");
    tear_down(&f);
}

static void a_line_without_end_is_cut_off_with_a_word(void **state)
{
    static char bytes[65536];
    struct fixture f;
    st_auto_fd fd = -1;
    char got[256];
    ssize_t n;

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    memset(bytes, 'x', sizeof(bytes));
    while (clients(&f) || f.pulse.beats == 0) {
        f.pulse.beats = 1;
        if (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0 && errno == EPIPE)
            break;
        run(&f);
        for (int i = 0; i < ST_CONTROL_CLIENTS; i++)
            assert_true(f.control.clients[i].in.len <= ST_CONTROL_LINE_MAX + 4096);
    }
    n = recv(fd, got, sizeof(got) - 1, 0);
    assert_true(n > 0);
    got[n] = '\0';
    assert_non_null(strstr(got, "too_long"));
    assert_int_equal(clients(&f), 0);
    tear_down(&f);
}

static void one_who_asks_and_never_reads_is_given_up(void **state)
{
    struct fixture f;
    st_auto_fd fd = -1, other = -1;

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    run(&f);
    for (int i = 0; i < 20 && clients(&f); i++) {
        if (send(fd, "{\"request\":\"large\"}\n", 20, MSG_NOSIGNAL) < 0)
            break;
        run(&f);
    }
    assert_int_equal(clients(&f), 0);
    other = connect_client(&f);
    say(other, "{\"request\":\"a\"}\n");
    run(&f);
    assert_reads(other, "{\"answer\":1}\n");
    tear_down(&f);
}

static void a_follower_gets_what_its_filter_lets_by_also_after_its_last_word(void **state)
{
    const struct st_ring_entry no = {.seq = 1, .len = 2, .type = ST_EV_PROCESS};
    const struct st_ring_entry yes = {.seq = 2, .len = 2, .type = ST_EV_SYSCALL};
    struct fixture f;
    st_auto_fd fd = -1;

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    say(fd, "{\"request\":\"follow\"}\n");
    run(&f);
    assert_reads(fd, "{\"answer\":1}\n");
    shutdown(fd, SHUT_WR);
    run(&f);
    assert_int_equal(clients(&f), 1);
    st_control_tell(&f.control, &no, "n\n");
    st_control_tell(&f.control, &yes, "y\n");
    st_control_flush(&f.control);
    assert_reads(fd, "y\n");
    st_close(&fd);
    run(&f);
    assert_int_equal(clients(&f), 0);
    tear_down(&f);
}

static void one_who_asks_once_and_closes_is_answered(void **state)
{
    struct fixture f;
    st_auto_fd fd = -1;

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    say(fd, "{\"request\":\"a\"}\n");
    shutdown(fd, SHUT_WR);
    run(&f);
    assert_reads(fd, "{\"answer\":1}\n");
    assert_int_equal(clients(&f), 0);
    tear_down(&f);
}

static void who_waits_for_the_end_is_told_at_the_end(void **state)
{
    struct fixture f;
    st_auto_fd fd = -1;

    (void)state;
    set_up(&f);
    fd = connect_client(&f);
    say(fd, "{\"request\":\"wait\"}\n");
    run(&f);
    st_control_end(&f.control);
    assert_reads(fd, "{\"ok\":true,\"sealed\":true}\n");
    tear_down(&f);
}

static void the_seventeenth_client_is_told_to_come_back(void **state)
{
    struct fixture f;
    int fds[ST_CONTROL_CLIENTS];
    st_auto_fd late = -1;
    char got[256] = "";

    (void)state;
    set_up(&f);
    for (int i = 0; i < ST_CONTROL_CLIENTS; i++) {
        fds[i] = connect_client(&f);
        run(&f);
    }
    late = connect_client(&f);
    run(&f);
    assert_true(recv(late, got, sizeof(got) - 1, 0) > 0);
    assert_non_null(strstr(got, "\"code\":\"busy\""));
    for (int i = 0; i < ST_CONTROL_CLIENTS; i++)
        close(fds[i]);
    tear_down(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_socket_is_for_its_owner_alone),
        cmocka_unit_test(requests_are_lines_however_they_are_cut),
        cmocka_unit_test(what_is_no_request_is_refused_and_the_next_one_answered),
        cmocka_unit_test(a_line_without_end_is_cut_off_with_a_word),
        cmocka_unit_test(one_who_asks_and_never_reads_is_given_up),
        cmocka_unit_test(a_follower_gets_what_its_filter_lets_by_also_after_its_last_word),
        cmocka_unit_test(one_who_asks_once_and_closes_is_answered),
        cmocka_unit_test(who_waits_for_the_end_is_told_at_the_end),
        cmocka_unit_test(the_seventeenth_client_is_told_to_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
