/* Every complaint: where it points, what it says is wrong, what it says would be right. */
#include "policy_unit.h"

#define RULE HEAD "rules:\n"
#define DEST(d) RULE "  - { id: r, type: network_egress, destinations: [" d "] }\n"
#define PATHS(p) RULE "  - { id: r, type: filesystem, paths: [" p "] }\n"

#define EXEC(p) RULE "  - { id: r, type: process, exec: [" p "] }\n"
#define HASH63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct row {
    const char *text;
    unsigned line, column;
    const char *what, *right;
} rows[] = {
    /* the whole */
    {"", 0, 0, "the policy is empty", "schema_version: \"2.0\""},
    {"# nothing\n", 0, 0, "the policy is empty", ""},
    {"- a\n", 1, 1, "must be a mapping, not a list", "`key: value`"},
    {"just text\n", 1, 1, "must be a mapping", ""},
    {"name: t\n", 1, 1, "`schema_version` is missing", "schema_version: \"2.0\""},
    {"name: t\nscope: [/w]\nrules: []\n", 1, 1, "`schema_version` is missing", ""},
    {"schema_version: 3.0\n", 1, 17, "`schema_version` can't be `3.0`", "2.0"},
    {"schema_version: \"1.0\"\nscope: [/w]\n", 2, 1, "`scope` is not known to schema_version 1.0", "\"2.0\""},
    {"a: b: c\n", 1, 5, "mapping values are not allowed", "into quotes"},
    {"schema_version: \"2.0\"\nname: a\nname: b\n", 3, 1, "duplicate key `name`", "stands at 2:1 already"},
    {"a: &x 1\nb: *x\n", 1, 4, "anchors and aliases are not supported", "write the value out"},
    {"a: &x 1\nb: *x\n", 2, 4, "anchors and aliases are not supported", "write the value out"},
    {"a: !!binary x\n", 1, 4, "tags", "without one"},
    {"a: 1\n---\nb: 2\n", 2, 1, "more than one document", "take out the `---`"},
    {HEAD "rules:\n\t- a\n", 4, 1, "cannot start any token", "indent with spaces"},
    {HEAD "scope: [/a, /b\nmode: audit\n", 4, 5, "parsing a flow sequence that begins at 3:8", "]"},
    {HEAD "pause: { hold: true\nmode: audit\n", 4, 5, "a flow mapping that begins at 3:8", "}"},
    {HEAD "mode:audit\nfloor: off\n", 4, 1, "could not find expected ':'", "a space behind the colon"},
    {HEAD "mode: @audit\n", 3, 7, "cannot start any token", "into quotes"},
    {HEAD "mode: \"audit\n", 4, 1, "a quoted scalar that begins at 3:7", "close the quotes"},
    {HEAD "mode: \"\\q\"\n", 3, 8, "unknown escape", "single quotes"},
    {HEAD "mode: a\x01\n", 3, 8, "control characters are not allowed", "take them out"},
    {HEAD "mode: \xc3\xa9\xff\n", 3, 8, "UTF-8", "save the file as UTF-8"},
    {"? [a]\n: b\n", 1, 3, "a key must be plain text", ""},
    /* programs */
    {EXEC("'sha256:abc'"), 4, 36, "a SHA-256 has 64 hex digits, this has 3", "sha256sum"},
    {EXEC("/bin/sh, 'sha256:" HASH63 "'"), 4, 45, "this has 63", "64 hex digits"},
    {EXEC("'sha256:" HASH63 "g'"), 4, 36, "`g` is no hex digit", "sha256sum"},
    {EXEC("'sha512:" HASH63 "a'"), 4, 36, "is neither a path nor a hash", "write sha256:"},
    {EXEC("'SHA256:" HASH63 "a'"), 4, 36, "is neither a path nor a hash", "write sha256:"},
    {EXEC("'" HASH63 "a'"), 4, 36, "is neither a path nor a hash", "write sha256:"},
    {EXEC("bin/sh"), 4, 36, "a path must be absolute", "begin it with /"},
    {HEAD "exec_of_new: refuse\n", 3, 14, "`exec_of_new` can't be `refuse`", "allow or deny"},
    {HEAD "exec_of_nwe: deny\n", 3, 1, "unknown key `exec_of_nwe`", "did you mean `exec_of_new`?"},
    {RULE "  - { id: exec_of_new, type: process, exec: [/x] }\n", 4, 11, "the id `exec_of_new` is taken",
     "choose another"},
    /* settings */
    {HEAD "mod: audit\n", 3, 1, "unknown key `mod` in a policy", "did you mean `mode`?"},
    {HEAD "wholly-else: 1\n", 3, 1, "unknown key `wholly-else`", "`schema_version`"},
    {"schema_version: \"2.0\"\nname: ../x\n", 2, 7, "can't be the name of a policy", "letters"},
    {"schema_version: \"2.0\"\nname:\n", 2, 6, "`name` must be text, not empty", "write one value"},
    {"schema_version: \"2.0\"\nname: \"\"\n", 2, 7, "`name` must not be empty", "write a value"},
    {HEAD "mode: enforced\n", 3, 7, "`mode` can't be `enforced`", "did you mean `enforce`?"},
    {HEAD "mode: [audit]\n", 3, 7, "`mode` must be one word, not a list", "write enforce or audit"},
    {HEAD "locked: yes\n", 3, 9, "`locked` must be true or false", "without quotes"},
    {HEAD "locked: \"true\"\n", 3, 9, "`locked` must be true or false", ""},
    {HEAD "scope: /workspace\n", 3, 8, "`scope` must be a list, not a single value", "[a, b]"},
    {HEAD "scope: [workspace]\n", 3, 9, "a path must be absolute", "begin it with /"},
    {HEAD "scope: [/workspace/]\n", 3, 9, "never ends in a slash", "/x/**"},
    {HEAD "scope: ['/w/**']\n", 3, 9, "the scope has directories, not patterns", "directory alone"},
    {HEAD "defaults: { filesystem: deny }\n", 3, 25, "`filesystem` has a default for each kind",
     "read: allow"},
    {HEAD "defaults: { filesystem: { reed: deny } }\n", 3, 27, "unknown key `reed`", "did you mean `read`?"},
    {HEAD "defaults: { network: deny }\n", 3, 13, "unknown key `network`", "`network_egress`"},
    {HEAD "defaults: { network_egress: anomaly }\n", 3, 29, "can't be `anomaly`", "allow or deny"},
    {HEAD "floor: wood\n", 3, 8, "`floor` can't be `wood`", "mount, landlock or off"},
    {HEAD "depth: deep\n", 3, 8, "`depth` can't be `deep`", "guard, record or strict"},
    {HEAD "process_limits: { max_depth: 0 }\n", 3, 30, "`max_depth`: 0 is out of range", "from 1 to"},
    {HEAD "process_limits: { max_depth: four }\n", 3, 30, "`max_depth` must be a number", "whole number"},
    {HEAD "process_limits: { max_depht: 4 }\n", 3, 19, "unknown key `max_depht`", "`max_depth`"},
    {HEAD "on_violation: { low: ignore }\n", 3, 22, "`low` can't be `ignore`", "record, deny, pause or kill"},
    {HEAD "on_violation: { hihg: deny }\n", 3, 17, "unknown key `hihg`", "did you mean `high`?"},
    {HEAD "pause: { timeout: 15 }\n", 3, 19, "`timeout` must be a duration", "15m"},
    {HEAD "pause: { timeout: 400d }\n", 3, 19, "`timeout`: 400d is too long", "at most 365d"},
    {HEAD "pause: { on_timeout: allow }\n", 3, 22, "`on_timeout` can't be `allow`", "deny, kill or resume"},
    {HEAD "fold: { window: 2d }\n", 3, 17, "`window`: 2d is too long", "1d"},
    {HEAD "extends: [a]\n", 3, 10, "`extends` must be text", "write one value"},
    {HEAD "extends: /etc/x.yaml\n", 3, 10, "`extends` names a policy", "letters"},
    {HEAD "extends: nowhere\n", 3, 10, "there is no policy `nowhere`", "nowhere.yaml"},
    /* rules */
    {HEAD "rules: {}\n", 3, 8, "`rules` must be a list, not a mapping", ""},
    {RULE "  - text\n", 4, 5, "must be a mapping", ""},
    {RULE "  - { id: a }\n", 4, 5, "a rule needs `type`", "filesystem"},
    {RULE "  - { id: a, type: file }\n", 4, 20, "`type` can't be `file`", ""},
    {RULE "  - { type: syscall, names: [bpf] }\n", 4, 5, "needs `id`", "a name of its own"},
    {RULE "  - { type: filesystem, paths: [/x] }\n", 4, 5, "needs `id`", "a name of its own"},
    {RULE "  - { id: 'a b', type: syscall, names: [bpf] }\n", 4, 11, "can't be the id",
     "without white space"},
    {RULE "  - { id: process_limits, type: syscall, names: [bpf] }\n", 4, 11, "is taken", "another"},
    {RULE "  - { id: a, type: filesystem }\n", 4, 5, "needs `paths`", "/**"},
    {RULE "  - { id: a, type: process }\n", 4, 5, "needs `exec`", ""},
    {RULE "  - { id: a, type: syscall }\n", 4, 5, "needs `names`", ""},
    {RULE "  - { id: a, type: network_egress, desitnations: [] }\n", 4, 36, "unknown key `desitnations`",
     "did you mean `destinations`?"},
    {RULE "  - { id: a, type: syscall, names: [bpf], paths: [/x] }\n", 4, 43, "type syscall has no `paths`",
     "filesystem"},
    {RULE "  - { id: a, type: syscall, names: [bpf], action: block }\n", 4, 51, "`action` can't be `block`",
     "allow or deny"},
    {RULE "  - { id: a, type: syscall, names: [bpf], severity: hgih }\n", 4, 53, "`severity` can't be `hgih`",
     "`high`"},
    {RULE "  - { id: a, type: syscall, names: [ptrase] }\n", 4, 37, "there is no syscall `ptrase`",
     "did you mean `ptrace`?"},
    {RULE "  - { id: a, type: syscall, names: [no_such_call_at_all] }\n", 4, 37, "there is no syscall",
     "syscalls(2)"},
    {RULE "  - { id: a, type: syscall, names: [] }\n", 4, 36, "`names` is an empty list", ""},
    {RULE "  - { id: a, type: syscall, names: [bpf] }\n  - { id: a, type: syscall, names: [mount] }\n", 5, 5,
     "the id `a` is taken by the rule at t.yaml:4", "own id"},
    {RULE "  - { id: a, type: filesystem, paths: [/x], access: [raed] }\n", 4, 54, "can't be `raed`",
     "`read`"},
    {RULE "  - { id: a, type: filesystem, paths: [/x], access: [] }\n", 4, 53, "`access` is an empty list",
     ""},
    {RULE "  - { id: a, type: filesystem, paths: [/x], max_bytes_per_call: 1 }\n", 4, 45,
     "has no `max_bytes_per_call`", "network_egress"},
    {RULE "  - { id: a, type: syscall, names: [bpf], if_exists: a/b }\n", 4, 54, "is a path in the container",
     "absolute"},
    /* paths */
    {PATHS("relative"), 4, 40, "a path must be absolute", "/**/"},
    {PATHS("'~/.ssh'"), 4, 40, "`~` means nothing to the kernel", "/home/*/"},
    {PATHS("/a/../b"), 4, 40, "can never match", "stands for"},
    {PATHS("/a/./b"), 4, 40, "can never match", ""},
    {PATHS("/a//b"), 4, 40, "two slashes", "one slash"},
    {PATHS("/a/"), 4, 40, "ends in a slash", "/x/**"},
    {PATHS("'/a/***'"), 4, 40, "three stars", "`**`"},
    {PATHS("'/a\\b'"), 4, 40, "a backslash before a character that needs none", "\\xHH"},
    {PATHS("'/a\\x00'"), 4, 40, "no name of a file has this byte", ""},
    {PATHS("'/a\\x2f'"), 4, 40, "no name of a file has this byte", ""},
    {PATHS("'/a\\'"), 4, 40, "a backslash", ""},
    {PATHS("'/**/a/**/a/**/a/**/a/**/a/**/a/**'"), 4, 40, "too many `**`", "at most 6"},
    {PATHS("'/a**b/c**d/e**f/g**h'"), 4, 40, "too many `**` inside names", "between slashes"},
    {PATHS("[/x]"), 4, 40, "must be text, not a list", ""},
    /* destinations */
    {DEST("example.com"), 4, 51, "a destination is a mapping", "{ host: example.com, port: 443 }"},
    {DEST("{}"), 4, 51, "an empty destination", ""},
    {DEST("{ hots: a.example }"), 4, 53, "unknown key `hots`", "did you mean `host`?"},
    {DEST("{ host: a.example, cidr: 10.0.0.0/8 }"), 4, 51, "`host` or `cidr`, not both", "two destinations"},
    {DEST("{ host: 'api.*.com' }"), 4, 59, "at the front only", "`*.example.com`"},
    {DEST("{ host: 'a*.example.com' }"), 4, 59, "at the front only", ""},
    {DEST("{ host: '*example.com' }"), 4, 59, "at the front only", ""},
    {DEST("{ host: '***.example.com' }"), 4, 59, "at the front only", ""},
    {DEST("{ host: '*' }"), 4, 59, "one label", "`**`"},
    {DEST("{ host: 'https://example.com/x' }"), 4, 59, "this is a URL", "the host alone"},
    {DEST("{ host: 'example.com:443' }"), 4, 59, "a port does not belong", "two keys"},
    {DEST("{ host: 'a..b' }"), 4, 59, "not a name", "labels"},
    {DEST("{ cidr: 10.0.0.0/33 }"), 4, 59, "the prefix length is out of range", "0 to 32"},
    {DEST("{ cidr: '2001:db8::/129' }"), 4, 59, "out of range", "0 to 128"},
    {DEST("{ cidr: 10.0.0.0/ }"), 4, 59, "has no prefix length", "/8"},
    {DEST("{ cidr: 10.0.0.0/x }"), 4, 59, "has no prefix length", ""},
    {DEST("{ cidr: 10.1.0.0/8 }"), 4, 59, "bits set beyond its prefix", "10.0.0.0/8"},
    {DEST("{ cidr: 300.0.0.0/8 }"), 4, 59, "is not an address", "10.0.0.0/8"},
    {DEST("{ cidr: example.com }"), 4, 59, "is not an address", "`host`"},
    {DEST("{ host: a.example, port: 0 }"), 4, 76, "`0` is not a port", "1 to 65535"},
    {DEST("{ host: a.example, port: 65536 }"), 4, 76, "is not a port", ""},
    {DEST("{ host: a.example, ports: [9-3] }"), 4, 78, "is empty", "smaller port first"},
    {DEST("{ host: a.example, ports: [1-2-3] }"), 4, 78, "is not a port", ""},
    {DEST("{ host: a.example, protocol: tpc }"), 4, 80, "`protocol` can't be `tpc`", "did you mean `tcp`?"},
    {RULE "  - { id: r, type: network_egress, max_bytes_per_call: -1 }\n", 4, 56, "out of range", "from 0"},
    {RULE "  - { id: r, type: network_egress, max_bytes_total: 1k }\n", 4, 53, "must be a number", ""},
    {RULE "  - { id: r, type: dns_query, names: ['a.*'] }\n", 4, 39, "at the front only", ""},
    /* fields */
    {RULE "  - { id: r, type: match, match: {} }\n", 4, 34, "an empty condition matches everything", ""},
    {RULE "  - { id: r, type: match, match: { dst_hots: x } }\n", 4, 36, "no field `dst_hots`", "`dst_host`"},
    {RULE "  - { id: r, type: match, match: { agent_id: x } }\n", 4, 36, "no field `agent_id`", ""},
    {RULE "  - { id: r, type: match, match: { path: { like: x } } }\n", 4, 44, "unknown key `like`",
     "`equals`"},
    {RULE "  - { id: r, type: match, match: { path: { equals: a, glob: b } } }\n", 4, 42, "one predicate",
     "`not_in`"},
    {RULE "  - { id: r, type: match, match: { dst_port: https } }\n", 4, 46, "`dst_port` is a number",
     "whole number"},
    {RULE "  - { id: r, type: match, match: { dst_port: { glob: '4*' } } }\n", 4, 54, "a glob can't match it",
     "`equals`"},
    {RULE "  - { id: r, type: match, match: { dst_ip: 10.0.0.0/8 } }\n", 4, 44, "`dst_ip` is an address",
     "network_egress"},
    {RULE "  - { id: r, type: match, match: { event_type: filesytem } }\n", 4, 48, "no event has the type",
     "`filesystem`"},
    {RULE "  - { id: r, type: match, match: { path: { glob: '/a/../b' } } }\n", 4, 50, "can never match", ""},
    {RULE "  - { id: r, type: match, match: { path: /x }, bind: { a: nope } }\n", 4, 59, "no field `nope`",
     ""},
    {RULE "  - { id: r, type: threshold, threshold: { metric: count, window: 5m } }\n", 4, 42,
     "needs `limit`", ""},
    {RULE "  - { id: r, type: threshold, threshold: { metric: mean, window: 5m, limit: 1 } }\n", 4, 52,
     "`metric` can't be `mean`", "count, sum or rate"},
    {RULE "  - { id: r, type: threshold, threshold: { metric: sum, window: 5m, limit: 1 } }\n", 4, 42,
     "a sum needs the `field`", "bytes_sent"},
    {RULE "  - { id: r, type: threshold, threshold: { metric: sum, field: path, window: 5m, limit: 1 } }\n",
     4, 64, "`path` is not a number", "bytes_sent"},
    {RULE "  - { id: r, type: threshold, threshold: { metric: count, window: 0, limit: 1 } }\n", 4, 67,
     "a window of no length", "5m"},
    {RULE "  - { id: r, type: threshold, threshold: { metric: count, window: 5m, limit: -1 } }\n", 4, 78,
     "`limit` must be a number", "from 0"},
    {RULE "  - { id: r, type: threshold, threshold: { metric: count, window: 5m, limit: nan } }\n", 4, 78,
     "`limit` must be a number", ""},
    {RULE "  - { id: r, type: sequence, sequence: { window: 5m, steps: [{ path: /x }] } }\n", 4, 61,
     "a sequence of 1 steps", "2 to 32"},
    {RULE "  - { id: r, type: sequence, sequence: { steps: [{ path: /x }, { path: /y }] } }\n", 4, 40,
     "a sequence needs `window`", ""},
    /* the older form */
    {"fs_writes: { allowed: [/x] }\n", 1, 14, "unknown key `allowed`", "`allowed_prefixes`"},
    {"fs_writes: { allowed_prefixes: [tmp] }\n", 1, 33, "a path must be absolute", ""},
    {"network: { allowed_ports: [443, x], allowed_domains: [a.example] }\n", 1, 33, "`x` is not a port", ""},
    {"network: { allowed_domains: ['a b'] }\n", 1, 30, "not a name", ""},
    {"network: []\n", 1, 10, "`network` must be a mapping", ""},
    {"severity_rules: { crtical: { paths: [/x] } }\n", 1, 19, "unknown key `crtical`", "`critical`"},
    {"severity_rules: { high: { path: [/x] } }\n", 1, 27, "unknown key `path`", "`paths`"},
    {"fs_writes: {}\nscope: [/x]\n", 2, 1, "unknown key `scope`", ""},
};

static bool says(const char *text, const char *part)
{
    return !*part || (text && strstr(text, part));
}

static void check(const struct row *row, unsigned *wrong)
{
    static const struct st_policy_source nowhere = {0};
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};
    char place[64];

    if (st_policy_parse("t.yaml", row->text, strlen(row->text), &nowhere, &policy, &diags, &err) == 0) {
        st_policy_unref(policy);
        fail_msg("loaded:\n%s", row->text);
    }
    assert_null(policy);
    for (size_t i = 0; i < diags.n; i++) {
        const struct st_diag *d = &diags.items[i];

        if (d->warning || d->line != row->line || d->column != row->column || !says(d->what, row->what))
            continue;
        if (!says(d->right, row->right))
            fail_msg("%s\nright: %s, not %s", row->text, d->right ? d->right : "-", row->right);
        /* The engine's line: place, what, what would be right. */
        if (i == 0 && d->line) {
            snprintf(place, sizeof(place), "t.yaml:%u:%u: ", d->line, d->column);
            assert_int_equal(strncmp(err.msg, place, strlen(place)), 0);
            assert_non_null(strstr(err.msg, d->what));
            assert_null(strchr(err.msg, '\n'));
        }
        return;
    }
    print_error("%s\nexpected %u:%u %s\nsaid: %s\n", row->text, row->line, row->column, row->what, err.msg);
    (*wrong)++;
}

static void every_complaint_has_its_place_and_its_remedy(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++)
        check(&rows[i], &wrong);
    assert_int_equal(wrong, 0);
}

static void all_errors_are_said_in_one_go_and_in_order(void **state)
{
    static const char text[] = "schema_version: \"2.0\"\nmode: x\ndepth: y\nrules:\n"
                               "  - { id: a, type: filesystem, paths: [a, b, /c/] }\n"
                               "  - { id: a, type: syscall, names: [ptrase], severity: urgent }\n";
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};

    (void)state;
    assert_true(st_policy_parse("t.yaml", text, strlen(text), NULL, &policy, &diags, &err) < 0);
    assert_int_equal(diags.errors, 8);
    for (size_t i = 1; i < diags.n; i++)
        assert_true(diags.items[i - 1].line <= diags.items[i].line);
}

/* What each text has, and no more: a mistake does not hide others, nor make up new ones. */
static void a_mistake_hides_no_other(void **state)
{
    static const struct {
        const char *text;
        const char *said[5];
    } several[] = {
        {HEAD "name: u\nmod: audit\nrules:\n  - { id: a, id: b, type: syscall, names: [ptrase] }\n",
         {":3:1: error: duplicate key `name`", ":4:1: error: unknown key `mod`",
          ":6:14: error: duplicate key `id`", ":6:44: error: there is no syscall"}},
        {HEAD "scope: [&w /w, *w]\nmod: audit\nrules: *w\n",
         {":3:9: error: anchors", ":3:16: error: anchors", ":4:1: error: unknown key `mod`",
          ":5:8: error: anchors"}},
        {HEAD "mode: !x audit\nmod: audit\n---\nfloor: wood\n",
         {":3:7: error: tags", ":4:1: error: unknown key `mod`", ":5:1: error: more than one document"}},
        {"name: t\nmod: audit\nscope: [w]\n",
         {":1:1: error: `schema_version` is missing", ":2:1: error: unknown key `mod`",
          ":3:9: error: path `w`: a path must be absolute"}},
        {"schema_version: 3.0\nscope: [w]\n",
         {":1:17: error: `schema_version` can't be", ":2:9: error: path `w`"}},
        {RULE "  - { id: a, type: sysscall, names: [ptrase], action: block }\n",
         {":4:20: error: `type` can't be `sysscall`", ":4:38: error: there is no syscall",
          ":4:55: error: `action` can't be"}},
        {RULE "  - { id: a, paths: [x], action: block }\n  - { id: a, type: '!', names: [x] }\n",
         {":4:5: error: a rule needs `type`", ":4:22: error: path `x`", ":4:34: error: `action` can't be",
          ":5:5: error: the id `a` is taken", ":5:20: error: "}},
        {RULE "  - { id: a, type: filesystem, paths: [x] }\n  - { id: b, type: filesystem, access: [red]\n",
         {":4:40: error: path `x`", ":5:41: error: this item can't be `red`",
          ":6:1: error: did not find expected ',' or '}'"}},
        {HEAD "rules: [{ id: a, type: syscall, names: [ptrase] }]\nrules: [{ id: b, type: wood }]\n",
         {":3:41: error: there is no syscall", ":4:1: error: duplicate key `rules`",
          ":4:24: error: `type` can't be"}},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(several); i++) {
        struct st_policy *policy = NULL;
        st_auto_diag diags = {0};
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err = {0};
        size_t n = 0;

        assert_true(
            st_policy_parse("t", several[i].text, strlen(several[i].text), NULL, &policy, &diags, &err) < 0);
        st_diag_text(&diags, false, &out);
        for (; n < N_OF(several[i].said) && several[i].said[n]; n++)
            if (!strstr(st_buf_cstr(&out), several[i].said[n]))
                fail_msg("%s\nnot said: %s, but:\n%s", several[i].text, several[i].said[n],
                         st_buf_cstr(&out));
        if (diags.errors != n)
            fail_msg("%s\n%zu errors, not %zu:\n%s", several[i].text, diags.errors, n, st_buf_cstr(&out));
    }
}

static void an_error_shows_its_line_with_a_caret(void **state)
{
    static const char text[] = HEAD "rules:\n  - { id: \xc3\xa9, type: network_egress, desitnations: [] }\n";
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    st_auto_buf out = ST_BUF_INIT, json = ST_BUF_INIT;
    struct st_error err = {0};

    (void)state;
    assert_true(st_policy_parse("t.yaml", text, strlen(text), NULL, &policy, &diags, &err) < 0);
    st_diag_text(&diags, false, &out);
    assert_string_equal(st_buf_cstr(&out),
                        "t.yaml:4:36: error: unknown key `desitnations` in a rule of type network_egress; "
                        "did you mean `destinations`?\n"
                        "    4 |   - { id: \xc3\xa9, type: network_egress, desitnations: [] }\n"
                        "      |                                    ^~~~~~~~~~~~\n");
    st_diag_json(&diags, &json);
    assert_non_null(
        strstr(st_buf_cstr(&json), "\"column\":36,\"file\":\"t.yaml\",\"level\":\"error\",\"line\":4"));
}

static void what_a_file_says_can_not_command_a_terminal(void **state)
{
    static const char text[] = HEAD "mode: \"a\\eb\\a\\u202ec\\x9b1m\"\n# \xe2\x80\xae\n";
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    st_auto_buf out = ST_BUF_INIT;
    struct st_error err = {0};

    (void)state;
    assert_true(st_policy_parse("t\033.yaml", text, strlen(text), NULL, &policy, &diags, &err) < 0);
    st_diag_text(&diags, false, &out);
    for (size_t i = 0; i < out.len; i++)
        assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
    assert_null(strstr(out.data, "\xe2\x80\xae"));
    assert_null(strstr(out.data, "\xc2\x9b"));
    assert_null(strchr(err.msg, '\033'));
}

static void a_long_line_is_shown_around_its_place(void **state)
{
    st_auto_buf text = ST_BUF_INIT, out = ST_BUF_INIT;
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};

    (void)state;
    st_buf_adds(&text, HEAD "rules: [{ id: r, type: filesystem, paths: [");
    for (int i = 0; i < 1000; i++)
        st_buf_adds(&text, "/some/path, ");
    st_buf_adds(&text, "relative, /x, /y, /z, /some/path, /some/path, /some/path, /some/path] }]\n");
    assert_true(st_policy_parse("t.yaml", text.data, text.len, NULL, &policy, &diags, &err) < 0);
    st_diag_text(&diags, false, &out);
    assert_true(out.len < 700);
    assert_non_null(strstr(out.data, "^~~~~~~~\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_complaint_has_its_place_and_its_remedy),
        cmocka_unit_test(all_errors_are_said_in_one_go_and_in_order),
        cmocka_unit_test(a_mistake_hides_no_other),
        cmocka_unit_test(an_error_shows_its_line_with_a_caret),
        cmocka_unit_test(what_a_file_says_can_not_command_a_terminal),
        cmocka_unit_test(a_long_line_is_shown_around_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
