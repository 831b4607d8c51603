/* The dead man's switch: without us nothing leaves, and with us nothing is lost. */
#include "nf_support.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 8082
#define SECOND_NS 1000000000LL

static struct st_error err;

static int enforce(void **state)
{
    struct nf_world *w = *state;

    w->order.dead_man = true;
    nf_enforce(w);
    return 0;
}

static int release(void **state)
{
    nf_release(*state);
    return 0;
}

/* A flow that is open for good. */
static int open_flow(struct nf_world *w, const char *addr)
{
    int fd = nf_connect(addr, PORT, SOCK_DGRAM);
    struct nf_asked asked;

    assert_int_equal(send(fd, "x", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    return fd;
}

static void flows_that_were_open_stop_after_the_last_renewal(void **state)
{
    struct nf_world *w = *state;
    int heard4 = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_DGRAM, true});
    int heard6 = nf_socket(w, &(struct nf_socket){OUTER6, PORT, SOCK_DGRAM, true});
    int four = open_flow(w, OUTER4), six = open_flow(w, OUTER6);
    int64_t renewed;

    assert_int_equal(st_ruleset_renew(&w->rules, &err), 0);
    renewed = st_now_mono_ns();
    while (send(four, "x", 1, 0) == 1)
        poll(NULL, 0, 1);
    assert_int_equal(errno, EPERM);
    print_message("stopped %lld ms after the last renewal\n",
                  (long long)(st_now_mono_ns() - renewed) / 1000000);
    assert_true(st_now_mono_ns() - renewed > ST_RULESET_ALIVE_MS * (SECOND_NS / 1000) * 9 / 10);
    while (send(six, "x", 1, 0) == 1)
        ;
    assert_int_equal(errno, EPERM);
    /* It is no end: who comes back renews it. */
    assert_int_equal(st_ruleset_renew(&w->rules, &err), 0);
    assert_int_equal(send(four, "x", 1, 0), 1);
    assert_int_equal(send(six, "x", 1, 0), 1);
    close(four);
    close(six);
    close(heard4);
    close(heard6);
}

static void no_packet_is_lost_while_it_is_renewed(void **state)
{
    struct nf_world *w = *state;
    int heard = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_DGRAM, true}), fd = open_flow(w, OUTER4);
    int64_t start = st_now_mono_ns(), next = start;
    unsigned long sent = 0, back = 0;
    struct sockaddr_storage from;
    socklen_t len = sizeof(from);
    char byte;

    nf_wait(heard, POLLIN);
    assert_int_equal(recvfrom(heard, &byte, 1, 0, (void *)&from, &len), 1);
    while (next - start < 6 * SECOND_NS) {
        if (st_now_mono_ns() >= next) {
            assert_int_equal(st_ruleset_renew(&w->rules, &err), 0);
            next += SECOND_NS;
        }
        assert_int_equal(send(fd, "x", 1, 0), 1);
        sent++;
        nf_wait(heard, POLLIN);
        assert_int_equal(recv(heard, &byte, 1, 0), 1);
        assert_int_equal(sendto(heard, "y", 1, 0, (void *)&from, len), 1);
        nf_wait(fd, POLLIN);
        assert_int_equal(recv(fd, &byte, 1, 0), 1);
        back++;
    }
    assert_int_equal(sent, back);
    print_message("%lu round trips\n", back);
    close(fd);
    close(heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flows_that_were_open_stop_after_the_last_renewal, enforce, release),
        cmocka_unit_test_setup_teardown(no_packet_is_lost_while_it_is_renewed, enforce, release),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
