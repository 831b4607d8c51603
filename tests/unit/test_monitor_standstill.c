/* How long a process stood still: all the time that it sleeps, what it was given while it spins, and next to
 * nothing while another keeps the processor from it. */
#include "base/clock.h"
#include "monitor/standstill.h"
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 20000000L
#define LOOKS 30

static void spin(void)
{
    for (;;)
        __asm__ volatile("");
}

static void sleep_on(void)
{
    for (;;)
        pause();
}

/* The last processor that we may run on, so that the test has others where there are. */
static void keep_to_one_processor(void)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all), &all) < 0)
        _exit(1);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof(one), &one) < 0)
        _exit(1);
}

static void spin_behind(void)
{
    struct sched_param none = {0};

    keep_to_one_processor();
    if (sched_setscheduler(0, SCHED_IDLE, &none) < 0)
        _exit(1);
    spin();
}

static void spin_before_all(void)
{
    struct sched_param some = {.sched_priority = 1};

    keep_to_one_processor();
    if (sched_setscheduler(0, SCHED_FIFO, &some) < 0)
        _exit(1);
    spin();
}

/* Returns when it is about to do it: how long it took to begin is not its standstill. */
static pid_t start(void (*what)(void))
{
    int begun[2];
    pid_t pid;
    char byte;

    assert_int_equal(pipe(begun), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(begun[0]);
        close(begun[1]);
        what();
    }
    close(begun[1]);
    assert_int_equal(read(begun[0], &byte, 1), 0);
    close(begun[0]);
    return pid;
}

static void end(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

/* The share of the time that it is said to have stood still, in percent. */
static int64_t share_of_standstill(pid_t pid)
{
    struct timespec pace = {.tv_nsec = LOOK_NS};
    struct st_standstill s;
    int64_t from = st_now_mono_ns(), stood = 0;

    st_standstill_begin(&s, pid);
    for (int i = 0; i < LOOKS; i++) {
        nanosleep(&pace, NULL);
        stood = st_standstill_look(&s);
    }
    return stood * 100 / (st_now_mono_ns() - from);
}

static void one_that_sleeps_stands_still(void **state)
{
    pid_t pid = start(sleep_on);

    (void)state;
    assert_in_range(share_of_standstill(pid), 90, 100);
    end(pid);
}

static void one_that_was_stopped_stands_still(void **state)
{
    pid_t pid = start(spin);

    (void)state;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    assert_in_range(share_of_standstill(pid), 99, 100);
    end(pid);
}

static void one_that_spins_stands_still_for_what_it_was_given(void **state)
{
    pid_t pid = start(spin);

    (void)state;
    assert_in_range(share_of_standstill(pid), 1, 101);
    end(pid);
}

/* The kernel leaves a twentieth of each second to others than real-time processes. */
static void one_that_is_given_no_processor_does_not_stand_still(void **state)
{
    pid_t behind = start(spin_behind), before = start(spin_before_all);

    (void)state;
    assert_in_range(share_of_standstill(behind), 0, 25);
    end(before);
    end(behind);
}

static void one_that_is_gone_stands_still(void **state)
{
    pid_t pid = start(spin);

    (void)state;
    end(pid);
    assert_in_range(share_of_standstill(pid), 99, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_sleeps_stands_still),
        cmocka_unit_test(one_that_was_stopped_stands_still),
        cmocka_unit_test(one_that_spins_stands_still_for_what_it_was_given),
        cmocka_unit_test(one_that_is_given_no_processor_does_not_stand_still),
        cmocka_unit_test(one_that_is_gone_stands_still),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
