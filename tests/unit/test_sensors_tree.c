/* The book of processes: who began whom, whatever becomes of them. */
#include "unit.h"

#include "sensors/tree.h"

#define SECOND 1000000000LL

static bool ran(struct st_tree *t, pid_t pid, uint64_t start_ns, const char *comm)
{
    return st_tree_ran(t, &(struct st_tree_run){pid, start_ns, comm, 7});
}

static int make(void **state)
{
    *state = st_tree_new(64);
    ran(*state, 100, 1, "init");
    return 0;
}

static int unmake(void **state)
{
    st_tree_free(*state);
    return 0;
}

static bool forks(struct st_tree *t, pid_t parent, pid_t child)
{
    struct st_tree_fork f = {
        .parent = parent, .child = child, .by_pid = parent, .by = parent, .start_ns = (uint64_t)child};

    return st_tree_forked(t, &f, SECOND);
}

static void ends(struct st_tree *t, pid_t pid)
{
    assert_true(st_tree_ended(t, pid, 0));
}

static struct st_tree_facts facts_of(const struct st_tree *t, pid_t pid)
{
    struct st_tree_facts f;

    assert_true(st_tree_find(t, pid, &f));
    return f;
}

static void depth_and_children_are_counted(void **state)
{
    struct st_tree *t = *state;

    forks(t, 100, 101);
    forks(t, 101, 102);
    forks(t, 100, 103);
    assert_int_equal(facts_of(t, 100).depth, 0);
    assert_int_equal(facts_of(t, 102).depth, 2);
    assert_int_equal(facts_of(t, 100).children, 2);
    ends(t, 103);
    assert_int_equal(facts_of(t, 100).children, 1);
    assert_int_equal(st_tree_totals(t)->alive, 3);
    assert_int_equal(st_tree_totals(t)->most_processes, 4);
    assert_int_equal(st_tree_totals(t)->most_depth, 2);
    assert_int_equal(st_tree_totals(t)->most_children, 2);
    assert_int_equal(st_tree_totals(t)->forks, 3);
}

static void a_daemon_of_two_forks_keeps_its_ancestors(void **state)
{
    struct st_tree *t = *state;
    struct st_ancestor a[8];
    bool cut;

    forks(t, 100, 101);
    ran(t, 101, 101, "launcher");
    st_tree_set_exe(t, 101, ST_STR_LIT("/bin/launcher"));
    forks(t, 101, 102);
    forks(t, 102, 103);
    ends(t, 102);
    ends(t, 101);
    assert_int_equal(facts_of(t, 103).depth, 3);
    assert_int_equal(facts_of(t, 103).parent, 102);
    assert_int_equal(st_tree_ancestry(t, 103, a, 8, &cut), 3);
    assert_false(cut);
    assert_int_equal(a[1].pid, 101);
    assert_memory_equal(a[1].comm.p, "launcher", 8);
    assert_memory_equal(a[1].exe.p, "/bin/launcher", 13);
    assert_int_equal(a[2].pid, 100);
    /* It is nobody's child any more. */
    assert_int_equal(facts_of(t, 100).children, 0);
    ends(t, 103);
    assert_int_equal(st_tree_totals(t)->alive, 1);
}

static void who_came_in_from_outside_keeps_who_brought_it(void **state)
{
    const struct st_ancestor outside[] = {
        {.pid = 7, .comm = ST_STR_LIT("runc"), .exe = ST_STR_LIT("/sbin/runc")},
        {.pid = 6, .comm = ST_STR_LIT("shim")}};
    struct st_tree *t = *state;
    struct st_ancestor a[8];
    bool cut;

    ran(t, 200, 200, "sh");
    forks(t, 200, 201);
    assert_false(facts_of(t, 200).placed);
    st_tree_set_origin(t, 200, outside, 2);
    st_tree_set_origin(t, 200, outside, 1); /* those are who took it over */
    assert_true(facts_of(t, 200).placed);
    assert_int_equal(st_tree_ancestry(t, 200, a, 8, &cut), 2);
    ends(t, 200);
    assert_int_equal(st_tree_ancestry(t, 201, a, 8, &cut), 3);
    assert_false(cut);
    assert_int_equal(a[0].pid, 200);
    assert_int_equal(a[1].pid, 7);
    assert_memory_equal(a[1].exe.p, "/sbin/runc", 10);
    assert_int_equal(a[2].pid, 6);
    assert_int_equal(st_tree_ancestry(t, 201, a, 2, &cut), 2);
    /* One that is not there has none. */
    st_tree_set_origin(t, 999, outside, 2);
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
    struct st_tree *t = *state;

    forks(t, 100, 101);
    forks(t, 101, 102);
    ends(t, 101);
    /* by one who is at depth 2 */
    assert_false(st_tree_forked(
        t, &(struct st_tree_fork){.parent = 102, .by_pid = 102, .by = 102, .child = 101, .start_ns = 7},
        SECOND));
    assert_int_equal(facts_of(t, 101).depth, 3);
    assert_int_equal(facts_of(t, 101).parent, 102);
    /* the end of who had the number before comes late */
    assert_false(st_tree_ended(t, 101, 101));
    assert_int_equal(facts_of(t, 101).start_ns, 7);
    assert_true(st_tree_ended(t, 101, 7));
}

static void whose_end_was_not_told_ends_when_the_number_is_used_again(void **state)
{
    struct st_tree *t = *state;

    forks(t, 100, 101);
    ran(t, 101, 55, "other");
    assert_int_equal(facts_of(t, 101).depth, 0);
    assert_int_equal(facts_of(t, 100).children, 0);
    forks(t, 100, 101);
    assert_int_equal(facts_of(t, 101).depth, 1);
    assert_int_equal(st_tree_totals(t)->alive, 2);
}

static void who_comes_from_outside_is_at_depth_0(void **state)
{
    struct st_tree *t = *state;

    forks(t, 7, 200); /* 7: the runtime */
    ran(t, 300, 300, "exec");
    assert_int_equal(facts_of(t, 200).depth, 0);
    assert_int_equal(facts_of(t, 300).depth, 0);
    forks(t, 300, 301);
    assert_int_equal(facts_of(t, 301).depth, 1);
}

static void what_is_run_is_known_by_its_file(void **state)
{
    struct st_tree *t = *state;

    forks(t, 100, 101);
    st_tree_will_run(t, 101, 5, ST_STR_LIT("/script"));
    st_tree_will_run(t, 101, 6, ST_STR_LIT("/bin/failed"));
    assert_false(ran(t, 101, 101, "x"));
    assert_null(facts_of(t, 101).exe.p);
    st_tree_will_run(t, 101, 5, ST_STR_LIT("/script"));
    st_tree_will_run(t, 101, 7, ST_STR_LIT("/bin/sh"));
    st_tree_will_run(t, 101, 8, ST_STR_LIT("/lib/ld.so"));
    assert_true(ran(t, 101, 101, "sh"));
    assert_memory_equal(facts_of(t, 101).exe.p, "/bin/sh", 7);
    assert_true(facts_of(t, 101).ran);
    for (int i = 0; i < 50; i++)
        st_tree_will_run(t, 101, 9, ST_STR_LIT("/never"));
    forks(t, 101, 102);
    assert_memory_equal(facts_of(t, 102).exe.p, "/bin/sh", 7);
    st_tree_set_exe(t, 102, ST_STR_LIT("/other"));
    assert_memory_equal(facts_of(t, 101).exe.p, "/bin/sh", 7);
}

static void what_was_asked_for_and_runs_is_judged_and_so_are_its_children(void **state)
{
    struct st_tree *t = *state;

    forks(t, 100, 101);
    assert_false(facts_of(t, 101).judged);
    st_tree_will_run(t, 101, 7, ST_STR_LIT("/bin/sh"));
    assert_false(facts_of(t, 101).judged);
    assert_true(ran(t, 101, 101, "sh"));
    forks(t, 101, 102);
    assert_true(facts_of(t, 101).judged && facts_of(t, 102).judged);
    assert_false(ran(t, 102, 102, "other")); /* without having asked */
    assert_false(facts_of(t, 102).judged);
    forks(t, 102, 103);
    assert_false(facts_of(t, 103).judged);
    st_tree_set_exe(t, 101, ST_STR_LIT("/found/by/looking"));
    assert_false(facts_of(t, 101).judged);
}

static void nothing_is_above_the_most(void **state)
{
    struct st_tree *t = *state;
    struct st_tree_counts most;

    forks(t, 100, 101);
    forks(t, 101, 102);
    forks(t, 101, 103);
    st_tree_ended(t, 103, 0);
    st_tree_most(t, 0, &most);
    assert_int_equal(most.depth, 2);
    assert_int_equal(most.children, 2);
    assert_int_equal(most.processes, st_tree_totals(t)->alive);
    assert_int_equal(most.forks, 3);
}

static void facts_about_nobody_are_nothing(void **state)
{
    struct st_tree *t = *state;
    struct st_tree_counts c;
    struct st_ancestor a[1];
    struct st_tree_facts f;
    bool cut;

    assert_false(st_tree_ended(t, 999, 0));
    assert_false(st_tree_find(t, 999, &f));
    assert_false(st_tree_counts_of(t, 999, SECOND, &c));
    assert_int_equal(st_tree_ancestry(t, 999, a, 1, &cut), 0);
    st_tree_set_exe(t, 999, ST_STR_LIT("/x"));
    st_tree_let_none(t, 999);
}

static struct st_tree_counts would(struct st_tree *t, pid_t pid, pid_t tid, int64_t now_ns)
{
    struct st_tree_counts c;

    st_tree_would(t, &(struct st_tree_caller){.pid = pid, .tid = tid}, now_ns, &c);
    return c;
}

static void let(struct st_tree *t, pid_t pid, pid_t tid, int64_t now_ns)
{
    st_tree_let(t, &(struct st_tree_caller){.pid = pid, .tid = tid}, now_ns);
}

static void who_was_let_counts_before_it_is_seen(void **state)
{
    struct st_tree *t = *state;
    struct st_tree_counts c = would(t, 100, 100, SECOND);
    pid_t waiting[4];

    assert_int_equal(c.depth, 1);
    assert_int_equal(c.children, 1);
    assert_int_equal(c.processes, 2);
    assert_int_equal(c.forks, 1);
    let(t, 100, 100, SECOND);
    let(t, 100, 150, SECOND); /* another thread of it */
    c = would(t, 100, 151, SECOND);
    assert_int_equal(c.children, 3);
    assert_int_equal(c.processes, 4);
    assert_int_equal(c.forks, 3);
    assert_int_equal(st_tree_waiting(t, waiting, 4), 2);
    assert_true(st_tree_forked(t, &(struct st_tree_fork){100, 101, 100, 150, 101}, SECOND));
    assert_int_equal(st_tree_waiting(t, waiting, 4), 1);
    assert_int_equal(waiting[0], 100);
    c = would(t, 100, 151, SECOND);
    assert_int_equal(c.children, 3);
    /* It asks again: what it was let did not come to be. */
    c = would(t, 100, 100, SECOND);
    assert_int_equal(c.children, 2);
    /* Nobody had asked about this one. */
    assert_false(forks(t, 100, 102));
}

static void a_sibling_is_no_way_up(void **state)
{
    struct st_tree *t = *state;
    struct st_tree_counts c;

    forks(t, 100, 101);
    forks(t, 101, 102);
    ends(t, 101);
    /* 102 belongs to the first process now, and so does its sibling, the kernel says. */
    st_tree_would(t, &(struct st_tree_caller){.pid = 102, .tid = 102, .for_parent = true}, SECOND, &c);
    assert_int_equal(c.depth, 2);
    assert_int_equal(c.children, 1);
    st_tree_let(t, &(struct st_tree_caller){.pid = 102, .tid = 102, .for_parent = true}, SECOND);
    assert_true(st_tree_forked(t, &(struct st_tree_fork){100, 103, 102, 102, 103}, SECOND));
    assert_int_equal(facts_of(t, 103).depth, 2);
    assert_int_equal(facts_of(t, 103).parent, 101);
    assert_int_equal(facts_of(t, 100).children, 0);
}

static void forks_of_the_last_second_are_those_of_the_last_second(void **state)
{
    struct st_tree *t = *state;

    for (int i = 0; i < 10; i++)
        let(t, 100, 1000 + i, SECOND + i * SECOND / 10);
    assert_int_equal(would(t, 100, 1, SECOND + SECOND * 9 / 10).forks, 11);
    assert_int_equal(would(t, 100, 1, 2 * SECOND + SECOND / 2).forks, 5);
    assert_int_equal(would(t, 100, 1, 3 * SECOND).forks, 1);
    assert_int_equal(would(t, 100, 1, 1000 * SECOND).forks, 1);
    assert_int_equal(st_tree_totals(t)->most_forks, 10);
}

static void a_flood_finds_an_end_and_is_told(void **state)
{
    struct st_tree *t = *state;

    for (pid_t pid = 1000; pid < 1100; pid++)
        forks(t, 100, pid);
    assert_int_equal(st_tree_totals(t)->alive, 64);
    assert_int_equal(st_tree_totals(t)->untold, 100 - 63);
    assert_int_equal(st_tree_totals(t)->forks, 100);
    for (pid_t pid = 1000; pid < 1063; pid++)
        ends(t, pid);
    assert_int_equal(st_tree_totals(t)->alive, 1);
}

static void the_dead_make_room_for_the_living(void **state)
{
    struct st_tree *t = *state;
    struct st_ancestor a[8];
    bool cut;

    for (pid_t pid = 101; pid < 140; pid++) { /* a chain of which only the last lives */
        forks(t, pid - 1, pid);
        if (pid > 101)
            ends(t, pid - 1);
    }
    assert_int_equal(facts_of(t, 139).depth, 39);
    for (pid_t pid = 1000; pid < 1062; pid++)
        forks(t, 100, pid);
    assert_int_equal(st_tree_totals(t)->untold, 0);
    assert_int_equal(st_tree_totals(t)->alive, 64);
    assert_int_equal(facts_of(t, 139).depth, 39);
    assert_int_equal(st_tree_ancestry(t, 139, a, 8, &cut), 0);
    assert_true(cut);
}

static void a_chain_without_end_needs_no_memory_without_end(void **state)
{
    struct st_tree *t = st_tree_new(1000);
    struct st_ancestor a[200];
    bool cut;

    (void)state;
    ran(t, 1, 1, "first");
    for (pid_t pid = 2; pid < 5000; pid++) {
        forks(t, pid - 1, pid);
        ends(t, pid - 1);
    }
    assert_int_equal(facts_of(t, 4999).depth, 4998);
    assert_int_equal(st_tree_ancestry(t, 4999, a, 200, &cut), 64);
    assert_true(cut);
    assert_int_equal(st_tree_totals(t)->untold, 0);
    st_tree_free(t);
}

static void a_census_ends_who_is_not_there(void **state)
{
    struct st_tree *t = *state;
    const pid_t there[] = {100, 102};

    forks(t, 100, 101);
    forks(t, 101, 102);
    st_tree_keep_only(t, there, 2);
    assert_int_equal(st_tree_totals(t)->alive, 2);
    assert_int_equal(facts_of(t, 102).parent, 101);
    assert_int_equal(facts_of(t, 100).children, 0);
}

static void what_is_told_of_a_child_is_what_would_have_been(void **state)
{
    struct st_tree *t = *state;
    struct st_tree_counts c;

    forks(t, 100, 101);
    forks(t, 100, 102);
    assert_true(st_tree_counts_of(t, 102, SECOND, &c));
    assert_int_equal(c.depth, 1);
    assert_int_equal(c.children, 2);
    assert_int_equal(c.processes, 3);
    assert_int_equal(c.forks, 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make, unmake)
    const struct CMUnitTest tests[] = {
        T(depth_and_children_are_counted),
        T(a_daemon_of_two_forks_keeps_its_ancestors),
        T(who_came_in_from_outside_keeps_who_brought_it),
        T(a_number_that_is_used_again_is_another_process),
        T(whose_end_was_not_told_ends_when_the_number_is_used_again),
        T(who_comes_from_outside_is_at_depth_0),
        T(what_is_run_is_known_by_its_file),
        T(what_was_asked_for_and_runs_is_judged_and_so_are_its_children),
        T(nothing_is_above_the_most),
        T(facts_about_nobody_are_nothing),
        T(who_was_let_counts_before_it_is_seen),
        T(a_sibling_is_no_way_up),
        T(forks_of_the_last_second_are_those_of_the_last_second),
        T(a_flood_finds_an_end_and_is_told),
        T(the_dead_make_room_for_the_living),
        T(a_chain_without_end_needs_no_memory_without_end),
        T(a_census_ends_who_is_not_there),
        T(what_is_told_of_a_child_is_what_would_have_been),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
