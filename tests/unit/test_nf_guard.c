/* What packet sockets write does not leave, and what they read tells no secret. */
#include "nf_support.h"

#include "sensors/netfilter/links.h"
#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/nfsock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netfilter.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_RCVMARK
#define SO_RCVMARK 75
#endif
#ifndef PACKET_QDISC_BYPASS
#define PACKET_QDISC_BYPASS 20
#endif

#define PORT 8081

static struct st_error err;

static void must(int rc)
{
    if (rc < 0)
        fail_msg("%s", err.msg);
}

static int enforce(void **state)
{
    struct nf_world *w = *state;

    nf_enforce(w);
    must(st_ruleset_guard(&w->rules, "in0", &err));
    return 0;
}

static int release(void **state)
{
    nf_release(*state);
    return 0;
}

/* ---- frames ---- */

static uint16_t sum(const uint8_t *bytes, size_t n)
{
    uint32_t total = 0;

    for (size_t i = 0; i + 1 < n; i += 2)
        total += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return (uint16_t)~total;
}

/* UDP over IPv4 in Ethernet; without a checksum of UDP. Returns the length. */
static size_t udp_frame(uint8_t *f, const uint8_t *to, const char *src, const char *dst, uint16_t port)
{
    static const uint8_t head[] = {0x08, 0x00, 0x45, 0, 0, 29, 0, 1, 0, 0, 64, IPPROTO_UDP, 0, 0};

    memset(f, 0, 64);
    memcpy(f, to, 6);
    memcpy(f + 12, head, sizeof(head));
    assert_int_equal(inet_pton(AF_INET, src, f + 26), 1);
    assert_int_equal(inet_pton(AF_INET, dst, f + 30), 1);
    f[24] = (uint8_t)(sum(f + 14, 20) >> 8);
    f[25] = (uint8_t)(sum(f + 14, 20) & 0xff);
    f[34] = 0x23;
    f[36] = (uint8_t)(port >> 8);
    f[37] = (uint8_t)port;
    f[39] = 9;
    f[42] = 'x';
    return 43;
}

static int packet_socket(const char *device, uint16_t protocol)
{
    struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = (int)if_nametoindex(device)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (void *)&at, sizeof(at)), 0);
    return fd;
}

static void mac_outside(struct nf_world *w, uint8_t mac[6])
{
    FILE *f;

    nf_run_outside(w, "ip -o link show out0 | sed 's/.*ether \\([^ ]*\\).*/\\1/' >mac.nf");
    f = fopen("mac.nf", "re");
    assert_non_null(f);
    for (int i = 0; i < 6; i++) {
        unsigned byte;

        assert_int_equal(fscanf(f, i ? ":%x" : "%x", &byte), 1);
        mac[i] = (uint8_t)byte;
    }
    fclose(f);
    unlink("mac.nf");
}

/* Whatever was sent before it has arrived, or never will, when this has. */
static void a_marker_arrives(struct nf_world *w, int heard)
{
    int fd = nf_connect(OUTER4, PORT, SOCK_DGRAM);
    struct nf_asked asked;
    char byte;

    assert_int_equal(send(fd, "M", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    nf_wait(heard, POLLIN);
    assert_int_equal(recv(heard, &byte, 1, 0), 1);
    assert_int_equal(byte, 'M');
    close(fd);
}

/* ---- tests ---- */

static void a_frame_of_a_packet_socket_does_not_leave(void **state)
{
    struct nf_world *w = *state;
    int heard = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_DGRAM, true});
    uint32_t marks[] = {0, ST_MARK_OPEN};
    uint8_t mac[6], frame[64];
    size_t n;

    mac_outside(w, mac);
    n = udp_frame(frame, mac, INNER4, OUTER4, PORT);
    for (size_t i = 0; i < 2 * N_OF(marks); i++) {
        int fd = packet_socket("in0", 0), direct = i >= N_OF(marks);
        uint32_t mark = marks[i % N_OF(marks)];

        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)), 0);
        assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &direct, sizeof(direct)), 0);
        (void)send(fd, frame, n, 0);
        close(fd);
        a_marker_arrives(w, heard);
    }
    close(heard);
}

static void it_would_leave_without_us(void **state)
{
    struct nf_world *w = *state;
    int heard = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_DGRAM, true}), fd;
    uint8_t mac[6], frame[64];
    size_t n;
    char byte;

    mac_outside(w, mac);
    n = udp_frame(frame, mac, INNER4, OUTER4, PORT);
    fd = packet_socket("in0", 0);
    assert_int_equal(send(fd, frame, n, 0), n);
    nf_wait(heard, POLLIN);
    assert_int_equal(recv(heard, &byte, 1, 0), 1);
    close(fd);
    close(heard);
}

static void a_datagram_in_pieces_leaves(void **state)
{
    static const char *const to[] = {OUTER4, OUTER6};
    struct nf_world *w = *state;
    static char big[5000];

    for (size_t i = 0; i < N_OF(to); i++) {
        int heard = nf_socket(w, &(struct nf_socket){to[i], PORT, SOCK_DGRAM, true});
        int fd = nf_connect(to[i], PORT, SOCK_DGRAM);
        struct nf_asked asked;

        assert_int_equal(send(fd, big, sizeof(big), 0), sizeof(big));
        nf_asked(w, &asked);
        assert_true(asked.packet.whole);
        nf_say(w, &asked, true, ST_MARK_OPEN);
        nf_wait(heard, POLLIN);
        assert_int_equal(recv(heard, big, sizeof(big), 0), sizeof(big));
        close(fd);
        close(heard);
    }
}

/* It says that it is ARP, and is not; or it is, and carries more than it should. */
static void what_is_only_said_to_be_arp_does_not_leave(void **state)
{
    struct nf_world *w = *state;
    int heard = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_DGRAM, true}), fd;
    uint8_t mac[6], frame[64];
    size_t n;

    mac_outside(w, mac);
    n = udp_frame(frame, mac, INNER4, OUTER4, PORT);
    fd = packet_socket("in0", ETH_P_ARP);
    (void)send(fd, frame, n, 0);
    a_marker_arrives(w, heard);
    close(fd);
    close(heard);
}

struct logged {
    unsigned n;
    uint32_t outdev, last;
    uint8_t first;
};

static void take_log(void *ctx, const struct st_nflog_frame *frame)
{
    struct logged *l = ctx;

    assert_int_equal(frame->seq, l->n++);
    l->outdev = frame->outdev;
    l->first = frame->len ? frame->bytes[0] : 0;
}

static void what_a_guard_drops_is_logged_one_by_one(void **state)
{
    struct nf_world *w = *state;
    struct logged logged = {0};
    uint8_t frame[64], mac[6] = {2};
    size_t n = udp_frame(frame, mac, INNER4, OUTER4, PORT);
    int log = st_nfsock_open(ST_NFLOG_BUFFER, &err), fd = packet_socket("in0", 0);

    must(log);
    must(st_nflog_bind(log, ST_NFLOG_GROUP, &err));
    assert_true(w->rules.log);
    for (int i = 0; i < 200; i++)
        (void)send(fd, frame, n, 0);
    while (logged.n < 200) {
        nf_wait(log, POLLIN);
        assert_true(st_nflog_read(log, 1000, take_log, &logged) > 0);
    }
    assert_int_equal(logged.outdev, if_nametoindex("in0"));
    close(log);
    close(fd);
}

/* Reads all that is there; returns how many bore the stamp. */
static unsigned read_stamps(int fd, unsigned *seen)
{
    unsigned stamped = 0;

    for (;;) {
        _Alignas(struct cmsghdr) char control[256];
        char bytes[2048];
        struct iovec part = {bytes, sizeof(bytes)};
        struct msghdr m = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};

        if (recvmsg(fd, &m, 0) < 0)
            return stamped;
        ++*seen;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
            uint32_t mark;

            if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_MARK)
                continue;
            memcpy(&mark, CMSG_DATA(c), sizeof(mark));
            stamped += mark == STAMP;
        }
    }
}

/* Before Linux 5.19 nobody can ask. */
static bool ask_for_marks(int fd)
{
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVMARK, &on, sizeof(on)) == 0)
        return true;
    assert_int_equal(errno, ENOPROTOOPT);
    return false;
}

/* Sends one to there, and lets it go, and its copy come in. */
static void send_one(struct nf_world *w, const char *to)
{
    struct sockaddr_storage a;
    socklen_t len = nf_address(to, PORT, &a);
    int fd = socket(a.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    struct nf_asked asked;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)), 0);
    if (a.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a)->sin6_scope_id = if_nametoindex("in0");
    assert_int_equal(sendto(fd, "x", 1, 0, (void *)&a, len), 1);
    do { /* the copy of an earlier one may still come in */
        nf_asked(w, &asked);
        nf_say(w, &asked, true, asked.packet.hook == NF_INET_LOCAL_OUT ? ST_MARK_OPEN : 0);
    } while (asked.packet.hook != NF_INET_LOCAL_OUT);
    close(fd);
}

static void no_tap_reads_the_stamp(void **state)
{
    static const char *const to[] = {OUTER4, "224.0.0.251", "10.9.0.255", OUTER6, "ff02::fb"};
    struct nf_world *w = *state;
    int tap = packet_socket("in0", ETH_P_ALL);

    if (!ask_for_marks(tap))
        return;
    for (size_t i = 0; i < N_OF(to); i++) {
        unsigned seen = 0;

        send_one(w, to[i]);
        while (seen == 0) {
            nf_wait(tap, POLLIN);
            assert_int_equal(read_stamps(tap, &seen), 0);
        }
    }
    close(tap);
}

/* What is for many comes back, as it was before a guard saw it. */
static void no_receiver_of_what_is_looped_back_reads_the_stamp(void **state)
{
    struct nf_world *w = *state;
    struct ip_mreqn group = {.imr_ifindex = (int)if_nametoindex("in0")};
    int fd = nf_socket(w, &(struct nf_socket){"0.0.0.0", PORT, SOCK_DGRAM, false});
    unsigned seen = 0;
    struct nf_asked asked;

    if (!ask_for_marks(fd))
        return;
    assert_int_equal(inet_pton(AF_INET, "224.0.0.251", &group.imr_multiaddr), 1);
    assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)), 0);
    while (!nf_nothing_asked(w)) /* IGMP */
        ;
    send_one(w, "224.0.0.251");
    send_one(w, "10.9.0.255");
    while (seen < 2) {
        struct pollfd either[] = {{fd, POLLIN, 0}, {w->queue_fd, POLLIN, 0}};

        assert_true(poll(either, 2, -1) > 0);
        if (either[1].revents) {
            nf_asked(w, &asked);
            nf_say(w, &asked, true, 0);
        }
        assert_int_equal(read_stamps(fd, &seen), 0);
    }
    close(fd);
}

/* A packet that pretends to come from outside, put on lo by the container itself, opens no way back. */
static void a_flow_pretended_on_lo_gives_no_way_out(void **state)
{
    struct nf_world *w = *state;
    int heard = nf_socket(w, &(struct nf_socket){OUTER4, 0x2300, SOCK_DGRAM, true});
    int inside = nf_socket(w, &(struct nf_socket){INNER4, PORT, SOCK_DGRAM, false});
    uint8_t frame[64], none[6] = {0};
    size_t n = udp_frame(frame, none, OUTER4, INNER4, PORT);
    int fd = packet_socket("lo", 0);
    char byte;

    nf_run("for f in all default lo in0; do echo 0 >/proc/sys/net/ipv4/conf/$f/rp_filter; done");
    assert_int_equal(send(fd, frame, n, 0), n);
    nf_wait(inside, POLLIN);
    assert_int_equal(recv(inside, &byte, 1, 0), 1);
    assert_int_equal(nf_send_to(inside, OUTER4, 0x2300, "y"), 0);
    assert_false(nf_nothing_asked(w));
    assert_int_equal(recv(heard, &byte, 1, 0), -1);
    close(fd);
    close(inside);
    close(heard);
}

/* Nor does one that is to be sent on. */
static void a_frame_on_lo_is_not_forwarded_unasked(void **state)
{
    struct nf_world *w = *state;
    int heard = nf_socket(w, &(struct nf_socket){OUTER4, PORT, SOCK_DGRAM, true});
    uint8_t frame[64], none[6] = {0};
    size_t n = udp_frame(frame, none, "10.9.0.77", OUTER4, PORT);
    int fd = packet_socket("lo", 0);
    struct nf_asked asked;
    char byte;

    nf_run("echo 1 >/proc/sys/net/ipv4/ip_forward; "
           "for f in all default lo in0; do echo 0 >/proc/sys/net/ipv4/conf/$f/rp_filter; done");
    assert_int_equal(send(fd, frame, n, 0), n);
    nf_asked(w, &asked);
    assert_int_equal(asked.packet.hook, NF_INET_FORWARD);
    assert_int_equal(asked.packet.indev, 1);
    nf_say(w, &asked, true, ST_MARK_REFUSED);
    a_marker_arrives(w, heard);
    assert_int_equal(recv(heard, &byte, 1, 0), -1);
    nf_run("echo 0 >/proc/sys/net/ipv4/ip_forward");
    close(fd);
    close(heard);
}

/* ---- devices ---- */

struct devices {
    struct st_device links[8];
    size_t n;
};

static void take_link(void *ctx, const struct st_device *link)
{
    struct devices *d = ctx;

    if (d->n < N_OF(d->links))
        d->links[d->n++] = *link;
}

static const struct st_device *wait_for(int fd, struct devices *d, const char *name, bool gone)
{
    for (;;) {
        for (size_t i = 0; i < d->n; i++)
            if (strcmp(d->links[i].name, name) == 0 && d->links[i].gone == gone)
                return &d->links[i];
        d->n = 0;
        nf_wait(fd, POLLIN);
        assert_true(st_links_read(fd, take_link, d) >= 0);
    }
}

static void devices_are_told_of_and_can_be_guarded_as_they_come(void **state)
{
    struct nf_world *w = *state;
    struct devices d = {0};
    int fd = st_links_open(&err);

    must(fd);
    assert_true(wait_for(fd, &d, "lo", false)->loopback);
    assert_true(wait_for(fd, &d, "in0", false)->up);
    nf_run("ip link add new0 type veth peer name new1");
    assert_false(wait_for(fd, &d, "new0", false)->up);
    must(st_ruleset_guard(&w->rules, "new0", &err));
    must(st_ruleset_guard(&w->rules, "new0", &err));
    nf_run("test $(nft list chain netdev sandtrace guard_new0 | grep -c drop\\$) = 1");
    nf_run("ip link delete new0");
    wait_for(fd, &d, "new0", true);
    nf_run("ip link add new0 type veth peer name new1");
    must(st_ruleset_guard(&w->rules, "new0", &err));
    nf_run("ip link delete new0");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_would_leave_without_us),
#define GUARDED(test) cmocka_unit_test_setup_teardown(test, enforce, release)
        GUARDED(a_frame_of_a_packet_socket_does_not_leave),
        GUARDED(a_datagram_in_pieces_leaves),
        GUARDED(what_is_only_said_to_be_arp_does_not_leave),
        GUARDED(what_a_guard_drops_is_logged_one_by_one),
        GUARDED(no_tap_reads_the_stamp),
        GUARDED(no_receiver_of_what_is_looped_back_reads_the_stamp),
        GUARDED(a_flow_pretended_on_lo_gives_no_way_out),
        GUARDED(a_frame_on_lo_is_not_forwarded_unasked),
        GUARDED(devices_are_told_of_and_can_be_guarded_as_they_come),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
