/* The bar of long traces: on a terminal only, and gone when it is done. */
#include "base/cleanup.h"
#include "cli/progress.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Standard error while something is shown. */
struct screen {
    int master, kept;
};

static void screen_open(struct screen *s)
{
    st_auto_fd slave = -1;

    s->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(s->master >= 0);
    assert_int_equal(grantpt(s->master), 0);
    assert_int_equal(unlockpt(s->master), 0);
    slave = open(ptsname(s->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(slave >= 0);
    s->kept = dup(STDERR_FILENO);
    assert_true(s->kept >= 0 && dup2(slave, STDERR_FILENO) >= 0);
}

static void screen_close(struct screen *s)
{
    fflush(stderr);
    dup2(s->kept, STDERR_FILENO);
    close(s->kept);
    close(s->master);
}

/* All that was shown since the last look. */
static const char *look(const struct screen *s)
{
    static char text[4096];
    ssize_t n;

    fflush(stderr);
    n = read(s->master, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void assert_shown(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("shown: %s, not: %s", text, part);
}

static void a_terminal_gets_a_bar_that_is_wiped_at_the_end(void **state)
{
    struct st_progress p;
    struct screen s;
    const char *text;

    (void)state;
    screen_open(&s);
    st_progress_begin(&p, "t.jsonl");
    st_progress_show(&p, 50, 200, 7);
    text = look(&s);
    assert_shown(text, "\r\033[Kt.jsonl: [#######-----------------------]  25 %  7 records");
    assert_shown(text, " s left");
    st_progress_show(&p, 300, 200, 9); /* it has grown since */
    assert_shown(look(&s), "[##############################] 100 %  9 records");
    st_progress_show(&p, 300, 0, 11); /* a pipe: nobody knows how much there is */
    assert_shown(look(&s), "\r\033[Kt.jsonl: 11 records");
    st_progress_end(&p);
    assert_string_equal(look(&s), "\r\033[K");
    screen_close(&s);
}

static void a_pipe_gets_none(void **state)
{
    st_auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int kept = dup(STDERR_FILENO);
    struct st_progress p;
    bool due = false;

    (void)state;
    assert_true(null >= 0 && kept >= 0 && dup2(null, STDERR_FILENO) >= 0);
    st_progress_begin(&p, "t.jsonl");
    p.next_ns = 0; /* long ago */
    for (int i = 0; i < 100000; i++)
        due |= st_progress_due(&p);
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_false(due);
}

static void it_is_due_when_its_time_has_come(void **state)
{
    struct st_progress p;
    struct screen s;
    bool early = false, due = false;

    (void)state;
    screen_open(&s);
    st_progress_begin(&p, "t.jsonl");
    p.next_ns = INT64_MAX;
    for (int i = 0; i < 100000; i++)
        early |= st_progress_due(&p);
    p.next_ns = 0;
    for (int i = 0; i < 100000 && !due; i++)
        due = st_progress_due(&p);
    screen_close(&s);
    assert_false(early);
    assert_true(due);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_a_bar_that_is_wiped_at_the_end),
        cmocka_unit_test(a_pipe_gets_none),
        cmocka_unit_test(it_is_due_when_its_time_has_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
