/* Rules about programs: by path, by hash, by where the file comes from. */
#include "policy_unit.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct st_event program(const char *path, const char *sha256)
{
    struct st_event e = process(ST_PROC_EXEC, path);

    e.proc.program.sha256 = st_str(sha256);
    return e;
}

static void the_content_is_allowed_under_any_name(void **state)
{
    st_auto_policy p =
        load(HEAD "rules:\n  - { id: known, type: process, exec: ['sha256:" A "', /usr/bin/git] }\n");
    struct st_verdict v = one(p, program("/tmp/x", A));
    struct st_event loader = file("/lib/ld.so", ST_ACCESS_EXEC);

    (void)state;
    assert_verdict(&v, ST_ALLOW, "known");
    v = one(p, program("/tmp/x", B));
    assert_verdict(&v, ST_DENY, NULL);
    assert_reason(&v, "no rule allows running /tmp/x");
    v = one(p, program("/tmp/x", NULL));
    assert_verdict(&v, ST_DENY, NULL);
    v = one(p, program("/usr/bin/git", B));
    assert_verdict(&v, ST_ALLOW, "known");
    loader.fs.op = ST_FS_EXEC;
    loader.fs.program.sha256 = st_str(A);
    v = one(p, loader);
    assert_verdict(&v, ST_ALLOW, "known");
    assert_int_equal(st_policy_hashes(p), 1);
}

static void the_first_rule_that_matches_decides(void **state)
{
    st_auto_policy p = load(HEAD "rules:\n  - { id: path, type: process, exec: ['/usr/**'] }\n"
                                 "  - { id: banned, type: process, action: deny, exec: ['sha256:" A "'] }\n"
                                 "  - { id: again, type: process, exec: ['sha256:" A "', 'sha256:" B "'] }\n"
                                 "  - { id: rest, type: process, exec: ['/**'] }\n");
    struct st_verdict v = one(p, program("/usr/bin/x", A));

    (void)state;
    assert_verdict(&v, ST_ALLOW, "path");
    v = one(p, program("/tmp/x", A));
    assert_verdict(&v, ST_DENY, "banned");
    assert_reason(&v, "running /tmp/x is refused by rule banned");
    v = one(p, program("/tmp/x", B));
    assert_verdict(&v, ST_ALLOW, "again");
    v = one(p, program("/tmp/x", "cc"));
    assert_verdict(&v, ST_ALLOW, "rest");
}

static void what_could_not_be_hashed_may_be_what_is_refused(void **state)
{
    st_auto_policy p = load(HEAD "rules:\n  - { id: known, type: process, exec: ['sha256:" A "', /bin/sh] }\n"
                                 "  - { id: banned, type: process, action: deny, exec: ['sha256:" B "'] }\n"
                                 "  - { id: rest, type: process, exec: ['/**'] }\n");
    struct st_event e = program("/tmp/x", NULL);
    struct st_verdict v;

    (void)state;
    e.proc.program.unhashed = true;
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "banned");
    assert_reason(
        &v, "running /tmp/x is refused by rule banned (its hash is not known: too large, or being written)");
    e.proc.path = st_str("/bin/sh");
    v = one(p, e);
    assert_verdict(&v, ST_ALLOW, "known");
    v = one(p, program("/tmp/x", NULL)); /* nobody looked */
    assert_verdict(&v, ST_ALLOW, "rest");
}

static void where_a_file_comes_from_weighs_more_than_its_path(void **state)
{
    st_auto_policy p = load(HEAD "exec_of_new: deny\nexec_of_deleted: deny\nexec_of_memfd: deny\n"
                                 "rules:\n  - { id: built, type: process, exec: ['/**'] }\n");
    st_auto_policy open = load(HEAD);
    st_auto_policy known =
        load(HEAD "exec_of_new: deny\nrules:\n  - { id: built, type: process, exec: ['/**'] }\n"
                  "  - { id: known, type: process, exec: ['sha256:" A "'] }\n");
    st_auto_policy first =
        load(HEAD "exec_of_new: deny\nrules:\n  - { id: known, type: process, exec: ['sha256:" A "'] }\n");
    static const struct {
        struct st_program program;
        const char *rule, *reason;
    } rows[] = {
        {{.is_new = true},
         "exec_of_new",
         "running /x, which was made or changed in this run (exec_of_new: deny)"},
        {{.deleted = true}, "exec_of_deleted", "running /x, which has been deleted (exec_of_deleted: deny)"},
        {{.memfd = true, .deleted = true},
         "exec_of_memfd",
         "running /x, which is in memory only (exec_of_memfd: deny)"},
    };
    struct st_event e = process(ST_PROC_EXEC, "/x");
    struct st_verdict v = one(p, e);

    (void)state;
    assert_verdict(&v, ST_ALLOW, "built");
    for (size_t i = 0; i < N_OF(rows); i++) {
        e.proc.program = rows[i].program;
        v = one(p, e);
        assert_verdict(&v, ST_DENY, rows[i].rule);
        assert_reason(&v, rows[i].reason);
        v = one(open, e);
        assert_verdict(&v, ST_ALLOW, NULL);
    }
    e.proc.program = (struct st_program){.is_new = true, .sha256 = st_str(A)};
    v = one(first, e); /* the content is known */
    assert_verdict(&v, ST_ALLOW, "known");
    v = one(known, e); /* but a path before it decided */
    assert_verdict(&v, ST_DENY, "exec_of_new");
}

static void a_syscall_about_a_program_in_memory_is_an_execution(void **state)
{
    st_auto_policy p =
        load(HEAD "exec_of_memfd: deny\n"
                  "rules:\n  - { id: let, type: syscall, action: allow, names: [execveat] }\n"
                  "  - { id: not, type: syscall, action: deny, severity: low, names: [bpf] }\n");
    st_auto_policy open = load(HEAD);
    struct st_event e = {.type = ST_EV_SYSCALL, .sys = {.name = ST_STR_LIT("memfd_create")}};
    struct st_verdict v = one(p, e);

    (void)state;
    assert_verdict(&v, ST_ALLOW, NULL);
    e.sys.memfd = true;
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "exec_of_memfd");
    assert_reason(&v, "the syscall memfd_create, for a program that is in memory only (exec_of_memfd: deny)");
    v = one(open, e);
    assert_verdict(&v, ST_ALLOW, NULL);
    e.sys.name = ST_STR_LIT("execveat"); /* no rule about the syscall is an exception */
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "exec_of_memfd");
    e.sys.name = ST_STR_LIT("bpf");
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "not");
}

static void many_hashes_are_found(void **state)
{
    st_auto_buf text = ST_BUF_INIT;
    char hex[65];

    (void)state;
    st_buf_adds(&text, HEAD "rules:\n");
    for (unsigned i = 0; i < 3000; i++)
        st_buf_addf(&text, "  - { id: r%u, type: process, exec: ['sha256:%064x'] }\n", i, i * 7919u);
    {
        st_auto_policy p = load(st_buf_cstr(&text));

        for (unsigned i = 0; i < 3000; i++) {
            char id[16];
            struct st_verdict v;

            snprintf(hex, sizeof(hex), "%064x", i * 7919u);
            snprintf(id, sizeof(id), "r%u", i);
            v = one(p, program("/x", hex));
            assert_verdict(&v, ST_ALLOW, id);
        }
        snprintf(hex, sizeof(hex), "%064x", 1u);
        {
            struct st_verdict v = one(p, program("/x", hex));

            assert_verdict(&v, ST_DENY, NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_content_is_allowed_under_any_name),
        cmocka_unit_test(the_first_rule_that_matches_decides),
        cmocka_unit_test(what_could_not_be_hashed_may_be_what_is_refused),
        cmocka_unit_test(where_a_file_comes_from_weighs_more_than_its_path),
        cmocka_unit_test(a_syscall_about_a_program_in_memory_is_an_execution),
        cmocka_unit_test(many_hashes_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
