/* The rules of one control group: what its sockets send and take in is asked about; nobody else meets them.
 */
#include "nf_support.h"

#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/nfsock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netfilter.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PORT 8083
#define MARKED_PORT 8084 /* of one flow each */
#define INNER_PORT 8085
#define BEGAN(mark) ((uint32_t)(mark) << 26)
#define CAME(mark) ((uint32_t)(mark) << 29)

static struct st_error err;

/* ---- a group of our own, in which sockets can be made ---- */

struct group {
    char dir[512], home[512]; /* the group; where we are else */
};

static const char *hierarchy(void)
{
    struct statfs fs;

    if (statfs("/sys/fs/cgroup/unified", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
        return "/sys/fs/cgroup/unified";
    assert_int_equal(statfs("/sys/fs/cgroup", &fs), 0);
    assert_true(fs.f_type == CGROUP2_SUPER_MAGIC);
    return "/sys/fs/cgroup";
}

static struct group *group_of(void)
{
    static struct group g;

    return &g;
}

static void move_to(const char *dir)
{
    char path[640];
    int fd;

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1)
        fail_msg("%s: %s", path, strerror(errno));
    close(fd);
}

static void make_group(struct group *g)
{
    char line[256], path[256] = "";
    FILE *f = fopen("/proc/self/cgroup", "re");

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(path, sizeof(path), "%s", line + 3);
    fclose(f);
    path[strcspn(path, "\n")] = '\0';
    snprintf(g->home, sizeof(g->home), "%s%s", hierarchy(), strcmp(path, "/") == 0 ? "" : path);
    snprintf(g->dir, sizeof(g->dir), "%s/st-unit-%d", hierarchy(), (int)getpid());
    if (mkdir(g->dir, 0755) < 0)
        fail_msg("%s: %s", g->dir, strerror(errno));
}

static int open_world(void **state)
{
    struct group *g = group_of();
    struct nf_world *w;
    struct stat sb;
    int rc = nf_world_open(state);

    make_group(g);
    assert_int_equal(stat(g->dir, &sb), 0);
    w = *state;
    w->order.group = (struct st_ruleset_group){1, sb.st_ino};
    w->order.table = "sandtrace-one";
    return rc;
}

static int close_world(void **state)
{
    rmdir(group_of()->dir);
    return nf_world_close(state);
}

static int enforce(void **state)
{
    nf_enforce(*state);
    return 0;
}

static int release(void **state)
{
    nf_release(*state);
    nf_run("! nft list tables | grep sandtrace");
    return 0;
}

/* A socket that was made in the group, where we stay no longer. */
static int connect_in_group(const char *addr, uint16_t port, int type)
{
    int fd;

    move_to(group_of()->dir);
    fd = nf_connect(addr, port, type);
    move_to(group_of()->home);
    return fd;
}

static int listen_in_group(struct nf_world *w, const char *addr, int type)
{
    int fd;

    move_to(group_of()->dir);
    fd = nf_socket(w, &(struct nf_socket){addr, INNER_PORT, type, false});
    move_to(group_of()->home);
    return fd;
}

static int server(struct nf_world *w, const char *addr, int type)
{
    return nf_socket(w, &(struct nf_socket){addr, PORT, type, true});
}

static void say(struct nf_world *w, const struct nf_asked *asked, uint32_t mark)
{
    nf_say(w, asked, true, st_ruleset_verdict(&w->rules, asked->packet.ticket.mark, mark));
}

/* ---- what is pure ---- */

static void a_verdict_keeps_the_bits_of_others(void **state)
{
    const struct st_ruleset own = {0}, one = {.group = {2, 77}};
    const struct st_mark_bits *marks;
    size_t n = st_ruleset_marks_of_ours(&marks);
    uint32_t all = 0;

    (void)state;
    assert_int_equal(st_ruleset_verdict(&own, 0xffffffff, ST_MARK_NAME), ST_MARK_NAME);
    assert_int_equal(st_ruleset_verdict(&one, 0xe3ffffff, ST_MARK_NAME), 0xebffffff);
    assert_int_equal(st_ruleset_verdict(&one, 0xffffffff, ST_MARK_OPEN), 0xe7ffffff);
    assert_int_equal(st_ruleset_verdict(&one, 0x1234, 0), 0);
    for (size_t i = 0; i < n; i++)
        all |= marks[i].mask;
    assert_int_equal(all, 0xfc000000);
}

static void a_table_is_named_after_its_container(void **state)
{
    char name[ST_RULESET_NAME], other[ST_RULESET_NAME], id[1024];

    (void)state;
    st_ruleset_name("box", name);
    assert_string_equal(name, "sandtrace-box");
    memset(id, 'x', sizeof(id));
    id[245] = '\0';
    st_ruleset_name(id, name);
    assert_int_equal(strlen(name), 255);
    id[245] = 'x';
    id[1000] = '\0';
    st_ruleset_name(id, name);
    id[999] = 'y';
    st_ruleset_name(id, other);
    assert_int_equal(strlen(name), strlen("sandtrace-") + 64);
    assert_string_not_equal(name, other);
}

/* ---- what leaves ---- */

static void only_what_the_group_sends_is_asked_about(void **state)
{
    struct nf_world *w = *state;
    const char *addrs[] = {OUTER4, OUTER6};

    for (size_t i = 0; i < N_OF(addrs); i++) {
        int listening = server(w, addrs[i], SOCK_STREAM), free = nf_connect(addrs[i], PORT, SOCK_STREAM), fd;
        struct nf_asked asked;

        assert_int_equal(nf_connected(free), 0);
        assert_true(nf_nothing_asked(w));
        close(free);
        fd = connect_in_group(addrs[i], PORT, SOCK_STREAM);
        nf_asked(w, &asked);
        assert_int_equal(asked.packet.hook, NF_INET_LOCAL_OUT);
        say(w, &asked, ST_MARK_OPEN);
        assert_int_equal(nf_connected(fd), 0);
        assert_int_equal(send(fd, "hello", 5, 0), 5);
        assert_true(nf_nothing_asked(w));
        close(fd);
        close(listening);
    }
}

static void a_refusal_is_heard_by_the_group_alone(void **state)
{
    struct nf_world *w = *state;
    int listening = server(w, OUTER4, SOCK_STREAM), fd = connect_in_group(OUTER4, PORT, SOCK_STREAM), free;
    struct nf_asked asked;

    nf_asked(w, &asked);
    say(w, &asked, ST_MARK_REFUSED);
    assert_int_equal(nf_connected(fd), ECONNREFUSED);
    assert_int_equal(accept(listening, NULL, NULL), -1);
    free = nf_connect(OUTER4, PORT, SOCK_STREAM);
    assert_int_equal(nf_connected(free), 0);
    close(free);
    close(fd);
    close(listening);
}

static void a_refused_datagram_is_answered(void **state)
{
    struct nf_world *w = *state;
    int heard = server(w, OUTER4, SOCK_DGRAM), fd = connect_in_group(OUTER4, PORT, SOCK_DGRAM);
    struct nf_asked asked;
    char byte;

    assert_int_equal(send(fd, "x", 1, 0), 1);
    nf_asked(w, &asked);
    say(w, &asked, ST_MARK_REFUSED);
    nf_wait(fd, POLLIN | POLLERR);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(recv(heard, &byte, 1, 0), -1);
    close(fd);
    close(heard);
}

static void loopback_is_a_destination_like_others(void **state)
{
    struct nf_world *w = *state;
    int listening = nf_socket(w, &(struct nf_socket){"127.0.0.1", PORT, SOCK_STREAM, false});
    int free = nf_connect("127.0.0.1", PORT, SOCK_STREAM), fd;
    struct nf_asked asked;

    assert_int_equal(nf_connected(free), 0);
    assert_true(nf_nothing_asked(w));
    fd = connect_in_group("127.0.0.1", PORT, SOCK_STREAM);
    nf_asked(w, &asked);
    assert_int_equal(asked.packet.outdev, 1);
    say(w, &asked, ST_MARK_REFUSED);
    assert_int_equal(nf_connected(fd), ECONNREFUSED);
    close(fd);
    close(free);
    close(listening);
}

static void marks_of_others_stay_on_packets_and_flows(void **state)
{
    struct nf_world *w = *state;
    int listening = nf_socket(w, &(struct nf_socket){OUTER4, MARKED_PORT, SOCK_STREAM, true}), fd;
    struct nf_asked asked;

    nf_run("nft add table ip others && nft 'add chain ip others before { type filter hook output priority "
           "-150; }' && "
           "nft add rule ip others before ct state new ct mark set 0x8001 && nft add rule ip others before "
           "meta mark set 0xffffffff && "
           "nft 'add chain ip others behind { type filter hook postrouting priority 300; }' && "
           "nft add rule ip others behind meta mark 0xe3ffffff tcp dport 8084 counter");
    fd = connect_in_group(OUTER4, MARKED_PORT, SOCK_STREAM);
    nf_asked(w, &asked);
    assert_int_equal(asked.packet.ticket.mark, 0xe3ffffff); /* what was in our bits is worth nothing */
    say(w, &asked, ST_MARK_NAME);
    assert_int_equal(nf_connected(fd), 0);
    nf_run("! nft list table ip others | grep 'packets 0'");
    nf_run("nft delete table ip others");
    close(fd);
    close(listening);
    assert_int_equal(nf_mark_of(MARKED_PORT), (BEGAN(ST_MARK_NAME) | 0x8001));
}

/* ---- what comes in ---- */

static int connect_there(void *ctx, struct st_error *e)
{
    (void)e;
    return nf_connect(ctx, INNER_PORT, SOCK_STREAM);
}

static int from_outside(struct nf_world *w, const char *addr)
{
    char to[64];

    snprintf(to, sizeof(to), "%s", addr);
    return st_netns_visit(w->outer, connect_there, to, NULL);
}

static void only_who_comes_to_the_group_is_asked_about(void **state)
{
    struct nf_world *w = *state;
    int listening = listen_in_group(w, INNER4, SOCK_STREAM), fd = from_outside(w, INNER4), taken;
    struct nf_asked asked;

    nf_asked(w, &asked);
    assert_int_equal(asked.packet.hook, NF_INET_LOCAL_IN);
    say(w, &asked, ST_MARK_OPEN);
    assert_int_equal(nf_connected(fd), 0);
    nf_wait(listening, POLLIN);
    taken = accept(listening, NULL, NULL);
    assert_int_equal(send(taken, "hello", 5, 0), 5); /* the answer goes by what was said when it came */
    nf_wait(fd, POLLIN);
    assert_true(nf_nothing_asked(w));
    assert_int_equal(nf_mark_of(INNER_PORT), CAME(ST_MARK_OPEN));
    close(fd);
    close(taken);
    close(listening);
    listening = nf_socket(w, &(struct nf_socket){INNER6, INNER_PORT, SOCK_STREAM, false});
    fd = from_outside(w, INNER6);
    assert_int_equal(nf_connected(fd), 0);
    assert_true(nf_nothing_asked(w));
    close(fd);
    close(listening);
}

/* ---- when nobody judges ---- */

static void cut_off_the_group_sends_nothing_and_others_go_on(void **state)
{
    struct nf_world *w = *state;
    int heard = server(w, OUTER4, SOCK_DGRAM), fd = connect_in_group(OUTER4, PORT, SOCK_DGRAM);
    int free = nf_connect(OUTER4, PORT, SOCK_DGRAM);
    struct nf_asked asked;

    assert_int_equal(send(fd, "1", 1, 0), 1);
    nf_asked(w, &asked);
    say(w, &asked, ST_MARK_OPEN);
    assert_int_equal(send(fd, "2", 1, 0), 1);
    assert_int_equal(st_ruleset_cut(&w->rules, &err), 0);
    assert_int_equal(send(fd, "3", 1, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(send(free, "4", 1, 0), 1);
    close(fd);
    close(free);
    close(heard);
}

static void without_a_reader_only_the_group_is_stuck(void **state)
{
    struct nf_world *w = *state;
    int listening = server(w, OUTER4, SOCK_STREAM), fd, free;

    assert_int_equal(st_nfqueue_unbind(w->queue_fd, QUEUE, &err), 0);
    fd = connect_in_group(OUTER4, PORT, SOCK_STREAM);
    free = nf_connect(OUTER4, PORT, SOCK_STREAM);
    assert_int_equal(nf_connected(free), 0);
    nf_wait(listening, POLLIN);
    close(accept(listening, NULL, NULL));
    assert_int_equal(accept(listening, NULL, NULL), -1);
    close(fd);
    close(free);
    close(listening);
    assert_int_equal(st_nfqueue_bind(w->queue_fd, QUEUE, false, &err), 0);
}

/* ---- side by side ---- */

static void rules_of_two_groups_stand_beside_each_other(void **state)
{
    struct nf_world *w = *state;
    struct st_ruleset_order order = w->order;
    struct st_ruleset second;
    int fd = st_nfsock_open(0, &err), listening = server(w, OUTER4, SOCK_STREAM), free;

    order.table = "sandtrace-two";
    order.queue = QUEUE + 1;
    order.group.id += 1000000; /* nobody's */
    assert_int_equal(st_ruleset_install(&second, fd, &order, &err), 0);
    nf_run("test $(nft list tables | grep -c sandtrace) = 2");
    free = nf_connect(OUTER4, PORT, SOCK_STREAM);
    assert_int_equal(nf_connected(free), 0);
    assert_true(nf_nothing_asked(w));
    assert_int_equal(st_ruleset_close_all(&second, &err), 0);
    assert_int_equal(st_ruleset_renew(&second, &err), 0);
    assert_int_equal(st_ruleset_remove(&second, &err), 0);
    nf_run("test $(nft list tables | grep -c sandtrace) = 1");
    close(free);
    close(listening);
    close(fd);
}

static void count_one(void *ctx, const struct st_ct_flow *flow)
{
    (void)flow;
    ++*(unsigned *)ctx;
}

static void news_are_of_flows_that_may_be_ours(void **state)
{
    struct nf_world *w = *state;
    int news = st_conntrack_open(&err), heard = server(w, OUTER4, SOCK_DGRAM), fd;
    const struct st_mark_bits *marks;
    size_t n = st_ruleset_marks_of_ours(&marks);
    struct nf_asked asked;
    unsigned told = 0;

    assert_int_equal(st_conntrack_only(news, marks, n, &err), 0);
    for (int i = 0; i < 10; i++) {
        int free = nf_connect(OUTER4, PORT, SOCK_DGRAM);

        assert_int_equal(send(free, "x", 1, 0), 1);
        close(free);
    }
    assert_true(st_conntrack_read(news, 100, count_one, &told, NULL) <= 0);
    assert_int_equal(told, 0);
    fd = connect_in_group(OUTER4, PORT, SOCK_DGRAM);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    nf_asked(w, &asked);
    say(w, &asked, ST_MARK_OPEN);
    nf_wait(news, POLLIN);
    assert_int_equal(st_conntrack_read(news, 100, count_one, &told, NULL), 1);
    assert_int_equal(told, 1);
    close(fd);
    close(heard);
    close(news);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, enforce, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_keeps_the_bits_of_others),
        cmocka_unit_test(a_table_is_named_after_its_container),
        IN_PLACE(only_what_the_group_sends_is_asked_about),
        IN_PLACE(a_refusal_is_heard_by_the_group_alone),
        IN_PLACE(a_refused_datagram_is_answered),
        IN_PLACE(loopback_is_a_destination_like_others),
        IN_PLACE(marks_of_others_stay_on_packets_and_flows),
        IN_PLACE(only_who_comes_to_the_group_is_asked_about),
        IN_PLACE(cut_off_the_group_sends_nothing_and_others_go_on),
        IN_PLACE(without_a_reader_only_the_group_is_stuck),
        IN_PLACE(rules_of_two_groups_stand_beside_each_other),
        IN_PLACE(news_are_of_flows_that_may_be_ours),
    };

    return cmocka_run_group_tests(tests, open_world, close_world);
}
