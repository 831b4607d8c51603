/* policy_cases: `policy test --expect`: tests that people keep for their policies, each with what is
 * expected. */
#include "cli/verb_policy.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)
#define MAX_TIMES 1000000

enum expectation { EXPECT_RESULT, EXPECT_RULE, EXPECT_SEVERITY, EXPECT_RESPONSE, EXPECTATIONS };
static const char *const expectation_names[] = {"expect", "rule", "severity", "response"};

/* One entry, of `cases` or of `before`. */
struct entry {
    struct st_event_words words;
    const struct st_yaml_node *nodes[ST_EVENT_WORDS];
    const char *expected[EXPECTATIONS];
    const struct st_yaml_node *before;
    const char *name;
    int64_t times, after_ms;
};

struct run {
    struct policy_cmd *c;
    struct st_policy *policy;
    struct st_diag_file file;
    struct st_diagnostics *diags;
    struct st_counters *counters;
    int64_t now_ms;
    size_t passed, failed;
};

static struct st_diag_at at(const struct st_yaml_node *node, bool key)
{
    return (struct st_diag_at){key && node->key ? node->key_at : node->at, 1};
}

/* ---- reading an entry ---- */

static void unknown_key(struct run *r, const struct st_yaml_node *node)
{
    struct st_suggestion best = {0};
    char right[96];

    for (unsigned i = 0; i < ST_EVENT_WORDS; i++)
        st_suggest_offer(&best, node->key, st_event_word_name((enum st_event_word)i));
    for (unsigned i = 0; i < EXPECTATIONS; i++)
        st_suggest_offer(&best, node->key, expectation_names[i]);
    snprintf(right, sizeof(right), best.word ? "did you mean `%s`?" : "sandtrace-policy(1) lists them%s",
             best.word ? best.word : "");
    st_diag_error(r->diags, &r->file, at(node, true), right, "unknown key `%.80s` in a case", node->key);
}

static const char *result_name(unsigned i)
{
    return st_result_name((enum st_result)i);
}

static const char *severity_name(unsigned i)
{
    return st_severity_name((enum st_severity)i);
}

static const char *response_name(unsigned i)
{
    return st_response_name((enum st_response)i);
}

/* The words that can be expected; of rules it is the policy that says. */
static const struct {
    const char *(*name)(unsigned i);
    unsigned n;
} expectable[] = {[EXPECT_RESULT] = {result_name, ST_ANOMALY + 1},
                  [EXPECT_SEVERITY] = {severity_name, ST_SEV_CRITICAL + 1},
                  [EXPECT_RESPONSE] = {response_name, ST_RESPOND_KILL + 1}};

static bool has_rule(const struct st_policy *p, const char *id, struct st_suggestion *best)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(p, &rules);

    st_suggest_offer(best, id, "none");
    for (size_t i = 0; st_policy_reserved(i); i++)
        st_suggest_offer(best, id, st_policy_reserved(i));
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rules[i].id, id) == 0)
            return true;
        st_suggest_offer(best, id, rules[i].id);
    }
    return strcmp(id, "none") == 0 || st_policy_reserved_id(id);
}

/* What can't come out is a mistake of the case, not of the policy. */
static void check_expected(struct run *r, const struct st_yaml_node *node, enum expectation what)
{
    struct st_suggestion best = {0};
    char right[256];
    size_t used = 0;

    if (what == EXPECT_RULE && has_rule(r->policy, node->value, &best))
        return;
    for (unsigned i = 0; what != EXPECT_RULE && i < expectable[what].n; i++) {
        const char *name = expectable[what].name(i);

        if (strcmp(name, node->value) == 0)
            return;
        st_suggest_offer(&best, node->value, name);
        used +=
            (size_t)snprintf(right + used, sizeof(right) - used, "%s%s", i ? ", " : "write one of ", name);
    }
    if (best.word)
        snprintf(right, sizeof(right), "did you mean `%s`?", best.word);
    else if (what == EXPECT_RULE)
        snprintf(right, sizeof(right), "sandtrace policy show lists them; `none` is no rule");
    if (what == EXPECT_RULE)
        st_diag_error(r->diags, &r->file, at(node, false), right, "the policy has no rule `%.80s`",
                      node->value);
    else
        st_diag_error(r->diags, &r->file, at(node, false), right, "`%s` can't be `%.80s`",
                      expectation_names[what], node->value);
}

static bool take_word(struct run *r, struct entry *entry, const struct st_yaml_node *node)
{
    for (unsigned i = 0; i < ST_EVENT_WORDS; i++)
        if (strcmp(node->key, st_event_word_name((enum st_event_word)i)) == 0) {
            entry->words.values[i] = node->value;
            entry->nodes[i] = node;
            return true;
        }
    for (unsigned i = 0; i < EXPECTATIONS; i++)
        if (strcmp(node->key, expectation_names[i]) == 0) {
            entry->expected[i] = node->value;
            check_expected(r, node, (enum expectation)i);
            return true;
        }
    return false;
}

static void take_member(struct run *r, struct entry *entry, const struct st_yaml_node *node)
{
    if (strcmp(node->key, "before") == 0 && node->type == ST_YAML_SEQUENCE) {
        entry->before = node;
        return;
    }
    if (node->type != ST_YAML_SCALAR) {
        st_diag_error(r->diags, &r->file, at(node, false), NULL, "`%.80s` must be one value", node->key);
        return;
    }
    if (strcmp(node->key, "name") == 0)
        entry->name = node->value;
    else if (strcmp(node->key, "times") == 0) {
        if (!st_yaml_int(node, &entry->times) || entry->times < 1 || entry->times > MAX_TIMES)
            st_diag_error(r->diags, &r->file, at(node, false), "write 1 to 1000000",
                          "`times` must be a number");
    } else if (strcmp(node->key, "after") == 0) {
        if (!st_duration_parse(node->value, &entry->after_ms))
            st_diag_error(r->diags, &r->file, at(node, false), ST_DURATION_HINT,
                          "`after` must be a duration");
    } else if (!take_word(r, entry, node)) {
        unknown_key(r, node);
    }
}

static bool read_entry(struct run *r, const struct st_yaml_node *node, struct entry *entry,
                       struct st_event *e, struct st_event_room *room)
{
    size_t errors = r->diags->errors;
    enum st_event_word wrong;
    struct st_error err = {0};

    *entry = (struct entry){.times = 1};
    if (node->type != ST_YAML_MAPPING) {
        st_diag_error(r->diags, &r->file, at(node, false), "write { path: /etc/shadow, expect: deny }",
                      "a case is a mapping");
        return false;
    }
    st_yaml_each (member, node)
        take_member(r, entry, member);
    if (r->diags->errors == errors && st_event_from_words(&entry->words, room, e, &wrong, &err) < 0)
        st_diag_error(r->diags, &r->file, at(entry->nodes[wrong] ? entry->nodes[wrong] : node, false), NULL,
                      "%s", err.msg);
    return r->diags->errors == errors;
}

/* ---- judging it ---- */

static void judge(struct run *r, const struct entry *entry, struct st_event *e, struct st_verdict *v)
{
    r->now_ms += entry->after_ms;
    for (int64_t i = 0; i < entry->times; i++) {
        e->wall_us = r->now_ms * 1000;
        st_policy_eval(r->policy, r->counters, e, v);
    }
}

static bool same(struct st_str s, const char *expected)
{
    return s.p && s.len == strlen(expected) && memcmp(s.p, expected, s.len) == 0;
}

/* `rule: none` means that no rule decided. */
static bool rule_fits(struct st_str rule, const char *expected)
{
    return strcmp(expected, "none") == 0 ? rule.p == NULL : same(rule, expected);
}

static bool fits(const struct entry *entry, const struct st_verdict *v)
{
    const char *const *x = entry->expected;

    return (!x[EXPECT_RESULT] || strcmp(x[EXPECT_RESULT], st_result_name(v->result)) == 0) &&
           (!x[EXPECT_RULE] || rule_fits(v->rule, x[EXPECT_RULE])) &&
           (!x[EXPECT_SEVERITY] || strcmp(x[EXPECT_SEVERITY], st_severity_name(v->severity)) == 0) &&
           (!x[EXPECT_RESPONSE] || strcmp(x[EXPECT_RESPONSE], st_response_name(v->response)) == 0);
}

static void describe(const struct entry *entry, struct st_buf *out)
{
    if (entry->name) {
        st_add_printable(out, entry->name, strlen(entry->name));
        return;
    }
    for (unsigned i = 0; i < ST_EVENT_WORDS; i++) {
        if (!entry->words.values[i])
            continue;
        st_buf_addf(out, "%s%s ", out->len ? " " : "", st_event_word_name((enum st_event_word)i));
        st_add_printable(out, entry->words.values[i], strlen(entry->words.values[i]));
    }
}

static void expected_text(const struct entry *entry, struct st_buf *out)
{
    for (unsigned i = 0; i < EXPECTATIONS; i++)
        if (entry->expected[i])
            st_buf_addf(out, "%s%s %s", out->len ? ", " : "", expectation_names[i], entry->expected[i]);
}

static void report(struct run *r, const struct st_yaml_node *node, const struct entry *entry,
                   const struct st_verdict *v, bool ok)
{
    st_auto_buf what = ST_BUF_INIT, expected = ST_BUF_INIT, json = ST_BUF_INIT;
    struct st_jw w;

    describe(entry, &what);
    expected_text(entry, &expected);
    if (r->c->cli->json) {
        st_jw_init(&w, &json);
        st_jw_object(&w);
        st_jw_kstr(&w, "case", st_buf_cstr(&what));
        st_jw_kstr(&w, "file", r->file.name);
        st_jw_kint(&w, "line", node->at.line);
        st_jw_kbool(&w, "ok", ok);
        st_jw_key(&w, "reason");
        st_jw_strn(&w, v->reason.p, v->reason.len);
        st_jw_kstr(&w, "result", st_result_name(v->result));
        st_jw_end(&w, '}');
        puts(st_buf_cstr(&json));
    } else if (!ok) {
        st_put_text(r->file.name);
        printf(":%u:%u: FAILED: %s\n  expected: %s\n  but: %s", node->at.line, node->at.column,
               st_buf_cstr(&what), st_buf_cstr(&expected), st_result_name(v->result));
        printf(", rule ");
        st_put_str(v->rule.p ? v->rule : st_str("none"));
        printf(", severity %s, response %s\n  ", st_severity_name(v->severity),
               st_response_name(v->response));
        st_put_str(v->reason);
        printf("\n");
    } else if (r->c->all) {
        printf("ok: %s: %s\n", st_buf_cstr(&what), st_buf_cstr(&expected));
    }
}

/* Each case begins with counters of its own; `before` is what happened to them until then. */
static void run_case(struct run *r, const struct st_yaml_node *node)
{
    struct st_event_room room, room_before;
    struct entry entry, earlier;
    struct st_event e, e_before;
    struct st_verdict v = {0};
    bool ok;

    if (!read_entry(r, node, &entry, &e, &room))
        return;
    if (!entry.expected[EXPECT_RESULT]) {
        st_diag_error(r->diags, &r->file, at(node, false), "write expect: allow, deny or anomaly",
                      "a case needs `expect`");
        return;
    }
    r->counters = st_counters_new(r->policy);
    r->now_ms = 0;
    st_yaml_each (item, entry.before)
        if (read_entry(r, item, &earlier, &e_before, &room_before))
            judge(r, &earlier, &e_before, &v);
    judge(r, &entry, &e, &v);
    ok = fits(&entry, &v);
    report(r, node, &entry, &v, ok);
    *(ok ? &r->passed : &r->failed) += 1;
    st_counters_free(r->counters);
}

/* ---- the file ---- */

/* Which policy: the argument, else `policy:` of the file; a path there is relative to the file. */
static int choose_policy(struct run *r, const struct st_yaml_node *root, int argc, char **args)
{
    const struct st_yaml_node *node = st_yaml_get(root, "policy");
    const char *slash = strrchr(r->file.name, '/'), *what = argc ? args[0] : node ? node->value : NULL;
    st_auto_free char *path = NULL;

    if (!what)
        return st_cli_usage(r->c->verb, "which policy? name one, or write `policy: NAME` into %s",
                            r->file.name);
    if (!argc && strchr(what, '/') && what[0] != '/') {
        path = slash ? st_xasprintf("%.*s/%s", (int)(slash - r->file.name), r->file.name, what)
                     : st_xstrdup(what);
        what = path;
    }
    return st_policy_cmd_load(r->c, what, false, &r->policy);
}

static const struct st_yaml_node *list_of_cases(struct run *r, const struct st_yaml_node *root)
{
    const struct st_yaml_node *cases = st_yaml_get(root, "cases");

    st_yaml_each (node, root)
        if (root->type == ST_YAML_MAPPING && strcmp(node->key, "cases") != 0 &&
            strcmp(node->key, "policy") != 0)
            st_diag_error(r->diags, &r->file, at(node, true), "a file of cases has `policy` and `cases`",
                          "unknown key `%.80s`", node->key);
    if (!cases || cases->type != ST_YAML_SEQUENCE || !cases->first) {
        st_diag_error(r->diags, &r->file, (struct st_diag_at){{0, 0}, 0},
                      "write cases: [{ path: /x, expect: deny }]", "there are no cases in it");
        return NULL;
    }
    return cases;
}

static int print_faults(const struct run *r)
{
    st_auto_buf text = ST_BUF_INIT;

    st_diag_text(r->diags, r->c->cli->color, &text);
    fputs(st_buf_cstr(&text), stderr);
    return ST_EXIT_USAGE;
}

static int run_cases(struct run *r, const struct st_yaml_node *root, int argc, char **args)
{
    const struct st_yaml_node *cases;
    int code = choose_policy(r, root, argc, args);

    if (code != ST_EXIT_OK)
        return code;
    cases = list_of_cases(r, root);
    st_yaml_each (node, cases)
        run_case(r, node);
    if (r->diags->errors)
        return print_faults(r);
    if (!r->c->cli->json)
        printf("%s: %zu of %zu as expected\n", st_policy_name(r->policy), r->passed, r->passed + r->failed);
    return r->failed ? ST_EXIT_FAILED : ST_EXIT_OK;
}

int st_policy_expect(struct policy_cmd *c, int argc, char **args)
{
    st_auto_diag diags = {0};
    st_auto_buf text = ST_BUF_INIT;
    st_auto_yaml doc = NULL;
    struct run r = {.c = c, .diags = &diags, .file = {.name = c->expect}};
    struct st_error err = {0};
    int code;

    if (argc > 1)
        return st_cli_usage(c->verb, "one policy at a time");
    if (st_read_file(c->expect, MAX_BYTES, &text, &err) < 0)
        return st_cli_error(c->verb, "%s", err.msg);
    r.file.text = st_buf_cstr(&text);
    r.file.len = text.len;
    doc = st_diag_yaml(&diags, &r.file, ST_YAML_DEFAULT_LIMITS);
    if (diags.errors)
        return print_faults(&r);
    if (!st_yaml_root(doc) || st_yaml_root(doc)->type != ST_YAML_MAPPING)
        return st_cli_error(c->verb, "%s: a file of cases has `policy` and `cases`", c->expect);
    code = run_cases(&r, st_yaml_root(doc), argc, args);
    st_policy_unref(r.policy);
    return code;
}
