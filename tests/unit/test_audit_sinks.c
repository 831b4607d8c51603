/* Sinks: each kind gets each record, none ever waits, and what could not be kept is counted and told. */
#include "audit_support.h"

#include "audit/sinks/sink.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int setup(void **state)
{
    static struct place p;

    place_make(&p);
    signal(SIGPIPE, SIG_IGN);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    return 0;
}

static struct st_sink *open_sink(const char *spec, size_t queue, bool refusals)
{
    struct st_sink_options o = {.spec = spec, .queue_bytes = queue, .refusals = refusals};
    struct st_sink *s = NULL;
    struct st_error err;

    if (st_sink_open(&o, &s, &err) < 0)
        fail_msg("%s", err.msg);
    return s;
}

static void offer(struct st_sink *s, const char *line, bool refused)
{
    const struct st_queued record = {.type = ST_EV_FILESYSTEM,
                                     .result = refused ? ST_DENY : ST_ALLOW,
                                     .severity = refused ? ST_SEV_HIGH : ST_SEV_NONE,
                                     .line = st_str(line)};

    st_sink_offer(s, &record);
}

/* Works until nothing waits, as an event loop would. */
static void settle(struct st_sink *s)
{
    for (int i = 0; i < 1000; i++) {
        struct pollfd p;

        st_sink_work(s, st_now_mono_ns());
        p.fd = st_sink_poll(s, &p.events);
        if (p.fd < 0)
            return;
        assert_int_equal(poll(&p, 1, 20000), 1);
    }
    fail_msg("the sink never comes to rest");
}

static int listen_at(const char *path, int type)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

    memcpy(addr.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static void a_spec_that_can_not_be_meant_is_refused(void **state)
{
    static const char *const specs[] = {"",       "file",      "file:",        "file:relative", "tcp:1.2.3.4",
                                        "unix:x", "stdout:/x", "syslog:local", "exec:"};
    struct st_sink *s = NULL;
    struct st_error err;

    (void)state;
    for (size_t i = 0; i < N_OF(specs); i++) {
        struct st_sink_options o = {.spec = specs[i]};

        assert_int_equal(st_sink_open(&o, &s, &err), -EINVAL);
        assert_non_null(strstr(err.msg, specs[i]));
    }
}

static void a_file_gets_every_line(void **state)
{
    struct place *p = *state;
    st_auto_free char *spec = st_xasprintf("file:%s/copy", p->dir);
    struct st_sink *s = open_sink(spec, 0, false);
    st_auto_buf text = ST_BUF_INIT;
    struct stat sb;

    offer(s, "{\"a\":1}\n", false);
    offer(s, "{\"a\":2}", false);
    settle(s);
    offer(s, "{\"a\":3}", false);
    st_sink_close(s);
    slurp(spec + 5, &text);
    assert_string_equal(text.data, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    assert_int_equal(stat(spec + 5, &sb), 0);
    assert_int_equal(sb.st_mode & 077, 040 & ~umask(umask(0)) & 077);
}

static void only_refusals_go_where_only_refusals_are_wanted(void **state)
{
    struct place *p = *state;
    st_auto_free char *spec = st_xasprintf("file:%s/copy", p->dir);
    struct st_sink *s = open_sink(spec, 0, true);
    st_auto_buf text = ST_BUF_INIT;

    offer(s, "{\"a\":1}", false);
    offer(s, "{\"a\":2}", true);
    st_sink_close(s);
    slurp(spec + 5, &text);
    assert_string_equal(text.data, "{\"a\":2}\n");
}

static void standard_output_never_blocks_and_tells_what_was_missed(void **state)
{
    struct st_sink *s = open_sink("stdout:", 4096, false);
    int ends[2], saved = dup(STDOUT_FILENO), lines = 0;
    st_auto_file reader = NULL;
    char *line = NULL, big[300];
    size_t cap = 0, told = 0;
    const char *why;
    uint64_t lost;

    (void)state;
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    for (int i = 0; i < 1000; i++) { /* more than a pipe and the queue hold */
        offer(s, big, false);
        st_sink_work(s, st_now_mono_ns());
    }
    lost = st_sink_losses(s, &why);
    assert_true(lost > 500);
    assert_non_null(strstr(why, "queue"));
    assert_int_equal(st_sink_losses(s, &why), 0);

    /* Now somebody reads. */
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[1]);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    reader = fdopen(ends[0], "r");
    for (int i = 0; i < 50; i++) {
        while (getline(&line, &cap, reader) > 0) {
            lines += line[0] == 'x';
            if (strncmp(line, "{\"missed\":", 10) == 0)
                told += strtoul(line + 10, NULL, 10);
        }
        clearerr(reader);
        if (i == 10) /* the first after the loss brings the notice */
            offer(s, big, false);
        st_sink_work(s, st_now_mono_ns());
    }
    assert_int_equal(told, lost);
    assert_int_equal((uint64_t)lines + lost, 1001);
    free(line);
    st_sink_close(s);
}

static void a_listener_may_come_late_and_go(void **state)
{
    struct place *p = *state;
    st_auto_free char *path = st_xasprintf("%s/sock", p->dir), *spec = st_xasprintf("unix:%s", path);
    struct st_sink *s = open_sink(spec, 0, false);
    char text[64] = "";
    int listener, peer;
    int64_t now = st_now_mono_ns();

    offer(s, "{\"a\":1}", false);
    st_sink_work(s, now);
    assert_true(st_sink_deadline(s) > now);
    listener = listen_at(path, SOCK_STREAM);
    st_sink_work(s, now); /* not before the time */
    assert_int_equal(st_sink_deadline(s), now + 1000000000);
    st_sink_work(s, st_sink_deadline(s));
    peer = accept(listener, NULL, NULL);
    assert_true(read(peer, text, sizeof(text)) > 0);
    assert_string_equal(text, "{\"a\":1}\n");
    assert_int_equal(st_sink_deadline(s), -1);

    close(peer); /* the reader goes; the next finds all that it did not get */
    offer(s, "{\"a\":2}", false);
    now += 100000000000;
    st_sink_work(s, now);
    now = st_sink_deadline(s);
    assert_true(now > 0);
    st_sink_work(s, now);
    peer = accept(listener, NULL, NULL);
    memset(text, 0, sizeof(text));
    assert_true(read(peer, text, sizeof(text)) > 0);
    assert_string_equal(text, "{\"a\":2}\n");
    close(peer);
    close(listener);
    st_sink_close(s);
}

static void syslog_gets_a_priority_by_severity(void **state)
{
    struct place *p = *state;
    st_auto_free char *path = st_xasprintf("%s/log", p->dir), *spec = st_xasprintf("syslog:%s", path);
    struct st_sink *s = open_sink(spec, 0, false);
    st_auto_free char *huge = st_xmalloc(100001);
    int fd = listen_at(path, SOCK_DGRAM);
    char text[16384];
    ssize_t n;

    offer(s, "{\"a\":1}", false);
    offer(s, "{\"a\":2}", true);
    memset(huge, 'y', 100000);
    huge[100000] = '\0';
    offer(s, huge, false);
    settle(s);
    n = read(fd, text, sizeof(text) - 1);
    text[n] = '\0';
    assert_int_equal(strncmp(text, "<86>sandtrace[", 14), 0);
    assert_non_null(strstr(text, "]: {\"a\":1}"));
    n = read(fd, text, sizeof(text) - 1);
    assert_int_equal(strncmp(text, "<83>sandtrace[", 14), 0);
    n = read(fd, text, sizeof(text) - 1);
    assert_int_equal(n, 8192);
    assert_memory_equal(text + n - 4, " ...", 4);
    close(fd);
    st_sink_close(s);
}

static ssize_t receive_journal(int fd, char *out, size_t size)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {out, size};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    ssize_t n = recvmsg(fd, &m, 0);

    if (CMSG_FIRSTHDR(&m)) {
        int file;

        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(file));
        assert_int_equal(fcntl(file, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
        n = pread(file, out, size, 0);
        close(file);
    }
    return n;
}

static void journald_gets_fields_and_large_records_in_a_file(void **state)
{
    struct place *p = *state;
    st_auto_free char *path = st_xasprintf("%s/journal", p->dir), *spec = st_xasprintf("journald:%s", path);
    struct st_sink *s = open_sink(spec, 2 << 20, false);
    size_t size = 1 << 20;
    st_auto_free char *text = st_xmalloc(size + 1), *huge = st_xmalloc(900001);
    int fd = listen_at(path, SOCK_DGRAM);
    ssize_t n;

    offer(s, "{\"a\":1}", true);
    memset(huge, 'z', 900000);
    huge[900000] = '\0';
    offer(s, huge, false);
    settle(s);
    n = receive_journal(fd, text, size);
    assert_true(n > 0);
    assert_non_null(memmem(text, (size_t)n, "PRIORITY=3\n", 11));
    assert_non_null(memmem(text, (size_t)n, "SANDTRACE_RESULT=deny\n", 22));
    assert_non_null(memmem(text, (size_t)n, "MESSAGE\n\7\0\0\0\0\0\0\0{\"a\":1}\n", 24));
    n = receive_journal(fd, text, size);
    assert_true(n > 900000);
    assert_int_equal(text[n - 2], 'z');
    close(fd);
    st_sink_close(s);
}

static void a_program_is_run_for_each_record(void **state)
{
    struct place *p = *state;
    st_auto_free char *program = st_xasprintf("%s/program", p->dir), *spec = st_xasprintf("exec:%s", program);
    st_auto_free char *script =
        st_xasprintf("#!/bin/sh\nIFS= read -r line\necho \"$line\" >>%s/got\n[ \"$line\" != bad ]\n", p->dir);
    st_auto_free char *got = st_xasprintf("%s/got", p->dir);
    struct st_sink *s = open_sink(spec, 0, false);
    st_auto_buf text = ST_BUF_INIT;
    const char *why;

    spew(program, script, strlen(script));
    assert_int_equal(chmod(program, 0700), 0);
    offer(s, "one", false);
    offer(s, "bad", false);
    offer(s, "two", false);
    settle(s);
    slurp(got, &text);
    assert_string_equal(text.data, "one\nbad\ntwo\n");
    assert_int_equal(st_sink_losses(s, &why), 1);
    assert_non_null(strstr(why, "code 1"));
    st_sink_close(s);
}

static void a_program_that_never_ends_is_ended(void **state)
{
    struct place *p = *state;
    st_auto_free char *program = st_xasprintf("%s/program", p->dir), *spec = st_xasprintf("exec:%s", program);
    static const char script[] = "#!/bin/sh\nexec sleep 1000\n";
    struct st_sink *s = open_sink(spec, 0, false);
    int64_t now = st_now_mono_ns();
    const char *why;
    uint64_t lost = 0;

    spew(program, script, strlen(script));
    assert_int_equal(chmod(program, 0700), 0);
    offer(s, "one", false);
    st_sink_work(s, now);
    assert_int_equal(st_sink_deadline(s), now + 10000000000);
    for (int i = 0; i < 1000 && !lost; i++) {
        struct pollfd f;

        st_sink_work(s, now + 10000000000);
        lost = st_sink_losses(s, &why);
        f.fd = st_sink_poll(s, &f.events);
        if (!lost)
            poll(&f, 1, 20000);
    }
    assert_int_equal(lost, 1);
    assert_non_null(strstr(why, "signal 9"));
    st_sink_close(s);
}

static void who_can_not_be_reached_is_told_with_the_reason(void **state)
{
    struct st_sink *s = open_sink("unix:/nowhere", 200, false);
    const char *why;

    (void)state;
    assert_string_equal(st_sink_down(s), "");
    for (int i = 0; i < 10; i++)
        offer(s, "{\"a\":1}", false);
    assert_in_range(st_sink_losses(s, &why), 5, 9);
    st_sink_work(s, st_now_mono_ns());
    assert_non_null(strstr(st_sink_down(s), "connect to /nowhere: No such file"));
    assert_false(st_sink_idle(s));
    st_sink_close(s);
}

/* Else each loss would make a record, and each such record the next loss. */
static void the_loss_of_a_record_about_sinks_is_not_declared(void **state)
{
    const struct st_queued record = {
        .type = ST_EV_SENSOR, .about_sinks = true, .line = ST_STR_LIT("{\"lost\":1}")};
    struct st_sink *s = open_sink("unix:/nowhere", 200, false);
    const char *why;

    (void)state;
    for (int i = 0; i < 10; i++)
        st_sink_offer(s, &record);
    assert_int_equal(st_sink_losses(s, &why), 0);
    st_sink_close(s);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_spec_that_can_not_be_meant_is_refused),
        T(a_file_gets_every_line),
        T(only_refusals_go_where_only_refusals_are_wanted),
        T(standard_output_never_blocks_and_tells_what_was_missed),
        T(a_listener_may_come_late_and_go),
        T(syslog_gets_a_priority_by_severity),
        T(journald_gets_fields_and_large_records_in_a_file),
        T(a_program_is_run_for_each_record),
        T(a_program_that_never_ends_is_ended),
        T(who_can_not_be_reached_is_told_with_the_reason),
        T(the_loss_of_a_record_about_sinks_is_not_declared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
