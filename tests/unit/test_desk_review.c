/* Tasks as files: whole, spoilt, hostile; listed, found by a part of their ID, closed once. */
#include "unit.h"

#include "desk/review.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char whole[] =
    "{\"container\":\"box\",\"opened\":\"2026-01-01T00:00:00.000000Z\",\"rule\":\"r\","
    "\"severity\":\"high\",\"snapshot\":{\"files\":3,\"frozen\":true}}";

struct place {
    char dir[64];
};

static void make_task(const struct place *p, const char *id, const char *text)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", p->dir, id);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/%s/review.json", p->dir, id);
    f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    snprintf(p->dir, sizeof(p->dir), "/tmp/test_review.XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    char command[128];

    snprintf(command, sizeof(command), "%s", p->dir);
    if (fork() == 0) {
        execlp("rm", "rm", "-rf", command, (char *)NULL);
        _exit(127);
    }
    free(p);
    return 0;
}

static void what_is_written_is_read_again(void **state)
{
    st_auto_review r = {0}, again = {0};
    st_auto_buf text = ST_BUF_INIT, second = ST_BUF_INIT;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_review_parse(whole, strlen(whole), &r, &err), 0);
    st_review_write(&r, &text);
    assert_int_equal(st_review_parse(text.data, text.len, &again, &err), 0);
    st_review_write(&again, &second);
    assert_string_equal(text.data, second.data);
    assert_true(again.snapshot.frozen);
    assert_int_equal(again.snapshot.files, 3);
}

static void what_is_no_task_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"container\":3,\"opened\":\"x\"}",
        "{\"container\":\"a\\u0000b\",\"opened\":\"x\"}",
        "{\"container\":\"a\",\"opened\":\"x\",\"snapshot\":[]}",
        "{\"container\":\"a\",\"opened\":\"x\",\"snapshot\":{\"files\":-1}}",
        "{\"container\":\"a\",\"opened\":\"x\",\"snapshot\":{\"frozen\":\"yes\"}}",
        "{\"container\":\"a\",\"container\":\"b\",\"opened\":\"x\"}",
        "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(wrong); i++) {
        st_auto_review r = {0};
        struct st_error err = {0};

        assert_true(st_review_parse(wrong[i], strlen(wrong[i]), &r, &err) < 0);
        assert_true(err.msg[0]);
    }
}

static void only_a_whole_line_decides(void **state)
{
    static const char cut[] = "{\"at\":\"t\",\"by\":\"me\",\"reason\":\"r\",\"verdict\":\"benign\"}";
    static const char odd[] =
        "{\"at\":\"t\",\"by\":\"me\",\"reason\":\"r\",\"verdict\":\"fine\"}\n[]\nnull\n\n";
    static const char good[] =
        "garbage\n{\"at\":\"t\",\"by\":\"me\",\"reason\":\"r\",\"verdict\":\"policy\"}\n";
    st_auto_review r = {0};

    (void)state;
    st_review_parse_verdicts(cut, strlen(cut), &r);
    assert_int_equal(r.state, ST_REVIEW_OPEN);
    st_review_parse_verdicts(odd, strlen(odd), &r);
    assert_int_equal(r.state, ST_REVIEW_OPEN);
    st_review_parse_verdicts(good, strlen(good), &r);
    assert_int_equal(r.state, ST_REVIEW_CLOSED);
    assert_string_equal(r.verdict, "policy");
}

static void what_is_spoilt_is_an_open_task_that_can_be_closed(void **state)
{
    struct place *p = *state;
    st_auto_reviews all = {0};
    st_auto_review r = {0};
    struct st_error err = {0};

    make_task(p, "good", whole);
    make_task(p, "spoilt", "{");
    make_task(p, ".new.1.0", whole);
    assert_int_equal(st_review_list(p->dir, &all, &err), 0);
    assert_int_equal(all.n, 2);
    assert_int_equal(st_review_load(p->dir, "spo", &r, &err), 0);
    assert_non_null(r.broken);
    assert_string_equal(r.container, "spoilt");
    assert_int_equal(st_review_close(p->dir, "spo", "other", "gone bad", "me", &err), 0);
    st_review_free(&r);
    assert_int_equal(st_review_load(p->dir, "spoilt", &r, &err), 0);
    assert_int_equal(r.state, ST_REVIEW_CLOSED);
}

static void an_id_is_a_name_and_may_be_cut_short(void **state)
{
    struct place *p = *state;
    st_auto_review r = {0};
    struct st_error err = {0};

    make_task(p, "abc1", whole);
    make_task(p, "abc2", whole);
    make_task(p, "abc", whole);
    assert_int_equal(st_review_load(p->dir, "ab", &r, &err), -EEXIST);
    assert_int_equal(st_review_load(p->dir, "x", &r, &err), -ENOENT);
    assert_int_equal(st_review_load(p->dir, "../abc", &r, &err), -ENOENT);
    assert_int_equal(st_review_load(p->dir, "", &r, &err), -ENOENT);
    assert_int_equal(st_review_load(p->dir, "abc", &r, &err), 0);
    assert_string_equal(r.id, "abc");
    st_review_free(&r);
    assert_int_equal(st_review_load(p->dir, "abc2", &r, &err), 0);
}

static void it_is_closed_once_with_a_reason(void **state)
{
    struct place *p = *state;
    struct st_error err = {0};
    char long_reason[ST_REVIEW_REASON_MAX + 2] = "";

    make_task(p, "box", whole);
    memset(long_reason, 'r', sizeof(long_reason) - 1);
    assert_int_equal(st_review_close(p->dir, "box", "fine", "r", "me", &err), -EINVAL);
    assert_int_equal(st_review_close(p->dir, "box", "benign", " \n", "me", &err), -EINVAL);
    assert_int_equal(st_review_close(p->dir, "box", "benign", long_reason, "me", &err), -EINVAL);
    assert_int_equal(st_review_close(p->dir, "box", "benign", "line\n{\"verdict\"", "me", &err), 0);
    assert_int_equal(st_review_close(p->dir, "box", "benign", "again", "me", &err), -EALREADY);
}

static void a_folder_that_is_not_there_has_no_tasks(void **state)
{
    st_auto_reviews all = {0};
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_review_list("/nonexistent/quarantine", &all, &err), 0);
    assert_int_equal(all.n, 0);
}

/* Out of file descriptors: also root is refused by that. */
static void what_can_not_be_looked_at_is_not_taken_for_nothing(void **state)
{
    struct place *p = *state;
    struct rlimit before, tight;
    st_auto_reviews all = {0};
    struct st_error err = {0};
    int next, rc;

    make_task(p, "box", whole);
    next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = (struct rlimit){.rlim_cur = (rlim_t)next + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0); /* the folder itself, and no more */
    rc = st_review_list(p->dir, &all, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(rc, -EMFILE);
    st_reviews_free(&all);
    assert_int_equal(st_review_list(p->dir, &all, &err), 0);
    assert_int_equal(all.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(what_is_no_task_is_refused),
        cmocka_unit_test(only_a_whole_line_decides),
        cmocka_unit_test_setup_teardown(what_is_spoilt_is_an_open_task_that_can_be_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_id_is_a_name_and_may_be_cut_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_closed_once_with_a_reason, set_up, tear_down),
        cmocka_unit_test(a_folder_that_is_not_there_has_no_tasks),
        cmocka_unit_test_setup_teardown(what_can_not_be_looked_at_is_not_taken_for_nothing, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
