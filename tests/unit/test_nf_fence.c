/* The fence at the other end of a cable: nothing passes but what was opened, whatever is sent within. The
 * test lives in the inner namespace, where no rule of ours is; the fence lies in the outer one. */
#include "nf_support.h"

#include "sensors/netfilter/fence.h"
#include "sensors/netfilter/nfsock.h"
#include "sensors/netfilter/nsid.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OPEN 7001   /* a port that is open in every test */
#define CLOSED 7002 /* one that never is */
#define NS 42

struct fenced {
    struct nf_world *w;
    struct st_fence fence;
    int fd, open4, open6;
};

static struct st_error err;
static struct fenced fenced;

static void must(int rc)
{
    if (rc < 0)
        fail_msg("%s", err.msg);
}

static struct st_addr address(const char *text)
{
    struct st_addr a;

    assert_true(st_addr_parse(st_str(text), &a));
    return a;
}

static void open_to(const char *addr, uint8_t protocol, uint16_t port)
{
    const struct st_addr to = address(addr);

    must(st_fence_open(&fenced.fence, &to, protocol, port, &err));
}

static int build(void *ctx, struct st_error *e)
{
    (void)ctx;
    fenced.fd = st_nfsock_open(0, e);
    if (fenced.fd < 0 || st_fence_install(&fenced.fence, fenced.fd, NS, false, e) < 0)
        return -e->errnum;
    return st_fence_guard(&fenced.fence, "out0", 2, e);
}

static int put_up(void **state)
{
    fenced = (struct fenced){.w = *state};
    must(st_netns_visit(fenced.w->outer, build, NULL, &err));
    fenced.open4 = nf_socket(fenced.w, &(struct nf_socket){OUTER4, OPEN, SOCK_DGRAM, true});
    fenced.open6 = nf_socket(fenced.w, &(struct nf_socket){OUTER6, OPEN, SOCK_DGRAM, true});
    open_to(OUTER4, IPPROTO_UDP, OPEN);
    open_to(OUTER6, IPPROTO_UDP, OPEN);
    return 0;
}

static int take_down(void **state)
{
    (void)state;
    must(st_fence_remove(&fenced.fence, &err));
    nf_run_outside(fenced.w, "! nft list tables | grep sandtrace");
    close(fenced.fd);
    close(fenced.open4);
    close(fenced.open6);
    return 0;
}

static void send_text(const char *addr, uint16_t port, const char *text)
{
    int fd = nf_connect(addr, port, SOCK_DGRAM);

    nf_send_to(fd, addr, port, text);
    close(fd);
}

/* What was sent before has arrived by now, or never will. */
static void all_is_there(bool six)
{
    char byte;
    int fd = six ? fenced.open6 : fenced.open4;

    while (recv(fd, &byte, 1, MSG_DONTWAIT) == 1)
        continue;
    send_text(six ? OUTER6 : OUTER4, OPEN, "m");
    nf_wait(fd, POLLIN);
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
}

static void only_what_is_open_passes(void **state)
{
    static const char *const addrs[] = {OUTER4, OUTER6};
    struct nf_world *w = *state;
    char byte;

    for (int six = 0; six < 2; six++) {
        int closed = nf_socket(w, &(struct nf_socket){addrs[six], CLOSED, SOCK_DGRAM, true});

        send_text(addrs[six], CLOSED, "x");
        all_is_there(six);
        assert_int_equal(recv(closed, &byte, 1, 0), -1);
        open_to(addrs[six], IPPROTO_TCP, CLOSED); /* by another protocol */
        send_text(addrs[six], CLOSED, "x");
        all_is_there(six);
        assert_int_equal(recv(closed, &byte, 1, 0), -1);
        open_to(addrs[six], IPPROTO_UDP, CLOSED);
        open_to(addrs[six], IPPROTO_UDP, CLOSED);
        send_text(addrs[six], CLOSED, "x");
        nf_wait(closed, POLLIN);
        assert_int_equal(recv(closed, &byte, 1, 0), 1);
        must(st_fence_close_all(&fenced.fence, &err));
        open_to(OUTER4, IPPROTO_UDP, OPEN);
        open_to(OUTER6, IPPROTO_UDP, OPEN);
        send_text(addrs[six], CLOSED, "x");
        all_is_there(six);
        assert_int_equal(recv(closed, &byte, 1, 0), -1);
        close(closed);
    }
}

/* A packet of this protocol by hand; ours has no ports. */
static void send_raw(const char *addr, int protocol)
{
    struct sockaddr_storage to;
    socklen_t len = nf_address(addr, 0, &to);
    int fd = socket(to.ss_family, SOCK_RAW | SOCK_CLOEXEC, protocol);

    ((struct sockaddr_in *)&to)->sin_port = 0;
    assert_true(fd >= 0);
    assert_int_equal(sendto(fd, "raw", 3, 0, (struct sockaddr *)&to, len), 3);
    close(fd);
}

static int raw_socket(void *ctx, struct st_error *e)
{
    (void)e;
    return socket(*(int *)ctx, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 253);
}

static void protocols_without_ports_are_opened_by_address(void **state)
{
    static const char *const addrs[] = {OUTER4, OUTER6};
    int families[] = {AF_INET, AF_INET6};
    struct nf_world *w = *state;
    char room[64];

    for (int six = 0; six < 2; six++) {
        int heard = st_netns_visit(w->outer, raw_socket, &families[six], &err);

        assert_true(heard >= 0);
        open_to(addrs[six], 252, 0);
        send_raw(addrs[six], 253);
        all_is_there(six);
        assert_int_equal(recv(heard, room, sizeof(room), 0), -1);
        open_to(addrs[six], 253, 0);
        send_raw(addrs[six], 253);
        nf_wait(heard, POLLIN);
        assert_true(recv(heard, room, sizeof(room), 0) >= 3);
        close(heard);
    }
}

/* Only those that were accepted get answers, and only where they have come by the cable. */
static void callers_get_answers_once_they_are_accepted(void **state)
{
    struct nf_world *w = *state;
    int inside = nf_socket(w, &(struct nf_socket){INNER4, 80, SOCK_DGRAM, false});
    int caller = nf_socket(w, &(struct nf_socket){OUTER4, 5000, SOCK_DGRAM, true});
    int silent = nf_socket(w, &(struct nf_socket){OUTER4, 5001, SOCK_DGRAM, true});
    const struct st_addr from = address(OUTER4);
    char byte;

    assert_int_equal(nf_send_to(caller, INNER4, 80, "c"), 0);
    nf_wait(inside, POLLIN);
    assert_int_equal(recv(inside, &byte, 1, 0), 1);
    nf_send_to(inside, OUTER4, 5000, "a");
    all_is_there(false);
    assert_int_equal(recv(caller, &byte, 1, 0), -1);
    must(st_fence_accept(&fenced.fence, &from, IPPROTO_UDP, 5000, 80, &err));
    must(st_fence_accept(&fenced.fence, &from, IPPROTO_UDP, 5001, 80, &err)); /* who has not called */
    nf_send_to(inside, OUTER4, 5000, "a");
    nf_send_to(inside, OUTER4, 5001, "a");
    nf_wait(caller, POLLIN);
    assert_int_equal(recv(caller, &byte, 1, 0), 1);
    all_is_there(false);
    assert_int_equal(recv(silent, &byte, 1, 0), -1);
    assert_int_equal(st_fence_accept(&fenced.fence, &from, IPPROTO_ICMP, 0, 0, &err), -EOPNOTSUPP);
    err = (struct st_error){0};
    close(inside);
    close(caller);
    close(silent);
}

static struct st_fence_query query_of(const char *to, uint8_t len, uint8_t id, char filling)
{
    struct st_fence_query q = {.to = address(to), .len = len};

    memset(q.bytes, filling, len);
    q.bytes[0] = 0;
    q.bytes[1] = id;
    return q;
}

static void ask(const struct st_fence_query *q, size_t len)
{
    int fd = nf_connect(q->to.family == 4 ? OUTER4 : OUTER6, 53, SOCK_DGRAM);

    assert_int_equal(send(fd, q->bytes, len, 0), (ssize_t)len);
    close(fd);
}

static void exactly_the_message_that_was_judged_passes(void **state)
{
    static const uint8_t lens[] = {17, 40, 41, 64, 79, 80, 81, 123, 160, 161, 199, 200};
    static const char *const addrs[] = {OUTER4, OUTER6};
    uint8_t room[512];

    for (int six = 0; six < 2; six++) {
        int server = nf_socket(*state, &(struct nf_socket){addrs[six], 53, SOCK_DGRAM, true});

        for (size_t i = 0; i < sizeof(lens); i++) {
            struct st_fence_query q = query_of(addrs[six], lens[i], 1, 'a'), other = q;

            ask(&q, q.len);
            all_is_there(six);
            assert_int_equal(recv(server, room, sizeof(room), 0), -1);
            must(st_fence_query(&fenced.fence, &q, &err));
            for (size_t at = 0; at < q.len; at++) { /* any other byte, and it is another message */
                other.bytes[at] ^= 1;
                ask(&other, q.len);
                other.bytes[at] ^= 1;
            }
            ask(&q, (size_t)q.len - 1);
            all_is_there(six);
            assert_int_equal(recv(server, room, sizeof(room), 0), -1);
            ask(&q, q.len);
            nf_wait(server, POLLIN);
            assert_int_equal(recv(server, room, sizeof(room), 0), q.len);
            assert_memory_equal(room, q.bytes, q.len);
        }
        close(server);
    }
}

static void pieces_of_two_messages_make_no_third(void **state)
{
    struct nf_world *w = *state;
    int server = nf_socket(w, &(struct nf_socket){OUTER4, 53, SOCK_DGRAM, true});
    struct st_fence_query a = query_of(OUTER4, 90, 7, 'a'), b = query_of(OUTER4, 90, 7, 'b'), mixed = a;
    uint8_t room[512];

    memcpy(mixed.bytes + 40, b.bytes + 40, 50);
    must(st_fence_query(&fenced.fence, &a, &err));
    must(st_fence_query(&fenced.fence, &b, &err));
    ask(&mixed, mixed.len);
    ask(&a, a.len); /* its place is taken */
    all_is_there(false);
    assert_int_equal(recv(server, room, sizeof(room), 0), -1);
    ask(&b, b.len);
    nf_wait(server, POLLIN);
    assert_int_equal(recv(server, room, sizeof(room), 0), b.len);
    /* As many as one likes, one after the other. */
    for (unsigned i = 0; i < 3 * ST_FENCE_QUERIES; i++) {
        a = query_of(OUTER4, 60, (uint8_t)i, (char)('a' + i % 20));
        must(st_fence_query(&fenced.fence, &a, &err));
    }
    ask(&a, a.len);
    nf_wait(server, POLLIN);
    assert_int_equal(recv(server, room, sizeof(room), 0), a.len);
    a.len = ST_FENCE_QUERY_MAX + 1;
    assert_int_equal(st_fence_query(&fenced.fence, &a, &err), -EMSGSIZE);
    err = (struct st_error){0};
    close(server);
}

static void cut_it_lets_nothing_by_until_it_is_renewed(void **state)
{
    char byte;

    (void)state;
    all_is_there(false);
    must(st_fence_cut(&fenced.fence, &err));
    for (int i = 0; i < 3; i++)
        send_text(OUTER4, OPEN, "x");
    must(st_fence_renew(&fenced.fence, &err));
    all_is_there(false);
    assert_int_equal(recv(fenced.open4, &byte, 1, 0), -1);
}

static void a_renamed_device_is_guarded_again(void **state)
{
    struct nf_world *w = *state;
    int closed = nf_socket(w, &(struct nf_socket){OUTER4, CLOSED, SOCK_DGRAM, true});
    char byte;

    nf_run_outside(w, "ip link set out0 down && ip link set out0 name out1");
    must(st_fence_guard(&fenced.fence, "out1", 2, &err));
    nf_run_outside(w, "ip link set out1 up");
    send_text(OUTER4, CLOSED, "x");
    all_is_there(false);
    assert_int_equal(recv(closed, &byte, 1, 0), -1);
    nf_run_outside(
        w, "ip link set out1 down && ip link set out1 name out0 && ip link set out0 up && ip addr add " OUTER6
           "/64 dev out0 nodad");
    close(closed);
}

static void a_second_fence_takes_the_place_of_one_that_was_left(void **state)
{
    (void)state;
    close(fenced.fd); /* who owned it is gone, and it stays */
    nf_run_outside(fenced.w, "nft list tables | grep -qx 'table netdev sandtrace_42'");
    must(st_netns_visit(fenced.w->outer, build, NULL, &err));
    open_to(OUTER4, IPPROTO_UDP, OPEN);
    all_is_there(false);
}

/* ---- who is at the other end ---- */

struct found {
    struct st_device cable;
};

static void find(void *ctx, const struct st_device *d)
{
    struct found *f = ctx;

    if (strcmp(d->kind, "veth") == 0)
        f->cable = *d;
}

static int look_from_outside(void *ctx, struct st_error *e)
{
    int links = st_links_open(e), asked = st_nsid_open(e), id = -2;
    const int *inner = ctx;
    struct found f = {0};

    assert_true(links >= 0 && asked >= 0);
    assert_true(st_links_read(links, find, &f) > 0);
    assert_int_equal(st_nsid_of(asked, *inner, &id, e), 0);
    assert_string_equal(f.cable.name, "out0");
    assert_true(id >= 0);
    assert_int_equal(f.cable.other_ns, id);
    close(links);
    close(asked);
    return 0;
}

static void the_other_end_of_a_cable_is_found(void **state)
{
    struct nf_world *w = *state;
    int links = st_links_open(&err), asked = st_nsid_open(&err), id = -2;
    int inner = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    struct found f = {0};

    assert_true(links >= 0 && asked >= 0 && inner >= 0);
    assert_true(st_links_read(links, find, &f) > 0);
    must(st_nsid_of(asked, w->outer, &id, &err));
    assert_int_equal(f.cable.other_ns, id);
    assert_true(id >= 0 && f.cable.other > 0);
    assert_null(st_nsid_fault(&f.cable, id, true));
    must(st_nsid_of(asked, inner, &id, &err)); /* of itself it knows nothing */
    assert_int_equal(id, -1);
    must(st_netns_visit(w->outer, look_from_outside, &inner, &err));
    close(links);
    close(asked);
    close(inner);
}

static void devices_that_can_not_be_held_are_known(void **state)
{
    static const struct {
        struct st_device device;
        bool at_first, later; /* fine */
    } rows[] = {
        {{.kind = "veth", .other_ns = 0}, true, true},
        {{.kind = "veth", .other_ns = 3}, false, true},
        {{.kind = "veth", .other_ns = -1}, true, true},
        {{.kind = "macvlan", .other_ns = 0}, false, false},
        {{.kind = "ipvlan", .other_ns = 0}, false, false},
        {{.kind = "macvlan", .other_ns = -1}, false, true},
        {{.kind = "sit", .other_ns = -1}, true, true},
        {{.kind = "sit", .other_ns = 0}, false, false},
        {{.kind = "tun", .other_ns = -1}, false, true},
        {{.kind = "wireguard", .other_ns = -1}, false, true},
        {{.kind = "", .other_ns = -1}, false, false},
        {{.kind = "", .other_ns = -1, .loopback = true}, true, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(!st_nsid_fault(&rows[i].device, 0, true), rows[i].at_first);
        assert_int_equal(!st_nsid_fault(&rows[i].device, 0, false), rows[i].later);
    }
    /* Nothing leads there yet. */
    assert_non_null(st_nsid_fault(&rows[0].device, -1, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_end_of_a_cable_is_found),
        cmocka_unit_test(devices_that_can_not_be_held_are_known),
        cmocka_unit_test_setup_teardown(only_what_is_open_passes, put_up, take_down),
        cmocka_unit_test_setup_teardown(protocols_without_ports_are_opened_by_address, put_up, take_down),
        cmocka_unit_test_setup_teardown(callers_get_answers_once_they_are_accepted, put_up, take_down),
        cmocka_unit_test_setup_teardown(exactly_the_message_that_was_judged_passes, put_up, take_down),
        cmocka_unit_test_setup_teardown(pieces_of_two_messages_make_no_third, put_up, take_down),
        cmocka_unit_test_setup_teardown(cut_it_lets_nothing_by_until_it_is_renewed, put_up, take_down),
        cmocka_unit_test_setup_teardown(a_second_fence_takes_the_place_of_one_that_was_left, put_up,
                                        take_down),
        cmocka_unit_test_setup_teardown(a_renamed_device_is_guarded_again, put_up, take_down),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
