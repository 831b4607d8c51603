/* The verifier: both dialects, every issue with its place, tears that were declared, sets of files. */
#include "audit_support.h"

#include "audit/verify.h"
#include "base/cleanup.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

#define VECTOR_1                                                                                             \
    "{\"event_id\":\"evt_1\",\"event_type\":\"network_egress\",\"sandbox_id\":\"sbx\",\"trace_id\":\"t1\","  \
    "\"seq\":1,"                                                                                             \
    "\"prev_hash\":null,\"record_hash\":"                                                                    \
    "\"276db72fa7acf0d8d56f70506cad32750839e4b4ca7e10013c333deebc7c563a\","                                  \
    "\"wall_time\":\"2026-03-26T12:00:00+00:00\",\"evidence_tier\":\"hypervisor\","                          \
    "\"payload\":{\"bytes_sent\":316,\"dest_host\":\"api.stripe.com\",\"dest_port\":443},\"verdict\":null}"  \
    "\n"
#define VECTOR_2                                                                                             \
    "{\"event_id\":\"evt_2\",\"event_type\":\"filesystem_summary\",\"sandbox_id\":\"sbx\",\"trace_id\":"     \
    "\"t1\",\"seq\":2,"                                                                                      \
    "\"prev_hash\":\"276db72fa7acf0d8d56f70506cad32750839e4b4ca7e10013c333deebc7c563a\","                    \
    "\"record_hash\":\"d8a4d671d25e4638534a0fd0d0653f94b0da825bc94f930da7544ec2f1dd6db8\","                  \
    "\"wall_time\":\"2026-03-26T12:00:00+00:00\",\"evidence_tier\":\"hypervisor\","                          \
    "\"payload\":{\"files_created\":[\"/tmp/\xc3\xa9\\n\"],\"files_deleted\":[],\"files_modified\":[],"      \
    "\"total_bytes_written\":0},\"verdict\":null}\n"

static struct st_verify_report verify_text(const char *text, size_t len)
{
    return verify_bytes(NULL, text, len);
}

static void assert_one(const struct st_verify_report *r, enum st_issue_code code, uint64_t seq, uint64_t line)
{
    if (r->n_issues != 1 || r->issues[0].code != code || r->issues[0].seq != seq || r->issues[0].line != line)
        fail_msg("%d issues, first %s seq %d line %d; wanted %s seq %d line %d", (int)r->n_issues,
                 r->n_issues ? st_issue_name(r->issues[0].code) : "-", (int)r->issues[0].seq,
                 (int)r->issues[0].line, st_issue_name(code), (int)seq, (int)line);
}

static void the_two_vectors_of_the_older_dialect_stand(void **state)
{
    struct st_verify_report r = verify_text(VECTOR_1 VECTOR_2, sizeof(VECTOR_1 VECTOR_2) - 1);

    (void)state;
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.dialect, ST_DIALECT_OLDER);
    assert_int_equal(r.records, 2);
    /* Its files may lack the last newline. */
    r = verify_text(VECTOR_1 VECTOR_2, sizeof(VECTOR_1 VECTOR_2) - 2);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.records, 2);
}

static void the_older_dialect_may_be_written_otherwise(void **state)
{
    static const char loose[] =
        "{ \"payload\": {\"dest_port\":443, "
        "\"dest_host\":\"api.\\u0073tripe.com\",\"bytes_sent\":316},\n"; /* two lines */
    static const char spaced[] =
        "{ \"payload\": {\"dest_port\":443, \"dest_host\":\"api.\\u0073tripe.com\",\"bytes_sent\":316}, "
        "\"seq\": 1, "
        "\"event_id\":\"evt_1\",\"event_type\":\"network_egress\",\"sandbox_id\":\"sbx\",\"trace_id\":\"t1\","
        "\"prev_hash\":null,\"record_hash\":"
        "\"276db72fa7acf0d8d56f70506cad32750839e4b4ca7e10013c333deebc7c563a\","
        "\"wall_time\":\"2026-03-26T12:00:00+00:00\",\"evidence_tier\":\"hypervisor\", \"extra\": 1.5 "
        "}\n" VECTOR_2;
    struct st_verify_report r = verify_text(spaced, sizeof(spaced) - 1);

    (void)state;
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.records, 2);
    r = verify_text(loose, sizeof(loose) - 1);
    assert_int_equal(r.issues[0].code, ST_ISSUE_BAD_JSON);
}

static void a_change_in_the_older_dialect_is_found(void **state)
{
    char text[] = VECTOR_1 VECTOR_2;
    struct st_verify_report r;

    (void)state;
    *strstr(text, "316") = '4';
    r = verify_text(text, sizeof(text) - 1);
    assert_one(&r, ST_ISSUE_HASH_MISMATCH, 1, 1);
    r = verify_text(VECTOR_2, sizeof(VECTOR_2) - 1);
    assert_one(&r, ST_ISSUE_INVALID_GENESIS, 2, 1);
    r = verify_text(VECTOR_1 VECTOR_1, sizeof(VECTOR_1 VECTOR_1) - 1);
    assert_one(&r, ST_ISSUE_SEQ_REORDER, 1, 2);
}

/* Ten records and a final checkpoint, signed. */
static void make_ten(struct place *p, struct st_buf *text)
{
    struct st_trace *t = open_trace(p, true, 0);
    struct st_error err;

    append_samples(t, 10);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(p->path, text);
}

static void an_untouched_trace_is_not_accused(void **state)
{
    struct place *p = *state;
    st_auto_buf text = ST_BUF_INIT;
    struct st_verify_report r;

    make_ten(p, &text);
    r = verify_bytes(p, text.data, text.len);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.records, 11);
    assert_int_equal(r.signed_seq, 11);
    assert_true(r.final);
    assert_int_equal(r.bytes, text.len);
}

static char *line_at(struct st_buf *text, int n)
{
    char *p = text->data;

    while (n-- > 1)
        p = strchr(p, '\n') + 1;
    return p;
}

static void each_issue_has_its_place(void **state)
{
    struct place *p = *state;
    st_auto_buf text = ST_BUF_INIT;
    struct st_verify_report r;
    size_t len;
    char *at;

    make_ten(p, &text);
    at = strstr(line_at(&text, 5), "\"result\":\"allow\"");
    memcpy(at, "\"result\":\"alloW\"", 16);
    r = verify_bytes(p, text.data, text.len);
    assert_one(&r, ST_ISSUE_HASH_MISMATCH, 5, 5);
    assert_int_equal(r.issues[0].offset, line_at(&text, 5) - text.data);

    slurp(p->path, &text);
    *line_at(&text, 7) = '[';
    r = verify_bytes(p, text.data, text.len);
    assert_one(&r, ST_ISSUE_BAD_JSON, 7, 7);

    slurp(p->path, &text);
    at = strstr(line_at(&text, 3), "\"file-") ? NULL : strstr(line_at(&text, 3), "src/file-3");
    memcpy(at, "\\u0073r", 7); /* "src/fil" becomes an escape of the same length, another text */
    r = verify_bytes(p, text.data, text.len);
    assert_one(&r, ST_ISSUE_NOT_CANONICAL, 3, 3);

    slurp(p->path, &text);
    at = line_at(&text, 4);
    len = (size_t)(line_at(&text, 5) - at);
    memmove(at, at + len, text.len - (size_t)(at - text.data) - len);
    r = verify_bytes(p, text.data, text.len - len);
    assert_one(&r, ST_ISSUE_SEQ_GAP, 5, 4);

    slurp(p->path, &text);
    r = verify_bytes(p, line_at(&text, 2), text.len - (size_t)(line_at(&text, 2) - text.data));
    assert_one(&r, ST_ISSUE_INVALID_GENESIS, 2, 1);
    r = verify_bytes(p, text.data, (size_t)(line_at(&text, 11) - text.data));
    assert_one(&r, ST_ISSUE_TRUNCATED, 11, 10);
    r = verify_bytes(p, text.data, text.len - 1);
    assert_one(&r, ST_ISSUE_TORN_TAIL, 11, 11);
    r = verify_bytes(p, text.data, text.len - 300);
    assert_one(&r, ST_ISSUE_TORN_TAIL, 11, 11);
    r = verify_bytes(p, "", 0);
    assert_one(&r, ST_ISSUE_INVALID_GENESIS, 1, 0);
}

static void signatures_of_others_and_none_are_found(void **state)
{
    struct place *p = *state, other;
    st_auto_buf text = ST_BUF_INIT;
    struct st_trace *t = open_trace(p, false, 0);
    struct st_verify_report r;
    struct st_error err;
    char *at;

    append_samples(t, 2);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(p->path, &text);
    r = verify_bytes(p, text.data, text.len);
    assert_one(&r, ST_ISSUE_BAD_SIGNATURE, 3, 3);
    r = verify_bytes(NULL, text.data, text.len);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.unsigned_checkpoints, 1);

    unlink(p->path);
    make_ten(p, &text);
    place_make(&other);
    r = verify_bytes(&other, text.data, text.len);
    assert_one(&r, ST_ISSUE_UNKNOWN_KEY, 11, 11);
    r = verify_bytes(NULL, text.data, text.len);
    assert_one(&r, ST_ISSUE_UNKNOWN_KEY, 11, 11);
    place_remove(&other);

    /* A signature changed, and the record hashed again. */
    at = strstr(line_at(&text, 11), "\"signature\":\"") + 13;
    *at = *at == 'A' ? 'B' : 'A';
    rehash_line(line_at(&text, 11));
    r = verify_bytes(p, text.data, text.len);
    assert_one(&r, ST_ISSUE_BAD_SIGNATURE, 11, 11);
}

/* A checkpoint in the middle, made final by somebody without the key. */
static void a_checkpoint_can_not_be_made_final(void **state)
{
    struct place *p = *state;
    st_auto_buf text = ST_BUF_INIT, forged = ST_BUF_INIT;
    struct st_trace *t = open_trace(p, true, 0);
    struct st_verify_report r;
    struct st_error err;
    char *at;

    append_samples(t, 2);
    assert_int_equal(st_trace_checkpoint(t, false, &err), 0);
    st_trace_close(t);
    slurp(p->path, &text);
    at = strstr(text.data, "\"final\":false");
    st_buf_add(&forged, text.data, (size_t)(at - text.data));
    st_buf_adds(&forged, "\"final\":true");
    st_buf_adds(&forged, at + strlen("\"final\":false"));
    rehash_line(line_at(&forged, 3));
    r = verify_bytes(p, forged.data, forged.len);
    assert_one(&r, ST_ISSUE_BAD_SIGNATURE, 3, 3);
}

static void tears_that_were_declared_are_counted_not_accused(void **state)
{
    struct place *p = *state;
    st_auto_buf text = ST_BUF_INIT;
    struct st_verify_report r;
    struct st_error err;
    unsigned seed = 7;

    for (int crash = 0; crash < 20; crash++) {
        struct st_trace *t = open_trace(p, true, 0);

        append_samples(t, 5);
        assert_int_equal(st_trace_commit(t, &err), 0);
        if (crash % 3 == 0)
            assert_int_equal(st_trace_checkpoint(t, crash % 2, &err), 0);
        st_trace_close(t);
        slurp(p->path, &text);
        assert_int_equal(truncate(p->path, (off_t)text.len - rand_r(&seed) % 900), 0);
        if (crash % 4 == 0) { /* pages that never reached the disk */
            int fd = open(p->path, O_WRONLY | O_APPEND | O_CLOEXEC);

            assert_true(write(fd, "\0\0\0\n{\"x\":1}\n\0\0", 15) == 15);
            close(fd);
        }
    }
    struct st_trace *t = open_trace(p, true, 0);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(p->path, &text);
    r = verify_bytes(p, text.data, text.len);
    if (r.n_issues)
        fail_msg("%s at line %d", st_issue_name(r.issues[0].code), (int)r.issues[0].line);
    assert_true(r.torn >= 15);

    /* A declared tear is protected as well. */
    char *torn = memmem(text.data, text.len, "torn_tail", 9);
    char *line = (char *)memrchr(text.data, '\n', (size_t)(torn - text.data));
    line[-3] ^= 1;
    r = verify_bytes(p, text.data, text.len);
    assert_true(r.n_issues > 0);
}

static void a_record_that_lacks_only_its_newline_is_kept(void **state)
{
    struct place *p = *state;
    st_auto_buf text = ST_BUF_INIT;
    struct st_verify_report r;
    struct st_error err;

    for (int i = 0; i < 3; i++) {
        struct st_trace *t = open_trace(p, true, 0);

        assert_int_equal(st_trace_seq(t), i * 6);
        append_samples(t, 5);
        assert_int_equal(st_trace_checkpoint(t, i == 2, &err), 0);
        st_trace_close(t);
        slurp(p->path, &text);
        if (i < 2)
            assert_int_equal(truncate(p->path, (off_t)text.len - 1), 0);
    }
    r = verify_bytes(p, text.data, text.len);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.torn, 0);
    assert_int_equal(r.records, 18);
}

static void damage_behind_the_last_checkpoint_is_torn_from_its_first_byte(void **state)
{
    struct place *p = *state;
    st_auto_buf text = ST_BUF_INIT;
    struct st_trace *t = open_trace(p, true, 0);
    struct st_verify_report r;
    struct st_error err;

    append_samples(t, 5);
    assert_int_equal(st_trace_checkpoint(t, false, &err), 0);
    append_samples(t, 40);
    st_trace_close(t);
    slurp(p->path, &text);
    memset(line_at(&text, 20) + 100, 0, 200); /* a page lost, records behind it kept */
    spew(p->path, text.data, text.len);
    t = open_trace(p, true, 0);
    assert_int_equal(st_trace_seq(t), 20); /* 19 stand, and the declaration */
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(p->path, &text);
    r = verify_bytes(p, text.data, text.len);
    assert_int_equal(r.n_issues, 0);
    assert_int_equal(r.torn, 1);
    assert_int_equal(r.records, 21);
}

static void the_files_of_a_set_are_one_trace(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 8192);
    struct st_verify_options o = {.n_keys = 1, .keys = st_signer_public(p->signer)};
    st_auto_verifier v = st_verifier_new(&o);
    const struct st_verify_report *r;
    struct st_error err;

    append_samples(t, 400);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    for (unsigned i = 1;; i++) {
        char name[128];
        st_auto_fd fd = -1;
        st_auto_lines lines = NULL;

        snprintf(name, sizeof(name), "%s.%u", p->path, i);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            fd = open(p->path, O_RDONLY | O_CLOEXEC), i = 0;
        lines = st_lines_of_fd(fd);
        assert_int_equal(st_verify_lines(v, lines, &err), 0);
        if (i == 0)
            break;
        st_verifier_next_file(v);
    }
    r = st_verifier_end(v);
    assert_int_equal(r->n_issues, 0);
    assert_true(r->checkpoints > 3);
    assert_int_equal(r->records, 400 + r->checkpoints);
}

static void a_writer_at_work_is_seen(void **state)
{
    struct place *p = *state;
    struct st_trace *t = open_trace(p, true, 0);
    st_auto_fd fd = open(p->path, O_RDONLY | O_CLOEXEC);

    assert_true(st_trace_is_being_written(fd));
    st_trace_close(t);
    assert_false(st_trace_is_being_written(fd));
}

static void lines_too_long_come_in_pieces(void **state)
{
    size_t n = 3 * ST_LINES_MAX + 17;
    char *text = malloc(n + sizeof(VECTOR_1));
    struct st_verify_report r;

    (void)state;
    memset(text, 'x', n);
    text[n - 1] = '\n';
    memcpy(text + n, VECTOR_1, sizeof(VECTOR_1));
    r = verify_text(text, n + sizeof(VECTOR_1) - 1);
    assert_int_equal(r.lines, 2);
    assert_int_equal(r.issues[0].code, ST_ISSUE_BAD_JSON);
    assert_int_equal(r.issues[0].line, 1);
    free(text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(the_two_vectors_of_the_older_dialect_stand),
        T(the_older_dialect_may_be_written_otherwise),
        T(a_change_in_the_older_dialect_is_found),
        T(an_untouched_trace_is_not_accused),
        T(each_issue_has_its_place),
        T(signatures_of_others_and_none_are_found),
        T(a_checkpoint_can_not_be_made_final),
        T(tears_that_were_declared_are_counted_not_accused),
        T(a_record_that_lacks_only_its_newline_is_kept),
        T(damage_behind_the_last_checkpoint_is_torn_from_its_first_byte),
        T(the_files_of_a_set_are_one_trace),
        T(a_writer_at_work_is_seen),
        T(lines_too_long_come_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
