/* What goes to a resolver, and what it answers, is asked about, wherever it is. */
#include "nf_support.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define DOCKER "127.0.0.11"
#define DOCKER_PORT 4053 /* where it really listens */

static struct st_addr resolvers[3];

static int enforce(void **state)
{
    static const char *const texts[] = {OUTER4, OUTER6, DOCKER};
    struct nf_world *w = *state;

    for (size_t i = 0; i < N_OF(texts); i++)
        assert_true(st_addr_parse((struct st_str){texts[i], strlen(texts[i])}, &resolvers[i]));
    w->order.resolvers = resolvers;
    w->order.n_resolvers = N_OF(resolvers);
    nf_enforce(w);
    nf_run("nft add table ip docker && "
           "nft 'add chain ip docker to { type nat hook output priority -100; }' && "
           "nft add rule ip docker to ip daddr " DOCKER " udp dport 53 dnat to " DOCKER ":4053 && "
           "nft add rule ip docker to ip daddr " DOCKER " tcp dport 53 dnat to " DOCKER ":4053");
    return 0;
}

static int release(void **state)
{
    nf_run("nft delete table ip docker");
    nf_release(*state);
    return 0;
}

static void both_ways_are_asked_about(struct nf_world *w, const char *addr, int server)
{
    int fd = nf_connect(addr, 53, SOCK_DGRAM);

    for (int i = 0; i < 2; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof(from);
        struct nf_asked asked;
        char room[8];

        assert_int_equal(send(fd, "query", 5, 0), 5);
        nf_asked(w, &asked);
        assert_int_equal(asked.packet.hook, NF_INET_LOCAL_OUT);
        assert_memory_equal(asked.bytes + asked.packet.len - 5, "query", 5);
        nf_say(w, &asked, true, ST_MARK_DNS);
        nf_wait(server, POLLIN);
        assert_int_equal(recvfrom(server, room, sizeof(room), 0, (void *)&from, &len), 5);
        assert_int_equal(sendto(server, "answer", 6, 0, (void *)&from, len), 6);
        nf_asked(w, &asked);
        assert_int_equal(asked.packet.hook, NF_INET_LOCAL_IN);
        assert_memory_equal(asked.bytes + asked.packet.len - 6, "answer", 6);
        assert_int_equal(recv(fd, room, sizeof(room), 0), -1); /* not before we say so */
        nf_say(w, &asked, true, 0);
        nf_wait(fd, POLLIN);
        assert_int_equal(recv(fd, room, sizeof(room), 0), 6);
        assert_true(nf_nothing_asked(w));
    }
    assert_int_equal(nf_mark_of(53), ST_MARK_DNS);
    close(fd);
    close(server);
}

static void a_resolver_outside(void **state)
{
    struct nf_world *w = *state;

    both_ways_are_asked_about(w, OUTER4, nf_socket(w, &(struct nf_socket){OUTER4, 53, SOCK_DGRAM, true}));
}

static void a_resolver_outside_over_ipv6(void **state)
{
    struct nf_world *w = *state;

    both_ways_are_asked_about(w, OUTER6, nf_socket(w, &(struct nf_socket){OUTER6, 53, SOCK_DGRAM, true}));
}

static void a_resolver_on_lo_behind_another_port_as_dockers(void **state)
{
    struct nf_world *w = *state;

    both_ways_are_asked_about(w, DOCKER,
                              nf_socket(w, &(struct nf_socket){DOCKER, DOCKER_PORT, SOCK_DGRAM, false}));
}

static void a_refused_connection_to_a_resolver_is_reset_at_once(void **state)
{
    static const char *const addrs[] = {OUTER4, OUTER6, DOCKER};
    struct nf_world *w = *state;
    int listening = nf_socket(w, &(struct nf_socket){DOCKER, DOCKER_PORT, SOCK_STREAM, false});

    for (size_t i = 0; i < N_OF(addrs); i++) {
        int fd = nf_connect(addrs[i], 53, SOCK_STREAM);
        struct nf_asked asked;

        nf_asked(w, &asked);
        nf_say(w, &asked, true, ST_MARK_REFUSED);
        assert_int_equal(nf_connected(fd), ECONNREFUSED);
        assert_true(nf_nothing_asked(w));
        close(fd);
    }
    close(listening);
}

static void a_connection_to_a_resolver_is_asked_about_packet_by_packet(void **state)
{
    struct nf_world *w = *state;
    int listening = nf_socket(w, &(struct nf_socket){DOCKER, DOCKER_PORT, SOCK_STREAM, false});
    int fd = nf_connect(DOCKER, 53, SOCK_STREAM), peer;
    struct nf_asked asked;

    for (int i = 0; i < 3; i++) { /* SYN, its answer, ACK */
        nf_asked(w, &asked);
        assert_int_equal(asked.packet.hook, i == 1 ? NF_INET_LOCAL_IN : NF_INET_LOCAL_OUT);
        nf_say(w, &asked, true, ST_MARK_DNS);
    }
    assert_int_equal(nf_connected(fd), 0);
    nf_wait(listening, POLLIN);
    peer = accept(listening, NULL, NULL);
    assert_int_equal(send(fd, "query", 5, 0), 5);
    nf_asked(w, &asked);
    assert_memory_equal(asked.bytes + asked.packet.len - 5, "query", 5);
    nf_say(w, &asked, true, ST_MARK_DNS);
    nf_wait(peer, POLLIN);
    close(peer);
    close(fd);
    close(listening);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, enforce, release)
    const struct CMUnitTest tests[] = {
        TEST(a_resolver_outside),
        TEST(a_resolver_outside_over_ipv6),
        TEST(a_resolver_on_lo_behind_another_port_as_dockers),
        TEST(a_refused_connection_to_a_resolver_is_reset_at_once),
        TEST(a_connection_to_a_resolver_is_asked_about_packet_by_packet),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
