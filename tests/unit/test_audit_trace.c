/* The writer: batches, forces, continues, rotates, and is honest about what it could not do. */
#include "audit_support.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
    static struct place p;

    place_make(&p);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    return 0;
}

/* Line n (from 0) of text as a document; the caller frees it. */
static struct st_json_doc *line_doc(const struct st_buf *text, size_t n)
{
    const char *p = text->data, *nl;
    struct st_json_doc *doc = NULL;
    struct st_error err;

    while (n--)
        p = strchr(p, '\n') + 1;
    nl = strchr(p, '\n');
    assert_non_null(nl);
    assert_int_equal(st_json_parse(p, (size_t)(nl - p), ST_JSON_DEFAULT_LIMITS, &doc, &err), 0);
    return doc;
}

static int64_t int_of(const struct st_json_doc *doc, const char *key)
{
    int64_t n = -1;

    assert_true(st_json_int(st_json_get(st_json_root(doc), key), &n));
    return n;
}

static const char *str_of(const struct st_json_doc *doc, const char *key)
{
    return st_json_str(st_json_get(st_json_root(doc), key), NULL);
}

static void records_are_numbered_and_linked(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 0);
    st_auto_buf text = ST_BUF_INIT;
    st_auto_free char *prev = NULL;
    struct st_error err;

    append_samples(t, 300);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    assert_int_equal(st_trace_seq(t), 301);
    slurp(p->path, &text);
    assert_int_equal(count_lines(&text), 301);
    for (size_t i = 0; i < 301; i++) {
        st_auto_json doc = line_doc(&text, i);

        assert_int_equal(int_of(doc, "seq"), i + 1);
        if (prev)
            assert_string_equal(str_of(doc, "prev_hash"), prev);
        else
            assert_null(str_of(doc, "prev_hash"));
        free(prev);
        prev = strdup(str_of(doc, "record_hash"));
    }
    assert_string_equal(prev, st_trace_head(t));
    st_trace_close(t);
}

/* What a listener is told of a line is what the line says. */
static void compare_told(void *ctx, const struct st_trace_told *told)
{
    st_auto_json doc = NULL;
    const struct st_json_node *verdict;
    struct st_error err;
    int *n = ctx;

    assert_int_equal(st_json_parse(told->line.p, told->line.len - 1, ST_JSON_DEFAULT_LIMITS, &doc, &err), 0);
    verdict = st_json_get(st_json_root(doc), "verdict");
    assert_int_equal(told->line.p[told->line.len - 1], '\n');
    assert_int_equal(int_of(doc, "seq"), told->seq);
    assert_string_equal(str_of(doc, "event_type"), st_event_type_name(told->type));
    assert_string_equal(st_json_str(st_json_get(verdict, "result"), NULL), st_result_name(told->result));
    assert_string_equal(st_json_str(st_json_get(verdict, "severity"), NULL),
                        st_severity_name(told->severity));
    ++*n;
}

static void who_listens_is_told_what_each_line_says_of_itself(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 8192);
    struct st_error err;
    int n = 0;

    st_trace_listen(t, compare_told, &n);
    append_samples(t, 300);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    assert_int_equal(n, st_trace_seq(t));
    assert_true(n > 301); /* it was rotated on the way */
    st_trace_close(t);
}

static void a_trace_goes_on_after_a_clean_end(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 0);
    st_auto_buf before = ST_BUF_INIT, after = ST_BUF_INIT;
    char head[ST_HASH_SIZE];
    struct st_error err;

    append_samples(t, 3);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    memcpy(head, st_trace_head(t), sizeof(head));
    st_trace_close(t);
    slurp(p->path, &before);

    t = open_trace(p, true, 0);
    assert_int_equal(st_trace_seq(t), 4);
    assert_string_equal(st_trace_head(t), head);
    assert_int_equal(st_trace_deadline(t), -1);
    append_samples(t, 1);
    assert_true(st_trace_deadline(t) > 0);
    st_trace_close(t);
    slurp(p->path, &after);
    assert_memory_equal(before.data, after.data, before.len);
    st_auto_json doc = line_doc(&after, 4);
    assert_string_equal(str_of(doc, "prev_hash"), head);
}

static void a_torn_end_is_declared_and_no_byte_of_it_changes(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 0);
    st_auto_buf before = ST_BUF_INIT, after = ST_BUF_INIT;
    size_t offset = 0;
    int64_t length;

    append_samples(t, 3);
    st_trace_close(t);
    slurp(p->path, &before);
    assert_int_equal(truncate(p->path, (off_t)before.len - 100), 0);
    offset = (size_t)((char *)memrchr(before.data, '\n', before.len - 100) + 1 - before.data);

    t = open_trace(p, true, 0);
    assert_int_equal(st_trace_seq(t), 3); /* the declaration is the third */
    st_trace_close(t);
    slurp(p->path, &after);
    assert_memory_equal(before.data, after.data, before.len - 100);
    assert_int_equal(after.data[before.len - 100], '\n');
    st_auto_json doc = line_doc(&after, 3);
    const struct st_json_node *torn = st_json_get(st_json_get(st_json_root(doc), "payload"), "torn");
    assert_true(st_json_int(st_json_get(torn, "length"), &length));
    assert_int_equal(length, before.len - 100 - offset);
    assert_true(st_json_int(st_json_get(torn, "offset"), &length));
    assert_int_equal(length, offset);
}

static void a_full_batch_is_written_in_whole_blocks_and_what_was_cut_is_the_next_ones_beginning(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 0);
    struct st_verify_report r;
    struct st_error err;
    st_auto_buf text = ST_BUF_INIT;
    bool cut = false;
    struct stat sb;

    for (unsigned i = 0; i < 2000; i++) {
        append_samples(t, 1);
        assert_int_equal(stat(p->path, &sb), 0);
        assert_int_equal(sb.st_size % (off_t)ST_TRACE_BATCH, 0);
        if (sb.st_size && !cut) {
            slurp(p->path, &text);
            cut = text.data[text.len - 1] != '\n';
        }
    }
    assert_true(cut);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_buf_clear(&text);
    slurp(p->path, &text);
    assert_int_equal(count_lines(&text), 2001);
    r = verify_bytes(p, text.data, text.len);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.records, 2001);
    st_trace_close(t);
}

static void a_second_writer_is_refused_until_the_first_is_dead(void **state)
{
    struct place *p = *state;
    struct st_trace_options o = {.path = p->path, .agent_id = "a", .trace_id = "t"};
    struct st_trace *t = NULL;
    struct st_error err;
    int ready[2], status;
    char c;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct st_trace *mine = open_trace(p, false, 0);

        append_samples(mine, 1);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(st_trace_open(&o, &t, &err), -EBUSY);
    assert_non_null(strstr(err.msg, "another writer"));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(st_trace_open(&o, &t, &err), 0);
    st_trace_close(t);
    close(ready[0]);
    close(ready[1]);
}

static void a_full_file_is_continued_in_a_new_one(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 8192);
    st_auto_buf text = ST_BUF_INIT;
    char piece[128], head[ST_HASH_SIZE];
    uint64_t seq;
    struct st_error err;

    for (int i = 0; i < 60; i++) {
        append_samples(t, 1);
        assert_int_equal(st_trace_force(t, &err), 0);
    }
    seq = st_trace_seq(t);
    memcpy(head, st_trace_head(t), sizeof(head));
    st_trace_close(t);
    snprintf(piece, sizeof(piece), "%s.3", p->path);
    slurp(piece, &text);
    assert_true(text.len >= 8192 && text.len < 8192 + 2048);
    t = open_trace(p, true, 8192);
    assert_int_equal(st_trace_seq(t), seq);
    assert_string_equal(st_trace_head(t), head);
    st_trace_close(t);

    /* Death between the rename and the new file. */
    snprintf(piece, sizeof(piece), "%s.9", p->path);
    assert_int_equal(rename(p->path, piece), 0);
    t = open_trace(p, true, 8192);
    assert_int_equal(st_trace_seq(t), seq);
    st_trace_close(t);
}

static void an_event_too_large_is_refused_and_leaves_no_trace(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, false, 0);
    size_t n = (size_t)1 << 20;
    st_auto_free char *huge = malloc(n);
    char id[ST_EVENT_ID_SIZE], head[ST_HASH_SIZE];
    struct st_verdict v;
    struct st_event ev;
    struct st_error err;

    append_samples(t, 1);
    memcpy(head, st_trace_head(t), sizeof(head));
    memset(huge, 'x', n);
    sample_open(1, &ev, &v);
    ev.fs.path = (struct st_str){.p = huge, .len = n};
    assert_int_equal(st_trace_append(t, &ev, &v, id, &err), -EMSGSIZE);
    ev.fs.path.len = SIZE_MAX / 2;
    assert_int_equal(st_trace_append(t, &ev, &v, id, &err), -EMSGSIZE);
    assert_string_equal(head, st_trace_head(t));
    ev.fs.path.len = n - 2000;
    assert_int_equal(st_trace_append(t, &ev, &v, id, &err), 0);
    append_samples(t, 1);
    assert_int_equal(st_trace_seq(t), 3);
    st_trace_close(t);
    t = open_trace(p, false, 0);
    assert_int_equal(st_trace_seq(t), 3);
    st_trace_close(t);
}

static void json_that_is_not_canonical_never_gets_in(void **state)
{
    static const char *const bad[] = {"",           "[]", "{\"b\":1,\"a\":2}", "{\"a\": 1}", "{\"a\":1.5}",
                                      "{\"a\":1}}", "{"};
    struct place *p = *state;
    struct st_trace *t = open_trace(p, false, 0);
    char id[ST_EVENT_ID_SIZE];
    struct st_error err;

    for (size_t i = 0; i < N_OF(bad); i++) {
        struct st_event ev = {.type = ST_EV_SENSOR, .json = st_str(bad[i])};
        struct st_event call = {.type = ST_EV_SYSCALL,
                                .sys = {.name = ST_STR_LIT("x"), .args = st_str(bad[i])}};

        assert_int_equal(st_trace_append(t, &ev, NULL, id, &err), -EINVAL);
        assert_int_equal(st_trace_append(t, &call, NULL, id, &err), -EINVAL);
    }
    assert_int_equal(st_trace_seq(t), 0);
    st_trace_close(t);
}

static void checkpoints_come_by_themselves(void **state)
{
    struct place *p = *state;
    struct st_trace_options o = {
        .path = p->path, .agent_id = "a", .trace_id = "t", .signer = p->signer, .checkpoint_records = 10};
    st_auto_buf text = ST_BUF_INIT;
    struct st_verify_report r;
    struct st_trace *t;
    struct st_error err;

    assert_int_equal(st_trace_open(&o, &t, &err), 0);
    append_samples(t, 35);
    assert_int_equal(st_trace_seq(t), 38);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(p->path, &text);
    r = verify_bytes(p, text.data, text.len);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.checkpoints, 4);
}

static void the_file_has_mode_0640_whatever_the_umask(void **state)
{
    struct place *p = *state;
    mode_t old = umask(0077);
    struct st_trace *t = open_trace(p, false, 0);
    struct stat sb;

    umask(old);
    assert_int_equal(stat(p->path, &sb), 0);
    assert_int_equal(sb.st_mode & 07777, 0640);
    st_trace_close(t);
}

static void untouched_traces_of_any_length_and_number_of_runs_stand(void **state)
{
    struct place p;
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err;
    unsigned seed = 99;

    (void)state;
    place_make(&p);
    for (int i = 0; i < 300; i++) {
        struct st_verify_report r;
        int runs = 1 + rand_r(&seed) % 3;

        unlink(p.path);
        for (int k = 0; k < runs; k++) {
            struct st_trace *t = open_trace(&p, true, 0);

            append_samples(t, (unsigned)rand_r(&seed) % 40);
            if (rand_r(&seed) % 2)
                assert_int_equal(st_trace_checkpoint(t, false, &err), 0);
            append_samples(t, (unsigned)rand_r(&seed) % 40);
            if (k == runs - 1 || rand_r(&seed) % 2)
                assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
            st_trace_close(t);
        }
        slurp(p.path, &text);
        r = verify_bytes(&p, text.data, text.len);
        assert_int_equal(r.n_issues, 0);
    }
    place_remove(&p);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(records_are_numbered_and_linked),
        cmocka_unit_test(untouched_traces_of_any_length_and_number_of_runs_stand),
        T(who_listens_is_told_what_each_line_says_of_itself),
        T(a_trace_goes_on_after_a_clean_end),
        T(a_torn_end_is_declared_and_no_byte_of_it_changes),
        T(a_full_batch_is_written_in_whole_blocks_and_what_was_cut_is_the_next_ones_beginning),
        T(a_second_writer_is_refused_until_the_first_is_dead),
        T(a_full_file_is_continued_in_a_new_one),
        T(an_event_too_large_is_refused_and_leaves_no_trace),
        T(json_that_is_not_canonical_never_gets_in),
        T(checkpoints_come_by_themselves),
        T(the_file_has_mode_0640_whatever_the_umask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
