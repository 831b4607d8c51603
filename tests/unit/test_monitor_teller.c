/* The process that works the sinks, without a container: what it is told arrives, a stuck one holds nobody
 * up, and what is lost on the way is told. */
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "monitor/teller.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    char dir[32], file[64], spec[80];
    struct st_order_sink sink;
    struct st_order order;
    struct st_pulse pulse;
    struct st_loop loop;
    struct st_teller teller;
    pid_t child;
    uint64_t lost;
    unsigned gone, downs;
};

static void on_report(void *ctx, const struct st_tell_report *r)
{
    struct bench *b = ctx;

    b->loop.quit = true;
    if (!r)
        b->gone++;
    else if (r->state == ST_TELL_LOST)
        b->lost += r->lost;
    else if (r->state == ST_TELL_DOWN)
        b->downs++;
}

static pid_t only_child(void)
{
    st_auto_buf text = ST_BUF_INIT;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    assert_int_equal(st_read_file(path, 4096, &text, NULL), 0);
    return (pid_t)atoi(st_buf_cstr(&text));
}

static struct bench *start(const char *kind)
{
    struct bench *b = st_xcalloc(1, sizeof(*b));
    struct st_error err = {0};

    memcpy(b->dir, "/tmp/teller.XXXXXX", sizeof("/tmp/teller.XXXXXX"));
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->file, sizeof(b->file), "%s/out", b->dir);
    snprintf(b->spec, sizeof(b->spec), "%s:%s", kind, b->file);
    b->sink.to = b->spec;
    b->order = (struct st_order){.sinks = &b->sink, .n_sinks = 1};
    st_loop_init(&b->loop, epoll_create1(EPOLL_CLOEXEC), &b->pulse);
    assert_int_equal(st_teller_start(&b->teller, &b->order, &err), 0);
    b->teller.report = on_report;
    b->teller.ctx = b;
    assert_int_equal(st_teller_attach(&b->teller, &b->loop, &err), 0);
    b->child = only_child();
    assert_true(b->child > 0);
    return b;
}

static void tell(struct bench *b, const char *line)
{
    const struct st_queued record = {.type = ST_EV_FILESYSTEM, .line = st_str(line)};

    st_teller_tell(&b->teller, &record);
}

/* Hangs up; returns when the child has ended by itself. */
static void end(struct bench *b)
{
    int status;

    st_teller_close(&b->teller);
    assert_int_equal(waitpid(b->child, &status, 0), b->child);
    close(b->loop.epfd);
    unlink(b->file);
    rmdir(b->dir);
    free(b);
}

static void what_is_told_arrives_also_the_last(void **state)
{
    struct bench *b = start("file");
    st_auto_buf text = ST_BUF_INIT;
    char file[64];
    int status;

    (void)state;
    memcpy(file, b->file, sizeof(file));
    tell(b, "{\"a\":1}\n");
    st_teller_flush(&b->teller);
    tell(b, "{\"a\":2}\n");
    st_teller_close(&b->teller);
    assert_int_equal(waitpid(b->child, &status, 0), b->child);
    assert_int_equal(status, 0);
    assert_int_equal(st_read_file(file, 4096, &text, NULL), 0);
    assert_string_equal(st_buf_cstr(&text), "{\"a\":1}\n{\"a\":2}\n");
    close(b->loop.epfd);
    unlink(b->file);
    rmdir(b->dir);
    free(b);
}

static void a_stuck_teller_holds_nobody_up_and_what_it_missed_is_told(void **state)
{
    struct bench *b = start("file");
    st_auto_free char *line = st_xmalloc(10001);
    uint64_t missed;
    int status;

    (void)state;
    memset(line, 'x', 10000);
    line[10000] = '\0';
    kill(b->child, SIGSTOP);
    assert_int_equal(waitpid(b->child, &status, WUNTRACED), b->child);
    for (int i = 0; i < 1000; i++) {
        tell(b, line);
        st_teller_flush(&b->teller);
    }
    missed = b->teller.missed;
    assert_true(missed > 500);
    assert_int_equal(b->lost, 0);
    kill(b->child, SIGCONT);
    while (b->lost < missed) {
        b->loop.quit = false;
        assert_int_equal(st_loop_run(&b->loop), 0);
    }
    assert_int_equal(b->gone, 0);
    end(b);
}

static void a_sink_that_is_not_there_is_down_and_a_dead_teller_gone(void **state)
{
    struct bench *b = start("unix");

    (void)state;
    tell(b, "{}");
    st_teller_flush(&b->teller);
    assert_int_equal(st_loop_run(&b->loop), 0);
    assert_int_equal(b->downs, 1);
    kill(b->child, SIGKILL);
    b->loop.quit = false;
    assert_int_equal(st_loop_run(&b->loop), 0);
    assert_int_equal(b->gone, 1);
    tell(b, "{}"); /* as if there were no sinks */
    st_teller_flush(&b->teller);
    end(b);
}

/* The teller trusts no worker. */
static void what_is_no_record_ends_the_conversation(void **state)
{
    static const struct st_tell_head wrong[] = {
        {.len = UINT32_MAX}, {.type = 255}, {.result = 255}, {.severity = 255}};

    (void)state;
    for (size_t i = 0; i < N_OF(wrong); i++) {
        struct bench *b = start("file");

        assert_int_equal(send(b->teller.fd, &wrong[i], sizeof(wrong[i]), MSG_NOSIGNAL), sizeof(wrong[i]));
        assert_int_equal(st_loop_run(&b->loop), 0);
        assert_int_equal(b->gone, 1);
        end(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_arrives_also_the_last),
        cmocka_unit_test(a_stuck_teller_holds_nobody_up_and_what_it_missed_is_told),
        cmocka_unit_test(a_sink_that_is_not_there_is_down_and_a_dead_teller_gone),
        cmocka_unit_test(what_is_no_record_ends_the_conversation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
