/* What is kept of a process: good while it is the same one, doing the same. */
#include "sensors/process_cache.h"

#include "sensors/access.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000LL

static const struct st_membership everywhere = {.path = ""};
static struct st_process_cache *cache;
static int64_t uid, now_ns;

static int set_up(void **state)
{
    (void)state;
    uid = 0;
    now_ns = 1000 * MS;
    cache = st_process_cache_new(&everywhere);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    st_process_cache_free(cache);
    return 0;
}

static const struct st_process *known(pid_t pid)
{
    const struct st_process_facts *facts = st_process_cached(cache, pid, uid, now_ns);

    return facts ? &facts->process : NULL;
}

/* A child that does one thing at each byte it is sent, and says when it is done. */
struct child {
    pid_t pid;
    int to, from;
};

static void obey(int from, int to, void (*does)(void))
{
    char byte;

    while (read(from, &byte, 1) == 1) {
        does();
        if (write(to, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

static struct child child_that(void (*does)(void))
{
    int down[2], up[2];
    pid_t pid;

    assert_int_equal(pipe(down) | pipe(up), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        obey(down[0], up[1], does);
    }
    close(down[0]);
    close(up[1]);
    return (struct child){pid, down[1], up[0]};
}

static void tell(const struct child *c)
{
    char byte = 0;

    assert_int_equal(write(c->to, &byte, 1), 1);
    assert_int_equal(read(c->from, &byte, 1), 1);
}

static void end(const struct child *c)
{
    kill(c->pid, SIGKILL); /* others have its pipe open as well */
    close(c->to);
    close(c->from);
    assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

/* ---- what it does ---- */

static void change_name(void)
{
    prctl(PR_SET_NAME, "other");
}

static bool is(struct st_str s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.p, text, s.len) == 0;
}

static void test_what_changes_unseen_is_told_after_a_while(void **state)
{
    struct child c = child_that(change_name);

    (void)state;
    assert_false(is(known(c.pid)->comm, "other"));
    tell(&c);
    now_ns += 60 * MS;
    assert_false(is(known(c.pid)->comm, "other")); /* it was kept */
    now_ns += 60 * MS;
    assert_true(is(known(c.pid)->comm, "other"));
    end(&c);
}

/* Also one that nobody has told us of; of questions in the same moment one look is enough. */
static void test_another_program_is_told_in_no_time(void **state)
{
    int down[2], up[2];
    pid_t pid;
    char byte;

    (void)state;
    assert_int_equal(pipe(down) | pipe(up), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        raise(SIGSTOP);
        dup2(down[0], 0); /* from which nothing comes */
        dup2(up[1], 1);
        execlp("cat", "cat", "/proc/self/comm", "-", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    assert_false(is(known(pid)->comm, "cat"));
    kill(pid, SIGCONT);
    assert_int_equal(read(up[0], &byte, 1), 1);
    now_ns += MS;
    assert_true(is(known(pid)->comm, "cat"));
    kill(pid, SIGKILL);
    for (int i = 0; i < 2; i++) {
        close(down[i]);
        close(up[i]);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_a_socket_of_another_owner_makes_all_of_it_new(void **state)
{
    struct child c = child_that(change_name);

    (void)state;
    assert_false(is(known(c.pid)->comm, "other"));
    tell(&c);
    uid = 65534;
    assert_true(is(known(c.pid)->comm, "other"));
    end(&c);
}

static void test_what_was_known_before_is_told_from_what_was_read_now(void **state)
{
    struct child c = child_that(change_name);
    int64_t first = now_ns;

    (void)state;
    assert_false(st_process_cache_knew(cache, c.pid, now_ns));
    assert_non_null(known(c.pid));
    assert_false(st_process_cache_knew(cache, c.pid, first));
    now_ns += 60 * MS;
    assert_non_null(known(c.pid));
    assert_true(st_process_cache_knew(cache, c.pid, now_ns));
    now_ns += 60 * MS;
    assert_non_null(known(c.pid)); /* too old: it was read again */
    assert_false(st_process_cache_knew(cache, c.pid, now_ns));
    end(&c);
}

static void test_a_process_that_is_gone_is_not_known_any_more(void **state)
{
    struct child c = child_that(change_name);

    (void)state;
    assert_non_null(known(c.pid));
    end(&c);
    now_ns += MS;
    assert_null(known(c.pid));
    assert_null(known(c.pid));
}

static void test_more_processes_than_are_kept_are_all_told_apart(void **state)
{
    struct child children[80];

    (void)state;
    for (size_t i = 0; i < 80; i++)
        children[i] = child_that(change_name);
    for (size_t i = 0; i < 240; i++, now_ns++)
        assert_int_equal(known(children[i % 80].pid)->pid, children[i % 80].pid);
    for (size_t i = 0; i < 80; i++)
        end(&children[i]);
}

static void test_of_who_is_not_in_the_container_nothing_is_kept(void **state)
{
    const struct st_membership elsewhere = {.path = "/no/such/group"};
    struct st_process_cache *outside = st_process_cache_new(&elsewhere);
    struct child c = child_that(change_name);

    (void)state;
    assert_false(st_process_cached(outside, c.pid, ST_UNKNOWN, now_ns)->in_container);
    assert_int_equal(st_process_cache_registers(outside, c.pid), -1);
    tell(&c);
    assert_true(is(st_process_cached(outside, c.pid, ST_UNKNOWN, now_ns)->process.comm, "other"));
    end(&c);
    st_process_cache_free(outside);
}

/* Who was forgotten in the middle of a question about it. */
static void test_what_was_given_lasts_until_the_next_question(void **state)
{
    struct child c = child_that(change_name);
    const struct st_process *given = known(c.pid);

    (void)state;
    st_process_cache_forget(cache, c.pid);
    assert_true(given->exe.len > 0 && given->exe.p[0] == '/');
    assert_int_equal(st_process_cache_registers(cache, c.pid), -1);
    end(&c);
}

static void test_registers_are_those_of_the_very_thread(void **state)
{
    struct child c = child_that(change_name);
    char text[256];
    int fd;

    (void)state;
    assert_non_null(known(c.pid));
    fd = st_process_cache_registers(cache, c.pid);
    assert_true(fd >= 0);
    assert_int_equal(st_registers_read(fd, 1, text, sizeof(text), 10000 * MS), ST_REGISTERS_READ);
    assert_int_equal(strtol(text, NULL, 10), SYS_read);
    end(&c);
    assert_int_equal(st_registers_read(fd, getpid(), text, sizeof(text), MS), ST_REGISTERS_GONE);
}

static void test_who_is_forgotten_is_looked_at_again(void **state)
{
    struct child c = child_that(change_name);

    (void)state;
    assert_false(is(known(c.pid)->comm, "other"));
    tell(&c);
    st_process_cache_forget(cache, c.pid);
    st_process_cache_forget(cache, c.pid);
    assert_true(is(known(c.pid)->comm, "other"));
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_changes_unseen_is_told_after_a_while, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_program_is_told_in_no_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_socket_of_another_owner_makes_all_of_it_new, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_known_before_is_told_from_what_was_read_now, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_process_that_is_gone_is_not_known_any_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_processes_than_are_kept_are_all_told_apart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_forgotten_is_looked_at_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_of_who_is_not_in_the_container_nothing_is_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_given_lasts_until_the_next_question, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_registers_are_those_of_the_very_thread, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
