/* The loop: named handlers, deadlines, slots that change hands within a round; and the link's messages. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/link.h"
#include "monitor/loop.h"
#include "unit.h"

#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

struct fixture {
    struct st_pulse pulse;
    struct st_loop loop;
    int epfd;
    int runs;
    int other; /* fd that a handler removes */
    int64_t deadline;
    int upkeeps;
    int64_t upkeep;
    struct st_loop_eager eager;
    int eager_turns, found; /* how often it was its turn; how often there is to be something */
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){.epfd = epoll_create1(EPOLL_CLOEXEC), .other = -1, .deadline = -1};
    assert_true(f->epfd >= 0);
    st_loop_init(&f->loop, f->epfd, &f->pulse);
}

static void count_and_quit(void *ctx, uint32_t events)
{
    struct fixture *f = ctx;

    (void)events;
    f->runs++;
    f->loop.quit = true;
}

static void a_ready_fd_runs_its_handler_and_beats(void **state)
{
    struct fixture f;
    st_auto_fd fd = eventfd(1, EFD_CLOEXEC);

    (void)state;
    set_up(&f);
    assert_int_equal(st_loop_add(&f.loop, "one", fd, EPOLLIN, count_and_quit, &f), 0);
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.runs, 1);
    assert_int_equal(atomic_load(&f.pulse.beats), 1);
    assert_int_equal(atomic_load(&f.pulse.busy), 0);
    close(f.epfd);
}

static void must_not_run(void *ctx, uint32_t events)
{
    (void)ctx;
    (void)events;
    fail_msg("a removed handler was run");
}

static void replace_other(void *ctx, uint32_t events)
{
    struct fixture *f = ctx;

    if (f->runs > 0) {
        count_and_quit(ctx, events);
        return;
    }
    f->runs++;
    /* Its event is in hand already; the slot now belongs to somebody who has none. */
    st_loop_remove(&f->loop, f->other);
    close(f->other);
    f->other = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(st_loop_add(&f->loop, "successor", f->other, EPOLLIN, must_not_run, f), 0);
}

static void an_event_of_a_slots_last_owner_is_not_given_to_its_next(void **state)
{
    struct fixture f;
    st_auto_fd fd = eventfd(1, EFD_CLOEXEC);

    (void)state;
    set_up(&f);
    f.other = eventfd(1, EFD_CLOEXEC);
    assert_int_equal(st_loop_add(&f.loop, "first", fd, EPOLLIN, replace_other, &f), 0);
    assert_int_equal(st_loop_add(&f.loop, "second", f.other, EPOLLIN, must_not_run, &f), 0);
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.runs, 2);
    close(f.other);
    close(f.epfd);
}

static int64_t tell_deadline(void *ctx)
{
    return ((struct fixture *)ctx)->deadline;
}

static void at_deadline(void *ctx)
{
    struct fixture *f = ctx;

    assert_true(st_now_mono_ns() >= f->deadline);
    count_and_quit(ctx, 0);
}

static void a_deadline_runs_without_any_fd(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    f.deadline = st_now_mono_ns() + 3000000;
    f.loop.deadline = tell_deadline;
    f.loop.on_deadline = at_deadline;
    f.loop.deadline_ctx = &f;
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.runs, 1);
    close(f.epfd);
}

/* Each first rest is followed by work, the work by another rest; the second one ends the test. */
static void on_rest(void *ctx)
{
    struct fixture *f = ctx;
    uint64_t one = 1;

    f->runs++;
    assert_int_equal(write(f->other, &one, sizeof(one)), sizeof(one));
}

static void work(void *ctx, uint32_t events)
{
    struct fixture *f = ctx;
    uint64_t count;

    (void)events;
    assert_int_equal(read(f->other, &count, sizeof(count)), sizeof(count));
    f->loop.quit = f->runs == 2;
}

static void quiet_is_told_once_after_each_time_of_work(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    f.other = eventfd(0, EFD_CLOEXEC);
    f.loop.on_quiet = on_rest;
    f.loop.quiet_ms = 1;
    f.loop.deadline_ctx = &f;
    assert_int_equal(st_loop_add(&f.loop, "work", f.other, EPOLLIN, work, &f), 0);
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.runs, 2);
    assert_int_equal(atomic_load(&f.pulse.beats), 2);
    close(f.other);
    close(f.epfd);
}

static int64_t tell_upkeep(void *ctx)
{
    return ((struct fixture *)ctx)->upkeep;
}

static void keep_up(void *ctx)
{
    struct fixture *f = ctx;

    assert_true(st_now_mono_ns() >= f->upkeep);
    f->upkeep = st_now_mono_ns() + 1000000;
    f->upkeeps++;
}

static void count_rest(void *ctx)
{
    ((struct fixture *)ctx)->runs++;
}

/* The test ends by a deadline that is farther away than quiet is. */
static void end_of_rest(void *ctx)
{
    struct fixture *f = ctx;

    assert_int_equal(f->runs, 1);
    f->loop.quit = true;
}

static void upkeep_neither_puts_quiet_off_nor_calls_it_again(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    f.deadline = st_now_mono_ns() + 50000000;
    f.loop.deadline = tell_deadline;
    f.loop.on_deadline = end_of_rest;
    f.loop.upkeep = tell_upkeep;
    f.loop.on_upkeep = keep_up;
    f.loop.on_quiet = count_rest;
    f.loop.quiet_ms = 5;
    f.loop.deadline_ctx = &f;
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_true(f.upkeeps > 1);
    assert_int_equal(atomic_load(&f.pulse.beats), 1);
    close(f.epfd);
}

static void quit_after_upkeep(void *ctx, uint32_t events)
{
    struct fixture *f = ctx;

    (void)events;
    f->loop.quit = f->upkeeps >= 3;
}

static void upkeep_is_done_also_where_work_never_ends(void **state)
{
    struct fixture f;
    st_auto_fd fd = eventfd(1, EFD_CLOEXEC);

    (void)state;
    set_up(&f);
    f.loop.upkeep = tell_upkeep;
    f.loop.on_upkeep = keep_up;
    f.loop.deadline_ctx = &f;
    assert_int_equal(st_loop_add(&f.loop, "work", fd, EPOLLIN, quit_after_upkeep, &f), 0);
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.upkeeps, 3);
    close(f.epfd);
}

/* ---- who asks again at once ---- */

static struct st_loop_eager tell_eager(void *ctx, int last)
{
    (void)last;
    return ((struct fixture *)ctx)->eager;
}

static bool take_turn(void *ctx, int fd, short events)
{
    struct fixture *f = ctx;

    assert_int_equal(fd, f->eager.fd);
    assert_true(events & POLLIN);
    return ++f->eager_turns <= f->found;
}

static void set_up_eager(struct fixture *f, int fd, bool may_fail)
{
    set_up(f);
    f->eager = (struct st_loop_eager){fd, may_fail};
    f->loop.eager = tell_eager;
    f->loop.on_eager = take_turn;
    f->loop.deadline_ctx = f;
}

static void quit_at_the_third(void *ctx, uint32_t events)
{
    struct fixture *f = ctx;

    (void)events;
    f->loop.quit = ++f->runs == 3;
}

static void starves_nobody(bool may_fail)
{
    struct fixture f;
    st_auto_fd greedy = eventfd(1, EFD_CLOEXEC), other = eventfd(1, EFD_CLOEXEC);

    set_up_eager(&f, greedy, may_fail);
    f.found = INT_MAX;
    f.loop.upkeep = tell_upkeep;
    f.loop.on_upkeep = keep_up;
    assert_int_equal(st_loop_add(&f.loop, "other", other, EPOLLIN, quit_at_the_third, &f), 0);
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.runs, 3);
    assert_true(f.eager_turns >= 3 && f.eager_turns <= 3 * 8);
    assert_true(f.upkeeps > 0);
    close(f.epfd);
}

static void who_always_asks_again_does_not_starve_the_others(void **state)
{
    (void)state;
    starves_nobody(false);
}

static void nor_does_who_is_tried_without_asking(void **state)
{
    (void)state;
    starves_nobody(true);
}

static void a_deadline_comes_though_somebody_always_asks_again(void **state)
{
    struct fixture f;
    st_auto_fd greedy = eventfd(1, EFD_CLOEXEC);

    (void)state;
    set_up_eager(&f, greedy, true);
    f.found = INT_MAX;
    f.deadline = st_now_mono_ns() + 3000000;
    f.loop.deadline = tell_deadline;
    f.loop.on_deadline = at_deadline;
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.runs, 1);
    close(f.epfd);
}

/* One try in vain, then it is slept, and upkeep makes for no other. */
static void who_does_not_ask_again_is_tried_once_and_waited_for_asleep(void **state)
{
    struct fixture f;
    st_auto_fd silent = eventfd(0, EFD_CLOEXEC);

    (void)state;
    set_up_eager(&f, silent, true);
    f.deadline = st_now_mono_ns() + 50000000;
    f.loop.deadline = tell_deadline;
    f.loop.on_deadline = end_of_rest;
    f.loop.upkeep = tell_upkeep;
    f.loop.on_upkeep = keep_up;
    f.loop.on_quiet = count_rest;
    f.loop.quiet_ms = 5;
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_true(f.upkeeps > 1);
    assert_int_equal(f.eager_turns, 1);
    assert_int_equal(atomic_load(&f.pulse.beats), 2);
    close(f.epfd);
}

static void who_can_not_be_tried_is_asked_about_first(void **state)
{
    struct fixture f;
    st_auto_fd silent = eventfd(0, EFD_CLOEXEC);

    (void)state;
    set_up_eager(&f, silent, false);
    f.deadline = st_now_mono_ns() + 3000000;
    f.loop.deadline = tell_deadline;
    f.loop.on_deadline = at_deadline;
    assert_int_equal(st_loop_run(&f.loop), 0);
    assert_int_equal(f.eager_turns, 0);
    close(f.epfd);
}

static void a_full_loop_says_so(void **state)
{
    struct fixture f;
    int fds[ST_LOOP_MAX + 1];

    (void)state;
    set_up(&f);
    for (int i = 0; i <= ST_LOOP_MAX; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC);
        assert_int_equal(st_loop_add(&f.loop, "many", fds[i], EPOLLIN, must_not_run, &f),
                         i < ST_LOOP_MAX ? 0 : -ENOSPC);
    }
    for (int i = 0; i <= ST_LOOP_MAX; i++)
        close(fds[i]);
    close(f.epfd);
}

static void a_message_arrives_whole(void **state)
{
    struct st_link_message m;
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(st_link_receive(pair[1], &m), -EAGAIN);
    assert_int_equal(st_link_send(pair[0], ST_LINK_FAILED, 7, "why"), 0);
    assert_int_equal(st_link_receive(pair[1], &m), 1);
    assert_int_equal(m.kind, ST_LINK_FAILED);
    assert_int_equal(m.value, 7);
    assert_string_equal(m.text, "why");
    close(pair[0]);
    assert_int_equal(st_link_receive(pair[1], &m), 0);
    close(pair[1]);
}

static void what_is_no_message_is_refused(void **state)
{
    struct st_link_message m;
    char unterminated[sizeof(m)];
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(send(pair[0], "x", 1, 0), 1);
    assert_int_equal(st_link_receive(pair[1], &m), -EBADMSG);
    memset(unterminated, 'x', sizeof(unterminated));
    assert_int_equal(send(pair[0], unterminated, sizeof(unterminated), 0), sizeof(unterminated));
    assert_int_equal(st_link_receive(pair[1], &m), 1);
    assert_int_equal(strlen(m.text), sizeof(m.text) - 1);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ready_fd_runs_its_handler_and_beats),
        cmocka_unit_test(an_event_of_a_slots_last_owner_is_not_given_to_its_next),
        cmocka_unit_test(a_deadline_runs_without_any_fd),
        cmocka_unit_test(quiet_is_told_once_after_each_time_of_work),
        cmocka_unit_test(upkeep_neither_puts_quiet_off_nor_calls_it_again),
        cmocka_unit_test(upkeep_is_done_also_where_work_never_ends),
        cmocka_unit_test(who_always_asks_again_does_not_starve_the_others),
        cmocka_unit_test(nor_does_who_is_tried_without_asking),
        cmocka_unit_test(a_deadline_comes_though_somebody_always_asks_again),
        cmocka_unit_test(who_does_not_ask_again_is_tried_once_and_waited_for_asleep),
        cmocka_unit_test(who_can_not_be_tried_is_asked_about_first),
        cmocka_unit_test(a_full_loop_says_so),
        cmocka_unit_test(a_message_arrives_whole),
        cmocka_unit_test(what_is_no_message_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
