/* The rules in a namespace of their own, with the kernel as the judge. */
#include "nf_support.h"

#include "sensors/netfilter/nfsock.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 8080

static struct st_error err;

static struct st_addr address(const char *text)
{
    struct st_addr addr;

    assert_true(st_addr_parse((struct st_str){text, strlen(text)}, &addr));
    return addr;
}

static int server(struct nf_world *w, const char *addr, int type)
{
    return nf_socket(w, &(struct nf_socket){addr, PORT, type, .outside = true});
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

/* ---- installing ---- */

static void rules_are_installed_again_over_those_that_were_left(void **state)
{
    struct nf_world *w = *state;
    struct st_ruleset second;
    int other = st_nfsock_open(0, &err);

    nf_enforce(w);
    print_message("owner %d, native queue %d, egress %d\n", w->rules.owner, w->rules.native_queue,
                  w->rules.egress);
    /* The socket that owns them is gone: they stay, and another one replaces them. */
    assert_true(other >= 0);
    if (w->rules.owner)
        assert_int_equal(st_ruleset_install(&second, other, &w->order, &err), -EPERM);
    close(w->rules_fd);
    nf_run("nft list table inet sandtrace >/dev/null");
    assert_int_equal(st_ruleset_install(&second, other, &w->order, &err), 0);
    assert_int_equal(st_ruleset_install(&second, other, &w->order, &err), 0);
    w->rules_fd = other;
    w->rules = second;
    nf_release(w);
    nf_run("! nft list ruleset | grep sandtrace");
}

static void what_is_not_there_is_removed_without_a_word(void **state)
{
    struct nf_world *w = *state;
    int fd = st_nfsock_open(0, &err);

    st_ruleset_adopt(&w->rules, fd, &w->order);
    assert_int_equal(st_ruleset_remove(&w->rules, &err), 0);
    close(fd);
}

/* ---- judging ---- */

static void connects_after_a_yes(struct nf_world *w, const char *addr, const char *from)
{
    int listening = server(w, addr, SOCK_STREAM), fd = nf_connect(addr, PORT, SOCK_STREAM);
    struct nf_asked asked;

    nf_asked(w, &asked);
    assert_int_equal(asked.packet.hook, NF_INET_LOCAL_OUT);
    assert_true(asked.packet.whole);
    assert_int_equal(asked.packet.uid, 0);
    assert_true(asked.packet.outdev > 1);
    assert_int_equal(asked.bytes[0] >> 4, strchr(from, ':') ? 6 : 4);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    assert_int_equal(nf_connected(fd), 0);
    assert_int_equal(nf_mark_of(PORT), ST_MARK_OPEN);
    assert_int_equal(send(fd, "hello", 5, 0), 5);
    assert_true(nf_nothing_asked(w));
    close(fd);
    close(listening);
}

static void a_flow_that_is_accepted_goes_its_way_without_another_question(void **state)
{
    connects_after_a_yes(*state, OUTER4, INNER4);
}

static void and_so_it_does_over_ipv6(void **state)
{
    connects_after_a_yes(*state, OUTER6, INNER6);
}

static void is_refused(struct nf_world *w, const char *addr)
{
    int listening = server(w, addr, SOCK_STREAM), fd = nf_connect(addr, PORT, SOCK_STREAM);
    struct nf_asked asked;

    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_REFUSED);
    assert_int_equal(nf_connected(fd), ECONNREFUSED);
    assert_int_equal(accept(listening, NULL, NULL), -1);
    assert_true(nf_nothing_asked(w));
    close(fd);
    close(listening);
}

static void a_refused_connection_is_reset_at_once(void **state)
{
    is_refused(*state, OUTER4);
    is_refused(*state, OUTER6);
}

static void a_refused_datagram_is_answered_and_the_next_one_fails(void **state)
{
    struct nf_world *w = *state;
    int heard = server(w, OUTER4, SOCK_DGRAM), fd = nf_connect(OUTER4, PORT, SOCK_DGRAM);
    struct nf_asked asked;
    char byte;

    assert_int_equal(send(fd, "x", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_REFUSED);
    nf_wait(fd, POLLIN | POLLERR);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(recv(heard, &byte, 1, 0), -1);
    close(fd);
    close(heard);
}

static void what_is_dropped_leaves_the_flow_undecided(void **state)
{
    struct nf_world *w = *state;
    int heard = server(w, OUTER4, SOCK_DGRAM), fd = nf_connect(OUTER4, PORT, SOCK_DGRAM);
    struct nf_asked asked;
    char byte;

    assert_int_equal(send(fd, "1", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, false, 0);
    assert_int_equal(send(fd, "2", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, true, 0);
    assert_int_equal(send(fd, "3", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    nf_wait(heard, POLLIN);
    assert_int_equal(recv(heard, &byte, 1, 0), 1);
    assert_int_equal(byte, '2');
    close(fd);
    close(heard);
}

static void with_a_name_to_tell_only_data_are_asked_about(void **state)
{
    struct nf_world *w = *state;
    const char *addrs[] = {OUTER4, OUTER6};

    for (size_t i = 0; i < N_OF(addrs); i++) {
        int listening = server(w, addrs[i], SOCK_STREAM), fd = nf_connect(addrs[i], PORT, SOCK_STREAM), peer;
        struct nf_asked asked;
        char room[8];

        nf_asked(w, &asked);
        nf_say(w, &asked, true, ST_MARK_NAME);
        assert_int_equal(nf_connected(fd), 0);
        nf_wait(listening, POLLIN); /* the third packet of the handshake went by itself */
        peer = accept(listening, NULL, NULL);
        assert_true(nf_nothing_asked(w));
        assert_int_equal(send(fd, "hello", 5, 0), 5);
        nf_asked(w, &asked);
        assert_memory_equal(asked.bytes + asked.packet.len - 5, "hello", 5);
        nf_say(w, &asked, true, ST_MARK_OPEN);
        nf_wait(peer, POLLIN);
        assert_int_equal(recv(peer, room, sizeof(room), 0), 5);
        assert_int_equal(send(fd, "more", 4, 0), 4);
        nf_wait(peer, POLLIN);
        assert_int_equal(recv(peer, room, sizeof(room), 0), 4);
        assert_true(nf_nothing_asked(w));
        close(fd);
        close(peer);
        close(listening);
    }
}

static void an_open_destination_needs_no_question(void **state)
{
    struct nf_world *w = *state;
    const char *addrs[] = {OUTER4, OUTER6};

    for (size_t i = 0; i < N_OF(addrs); i++) {
        struct st_addr to = address(addrs[i]);
        int listening = server(w, addrs[i], SOCK_STREAM), fd;
        struct nf_asked asked;

        assert_int_equal(st_ruleset_open(&w->rules, &to, IPPROTO_TCP, PORT, 60000, &err), 0);
        assert_int_equal(st_ruleset_open(&w->rules, &to, IPPROTO_TCP, PORT, 60000, &err), 0);
        fd = nf_connect(addrs[i], PORT, SOCK_STREAM);
        assert_int_equal(nf_connected(fd), 0);
        assert_int_equal(nf_mark_of(PORT), ST_MARK_OPEN);
        assert_true(nf_nothing_asked(w));
        close(fd);
        assert_int_equal(st_ruleset_close_all(&w->rules, &err), 0);
        fd = nf_connect(addrs[i], PORT, SOCK_STREAM);
        nf_asked(w, &asked);
        nf_say(w, &asked, true, ST_MARK_REFUSED);
        assert_int_equal(nf_connected(fd), ECONNREFUSED);
        close(fd);
        close(listening);
    }
}

static void a_destination_is_open_for_its_time_from_the_last_word_on(void **state)
{
    struct nf_world *w = *state;
    struct st_addr to = address(OUTER4);
    int heard = server(w, OUTER4, SOCK_DGRAM), fd;

    /* A second word with a longer time counts. */
    assert_int_equal(st_ruleset_open(&w->rules, &to, IPPROTO_UDP, PORT, 1, &err), 0);
    assert_int_equal(st_ruleset_open(&w->rules, &to, IPPROTO_UDP, PORT, 0, &err), 0);
    nf_run("nft list set inet sandtrace open4 | grep -q 'udp . 8080' && "
           "! nft list set inet sandtrace open4 | grep expires");
    assert_int_equal(st_ruleset_open(&w->rules, &to, IPPROTO_UDP, PORT, 30, &err), 0);
    nf_run("while nft list set inet sandtrace open4 | grep -q 8080; do :; done");
    fd = nf_connect(OUTER4, PORT, SOCK_DGRAM);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    assert_false(nf_nothing_asked(w));
    close(fd);
    close(heard);
}

/* ---- ways around ---- */

static void a_mark_of_the_sender_is_worth_nothing(void **state)
{
    struct nf_world *w = *state;
    uint32_t marks[] = {ST_MARK_OPEN, STAMP};
    int heard = server(w, OUTER4, SOCK_DGRAM);
    char byte;

    for (size_t i = 0; i < N_OF(marks); i++) {
        int fd = nf_connect(OUTER4, PORT, SOCK_DGRAM);

        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_MARK, &marks[i], sizeof(marks[i])), 0);
        assert_int_equal(send(fd, "x", 1, 0), 1);
        assert_false(nf_nothing_asked(w));
        assert_int_equal(recv(heard, &byte, 1, 0), -1);
        close(fd);
    }
    close(heard);
}

static void a_flow_from_outside_is_asked_about_and_its_answers_go(void **state)
{
    struct nf_world *w = *state;
    int inside = nf_socket(w, &(struct nf_socket){INNER4, PORT, SOCK_DGRAM, false});
    int outside = nf_socket(w, &(struct nf_socket){OUTER4, 9090, SOCK_DGRAM, true});
    struct nf_asked asked;
    char byte;

    assert_int_equal(nf_send_to(outside, INNER4, PORT, "x"), 0);
    nf_asked(w, &asked);
    assert_int_equal(asked.packet.hook, NF_INET_LOCAL_IN);
    assert_true(asked.packet.indev > 1);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    nf_wait(inside, POLLIN);
    assert_int_equal(nf_send_to(inside, OUTER4, 9090, "y"), 0);
    nf_wait(outside, POLLIN);
    assert_int_equal(recv(outside, &byte, 1, 0), 1);
    assert_true(nf_nothing_asked(w));
    close(inside);
    close(outside);
}

static void lo_is_nobodys_business(void **state)
{
    struct nf_world *w = *state;
    int listening = nf_socket(w, &(struct nf_socket){"127.0.0.1", PORT, SOCK_STREAM, false});
    int fd = nf_connect("127.0.0.1", PORT, SOCK_STREAM);

    assert_int_equal(nf_connected(fd), 0);
    assert_true(nf_nothing_asked(w));
    close(fd);
    close(listening);
}

/* ---- nobody there ---- */

static void without_a_reader_nothing_goes_and_the_next_one_finds_nothing_old(void **state)
{
    struct nf_world *w = *state;
    int heard = server(w, OUTER4, SOCK_DGRAM), fd = nf_connect(OUTER4, PORT, SOCK_DGRAM);
    int other = st_nfsock_open(ST_NFQUEUE_BUFFER, &err);
    struct nf_asked asked;
    char byte;

    assert_int_equal(send(fd, "1", 1, 0), 1); /* waits, and goes with its reader */
    assert_true(st_nfqueue_bind(other, QUEUE, false, &err) < 0);
    close(w->queue_fd);
    (void)send(fd, "2", 1, 0);
    assert_int_equal(st_nfqueue_bind(other, QUEUE, false, &err), 0);
    w->queue_fd = other;
    assert_int_equal(send(fd, "3", 1, 0), 1);
    nf_asked(w, &asked);
    assert_int_equal(asked.bytes[asked.packet.len - 1], '3');
    nf_say(w, &asked, true, ST_MARK_OPEN);
    nf_wait(heard, POLLIN);
    assert_int_equal(recv(heard, &byte, 1, 0), 1);
    assert_int_equal(byte, '3');
    close(fd);
    close(heard);
}

static int audit(void **state)
{
    struct nf_world *w = *state;

    w->order.enforce = false;
    nf_enforce(w);
    assert_int_equal(st_ruleset_guard(&w->rules, "in0", &err), 0);
    return 0;
}

static int end_audit(void **state)
{
    struct nf_world *w = *state;

    nf_release(w);
    w->order.enforce = true;
    return 0;
}

static void an_audit_asks_and_disturbs_nobody_when_it_is_gone(void **state)
{
    struct nf_world *w = *state;
    int listening = server(w, OUTER4, SOCK_STREAM), fd = nf_connect(OUTER4, PORT, SOCK_STREAM);
    struct nf_asked asked;

    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    assert_int_equal(nf_connected(fd), 0);
    close(fd);
    assert_int_equal(st_nfqueue_unbind(w->queue_fd, QUEUE, &err), 0);
    fd = nf_connect(OUTER4, PORT, SOCK_STREAM);
    assert_int_equal(nf_connected(fd), 0);
    close(fd);
    close(listening);
    assert_int_equal(st_nfqueue_bind(w->queue_fd, QUEUE, true, &err), 0);
}

/* ---- cut ---- */

static void another_process_that_holds_the_socket_cuts(void **state)
{
    struct nf_world *w = *state;
    int heard = server(w, OUTER4, SOCK_DGRAM), fd = nf_connect(OUTER4, PORT, SOCK_DGRAM), status;
    struct nf_asked asked;
    pid_t pid;

    assert_int_equal(send(fd, "x", 1, 0), 1);
    nf_asked(w, &asked);
    nf_say(w, &asked, true, ST_MARK_OPEN);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    pid = fork();
    if (pid == 0) {
        struct st_ruleset mine;

        st_ruleset_adopt(&mine, w->rules_fd, &w->order);
        _exit(st_ruleset_cut(&mine, NULL) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(send(fd, "x", 1, 0), -1); /* a flow that was open */
    assert_int_equal(errno, EPERM);
    assert_int_equal(st_ruleset_renew(&w->rules, &err), 0);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    close(fd);
    close(heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_installed_again_over_those_that_were_left),
        cmocka_unit_test(what_is_not_there_is_removed_without_a_word),
#define JUDGED(test) cmocka_unit_test_setup_teardown(test, enforce, release)
        JUDGED(a_flow_that_is_accepted_goes_its_way_without_another_question),
        JUDGED(and_so_it_does_over_ipv6),
        JUDGED(a_refused_connection_is_reset_at_once),
        JUDGED(a_refused_datagram_is_answered_and_the_next_one_fails),
        JUDGED(what_is_dropped_leaves_the_flow_undecided),
        JUDGED(with_a_name_to_tell_only_data_are_asked_about),
        JUDGED(an_open_destination_needs_no_question),
        JUDGED(a_destination_is_open_for_its_time_from_the_last_word_on),
        JUDGED(a_mark_of_the_sender_is_worth_nothing),
        JUDGED(a_flow_from_outside_is_asked_about_and_its_answers_go),
        JUDGED(lo_is_nobodys_business),
        JUDGED(without_a_reader_nothing_goes_and_the_next_one_finds_nothing_old),
        cmocka_unit_test_setup_teardown(an_audit_asks_and_disturbs_nobody_when_it_is_gone, audit, end_audit),
        JUDGED(another_process_that_holds_the_socket_cuts),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
