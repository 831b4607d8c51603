/* Who has made a connection, as the real kernel told at the call: processes in a control group of our own
 * connect over the loopback of a namespace of our own, and are gone when we ask. */
#include "sensors/callers.h"

#include "netns_unit.h"

#include <sys/stat.h>
#include <sys/wait.h>

static char group_path[128];
static int group;
static struct st_callers callers = ST_CALLERS_NONE;

static int set_up(void **state)
{
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct st_error err = {0};
    char file[160];

    (void)state;
    enter_netns();
    bring_up("lo");
    for (size_t i = 0; i < N_OF(tops) && !group_path[0]; i++) {
        snprintf(file, sizeof(file), "%s/cgroup.controllers", tops[i]);
        if (access(file, R_OK) == 0)
            snprintf(group_path, sizeof(group_path), "%s/sandtrace-unit-%d", tops[i], (int)getpid());
    }
    if (mkdir(group_path, 0755) < 0)
        fail_msg("a group of cgroup v2, %s: %s", group_path, strerror(errno));
    group = open(group_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(group >= 0);
    if (st_callers_open(&callers, group, &err) < 0)
        fail_msg("%s", err.msg);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    st_callers_close(&callers);
    close(group);
    return rmdir(group_path);
}

static int listen_at(int family, uint16_t *port)
{
    struct sockaddr_in6 at = {.sin6_family = (sa_family_t)family};
    socklen_t n = sizeof(at);
    int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(s, (struct sockaddr *)&at, family == AF_INET ? sizeof(struct sockaddr_in) : n), 0);
    assert_int_equal(listen(s, 64), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&at, &n), 0);
    *port = ntohs(at.sin6_port); /* at the same place in both kinds */
    return s;
}

/* In a child, which is gone when this returns. Tells the port that it had. */
static pid_t connect_once(const char *address, uint16_t port, bool in_group, uint16_t *local)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)}, *to = &four;
    bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
    socklen_t n = is_four ? sizeof(four) : sizeof(six);
    char procs[160];
    int pipes[2], s, code;
    pid_t pid;

    assert_true(is_four || inet_pton(AF_INET6, address, &six.sin6_addr) == 1);
    assert_int_equal(pipe(pipes), 0);
    pid = fork();
    if (pid == 0) {
        snprintf(procs, sizeof(procs), "%s/cgroup.procs", group_path);
        if (in_group)
            write_file(procs, "0");
        s = socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM, 0);
        if (connect(s, is_four ? (struct sockaddr *)to : (struct sockaddr *)&six, n) < 0 ||
            getsockname(s, is_four ? (struct sockaddr *)to : (struct sockaddr *)&six, &n) < 0)
            _exit(1);
        *local = ntohs(is_four ? four.sin_port : six.sin6_port);
        _exit(write(pipes[1], local, sizeof(*local)) != sizeof(*local));
    }
    assert_int_equal(read(pipes[0], local, sizeof(*local)), sizeof(*local));
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_int_equal(code, 0);
    close(pipes[0]);
    close(pipes[1]);
    return pid;
}

static bool find(const char *address, uint16_t local, uint16_t port, pid_t *pid)
{
    struct st_flow_tuple flow = {.protocol = IPPROTO_TCP, .src_port = local, .dst_port = port};
    int64_t uid = -1;
    bool found;

    assert_true(st_addr_parse(st_str(address), &flow.dst));
    found = st_callers_find(&callers, &flow, pid, &uid);
    if (found)
        assert_int_equal(uid, getuid());
    return found;
}

static void knows_who_connected_after_it_is_gone(void **state)
{
    static const char *const to[][2] = {
        {"127.0.0.1", "127.0.0.1"}, {"::1", "::1"}, {"::ffff:127.0.0.1", "127.0.0.1"}};

    (void)state;
    for (size_t i = 0; i < N_OF(to); i++) {
        uint16_t port, local;
        int s = listen_at(strchr(to[i][1], ':') ? AF_INET6 : AF_INET, &port);
        pid_t pid = connect_once(to[i][0], port, true, &local), found = 0;

        assert_true(find(to[i][1], local, port, &found));
        assert_int_equal(found, pid);
        assert_false(find(to[i][1], local, (uint16_t)(port + 1), &found));
        assert_false(find(to[i][1], (uint16_t)(local + 1), port, &found));
        assert_false(find("127.0.0.9", local, port, &found));
        close(s);
    }
}

static void does_not_know_of_others(void **state)
{
    uint16_t port, local;
    int s = listen_at(AF_INET, &port);
    pid_t found = 0;

    (void)state;
    connect_once("127.0.0.1", port, false, &local);
    assert_false(find("127.0.0.1", local, port, &found));
    close(s);
}

/* More than fit between two looks: what is not known is never another's, and there is room again afterwards.
 */
static void a_flood_leaves_nothing_wrong(void **state)
{
    enum { MANY = 400 };
    static uint16_t locals[MANY];
    static pid_t pids[MANY];
    uint16_t port, local;
    int s = listen_at(AF_INET, &port), known = 0;
    pid_t pid, found = 0;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        pids[i] = connect_once("127.0.0.1", port, true, &locals[i]);
        close(accept(s, NULL, NULL));
    }
    for (int i = 0; i < MANY; i++) {
        if (!find("127.0.0.1", locals[i], port, &found))
            continue;
        known++;
        assert_int_equal(found, pids[i]);
    }
    assert_in_range(known, 50, MANY - 1);
    pid = connect_once("127.0.0.1", port, true, &local);
    assert_true(find("127.0.0.1", local, port, &found));
    assert_int_equal(found, pid);
    close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_who_connected_after_it_is_gone),
        cmocka_unit_test(does_not_know_of_others),
        cmocka_unit_test(a_flood_leaves_nothing_wrong),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
