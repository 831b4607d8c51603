/* Queues of readers and the ring of the last records: bounded, in order, and nothing is lost without being
 * counted. */
#include "base/cleanup.h"
#include "base/json.h"
#include "monitor/outbox.h"
#include "monitor/ring.h"
#include "unit.h"

#include <stdio.h>
#include <sys/socket.h>

struct pair {
    int ours, theirs;
    struct st_outbox box;
    struct st_buf got;
};

static void set_up(struct pair *p)
{
    int fds[2];

    *p = (struct pair){0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    p->ours = fds[0];
    p->theirs = fds[1];
}

static void tear_down(struct pair *p)
{
    st_outbox_free(&p->box);
    st_buf_free(&p->got);
    st_close(&p->ours);
    st_close(&p->theirs);
}

static void read_all(struct pair *p)
{
    char bytes[65536];
    ssize_t n;

    while ((n = recv(p->theirs, bytes, sizeof(bytes), 0)) > 0)
        st_buf_add(&p->got, bytes, (size_t)n);
}

/* Until both sides have nothing more to do. */
static void drain(struct pair *p)
{
    int rc;

    do {
        rc = st_outbox_flush(&p->box, p->ours, "box");
        assert_true(rc >= 0);
        read_all(p);
    } while (rc > 0);
}

static void put(struct pair *p, uint64_t seq, size_t size)
{
    st_auto_buf line = ST_BUF_INIT;

    st_buf_addf(&line, "{\"seq\":%llu,\"x\":\"", (unsigned long long)seq);
    while (line.len < size)
        st_buf_addc(&line, 'x');
    st_buf_adds(&line, "\"}\n");
    st_outbox_event(&p->box, seq, line.data, line.len);
}

/* Checks that every number from first on comes once, or is in a gap that was told. Returns how many came. */
static uint64_t check_order(const struct pair *p, uint64_t first, uint64_t last)
{
    uint64_t next = first, came = 0;

    for (const char *line = p->got.data; line < p->got.data + p->got.len; line = strchr(line, '\n') + 1) {
        st_auto_json doc = NULL;
        int64_t seq, missed;

        assert_int_equal(st_json_parse(line, strcspn(line, "\n"), ST_JSON_DEFAULT_LIMITS, &doc, NULL), 0);
        if (st_json_int(st_json_get(st_json_root(doc), "missed"), &missed)) {
            assert_true(st_json_int(st_json_get(st_json_root(doc), "last_seq"), &seq));
            assert_int_equal(next + (uint64_t)missed - 1, seq);
            assert_string_equal(st_json_str(st_json_get(st_json_root(doc), "id"), NULL), "box");
        } else {
            assert_true(st_json_int(st_json_get(st_json_root(doc), "seq"), &seq));
            assert_int_equal(next, seq);
            came++;
        }
        next = (uint64_t)seq + 1;
    }
    assert_int_equal(next, last + 1);
    return came;
}

static void a_reader_who_reads_gets_everything_in_order(void **state)
{
    struct pair p;

    (void)state;
    set_up(&p);
    for (uint64_t seq = 1; seq <= 5000; seq++) {
        put(&p, seq, 500);
        assert_true(st_outbox_flush(&p.box, p.ours, "box") >= 0);
        read_all(&p);
    }
    drain(&p);
    assert_int_equal(check_order(&p, 1, 5000), 5000);
    tear_down(&p);
}

static void a_reader_who_never_reads_costs_a_bounded_queue(void **state)
{
    struct pair p;

    (void)state;
    set_up(&p);
    for (uint64_t seq = 1; seq <= 20000; seq++) {
        put(&p, seq, 500);
        st_outbox_flush(&p.box, p.ours, "box");
        assert_true(st_outbox_waits(&p.box) <= ST_OUTBOX_EVENTS);
        assert_true(p.box.queue.cap <= 4 * ST_OUTBOX_EVENTS);
    }
    assert_true(p.box.missed > 0);
    tear_down(&p);
}

static void a_reader_who_catches_up_is_told_what_it_missed_and_where(void **state)
{
    struct pair p;
    uint64_t came;

    (void)state;
    set_up(&p);
    for (uint64_t seq = 1; seq <= 20000; seq++) {
        put(&p, seq, 500);
        st_outbox_flush(&p.box, p.ours, "box");
        if (seq == 12000)
            drain(&p);
    }
    drain(&p);
    came = check_order(&p, 1, 20000);
    assert_true(came > 4000 && came < 20000);
    put(&p, 20001, 500);
    drain(&p);
    assert_int_equal(check_order(&p, 1, 20001), came + 1);
    tear_down(&p);
}

static void a_line_of_a_mebibyte_goes_through(void **state)
{
    struct pair p;

    (void)state;
    set_up(&p);
    put(&p, 1, (size_t)1 << 20);
    put(&p, 2, 100);
    drain(&p);
    put(&p, 3, 100);
    drain(&p);
    assert_int_equal(check_order(&p, 1, 3), 2);
    tear_down(&p);
}

static void answers_are_never_left_out_but_have_an_end(void **state)
{
    struct pair p;
    char text[1024];
    size_t n = 0;

    (void)state;
    set_up(&p);
    memset(text, 'a', sizeof(text));
    while (st_outbox_answer(&p.box, text, sizeof(text)))
        n++;
    assert_int_equal(n, ST_OUTBOX_ANSWERS / sizeof(text));
    drain(&p);
    assert_int_equal(p.got.len, n * sizeof(text));
    tear_down(&p);
}

static void a_reader_who_is_gone_is_an_error_and_no_signal(void **state)
{
    struct pair p;

    (void)state;
    set_up(&p);
    st_close(&p.theirs);
    put(&p, 1, 100);
    assert_true(st_outbox_flush(&p.box, p.ours, "box") < 0);
    tear_down(&p);
}

static void the_ring_keeps_the_last_without_a_gap(void **state)
{
    struct st_ring ring = {0};
    struct st_ring_entry e;
    char text[700];
    const char *line;

    (void)state;
    memset(text, 'x', sizeof(text));
    for (uint64_t seq = 10; seq < 5000; seq++) {
        uint64_t next;
        size_t at = 0;

        e = (struct st_ring_entry){.seq = seq, .len = (uint32_t)(100 + seq % 600), .type = seq % 13};
        snprintf(text, sizeof(text), "%llu ", (unsigned long long)seq);
        st_ring_put(&ring, &e, text);
        assert_true(ring.bytes.len <= ST_RING_BYTES);
        assert_int_equal(ring.last_seq, seq);
        if (seq % 97)
            continue;
        for (next = ring.first_seq; st_ring_next(&ring, &at, &e, &line); next++) {
            assert_int_equal(e.seq, next);
            assert_int_equal(strtoull(line, NULL, 10), next);
            assert_int_equal(e.type, next % 13);
        }
        assert_int_equal(next, seq + 1);
    }
    assert_true(ring.last_seq - ring.first_seq > 200);
    st_ring_free(&ring);
}

static void the_ring_forgets_what_is_before_a_gap_or_too_large(void **state)
{
    struct st_ring ring = {0};
    st_auto_buf large = ST_BUF_INIT;
    struct st_ring_entry e = {.seq = 1, .len = 3};
    const char *line;
    size_t at = 0;

    (void)state;
    st_ring_put(&ring, &e, "one");
    e.seq = 7;
    st_ring_put(&ring, &e, "two");
    assert_int_equal(ring.first_seq, 7);
    assert_true(st_ring_next(&ring, &at, &e, &line));
    assert_false(st_ring_next(&ring, &at, &e, &line));
    while (large.len <= ST_RING_BYTES)
        st_buf_adds(&large, "0123456789abcdef");
    e = (struct st_ring_entry){.seq = 8, .len = (uint32_t)large.len};
    st_ring_put(&ring, &e, large.data);
    assert_int_equal(ring.first_seq, 0);
    e = (struct st_ring_entry){.seq = 9, .len = 3};
    st_ring_put(&ring, &e, "fit");
    assert_int_equal(ring.first_seq, 9);
    st_ring_free(&ring);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_who_reads_gets_everything_in_order),
        cmocka_unit_test(a_reader_who_never_reads_costs_a_bounded_queue),
        cmocka_unit_test(a_reader_who_catches_up_is_told_what_it_missed_and_where),
        cmocka_unit_test(a_line_of_a_mebibyte_goes_through),
        cmocka_unit_test(answers_are_never_left_out_but_have_an_end),
        cmocka_unit_test(a_reader_who_is_gone_is_an_error_and_no_signal),
        cmocka_unit_test(the_ring_keeps_the_last_without_a_gap),
        cmocka_unit_test(the_ring_forgets_what_is_before_a_gap_or_too_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
