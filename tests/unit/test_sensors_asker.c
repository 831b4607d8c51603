/* Who waits for us: by files of /proc that stay open, and by the book. Of real processes: our own, and
 * children. */
#include "unit.h"

#include "sensors/asker.h"
#include "sensors/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t begin_child(void)
{
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void it_is_read_again_by_the_same_file_and_of_another_by_another(void **state)
{
    struct st_asker a = {0};
    pid_t child = begin_child();
    char text[4096];
    int registers;

    (void)state;
    assert_int_equal(st_asker_registers(&a, getpid()), -1);
    assert_true(st_asker_status(&a, getpid(), text, sizeof(text)) > 0);
    assert_non_null(strstr(text, "Tgid:"));
    registers = st_asker_registers(&a, getpid());
    assert_true(registers >= 0);
    assert_true(st_asker_status(&a, getpid(), text, sizeof(text)) > 0);
    assert_int_equal(st_asker_registers(&a, getpid()), registers);
    assert_true(st_asker_status(&a, child, text, sizeof(text)) > 0);
    assert_int_equal(a.tid, child);
    assert_int_equal(st_asker_registers(&a, getpid()), -1);
    st_asker_close(&a);
    assert_int_equal(a.tid, 0);
    end_child(child);
}

static void of_who_has_ended_nothing_is_read(void **state)
{
    struct st_asker a = {0};
    pid_t child = begin_child();
    char text[4096];

    (void)state;
    assert_true(st_asker_status(&a, child, text, sizeof(text)) > 0);
    end_child(child);
    assert_true(st_asker_status(&a, child, text, sizeof(text)) < 0);
    assert_int_equal(a.tid, 0);
}

static void what_does_not_fit_is_not_read(void **state)
{
    struct st_asker a = {0};
    char text[16];

    (void)state;
    assert_int_equal(st_asker_status(&a, getpid(), text, sizeof(text)), -EFBIG);
}

static void who_runs_what_it_asked_for_is_recognised(void **state)
{
    struct st_process_room *room = calloc(1, sizeof(*room));
    struct st_tree *tree = st_tree_new(16);
    struct st_asker a = {0};
    pid_t child = begin_child();

    (void)state;
    assert_false(st_process_recognise(&a, child, tree, room));
    st_tree_is_there(tree, child);
    assert_false(st_process_recognise(&a, child, tree, room)); /* it has run nothing */
    st_tree_will_run(tree, child, 7, ST_STR_LIT("/judged"));
    assert_true(st_tree_ran(tree, &(struct st_tree_run){child, 1, "judged", 7}));
    assert_true(st_process_recognise(&a, child, tree, room));
    assert_true(room->facts.in_container);
    assert_int_equal(room->facts.leader, child);
    assert_int_equal(room->facts.process.pid, child);
    assert_int_equal(room->facts.process.uid, getuid());
    assert_int_equal(room->facts.process.gid, getgid());
    assert_int_equal(room->facts.process.exe.len, 7);
    assert_memory_equal(room->facts.process.exe.p, "/judged", 7);
    assert_null(room->facts.process.cwd.p);
    assert_true(st_process_argv(child, room).len > 0);
    end_child(child);
    assert_false(st_process_recognise(&a, child, tree, room));
    st_asker_close(&a);
    st_tree_free(tree);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read_again_by_the_same_file_and_of_another_by_another),
        cmocka_unit_test(of_who_has_ended_nothing_is_read),
        cmocka_unit_test(what_does_not_fit_is_not_read),
        cmocka_unit_test(who_runs_what_it_asked_for_is_recognised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
