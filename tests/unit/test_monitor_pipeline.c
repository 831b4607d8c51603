/* The way of an event where the trace can't be written, and where uses repeat: nothing is let by that is not
 * on the trace in the end, and no count is lost. The disk is full by a limit on the size of files. */
#include "base/clock.h"
#include "unit.h"
#include "worker_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct worker_fixture));
    worker_fixture_open(*state);
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

static void fill_disk(bool full)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = full ? 0 : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int tear_down(void **state)
{
    fill_disk(false);
    worker_fixture_close(*state);
    free(*state);
    return 0;
}

/* Reading a file of this number. */
static void use(struct worker_fixture *f, unsigned number)
{
    struct st_operation op = worker_fixture_operation(f);
    char path[32];
    struct st_event ev = {.type = ST_EV_FILESYSTEM,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = st_now_wall_us(),
                          .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_READ, .size = ST_UNKNOWN}};

    snprintf(path, sizeof(path), "/data/%u", number);
    ev.fs.path = st_str(path);
    st_pipeline_use(&f->worker.pipeline, &ev, &op, st_now_mono_ns());
}

static void repeated_uses_are_one_record_and_a_count(void **state)
{
    struct worker_fixture *f = *state;
    struct st_pipeline *p = &f->worker.pipeline;
    struct st_error err = {0};

    for (int i = 0; i < 100; i++)
        use(f, 7);
    assert_int_equal(f->allowed, 100);
    assert_int_equal(st_trace_seq(p->trace), 1);
    assert_int_equal(st_fold_pending(p->fold), 99);
    assert_int_equal(atomic_load(&f->pulse.unwritten), 100);
    assert_int_equal(st_trace_commit(p->trace, &err), 0);
    st_pipeline_written(p);
    assert_int_equal(atomic_load(&f->pulse.unwritten), 99);
    assert_true(st_pipeline_deadline(p) > st_now_mono_ns());
    assert_int_equal(st_pipeline_unfold(p, INT64_MAX, &err), 0);
    assert_int_equal(st_trace_seq(p->trace), 2);
    assert_int_equal(st_pipeline_deadline(p), -1);
}

static void tell_all(void *ctx, const struct st_operation *op, struct st_event *ev)
{
    assert_true(st_operation_waits(op)); /* it can be looked at */
    assert_non_null(ctx);
    ev->process.cwd = ST_STR_LIT("/where/it/stands");
}

static bool is_told(struct worker_fixture *f)
{
    struct st_str line = st_trace_line(f->worker.pipeline.trace);

    return memmem(line.p, line.len, "/where/it/stands", 16) != NULL;
}

static void run(struct worker_fixture *f, const char *path, bool refuse)
{
    struct st_operation op = worker_fixture_operation(f);
    struct st_event ev = {.type = ST_EV_FILESYSTEM,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = st_now_wall_us(),
                          .process = {.present = true, .pid = 7, .exe = ST_STR_LIT("/bin/sh")},
                          .fs = {.op = ST_FS_EXEC, .access = ST_ACCESS_EXEC, .size = ST_UNKNOWN}};
    struct st_verdict v = {.result = ST_DENY, .response = ST_RESPOND_DENY};

    op.tell_all = tell_all;
    ev.fs.path = st_str(path);
    if (refuse)
        st_pipeline_respond(&f->worker.pipeline, &ev, &v, &op, st_now_mono_ns());
    else
        st_pipeline_use(&f->worker.pipeline, &ev, &op, st_now_mono_ns());
}

static void who_asks_is_told_of_where_it_is_recorded_by_itself_and_not_where_it_is_counted(void **state)
{
    struct worker_fixture *f = *state;
    struct st_pipeline *p = &f->worker.pipeline;
    struct st_error err = {0};

    run(f, "/data/1", false);
    assert_true(is_told(f));
    run(f, "/data/1", false);
    run(f, "/data/1", false);
    assert_int_equal(f->allowed, 3);
    assert_int_equal(st_fold_pending(p->fold), 2);
    assert_int_equal(st_pipeline_unfold(p, INT64_MAX, &err), 0);
    assert_false(is_told(f));
    run(f, "/data/1", true);
    assert_int_equal(f->refused, 1);
    assert_true(is_told(f));
}

static void what_finds_no_room_is_refused_and_counted_and_what_was_let_by_is_written_later(void **state)
{
    struct worker_fixture *f = *state;
    struct st_pipeline *p = &f->worker.pipeline;
    struct st_error err = {0};

    use(f, 1);
    fill_disk(true);
    for (unsigned i = 2; f->refused < 3 && i < 10000; i++)
        use(f, i);
    assert_int_equal(f->refused, 3);
    assert_int_equal(p->not_recorded, 3);
    assert_int_equal(f->trace_failures, 3);
    assert_int_equal(st_trace_seq(p->trace), f->allowed);
    use(f, 1); /* counted: there is room for that, but it does not come out */
    assert_int_equal(st_fold_pending(p->fold), 1);
    assert_true(st_pipeline_unfold(p, INT64_MAX, &err) < 0);
    assert_int_equal(st_fold_pending(p->fold), 1);
    fill_disk(false);
    assert_int_equal(st_pipeline_unfold(p, INT64_MAX, &err), 0);
    assert_int_equal(st_trace_force(p->trace, &err), 0);
    assert_int_equal(st_trace_seq(p->trace), f->allowed);
    assert_false(st_trace_is_broken(p->trace));
}

static void a_pause_whose_end_can_not_be_recorded_stays(void **state)
{
    struct worker_fixture *f = *state;
    struct st_pipeline *p = &f->worker.pipeline;

    worker_fixture_hold(f)->deadline_ns = 1; /* due */
    fill_disk(true);
    st_pipeline_tick(p);
    assert_int_equal(p->pauses.n, 1);
    assert_int_equal(f->refused, 0);
    assert_true(f->trace_failures > 0);
    fill_disk(false);
    st_pipeline_tick(p);
    assert_int_equal(p->pauses.n, 0);
    assert_int_equal(f->refused, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(repeated_uses_are_one_record_and_a_count),
        T(who_asks_is_told_of_where_it_is_recorded_by_itself_and_not_where_it_is_counted),
        T(what_finds_no_room_is_refused_and_counted_and_what_was_let_by_is_written_later),
        T(a_pause_whose_end_can_not_be_recorded_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
