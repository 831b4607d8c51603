/* Flows: each beginning and each end is heard of, with what it carried. */
#include "nf_support.h"

#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/nfsock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 8083
#define MANY 2000

static struct st_error err;

static void must(int rc)
{
    if (rc < 0)
        fail_msg("%s", err.msg);
}

static int enforce(void **state)
{
    nf_enforce(*state);
    return 0;
}

static int release(void **state)
{
    nf_release(*state);
    return 0;
}

struct heard {
    unsigned begun, ended, uncounted;
    struct st_ct_flow last_begun, last_ended;
    struct st_ct_flow *all; /* of a dump */
    size_t n_all;
};

static void take_news(void *ctx, const struct st_ct_flow *flow)
{
    struct heard *h = ctx;

    if (flow->dst_port != PORT)
        return;
    if (flow->ended) {
        h->ended++;
        h->uncounted += flow->bytes[0] == UINT64_MAX || flow->bytes[0] == 0 || flow->start_ns == 0 ||
                        flow->stop_ns < flow->start_ns;
        h->last_ended = *flow;
    } else {
        h->begun++;
        h->last_begun = *flow;
    }
}

static void take_all(void *ctx, const struct st_ct_flow *flow)
{
    struct heard *h = ctx;

    if (flow->dst_port == PORT && h->n_all < MANY)
        h->all[h->n_all++] = *flow;
}

static void open_to(struct nf_world *w, const char *text, uint8_t protocol)
{
    struct st_addr to;

    assert_true(st_addr_parse((struct st_str){text, strlen(text)}, &to));
    must(st_ruleset_open(&w->rules, &to, protocol, PORT, 0, &err));
}

static void read_until(int news, struct heard *h, const unsigned *counter, unsigned n)
{
    while (*counter < n) {
        int got;
        uint64_t malformed = 0;

        nf_wait(news, POLLIN);
        got = st_conntrack_read(news, 1000, take_news, h, &malformed);
        assert_true(got >= 0);
        assert_int_equal(malformed, 0);
    }
}

/* The kernel forgets what it has of them. */
static void forget_all(struct heard *h)
{
    static struct st_ct_flow all[MANY];
    int fd = st_nfsock_open(0, &err);

    must(fd);
    h->all = all;
    h->n_all = 0;
    must(st_conntrack_dump(fd, take_all, h, &err));
    for (size_t i = 0; i < h->n_all; i++) {
        int rc = st_conntrack_forget(fd, &all[i], &err);

        if (rc != -ENOENT) /* it may have run out by itself */
            must(rc);
        assert_int_equal(st_conntrack_forget(fd, &all[i], &err), -ENOENT);
    }
    close(fd);
}

static void a_flow_is_told_of_from_beginning_to_end(struct nf_world *w, const char *addr, const char *own)
{
    int server = nf_socket(w, &(struct nf_socket){addr, PORT, SOCK_DGRAM, true}),
        news = st_conntrack_open(&err);
    unsigned headers = strchr(addr, ':') ? 48 : 28;
    struct heard h = {0};
    struct sockaddr_storage from;
    char text[ST_ADDR_TEXT_SIZE], room[8];
    socklen_t len = sizeof(from);
    int fd;

    must(news);
    open_to(w, addr, IPPROTO_UDP);
    fd = nf_connect(addr, PORT, SOCK_DGRAM);
    assert_int_equal(send(fd, "hello", 5, 0), 5);
    nf_wait(server, POLLIN);
    assert_int_equal(recvfrom(server, room, sizeof(room), 0, (void *)&from, &len), 5);
    assert_int_equal(sendto(server, "hi", 2, 0, (void *)&from, len), 2);
    nf_wait(fd, POLLIN);
    read_until(news, &h, &h.begun, 1);
    st_addr_format(&h.last_begun.src, text);
    assert_string_equal(text, own);
    st_addr_format(&h.last_begun.dst, text);
    assert_string_equal(text, addr);
    assert_int_equal(h.last_begun.protocol, IPPROTO_UDP);
    assert_int_equal(h.last_begun.mark, ST_MARK_OPEN);
    forget_all(&h);
    assert_int_equal(h.n_all, 1);
    assert_int_equal(h.all[0].bytes[0], headers + 5);
    read_until(news, &h, &h.ended, 1);
    assert_int_equal(h.last_ended.id, h.last_begun.id);
    assert_int_equal(h.last_ended.bytes[0], headers + 5);
    assert_int_equal(h.last_ended.bytes[1], headers + 2);
    assert_int_equal(h.last_ended.packets[0], 1);
    assert_int_equal(h.last_ended.packets[1], 1);
    assert_int_equal(h.uncounted, 0);
    close(fd);
    close(server);
    close(news);
}

static void a_flow_is_told_of(void **state)
{
    a_flow_is_told_of_from_beginning_to_end(*state, OUTER4, INNER4);
}

static void a_flow_over_ipv6_is_told_of(void **state)
{
    a_flow_is_told_of_from_beginning_to_end(*state, OUTER6, INNER6);
}

static void take_echo(void *ctx, const struct st_ct_flow *flow)
{
    struct st_ct_flow *out = ctx;

    if (flow->protocol == IPPROTO_ICMP)
        *out = *flow;
}

static void an_echo_is_told_of(void **state)
{
    static const uint8_t echo[] = {8, 0, 0xe5, 0xcb, 0x12, 0x34, 0, 0};
    struct nf_world *w = *state;
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP), dump = st_nfsock_open(0, &err);
    struct st_ct_flow flow = {0};
    struct sockaddr_storage to;
    socklen_t len = nf_address(OUTER4, 0, &to);
    struct nf_asked asked;

    must(dump);
    assert_int_equal(sendto(fd, echo, sizeof(echo), 0, (void *)&to, len), sizeof(echo));
    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    nf_wait(fd, POLLIN);
    must(st_conntrack_dump(dump, take_echo, &flow, &err));
    assert_int_equal(flow.icmp_type, 8);
    assert_int_equal(flow.icmp_id, 0x1234);
    assert_int_equal(flow.bytes[0], 28);
    must(st_conntrack_forget(dump, &flow, &err));
    close(fd);
    close(dump);
}

/* All at once, while nobody reads. */
static void none_of_many_is_lost(void **state)
{
    struct nf_world *w = *state;
    int listening = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_STREAM, true});
    int news = st_conntrack_open(&err);
    struct heard h = {0};

    must(news);
    open_to(w, OUTER4, IPPROTO_TCP);
    for (int i = 0; i < MANY; i++) {
        int fd = nf_connect(OUTER4, PORT, SOCK_STREAM), peer;

        assert_int_equal(nf_connected(fd), 0);
        assert_int_equal(send(fd, "hello", 5, 0), 5);
        nf_wait(listening, POLLIN);
        peer = accept(listening, NULL, NULL);
        close(fd);
        close(peer);
    }
    forget_all(&h);
    read_until(news, &h, &h.ended, MANY);
    assert_int_equal(h.begun, MANY);
    assert_int_equal(h.ended, MANY);
    assert_int_equal(h.uncounted, 0);
    assert_true(nf_nothing_asked(w));
    close(listening);
    close(news);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, enforce, release)
    const struct CMUnitTest tests[] = {
        TEST(a_flow_is_told_of),
        TEST(a_flow_over_ipv6_is_told_of),
        TEST(an_echo_is_told_of),
        TEST(none_of_many_is_lost),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
