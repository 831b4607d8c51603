/* Whose socket a flow is, asked of the real kernel: processes in a control group and a network namespace of
 * our own hold sockets of all kinds. */
#include "sensors/sock_owner.h"
#include "sensors/sock_text.h"

#include "sockets_unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char group_path[128];
static int group, tun;
static struct st_sock_owners *owners;

/* ---- a control group, and processes in it ---- */

static void make_group(void)
{
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"};
    char procs[160];

    for (size_t i = 0; i < N_OF(tops); i++) {
        snprintf(procs, sizeof(procs), "%s/cgroup.procs", tops[i]);
        if (access(procs, W_OK) < 0)
            continue;
        snprintf(group_path, sizeof(group_path), "%s/sandtrace-unit-%d", tops[i], (int)getpid());
        if (mkdir(group_path, 0755) < 0)
            fail_msg("%s: %s", group_path, strerror(errno));
        group = open(group_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(group >= 0);
        return;
    }
    fail_msg("no control groups are mounted where they usually are");
}

static void open_owners(void)
{
    struct st_sock_tables tables;
    struct st_error err = {0};

    if (st_sock_tables_open(&tables, &err) < 0)
        fail_msg("%s", err.msg);
    owners = st_sock_owners_new(&tables);
    st_sock_owners_tell_group(owners, group);
    assert_int_equal(tables.diag, -1); /* handed over */
}

static int set_up(void **state)
{
    (void)state;
    enter_netns();
    write_file("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
    tun = make_tun_device();
    make_group();
    open_owners();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    st_sock_owners_free(owners);
    close(group);
    close(tun);
    while (rmdir(group_path) < 0) { /* the kernel takes its time over the dead */
        assert_int_equal(errno, EBUSY);
        poll(NULL, 0, 1);
    }
    return 0;
}

/* A process that holds a socket until it is ended, or we are. */
struct holder {
    pid_t pid;
    struct st_flow_tuple flow;
};

static void hold(make_socket *make, const char *procs, int out)
{
    struct st_flow_tuple flow = {0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    write_file(procs, "0");
    make(&flow);
    if (write(out, &flow, sizeof(flow)) != (ssize_t)sizeof(flow))
        _exit(1);
    for (;;)
        pause();
}

static struct holder start_in(const char *below, make_socket *make)
{
    struct holder h;
    int told[2];
    char procs[192];

    snprintf(procs, sizeof(procs), "%s%s/cgroup.procs", group_path, below);
    assert_int_equal(pipe2(told, O_CLOEXEC), 0);
    h.pid = fork();
    assert_true(h.pid >= 0);
    if (h.pid == 0)
        hold(make, procs, told[1]);
    close(told[1]);
    assert_int_equal(read(told[0], &h.flow, sizeof(h.flow)), sizeof(h.flow));
    close(told[0]);
    return h;
}

static struct holder start(make_socket *make)
{
    return start_in("", make);
}

static void end(struct holder *h)
{
    kill(h->pid, SIGKILL);
    assert_int_equal(waitpid(h->pid, NULL, 0), h->pid);
}

static void the_holder_of_a_socket_is_found(void **state)
{
    static const struct {
        const char *kind;
        make_socket *make;
        const char *why; /* NULL: nothing is uncertain */
    } cases[] = {
        {"tcp4 on its way", tcp4_on_its_way, NULL},
        {"tcp6 on its way", tcp6_on_its_way, NULL},
        {"tcp4 by a socket of ipv6", tcp4_by_a_socket_of_ipv6, NULL},
        {"udp4 connected", udp4_connected, NULL},
        {"udp6 connected", udp6_connected, NULL},
        {"udp4 sendto", udp4_sent_to, NULL},
        {"udp6 sendto", udp6_sent_to, NULL},
        {"udp4 sendto by a socket of ipv6", udp4_sent_by_a_socket_of_ipv6, NULL},
        {"udp4 bound to a device", udp4_bound_to_a_device, NULL},
        {"ping", ping4, NULL},
        {"udp4 translated on lo", udp4_translated_on_lo, NULL},
        {"tcp4 translated on lo", tcp4_translated_on_lo, NULL},
        {"raw4 of sctp", raw4_of_sctp, "by a raw socket, which can name any sender"},
        {"raw6 of icmp", raw6_of_icmp, "by a raw socket, which can name any sender"},
        {"raw4 that says it is tcp", raw4_that_says_it_is_tcp, "by a raw socket, which can name any sender"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct holder h = start(cases[i].make);
        struct st_sock_owner owner;

        st_sock_owner_of(owners, &h.flow, if_nametoindex("t0"), &owner);
        if (owner.pid != h.pid)
            fail_msg("%s: process %d, not %d (%s)", cases[i].kind, (int)owner.pid, (int)h.pid,
                     owner.why ? owner.why : "no reason");
        assert_int_equal(owner.uid, 0);
        assert_false(owner.listening);
        assert_int_equal(owner.incomplete, cases[i].why != NULL);
        if (cases[i].why)
            assert_string_equal(owner.why, cases[i].why);
        end(&h);
    }
}

static void what_nobody_holds_is_not_known(void **state)
{
    struct holder h = start(tcp4_on_its_way);
    struct st_sock_owner owner;

    (void)state;
    end(&h);
    st_sock_owner_of(owners, &h.flow, 0, &owner);
    assert_int_equal(owner.pid, 0);
    assert_int_equal(owner.uid, -1);
    assert_true(owner.incomplete);
    assert_string_equal(owner.why, "no socket of this flow is known");
}

static void a_holder_that_is_not_the_container_s_is_not_named(void **state)
{
    struct st_flow_tuple flow = {0};
    struct st_sock_owner owner;
    int s = udp4_connected(&flow); /* we are not in the group */

    (void)state;
    st_sock_owner_of(owners, &flow, 0, &owner);
    assert_int_equal(owner.pid, 0);
    assert_string_equal(owner.why, "no process of the container holds the socket");
    close(s);
}

static void who_listens_is_found_and_said_to_listen(void **state)
{
    struct holder h = start(listening);
    struct st_sock_owner owner;

    (void)state;
    st_sock_owner_of(owners, &h.flow, 0, &owner);
    assert_int_equal(owner.pid, h.pid);
    assert_true(owner.listening);
    end(&h);
}

static void of_several_raw_sockets_one_is_named_with_a_doubt(void **state)
{
    struct holder one = start(raw4_of_sctp), two = start(raw4_of_sctp);
    struct st_sock_owner owner;

    (void)state;
    st_sock_owner_of(owners, &one.flow, 0, &owner);
    assert_true(owner.pid == one.pid || owner.pid == two.pid);
    assert_true(owner.incomplete);
    assert_string_equal(owner.why, "one of several sockets that fit");
    end(&one);
    end(&two);
}

static void processes_in_groups_below_are_the_container_s_too(void **state)
{
    char below[160], deeper[192];
    struct holder h;
    struct st_sock_owner owner;

    (void)state;
    snprintf(below, sizeof(below), "%s/below", group_path);
    snprintf(deeper, sizeof(deeper), "%s/deeper", below);
    assert_int_equal(mkdir(below, 0755), 0);
    assert_int_equal(mkdir(deeper, 0755), 0);
    h = start_in("/below/deeper", udp4_connected);
    st_sock_owner_of(owners, &h.flow, 0, &owner);
    assert_int_equal(owner.pid, h.pid);
    end(&h);
    while (rmdir(deeper) < 0)
        assert_int_equal(errno, EBUSY);
    assert_int_equal(rmdir(below), 0);
}

static void the_work_for_one_question_has_an_end(void **state)
{
    struct holder h = start(udp4_behind_many_files);
    struct st_sock_owner owner;

    (void)state;
    st_sock_owner_of(owners, &h.flow, 0, &owner);
    assert_int_equal(owner.pid, 0);
    assert_true(owner.looked <= ST_OWNER_LINKS);
    assert_string_equal(owner.why, "more open files and processes than we look at");
    end(&h);
}

static void who_was_found_last_is_found_at_once(void **state)
{
    struct holder h = start(three_sockets);
    struct st_sock_owner owner;

    (void)state;
    st_sock_owner_of(owners, &h.flow, 0, &owner);
    assert_int_equal(owner.pid, h.pid);
    st_sock_owner_of(owners, &h.flow, 0, &owner);
    assert_int_equal(owner.pid, h.pid);
    assert_int_equal(owner.looked, 1);
    end(&h);
}

static void processes_by_the_hundred_are_gone_through(void **state)
{
    enum { MANY = 100 };
    struct holder all[MANY];
    struct st_sock_owner owner;

    (void)state;
    for (int i = 0; i < MANY; i++)
        all[i] = start(udp4_connected);
    for (int i = 0; i < MANY; i++) {
        st_sock_owner_of(owners, &all[i].flow, 0, &owner);
        assert_int_equal(owner.pid, all[i].pid);
        assert_false(owner.incomplete);
    }
    for (int i = 0; i < MANY; i++)
        end(&all[i]);
}

static void lines_that_are_none_are_passed_over(void **state)
{
    static const char text[] =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "nonsense\n"
        "   1: 00000000:0001 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 11 2 0 "
        "0\n"
        "   2: 00000000:0001 0900000A:0000 01 00000000:00000000 00:00000000 00000000     0        0 12 2 0 "
        "0\n"
        " 255: 00000000:00FF 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 13 2 0 0";
    static const struct {
        uint8_t protocol;
        uint32_t inode, uid;
    } cases[] = {{IPPROTO_ICMP, 11, 0}, {IPPROTO_TCP, 13, 1000}};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_flow_tuple flow = {.protocol = cases[i].protocol};
        struct st_sock_found found = {0};

        assert_true(st_addr_parse(ST_STR_LIT("10.0.0.1"), &flow.dst));
        st_sock_text_find(st_str(text), ST_SOCK_TEXT_RAW, &flow, &found);
        assert_int_equal(found.inode, cases[i].inode);
        assert_int_equal(found.uid, cases[i].uid);
        assert_int_equal(found.candidates, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_holder_of_a_socket_is_found),
        cmocka_unit_test(what_nobody_holds_is_not_known),
        cmocka_unit_test(a_holder_that_is_not_the_container_s_is_not_named),
        cmocka_unit_test(who_listens_is_found_and_said_to_listen),
        cmocka_unit_test(of_several_raw_sockets_one_is_named_with_a_doubt),
        cmocka_unit_test(processes_in_groups_below_are_the_container_s_too),
        cmocka_unit_test(the_work_for_one_question_has_an_end),
        cmocka_unit_test(who_was_found_last_is_found_at_once),
        cmocka_unit_test(processes_by_the_hundred_are_gone_through),
        cmocka_unit_test(lines_that_are_none_are_passed_over),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
