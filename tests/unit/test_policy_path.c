/* Paths: every rule of the format, and the traps. Each row is judged by a policy that allows what the pattern
 * matches and nothing else, so that `allow` means that it matched. */
#include "base/path.h"

#include <limits.h>

#include "policy_unit.h"

static bool path_matches(const char *pattern, const char *path, size_t len)
{
    char text[9000];
    st_auto_policy policy = NULL;
    struct st_event e = file_n(path, len, ST_ACCESS_READ);

    snprintf(text, sizeof(text),
             "schema_version: \"2.0\"\ndefaults: { filesystem: { read: deny } }\n"
             "rules: [{ id: r, type: filesystem, paths: ['%s'] }]\n",
             pattern);
    policy = load(text);
    return one(policy, e).result == ST_ALLOW;
}

static const struct {
    const char *pattern, *path;
    bool matches;
} path_rows[] = {
    {"/etc/shadow", "/etc/shadow", true},
    {"/etc/shadow", "/etc/shadow-", false},
    {"/etc/shadow", "/etc/shado", false},
    {"/etc/shadow", "/etc", false},
    {"/etc/shadow", "/etc/shadow/x", false},
    {"/etc/shadow", "/ETC/shadow", false},
    {"/", "/", true},
    {"/", "/a", false},
    {"/**", "/", true},
    {"/**", "/a/b/c", true},
    {"/workspace/**", "/workspace", true},
    {"/workspace/**", "/workspace/a", true},
    {"/workspace/**", "/workspace/a/b/c/d", true},
    {"/workspace/**", "/workspacex", false},
    {"/workspace/**", "/workspac", false},
    {"/workspace/**", "/", false},
    {"/workspace/**", "/x/workspace/a", false},
    {"/tmp/*.log", "/tmp/app.log", true},
    {"/tmp/*.log", "/tmp/.log", true},
    {"/tmp/*.log", "/tmp/sub/app.log", false},
    {"/tmp/*.log", "/tmp/app.log.gz", false},
    {"/home/*/.ssh/**", "/home/bob/.ssh", true},
    {"/home/*/.ssh/**", "/home/bob/.ssh/id_rsa", true},
    {"/home/*/.ssh/**", "/home/.ssh/id_rsa", false},
    {"/home/*/.ssh/**", "/home/a/b/.ssh/id_rsa", false},
    {"/home/*", "/home/bob", true},
    {"/home/*", "/home", false},
    {"/home/*", "/home/bob/x", false},
    {"/a?c", "/abc", true},
    {"/a?c", "/ac", false},
    {"/a?c", "/a/c", false},
    {"/a?c",
     "/a\xc3\xa9"
     "c",
     true}, /* one character, two bytes */
    {"/a?c",
     "/a\xff"
     "c",
     true}, /* one byte that is no character */
    {"/a??c",
     "/a\xc3\xa9"
     "c",
     false},
    {"/**/.git/config", "/.git/config", true},
    {"/**/.git/config", "/a/.git/config", true},
    {"/**/.git/config", "/a/b/c/.git/config", true},
    {"/**/.git/config", "/a/.git/config/x", false},
    {"/**/.git/config", "/a/x.git/config", false},
    {"/**/.git/**", "/a/.git", true},
    {"/**/.git/**", "/a/.git/hooks/pre-commit", true},
    {"/**/.git/**", "/a/.gitignore", false},
    {"/**/a/**/b", "/a/b", true},
    {"/**/a/**/b", "/x/a/y/z/b", true},
    {"/**/a/**/b", "/b/a", false},
    {"/**/a/**/b", "/a/a/b/c/b", true},
    {"/**/*.pem", "/x.pem", true},
    {"/**/*.pem", "/a/b/x.pem", true},
    {"/**/*.pem", "/a/b/x.pem/y", false},
    {"/**/**/x", "/x", true},
    {"/a/**/b/*/c", "/a/b/x/c", true},
    {"/a/**/b/*/c", "/a/b/b/x/c", true},
    {"/a/**/b/*/c", "/a/b/c", false},
    /* `**` within a name */
    {"/tmp/x**", "/tmp/x", true},
    {"/tmp/x**", "/tmp/xy/z", true},
    {"/tmp/x**", "/tmp/y/x", false},
    {"/tmp/**x", "/tmp/x", true},
    {"/tmp/**x", "/tmp/a/b/cx", true},
    {"/tmp/**x", "/tmp/a/xb", false},
    {"/tmp/a**b", "/tmp/ab", true},
    {"/tmp/a**b", "/tmp/a1/2/3b", true},
    {"/tmp/a**b", "/tmp/a/b", true},
    {"/tmp/a**b", "/tmp/xa/b", false},
    /* the characters themselves */
    {"/a\\*b", "/a*b", true},
    {"/a\\*b", "/axb", false},
    {"/a\\?b", "/a?b", true},
    {"/a\\?b", "/axb", false},
    {"/a\\\\b", "/a\\b", true},
    {"/[ab]", "/[ab]", true},
    {"/[ab]", "/a", false},
    {"/{a,b}", "/a", false},
    {"/caf\xc3\xa9", "/caf\xc3\xa9", true},
    {"/caf\xc3\xa9", "/cafe\xcc\x81", false}, /* bytes, not what they look like */
    {"/a\\xffb",
     "/a\xff"
     "b",
     true},
    {"/*", "/\xff\xfe", true},
    {"/x/*", "/x/\x01\n", true},
    /* many stars */
    {"/*a*a*a*b", "/aaaaaaaaab", true},
    {"/*a*a*a*b", "/aaaaaaaaa", false},
    {"/*.tar.*", "/x.tar.tar.gz", true},
};

static void paths_match_by_component(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(path_rows); i++)
        if (path_matches(path_rows[i].pattern, path_rows[i].path, strlen(path_rows[i].path)) !=
            path_rows[i].matches)
            fail_msg("%s %s %s", path_rows[i].pattern,
                     path_rows[i].matches ? "should match" : "must not match", path_rows[i].path);
}

static void a_path_that_is_not_normal_is_made_so_first(void **state)
{
    static const struct {
        const char *path;
        bool inside;
    } rows[] = {
        {"/workspace/a", true},
        {"/workspace/../etc", false},
        {"/workspace/../etc/passwd", false},
        {"/workspace/./a", true},
        {"/workspace//a", true},
        {"//workspace/a", true},
        {"/workspace/", true},
        {"/workspace/a/../../workspace/b", true},
        {"/workspace/a/../../etc", false},
        {"/../../workspace", true},
        {"/etc/../workspace/x", true},
        {"/workspace/..", false},
        {"/workspace/...", true},
        {"/workspace/..x", true},
        {"/workspacex/a", false},
        {"workspace/a", false}, /* not absolute: nothing that can be judged */
        {"", false},
        {".", false},
        {"(unreachable)/workspace/a", false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++)
        if (path_matches("/workspace/**", rows[i].path, strlen(rows[i].path)) != rows[i].inside)
            fail_msg("'%s' is %s the workspace", rows[i].path, rows[i].inside ? "inside" : "outside");
}

static void a_path_that_is_not_known_is_refused(void **state)
{
    st_auto_policy policy = load("schema_version: \"2.0\"\n");
    struct st_event e = file(NULL, ST_ACCESS_READ);

    (void)state;
    assert_int_equal(one(policy, e).result, ST_DENY); /* though reading is allowed by default */
}

static void long_paths_are_judged_to_their_end(void **state)
{
    char deep[PATH_MAX], wide[PATH_MAX], long_dots[2 * PATH_MAX];
    size_t n = 0;

    (void)state;
    while (n + 2 < sizeof(deep) - 1) { /* /a/a/a/…, 4 KiB */
        deep[n++] = '/';
        deep[n++] = 'a';
    }
    assert_true(path_matches("/a/**", deep, n));
    assert_true(path_matches("/**/a", deep, n));
    assert_false(path_matches("/**/b", deep, n));
    deep[n - 1] = 'b';
    assert_true(path_matches("/**/b", deep, n));
    assert_true(path_matches("/**/a/**/a/**/b", deep, n));
    memset(wide, 'w', sizeof(wide));
    wide[0] = '/';
    assert_true(path_matches("/*", wide, sizeof(wide)));
    assert_true(path_matches("/www*www", wide, sizeof(wide)));
    assert_false(path_matches("/*x", wide, sizeof(wide)));
    memset(long_dots, '/', sizeof(long_dots)); /* not normal, and longer than any path */
    assert_false(path_matches("/**", long_dots, sizeof(long_dots)));
}

static void normal_form_is_by_the_text_alone(void **state)
{
    static const char *const rows[][2] = {
        {"/", "/"},
        {"//", "/"},
        {"/.", "/"},
        {"/..", "/"},
        {"/a/..", "/"},
        {"/a/b/..", "/a"},
        {"/a//b/./c", "/a/b/c"},
        {"/a/b/../../../c", "/c"},
        {"/a/...", "/a/..."},
        {"/a/", "/a"},
    };
    char out[64];

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        assert_int_equal(st_path_normalise(rows[i][0], strlen(rows[i][0]), out, sizeof(out)),
                         strlen(rows[i][1]));
        assert_string_equal(out, rows[i][1]);
        assert_true(st_path_is_normal(out, strlen(out)));
        assert_int_equal(st_path_is_normal(rows[i][0], strlen(rows[i][0])),
                         strcmp(rows[i][0], rows[i][1]) == 0);
    }
    assert_int_equal(st_path_normalise("a", 1, out, sizeof(out)), 0);
    assert_int_equal(st_path_normalise("", 0, out, sizeof(out)), 0);
    assert_int_equal(st_path_normalise("/aaaa", 5, out, 5), 0);
}

static void access_is_judged_bit_by_bit(void **state)
{
    st_auto_policy policy =
        load("schema_version: \"2.0\"\nscope: [/workspace]\n"
             "defaults: { filesystem: { read: allow, write: deny } }\n"
             "rules:\n"
             "  - { id: ro, type: filesystem, paths: [/workspace/ro/**], access: [write], action: deny }\n"
             "  - { id: mk, type: filesystem, paths: [/workspace/mk/**], access: [create], action: deny }\n"
             "  - { id: var, type: filesystem, paths: [/var/x/**], access: [read, write] }\n");
    static const struct {
        const char *path;
        unsigned access;
        enum st_result result;
    } rows[] = {
        {"/workspace/a", ST_ACCESS_READ | ST_ACCESS_WRITE, ST_ALLOW},
        {"/workspace/a", ST_ACCESS_ALL & ~ST_ACCESS_EXEC, ST_ALLOW},
        {"/etc/a", ST_ACCESS_READ, ST_ALLOW},
        {"/etc/a", ST_ACCESS_READ | ST_ACCESS_WRITE, ST_DENY}, /* one bit is enough */
        {"/etc/a", ST_ACCESS_CREATE, ST_DENY},
        {"/etc/a", ST_ACCESS_DELETE, ST_DENY},
        {"/etc/a", ST_ACCESS_ATTRIB, ST_DENY},
        {"/etc/a", ST_ACCESS_EXEC, ST_ALLOW},
        {"/workspace/ro/a", ST_ACCESS_READ, ST_ALLOW},
        {"/workspace/ro/a", ST_ACCESS_WRITE, ST_DENY},
        {"/workspace/ro/a", ST_ACCESS_CREATE, ST_DENY}, /* write is any change */
        {"/workspace/ro/a", ST_ACCESS_DELETE, ST_DENY},
        {"/workspace/ro/a", ST_ACCESS_ATTRIB, ST_DENY},
        {"/workspace/ro/a", ST_ACCESS_READ | ST_ACCESS_WRITE, ST_DENY},
        {"/workspace/mk/a", ST_ACCESS_WRITE, ST_ALLOW},
        {"/workspace/mk/a", ST_ACCESS_CREATE, ST_DENY},
        {"/var/x/a", ST_ACCESS_READ | ST_ACCESS_WRITE, ST_ALLOW},
        {"/etc/a", 0, ST_DENY}, /* an open with unknown flags may write */
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_event e = file(rows[i].path, rows[i].access);

        if (one(policy, e).result != rows[i].result)
            fail_msg("row %zu: %s with access %u", i, rows[i].path, rows[i].access);
    }
}

static void both_ends_of_a_rename_and_a_link_are_judged(void **state)
{
    st_auto_policy policy =
        load("schema_version: \"2.0\"\nscope: [/workspace]\nrules:\n"
             "  - { id: g, type: filesystem, paths: [/workspace/.git/config], access: [write],"
             " action: deny }\n");
    static const struct {
        enum st_fs_op op;
        const char *path, *target;
        enum st_result result;
    } rows[] = {
        {ST_FS_RENAME, "/workspace/a", "/workspace/b", ST_ALLOW},
        {ST_FS_RENAME, "/workspace/a", "/etc/b", ST_DENY},
        {ST_FS_RENAME, "/etc/a", "/workspace/b", ST_DENY},
        {ST_FS_RENAME, "/workspace/a", "/workspace/.git/config", ST_DENY}, /* written by replacing it */
        {ST_FS_RENAME, "/workspace/.git/config", "/workspace/b", ST_DENY},
        {ST_FS_LINK, "/workspace/a", "/workspace/b", ST_ALLOW},
        {ST_FS_LINK, "/etc/shadow", "/workspace/b", ST_DENY}, /* a second name for it */
        {ST_FS_LINK, "/workspace/a", "/workspace/../etc/b", ST_DENY},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_event e = file(rows[i].path, 0);

        e.fs.op = rows[i].op;
        e.fs.target = st_str(rows[i].target);
        if (one(policy, e).result != rows[i].result)
            fail_msg("%s → %s", rows[i].path, rows[i].target);
    }
}

static void hostile_patterns_come_to_an_end(void **state)
{
    static const char *const patterns[] = {
        "/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "/**/a/**/a/**/a/**/a/**/a/**/b",
        "/**/*a*/**/*a*/**/*a*/**/*a*/**/*b",
        "/**/?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*x",
    };
    char path[PATH_MAX], wide[PATH_MAX];
    size_t n = 0;

    (void)state;
    memset(wide, 'a', sizeof(wide));
    wide[0] = '/';
    while (n + 2 < sizeof(path)) {
        path[n++] = '/';
        path[n++] = 'a';
    }
    for (size_t i = 0; i < N_OF(patterns); i++) {
        assert_false(path_matches(patterns[i], path, n));
        assert_false(path_matches(patterns[i], wide, sizeof(wide)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_match_by_component),
        cmocka_unit_test(a_path_that_is_not_normal_is_made_so_first),
        cmocka_unit_test(a_path_that_is_not_known_is_refused),
        cmocka_unit_test(long_paths_are_judged_to_their_end),
        cmocka_unit_test(normal_form_is_by_the_text_alone),
        cmocka_unit_test(access_is_judged_bit_by_bit),
        cmocka_unit_test(both_ends_of_a_rename_and_a_link_are_judged),
        cmocka_unit_test(hostile_patterns_come_to_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
