/* Connections that nobody holds any more, and what the kernel still has to send on them. */
#include "sensors/sock_end.h"

#include "netns_unit.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define PORT 8086

/* All sockets of this test are of the group in which it runs. */
static uint64_t own_group(void)
{
    const char *top = "/sys/fs/cgroup/unified";
    char line[256], path[512];
    struct statfs fs;
    struct stat sb = {0};
    FILE *f = fopen("/proc/self/cgroup", "re");

    assert_non_null(f);
    if (statfs(top, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
        top = "/sys/fs/cgroup";
    while (fgets(line, sizeof(line), f))
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(path, sizeof(path), "%s%s", top, line + 3);
            assert_int_equal(stat(path, &sb), 0);
        }
    fclose(f);
    assert_true(sb.st_ino != 0);
    return sb.st_ino;
}

static int set_up(void **state)
{
    (void)state;
    enter_netns();
    return 0;
}

struct ends {
    int listening, near, far;
};

static void address(int family, struct sockaddr_storage *out, socklen_t *len)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;

    memset(out, 0, sizeof(*out));
    out->ss_family = (sa_family_t)family;
    if (family == AF_INET) {
        four->sin_port = htons(PORT);
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *len = sizeof(*four);
    } else {
        six->sin6_port = htons(PORT);
        six->sin6_addr = in6addr_loopback;
        *len = sizeof(*six);
    }
}

/* More is said than the other end takes in. */
static struct ends connected(int family)
{
    static const char bytes[65536];
    struct sockaddr_storage at;
    struct ends e;
    socklen_t len;
    int on = 1;

    address(family, &at, &len);
    e.listening = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(e.listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    assert_int_equal(bind(e.listening, (void *)&at, len), 0);
    assert_int_equal(listen(e.listening, 1), 0);
    e.near = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(e.near, (void *)&at, len), 0);
    e.far = accept4(e.listening, NULL, NULL, SOCK_CLOEXEC);
    assert_true(e.far >= 0);
    while (send(e.near, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        continue;
    return e;
}

static bool spares(void *ctx, const struct st_flow_tuple *flow)
{
    struct st_flow_tuple *seen = ctx;

    *seen = *flow;
    return true;
}

static void what_nobody_holds_ends(int family)
{
    struct st_error err = {0};
    struct st_flow_tuple seen = {0};
    uint64_t group = own_group();
    int fd = st_sock_end_open(&err);
    struct ends e = connected(family);
    char byte;
    ssize_t n;

    assert_true(fd >= 0);
    assert_int_equal(st_sock_end(fd, group, NULL, NULL), 0); /* it is held */
    close(e.near);
    assert_int_equal(st_sock_end(fd, group + 1, NULL, NULL), 0);
    assert_int_equal(st_sock_end(fd, group, spares, &seen), 0);
    assert_int_equal(seen.dst_port, PORT);
    assert_int_equal(seen.dst.family, family == AF_INET ? 4 : 6);
    assert_int_equal(seen.dst.bytes[family == AF_INET ? 0 : 15], family == AF_INET ? 127 : 1);
    assert_int_equal(st_sock_end(fd, group, NULL, NULL), 1);
    assert_int_equal(st_sock_end(fd, group, NULL, NULL), 0);
    while ((n = recv(e.far, &byte, 1, 0)) > 0)
        continue;
    assert_int_equal(n, -1);
    assert_int_equal(errno, ECONNRESET);
    close(e.far);
    close(e.listening);
    close(fd);
}

static void a_connection_that_nobody_holds_ends_and_one_that_somebody_does_goes_on(void **state)
{
    (void)state;
    what_nobody_holds_ends(AF_INET);
}

static void and_so_it_does_over_ipv6(void **state)
{
    (void)state;
    what_nobody_holds_ends(AF_INET6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_nobody_holds_ends_and_one_that_somebody_does_goes_on),
        cmocka_unit_test(and_so_it_does_over_ipv6),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
