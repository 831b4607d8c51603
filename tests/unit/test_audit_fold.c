/* Folding: the first is recorded, repeats are counted, and every event is in exactly one place. */
#include "audit_support.h"

#include "audit/fold.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)

static struct st_event file_event(const char *path, int64_t us)
{
    return (struct st_event){
        .type = ST_EV_FILESYSTEM,
        .wall_us = us,
        .process = {.present = true, .pid = (pid_t)(us % 1000 + 1), .exe = ST_STR_LIT("/bin/cat")},
        .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_READ, .path = st_str(path), .size = us}};
}

static void the_first_is_recorded_and_repeats_come_as_one(void **state)
{
    struct st_fold *f = st_fold_new(&(struct st_fold_options){.window_ns = 10 * SECOND});
    const struct st_verdict allow = {.rule = ST_STR_LIT("scope")}, *v;
    const struct st_event *out;
    struct st_event ev = file_event("/a", 100);

    (void)state;
    assert_false(st_fold_add(f, &ev, &allow, 0));
    assert_int_equal(st_fold_deadline(f), -1);
    for (int i = 1; i <= 5; i++) {
        ev = file_event("/a", 100 + i);
        assert_true(st_fold_add(f, &ev, &allow, i));
    }
    assert_int_equal(st_fold_deadline(f), 10 * SECOND);
    assert_int_equal(st_fold_pending(f), 5);
    assert_false(st_fold_peek(f, 10 * SECOND - 1, &out, &v));
    assert_true(st_fold_peek(f, 10 * SECOND, &out, &v));
    assert_int_equal(out->count, 5);
    assert_int_equal(out->first_us, 101);
    assert_int_equal(out->last_us, 105);
    assert_int_equal(out->process.pid, 0);
    assert_memory_equal(out->fs.path.p, "/a", 2);
    assert_memory_equal(out->process.exe.p, "/bin/cat", 8);
    assert_memory_equal(v->rule.p, "scope", 5);
    st_fold_drop(f);
    assert_false(st_fold_peek(f, INT64_MAX, &out, &v));
    assert_int_equal(st_fold_pending(f), 0);
    st_fold_free(f);
}

/* A trace that can't be written: what was peeked is not dropped, and goes on to count. */
static void what_is_peeked_and_not_dropped_is_counted_on(void **state)
{
    struct st_fold *f = st_fold_new(&(struct st_fold_options){.window_ns = SECOND});
    const struct st_verdict *v;
    const struct st_event *out;
    struct st_event ev = file_event("/a", 1);

    (void)state;
    for (int i = 0; i < 4; i++)
        st_fold_add(f, &ev, NULL, 0);
    assert_true(st_fold_peek(f, SECOND, &out, &v));
    assert_int_equal(out->count, 3);
    assert_true(st_fold_add(f, &ev, NULL, 2 * SECOND));
    assert_true(st_fold_peek(f, 2 * SECOND, &out, &v));
    assert_int_equal(out->count, 4);
    st_fold_drop(f);
    assert_int_equal(st_fold_deadline(f), -1);
    st_fold_free(f);
}

static void what_differs_is_not_folded_together(void **state)
{
    struct st_fold *f = st_fold_new(&(struct st_fold_options){.window_ns = SECOND});
    const struct st_verdict allow = {.rule = ST_STR_LIT("scope")}, other = {.rule = ST_STR_LIT("x")};
    struct st_event ev = file_event("/a", 1), b = file_event("/b", 1), write = file_event("/a", 1);
    struct st_event image = file_event("/a", 1), blocked = file_event("/a", 1);

    (void)state;
    write.fs.access = ST_ACCESS_WRITE;
    image.process.exe = ST_STR_LIT("/bin/dog");
    blocked.fs.blocked = true;
    assert_false(st_fold_add(f, &ev, &allow, 0));
    assert_false(st_fold_add(f, &b, &allow, 0));
    assert_false(st_fold_add(f, &write, &allow, 0));
    assert_false(st_fold_add(f, &image, &allow, 0));
    assert_false(st_fold_add(f, &blocked, &allow, 0));
    assert_false(st_fold_add(f, &ev, &other, 0));
    assert_true(st_fold_add(f, &ev, &allow, 0));
    st_fold_free(f);
}

static void refusals_pauses_and_traffic_are_not_folded(void **state)
{
    struct st_fold *f = st_fold_new(&(struct st_fold_options){.window_ns = SECOND});
    struct st_fold *g = st_fold_new(&(struct st_fold_options){.window_ns = SECOND, .refusals = true});
    const struct st_verdict deny = {.result = ST_DENY, .action = ST_ACT_DENIED};
    const struct st_verdict paused = {.result = ST_DENY, .action = ST_ACT_PAUSED};
    struct st_event ev = file_event("/a", 1);
    struct st_event flow = {.type = ST_EV_NETWORK_EGRESS,
                            .net = {.bytes_sent = 5,
                                    .bytes_received = ST_UNKNOWN,
                                    .packets_sent = ST_UNKNOWN,
                                    .packets_received = ST_UNKNOWN,
                                    .duration_ms = ST_UNKNOWN}};
    struct st_event sensor = {.type = ST_EV_SENSOR, .json = ST_STR_LIT("{}")};

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_false(st_fold_add(f, &ev, &deny, 0));
        assert_false(st_fold_add(f, &flow, NULL, 0));
        assert_false(st_fold_add(f, &sensor, NULL, 0));
        assert_false(st_fold_add(g, &ev, &paused, 0));
        assert_int_equal(st_fold_add(g, &ev, &deny, 0), i > 0);
    }
    st_fold_free(f);
    st_fold_free(g);
}

static int number_of(struct st_str path)
{
    char text[16] = "";

    assert_in_range(path.len, 2, sizeof(text) - 1);
    memcpy(text, path.p + 1, path.len - 1);
    return atoi(text);
}

/* A flood of many kinds through a small table: nothing is lost, nothing counted twice. */
static void counts_are_exact_under_a_flood(void **state)
{
    struct st_fold *f = st_fold_new(&(struct st_fold_options){.window_ns = 50, .entries = 8});
    uint64_t sent[40] = {0}, got[40] = {0};
    const struct st_verdict *v;
    const struct st_event *out;
    unsigned seed = 3;
    char path[16];

    (void)state;
    for (int64_t now = 0; now < 200000; now++) {
        int n = rand_r(&seed) % 40;
        struct st_event ev;

        if (n > 5 && rand_r(&seed) % 3)
            n %= 5;
        snprintf(path, sizeof(path), "/%d", n);
        ev = file_event(path, now);
        sent[n]++;
        got[n] += !st_fold_add(f, &ev, NULL, now);
        while (now % 7 == 0 && st_fold_peek(f, now, &out, &v)) {
            got[number_of(out->fs.path)] += out->count;
            st_fold_drop(f);
        }
    }
    while (st_fold_peek(f, INT64_MAX, &out, &v)) {
        got[number_of(out->fs.path)] += out->count;
        st_fold_drop(f);
    }
    for (size_t i = 0; i < N_OF(sent); i++)
        assert_int_equal(sent[i], got[i]);
    assert_int_equal(st_fold_deadline(f), -1);
    st_fold_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_recorded_and_repeats_come_as_one),
        cmocka_unit_test(what_is_peeked_and_not_dropped_is_counted_on),
        cmocka_unit_test(what_differs_is_not_folded_together),
        cmocka_unit_test(refusals_pauses_and_traffic_are_not_folded),
        cmocka_unit_test(counts_are_exact_under_a_flood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
