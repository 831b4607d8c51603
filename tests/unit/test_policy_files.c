/* Policies in files: where they are looked for, who may have written them, and `extends`. */
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"

#include "policy_unit.h"

#include <fcntl.h>
#include <sys/stat.h>

struct place {
    char root[64], first[80], second[80];
    const char *dirs[2];
    struct st_policy_source source;
};

static int make_place(void **state)
{
    struct place *p = st_xcalloc(1, sizeof(*p));

    snprintf(p->root, sizeof(p->root), "/tmp/st-policy-XXXXXX");
    if (!mkdtemp(p->root))
        return -1;
    snprintf(p->first, sizeof(p->first), "%s/etc", p->root);
    snprintf(p->second, sizeof(p->second), "%s/share", p->root);
    if (mkdir(p->first, 0755) < 0 || mkdir(p->second, 0755) < 0)
        return -1;
    p->dirs[0] = p->first;
    p->dirs[1] = p->second;
    p->source = (struct st_policy_source){.dirs = p->dirs, .n_dirs = 2};
    *state = p;
    return 0;
}

static void empty_and_remove(const char *dir)
{
    st_auto_dir d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        unlinkat(dirfd(d), entry->d_name, 0);
    rmdir(dir);
}

static int remove_place(void **state)
{
    struct place *p = *state;

    empty_and_remove(p->first);
    empty_and_remove(p->second);
    empty_and_remove(p->root);
    free(p);
    return 0;
}

static void put(const char *dir, const char *name, const char *text)
{
    st_auto_fd fd = open(dir, O_RDONLY | O_DIRECTORY);
    struct st_error err = {0};

    if (st_replace_file_at(fd, name, text, strlen(text), 0644, false, &err) < 0)
        fail_msg("%s", err.msg);
}

static struct st_policy *get(struct place *p, const char *name)
{
    struct st_policy *policy = NULL;
    struct st_error err = {0};

    if (st_policy_load(name, &p->source, &policy, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    return policy;
}

static void assert_not_loaded(struct place *p, const char *name, int rc, const char *why)
{
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};

    assert_int_equal(st_policy_load(name, &p->source, &policy, &diags, &err), rc);
    assert_null(policy);
    assert_true(diags.errors > 0);
    if (!strstr(err.msg, why))
        fail_msg("said '%s', not '%s'", err.msg, why);
}

static void the_first_directory_that_has_the_name_wins(void **state)
{
    struct place *p = *state;
    st_auto_policy a = NULL;
    st_auto_policy b = NULL;
    char path[128];

    put(p->first, "x.yaml", "schema_version: \"2.0\"\ndescription: ours\n");
    put(p->second, "x.yaml", "schema_version: \"2.0\"\ndescription: theirs\n");
    put(p->second, "y.yaml", "schema_version: \"2.0\"\n");
    a = get(p, "x");
    assert_string_equal(st_policy_description(a), "ours");
    assert_string_equal(st_policy_name(a), "x");
    b = get(p, "y");
    assert_string_equal(st_policy_name(b), "y");
    snprintf(path, sizeof(path), "%s/x.yaml", p->second);
    st_policy_unref(b);
    b = get(p, path);
    assert_string_equal(st_policy_description(b), "theirs");
}

static void what_is_not_there_is_said_with_where_it_was_looked_for(void **state)
{
    struct place *p = *state;

    assert_not_loaded(p, "none", -ENOENT, p->second);
    assert_not_loaded(p, "/nowhere/x.yaml", -ENOENT, "/nowhere/x.yaml");
    assert_not_loaded(p, "a b", -EINVAL, "letters, digits");
    assert_not_loaded(p, "..", -EINVAL, "letters, digits");
    assert_not_loaded(p, "", -EINVAL, "letters, digits");
}

static void a_file_that_others_may_write_is_refused(void **state)
{
    struct place *p = *state;
    st_auto_policy loose = NULL;
    char path[128];

    put(p->first, "x.yaml", "schema_version: \"2.0\"\n");
    put(p->first, "child.yaml", "schema_version: \"2.0\"\nextends: x\n");
    snprintf(path, sizeof(path), "%s/x.yaml", p->first);
    assert_int_equal(chmod(path, 0666), 0);
    assert_not_loaded(p, "x", -EPERM, "chmod go-w");
    assert_not_loaded(p, "child", -EINVAL, "chmod go-w");
    p->source.untrusted_ok = true; /* only to look at it */
    loose = get(p, "x");
    assert_int_equal(mkdir(path, 0755), -1);
}

static void a_directory_is_no_policy(void **state)
{
    struct place *p = *state;
    char path[128];

    snprintf(path, sizeof(path), "%s/x.yaml", p->first);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_not_loaded(p, "x", -ENODEV, "x.yaml");
    assert_int_equal(rmdir(path), 0);
}

static void rules_of_the_base_come_after_and_settings_are_written_over(void **state)
{
    struct place *p = *state;
    const struct st_rule *rules;
    const char *const *scope;
    const char *const *files;
    st_auto_policy a = NULL;

    put(p->second, "base.yaml",
        "schema_version: \"2.0\"\nname: base\nlocked: true\nscope: [/base]\ndepth: strict\n"
        "defaults: { filesystem: { read: deny, write: allow }, network_egress: allow }\n"
        "process_limits: { max_depth: 3, max_children: 5 }\n"
        "on_violation: { low: kill, high: kill }\npause: { hold: false, timeout: 1m }\n"
        "rules:\n  - { id: b1, type: syscall, names: [bpf], action: deny }\n"
        "  - { id: b2, type: syscall, names: [mount], action: deny }\n");
    put(p->first, "child.yaml",
        "schema_version: \"2.0\"\nextends: base\nscope: [/child]\nmode: audit\n"
        "defaults: { filesystem: { read: allow } }\nprocess_limits: { max_depth: 9 }\n"
        "on_violation: { high: deny }\npause: { timeout: 2m }\n"
        "rules:\n  - { id: c1, type: syscall, names: [bpf], action: allow }\n");
    a = get(p, "child");
    assert_string_equal(st_policy_name(a), "child");
    assert_int_equal(st_policy_rules(a, &rules), 3);
    assert_string_equal(rules[0].id, "c1");
    assert_string_equal(rules[1].id, "b1");
    assert_string_equal(rules[2].id, "b2");
    assert_int_equal(st_policy_scope(a, &scope), 1);
    assert_string_equal(scope[0], "/child");
    assert_true(st_policy_locked(a)); /* goes along */
    assert_int_equal(st_policy_mode(a), ST_MODE_AUDIT);
    assert_int_equal(st_policy_depth(a), ST_DEPTH_STRICT);
    assert_int_equal(st_policy_defaults(a)->fs_read, ST_ALLOW);
    assert_int_equal(st_policy_defaults(a)->fs_write, ST_ALLOW);
    assert_int_equal(st_policy_defaults(a)->egress, ST_ALLOW);
    assert_int_equal(st_policy_process_limits(a)->max_depth, 9);
    assert_int_equal(st_policy_process_limits(a)->max_children, 5);
    assert_int_equal(st_policy_on_violation(a, ST_SEV_LOW), ST_RESPOND_KILL);
    assert_int_equal(st_policy_on_violation(a, ST_SEV_HIGH), ST_RESPOND_DENY);
    assert_false(st_policy_pause(a)->hold);
    assert_int_equal(st_policy_pause(a)->timeout_ms, 120000);
    assert_int_equal(st_policy_files(a, &files), 2);
    assert_non_null(strstr(files[0], "child.yaml"));
    assert_non_null(strstr(files[1], "base.yaml"));
}

static void the_hash_covers_every_file(void **state)
{
    struct place *p = *state;
    char before[ST_SHA256_HEX + 1], lines[2 * (ST_SHA256_HEX + 1) + 1], expected[ST_SHA256_HEX + 1];
    static const char child[] = "schema_version: \"2.0\"\nextends: base\n",
                      base[] = "schema_version: \"2.0\"\n";
    unsigned char digest[ST_SHA256_SIZE];
    st_auto_policy a = NULL;
    st_auto_policy b = NULL;

    put(p->first, "base.yaml", base);
    put(p->first, "child.yaml", child);
    a = get(p, "child");
    snprintf(before, sizeof(before), "%s", st_policy_sha256(a));
    st_sha256(child, strlen(child), digest);
    st_hex(digest, sizeof(digest), lines);
    lines[ST_SHA256_HEX] = '\n';
    st_sha256(base, strlen(base), digest);
    st_hex(digest, sizeof(digest), lines + ST_SHA256_HEX + 1);
    lines[2 * ST_SHA256_HEX + 1] = '\n';
    st_sha256(lines, sizeof(lines) - 1, digest);
    st_hex(digest, sizeof(digest), expected);
    assert_string_equal(before, expected);
    put(p->first, "base.yaml", "schema_version: \"2.0\"\n# a comment\n");
    b = get(p, "child");
    assert_string_not_equal(st_policy_sha256(b), before);
}

static void a_policy_may_extend_the_shipped_one_of_its_own_name(void **state)
{
    struct place *p = *state;
    const struct st_rule *rules;
    st_auto_policy a = NULL;

    put(p->second, "x.yaml",
        "schema_version: \"2.0\"\nrules: [{ id: theirs, type: syscall, names: [bpf], action: deny }]\n");
    put(p->first, "x.yaml",
        "schema_version: \"2.0\"\nextends: x\nrules: [{ id: ours, type: syscall, names: [bpf] }]\n");
    a = get(p, "x");
    assert_int_equal(st_policy_rules(a, &rules), 2);
    assert_string_equal(rules[0].id, "ours");
    assert_string_equal(rules[1].id, "theirs");
}

static void what_is_extended_is_found_as_the_extending_one_was(void **state)
{
    struct place *p = *state;
    st_auto_policy by_name = NULL;
    st_auto_policy by_path = NULL;
    const char *const *files;
    char path[128];

    put(p->second, "child.yaml", "schema_version: \"2.0\"\nextends: base\n");
    put(p->second, "base.yaml", "schema_version: \"2.0\"\n");
    put(p->first, "base.yaml", "schema_version: \"2.0\"\n# ours\n");
    by_name = get(p, "child"); /* by the directories, in their order */
    assert_int_equal(st_policy_files(by_name, &files), 2);
    assert_non_null(strstr(files[1], p->first));
    snprintf(path, sizeof(path), "%s/child.yaml", p->second);
    by_path = get(p, path); /* beside it */
    assert_int_equal(st_policy_files(by_path, &files), 2);
    assert_non_null(strstr(files[1], p->second));
}

static void what_extends_in_a_circle_is_refused(void **state)
{
    struct place *p = *state;
    char path[128], again[128];

    put(p->first, "a.yaml", "schema_version: \"2.0\"\nextends: b\n");
    put(p->first, "b.yaml", "schema_version: \"2.0\"\nextends: c\n");
    put(p->first, "c.yaml", "schema_version: \"2.0\"\nextends: a\n");
    put(p->first, "self.yaml", "schema_version: \"2.0\"\nextends: self\n");
    assert_not_loaded(p, "a", -EINVAL, "c.yaml:2:10: `extends` goes in a circle");
    assert_not_loaded(p, "self", -EINVAL, "there is no policy `self`");
    snprintf(path, sizeof(path), "%s/self.yaml", p->first);
    snprintf(again, sizeof(again), "%s/self.yaml", p->second);
    assert_int_equal(symlink(path, again), 0); /* the same file under another directory */
    assert_not_loaded(p, "self", -EINVAL, "there is no policy `self`");
}

static void a_chain_of_extends_has_an_end(void **state)
{
    struct place *p = *state;
    st_auto_policy a = NULL;

    for (int i = 0; i < 9; i++) {
        char name[32], text[80];

        snprintf(name, sizeof(name), "p%d.yaml", i);
        snprintf(text, sizeof(text), "schema_version: \"2.0\"\n%s%.*s%s", i < 8 ? "extends: p" : "", i < 8,
                 &"123456789"[i], "\n");
        put(p->first, name, text);
    }
    a = get(p, "p1");
    assert_not_loaded(p, "p0", -EINVAL, "more than 8 policies");
}

static void an_error_in_the_base_has_the_place_in_the_base(void **state)
{
    struct place *p = *state;

    put(p->first, "base.yaml", "schema_version: \"2.0\"\nmode: x\n");
    put(p->first, "child.yaml", "schema_version: \"2.0\"\nextends: base\n");
    assert_not_loaded(p, "child", -EINVAL, "base.yaml:2:7: `mode` can't be `x`");
    put(p->first, "base.yaml", "schema_version: \"2.0\"\nrules: [{ id: a, type: syscall, names: [bpf] }]\n");
    put(p->first, "child.yaml",
        "schema_version: \"2.0\"\nextends: base\nrules: [{ id: a, type: syscall, names: [mount] }]\n");
    assert_not_loaded(p, "child", -EINVAL, "child.yaml:3:9: the id `a` is taken by the rule at");
    put(p->first, "base.yaml",
        "schema_version: \"2.0\"\nrules: [{ id: b, type: syscall, names: [bpf] }, { id: b, type: syscall, "
        "names: [bpf] }]\n");
    assert_not_loaded(p, "child", -EINVAL, "base.yaml:2:49: the id `b` is taken by the rule at");
}

static void a_locked_base_can_not_be_unlocked(void **state)
{
    struct place *p = *state;

    put(p->first, "base.yaml", "schema_version: \"2.0\"\nlocked: true\n");
    put(p->first, "child.yaml", "schema_version: \"2.0\"\nextends: base\nlocked: false\n");
    assert_not_loaded(p, "child", -EINVAL, "child.yaml:3:9: the policy that this one extends is locked");
}

int main(void)
{
#define IN_PLACE(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_first_directory_that_has_the_name_wins),
        IN_PLACE(what_is_not_there_is_said_with_where_it_was_looked_for),
        IN_PLACE(a_file_that_others_may_write_is_refused),
        IN_PLACE(a_directory_is_no_policy),
        IN_PLACE(rules_of_the_base_come_after_and_settings_are_written_over),
        IN_PLACE(the_hash_covers_every_file),
        IN_PLACE(a_policy_may_extend_the_shipped_one_of_its_own_name),
        IN_PLACE(what_is_extended_is_found_as_the_extending_one_was),
        IN_PLACE(what_extends_in_a_circle_is_refused),
        IN_PLACE(a_chain_of_extends_has_an_end),
        IN_PLACE(an_error_in_the_base_has_the_place_in_the_base),
        IN_PLACE(a_locked_base_can_not_be_unlocked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
