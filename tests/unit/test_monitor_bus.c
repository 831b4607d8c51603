/* The bus against real sockets: readers that are there, come late, go away, are not to be trusted, or never
 * read. Run by root. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/bus.h"
#include "monitor/busdir.h"
#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct fixture {
    char dir[64];
    struct st_pulse pulse;
    struct st_loop loop;
    struct st_bus bus;
};

static struct st_bus *bus_of(void *ctx)
{
    return &((struct fixture *)ctx)->bus;
}

static int64_t deadline(void *ctx)
{
    return st_bus_deadline(bus_of(ctx));
}

static void tick(void *ctx)
{
    st_bus_tick(bus_of(ctx));
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){0};
    snprintf(f->dir, sizeof(f->dir), "/tmp/bus.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    st_loop_init(&f->loop, epoll_create1(EPOLL_CLOEXEC), &f->pulse);
    f->loop.deadline = deadline;
    f->loop.on_deadline = tick;
    f->loop.deadline_ctx = f;
}

static void open_bus(struct fixture *f)
{
    struct st_error err = {0};

    if (st_bus_open(&f->bus, f->dir, -1, "box", &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(st_bus_attach(&f->bus, &f->loop, &err), 0);
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
    (void)sb;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void tear_down(struct fixture *f)
{
    st_bus_close(&f->bus);
    st_close(&f->loop.epfd);
    nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A socket NAME in bus.d, bound; listening is another matter. */
static int bind_reader(const struct fixture *f, const char *name)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s/%s", f->dir, ST_BUS_DIR, name);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    return fd;
}

static int put_reader(const struct fixture *f, const char *name)
{
    int fd = bind_reader(f, name);

    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

/* Runs the loop by hand until nothing is ready and nothing is due within a moment. */
static void run(struct fixture *f)
{
    struct epoll_event ev;

    for (;;) {
        int64_t at = st_bus_deadline(&f->bus);
        int n = epoll_wait(f->loop.epfd, &ev, 1, at < 0 ? 30 : (int)((at - st_now_mono_ns()) / 1000000) + 1);

        if (n == 0 && at < 0)
            break;
        if (n == 0)
            st_bus_tick(&f->bus);
        else
            f->loop.slots[(uint32_t)ev.data.u64].run(f->loop.slots[(uint32_t)ev.data.u64].ctx, ev.events);
    }
    st_bus_flush(&f->bus);
}

static void tell(struct fixture *f, uint64_t seq)
{
    char line[64];
    int n = snprintf(line, sizeof(line), "{\"seq\":%llu}\n", (unsigned long long)seq);

    st_bus_tell(&f->bus, seq, line, (size_t)n);
    st_bus_flush(&f->bus);
}

static int accept_one(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static void assert_reads(int fd, const char *text)
{
    char got[4096] = "";
    ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

    got[n < 0 ? 0 : n] = '\0';
    assert_string_equal(got, text);
}

static int readers(const struct fixture *f)
{
    int n = 0;

    for (int i = 0; i < ST_BUS_READERS; i++)
        n += f->bus.readers[i].fd >= 0;
    return n;
}

static void a_reader_that_is_there_before_gets_the_first_event(void **state)
{
    struct fixture f;
    st_auto_fd listener = -1, fd = -1, folder = -1;
    struct st_error err = {0};

    (void)state;
    set_up(&f);
    folder = st_busdir_open(f.dir, -1, &err);
    assert_true(folder >= 0);
    listener = put_reader(&f, "one.sock");
    open_bus(&f);
    tell(&f, 1);
    fd = accept_one(listener);
    assert_true(fd >= 0);
    assert_reads(fd, "{\"seq\":1}\n");
    tear_down(&f);
}

static void a_reader_that_comes_late_gets_what_follows(void **state)
{
    struct fixture f;
    st_auto_fd listener = -1, fd = -1;

    (void)state;
    set_up(&f);
    open_bus(&f);
    tell(&f, 1);
    listener = put_reader(&f, "late.sock");
    run(&f);
    tell(&f, 2);
    tell(&f, 3);
    fd = accept_one(listener);
    assert_reads(fd, "{\"seq\":2}\n{\"seq\":3}\n");
    assert_int_equal(readers(&f), 1);
    tear_down(&f);
}

static void a_reader_between_bind_and_listen_is_tried_again(void **state)
{
    struct fixture f;
    st_auto_fd listener = -1;
    struct epoll_event ev;

    (void)state;
    set_up(&f);
    open_bus(&f);
    listener = bind_reader(&f, "slow.sock");
    assert_int_equal(epoll_wait(f.loop.epfd, &ev, 1, 1000), 1);
    f.loop.slots[(uint32_t)ev.data.u64].run(f.loop.slots[(uint32_t)ev.data.u64].ctx, ev.events);
    assert_int_equal(readers(&f), 0);
    assert_true(st_bus_deadline(&f.bus) > 0);
    assert_int_equal(listen(listener, 1), 0);
    run(&f);
    assert_int_equal(readers(&f), 1);
    tear_down(&f);
}

static void a_stale_socket_is_left_alone_and_wakes_nobody(void **state)
{
    struct fixture f;
    st_auto_fd listener = -1;
    struct epoll_event ev;

    (void)state;
    set_up(&f);
    open_bus(&f);
    listener = put_reader(&f, "stale.sock");
    st_close(&listener);
    run(&f);
    assert_int_equal(readers(&f), 0);
    assert_int_equal(st_bus_deadline(&f.bus), -1);
    assert_int_equal(epoll_wait(f.loop.epfd, &ev, 1, 0), 0);
    tear_down(&f);
}

static void a_reader_that_goes_away_frees_its_place_and_may_come_back(void **state)
{
    struct fixture f;
    st_auto_fd listener = -1, fd = -1;
    char path[128];

    (void)state;
    set_up(&f);
    open_bus(&f);
    listener = put_reader(&f, "x.sock");
    run(&f);
    fd = accept_one(listener);
    st_close(&fd);
    run(&f);
    assert_int_equal(readers(&f), 0);
    st_close(&listener);
    snprintf(path, sizeof(path), "%s/%s/x.sock", f.dir, ST_BUS_DIR);
    assert_int_equal(unlink(path), 0);
    listener = put_reader(&f, "x.sock");
    run(&f);
    tell(&f, 9);
    fd = accept_one(listener);
    assert_reads(fd, "{\"seq\":9}\n");
    tear_down(&f);
}

static void a_reader_that_never_reads_holds_nobody_up(void **state)
{
    struct fixture f;
    st_auto_fd mute = -1, listener = -1, fd = -1;

    (void)state;
    set_up(&f);
    open_bus(&f);
    mute = put_reader(&f, "mute.sock");
    listener = put_reader(&f, "reads.sock");
    run(&f);
    assert_int_equal(readers(&f), 2);
    fd = accept_one(listener);
    for (uint64_t seq = 1; seq <= 300000; seq++) {
        char expected[64];

        snprintf(expected, sizeof(expected), "{\"seq\":%llu}\n", (unsigned long long)seq);
        tell(&f, seq);
        assert_reads(fd, expected);
    }
    for (int i = 0; i < ST_BUS_READERS; i++)
        assert_true(st_outbox_waits(&f.bus.readers[i].out) <= ST_OUTBOX_EVENTS);
    assert_true(f.bus.readers[0].out.missed > 0);
    tear_down(&f);
}

static void a_reader_that_talks_is_not_listened_to_and_wakes_nobody(void **state)
{
    struct fixture f;
    st_auto_fd listener = -1, fd = -1;
    struct epoll_event ev;

    (void)state;
    set_up(&f);
    open_bus(&f);
    listener = put_reader(&f, "talks.sock");
    run(&f);
    fd = accept_one(listener);
    assert_true(send(fd, "{\"request\":\"kill\"}\n", 19, 0) == 19);
    assert_int_equal(epoll_wait(f.loop.epfd, &ev, 1, 20), 0);
    tell(&f, 1);
    assert_reads(fd, "{\"seq\":1}\n");
    tear_down(&f);
}

static void sockets_of_others_links_and_odd_names_are_not_connected_to(void **state)
{
    struct fixture f;
    st_auto_fd foreign = -1, hidden = -1, nosock = -1, real = -1;
    char from[128], to[128];

    (void)state;
    set_up(&f);
    open_bus(&f);
    foreign = put_reader(&f, "foreign.tmp");
    snprintf(from, sizeof(from), "%s/%s/foreign.tmp", f.dir, ST_BUS_DIR);
    assert_int_equal(chown(from, 65534, 65534), 0);
    snprintf(to, sizeof(to), "%s/%s/foreign.sock", f.dir, ST_BUS_DIR);
    assert_int_equal(rename(from, to), 0);
    hidden = put_reader(&f, ".hidden.sock");
    nosock = put_reader(&f, "nosock");
    real = put_reader(&f, "real.other");
    snprintf(from, sizeof(from), "%s/%s/link.sock", f.dir, ST_BUS_DIR);
    assert_int_equal(symlink("real.other", from), 0);
    snprintf(from, sizeof(from), "%s/%s/file.sock", f.dir, ST_BUS_DIR);
    nosock = (close(nosock), open(from, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    run(&f);
    assert_int_equal(readers(&f), 0);
    tear_down(&f);
}

static void more_readers_than_places_get_one_when_it_is_free(void **state)
{
    struct fixture f;
    int listeners[ST_BUS_READERS + 1];
    st_auto_fd fd = -1;
    char name[32];

    (void)state;
    set_up(&f);
    open_bus(&f);
    for (int i = 0; i <= ST_BUS_READERS; i++) {
        snprintf(name, sizeof(name), "r%02d.sock", i);
        listeners[i] = put_reader(&f, name);
        run(&f);
    }
    assert_int_equal(readers(&f), ST_BUS_READERS);
    fd = accept_one(listeners[0]);
    st_close(&listeners[0]);
    st_close(&fd);
    run(&f);
    assert_int_equal(readers(&f), ST_BUS_READERS);
    fd = accept_one(listeners[ST_BUS_READERS]);
    assert_true(fd >= 0);
    for (int i = 1; i <= ST_BUS_READERS; i++)
        close(listeners[i]);
    tear_down(&f);
}

static void a_folder_that_others_can_write_is_mended_or_refused(void **state)
{
    struct fixture f;
    struct st_error err = {0};
    st_auto_fd fd = -1;
    char path[128];
    struct stat sb;

    (void)state;
    set_up(&f);
    snprintf(path, sizeof(path), "%s/%s", f.dir, ST_BUS_DIR);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(chmod(path, 0777), 0);
    fd = st_busdir_open(f.dir, -1, &err);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &sb), 0);
    assert_int_equal(sb.st_mode & 07777, 0755);
    st_close(&fd);
    fd = st_busdir_open(f.dir, 65534, &err);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &sb), 0);
    assert_int_equal(sb.st_mode & 07777, 03770);
    assert_int_equal(sb.st_gid, 65534);
    st_close(&fd);
    assert_int_equal(chown(path, 65534, 0), 0);
    assert_int_equal(st_busdir_open(f.dir, -1, &err), -EPERM);
    f.bus.dirfd = f.bus.notify = -1;
    for (int i = 0; i < ST_BUS_READERS; i++)
        f.bus.readers[i].fd = -1;
    tear_down(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_that_is_there_before_gets_the_first_event),
        cmocka_unit_test(a_reader_that_comes_late_gets_what_follows),
        cmocka_unit_test(a_reader_between_bind_and_listen_is_tried_again),
        cmocka_unit_test(a_stale_socket_is_left_alone_and_wakes_nobody),
        cmocka_unit_test(a_reader_that_goes_away_frees_its_place_and_may_come_back),
        cmocka_unit_test(a_reader_that_never_reads_holds_nobody_up),
        cmocka_unit_test(a_reader_that_talks_is_not_listened_to_and_wakes_nobody),
        cmocka_unit_test(sockets_of_others_links_and_odd_names_are_not_connected_to),
        cmocka_unit_test(more_readers_than_places_get_one_when_it_is_free),
        cmocka_unit_test(a_folder_that_others_can_write_is_mended_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
