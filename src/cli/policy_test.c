/* policy_test: `policy test`: what a policy says of one event, and why. */
#include "cli/verb_policy.h"

#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

static const char *tint(const struct policy_cmd *c, enum st_result result)
{
    if (!c->cli->color)
        return "";
    return result == ST_ALLOW ? "\033[1;32m" : result == ST_DENY ? "\033[1;31m" : "\033[1;33m";
}

static void put_rule_place(const struct st_rule *rule)
{
    st_put_text(rule->at.file);
    printf(":%u", rule->at.line);
}

/* Rules before the one that decided; those about other things only where all are wanted. */
static void put_tried(const struct policy_cmd *c, const struct st_policy *p, const struct st_explanation *x,
                      const struct st_event *e)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(p, &rules), left_out = 0, shown = 0;

    if (x->decided < n)
        n = x->decided;
    for (size_t i = 0; i < n; i++) {
        st_auto_buf why = ST_BUF_INIT;

        st_explanation_why(p, x, i, e, &why);
        if (!c->all && strncmp(st_buf_cstr(&why), "is about ", 9) == 0) {
            left_out++;
            continue;
        }
        printf("%s  %-20s ", shown++ ? "" : "tried before:\n", rules[i].id);
        st_put_text(st_buf_cstr(&why));
        printf("  (");
        put_rule_place(&rules[i]);
        printf(")\n");
    }
    if (left_out)
        printf("%s %zu rule%s about other things\n", shown ? "  and" : "tried before:", left_out,
               left_out == 1 ? "" : "s");
}

void st_put_why(const struct policy_cmd *c, const struct st_policy *p, const struct st_explanation *x,
                const struct st_event *e)
{
    const struct st_rule *rules;

    st_policy_rules(p, &rules);
    if (x->decided != ST_NO_RULE) {
        printf("  rule %s, ", rules[x->decided].id);
        put_rule_place(&rules[x->decided]);
        printf("\n");
    }
    put_tried(c, p, x, e);
}

static void put_verdict(const struct policy_cmd *c, const struct st_policy *p, const struct st_verdict *v,
                        const struct st_explanation *x, const struct st_event *e)
{
    printf("%s%s%s", tint(c, v->result), st_result_name(v->result), c->cli->color ? "\033[0m" : "");
    if (v->result != ST_ALLOW)
        printf(", severity %s, response %s%s", st_severity_name(v->severity), st_response_name(v->response),
               st_policy_mode(p) == ST_MODE_AUDIT ? " (audit mode)" : "");
    printf("\n  ");
    st_put_str(v->reason);
    printf("\n");
    st_put_why(c, p, x, e);
}

static void kstr_n(struct st_jw *w, const char *key, struct st_str s)
{
    if (!s.p)
        return;
    st_jw_key(w, key);
    st_jw_strn(w, s.p, s.len);
}

void st_json_rule(struct st_jw *w, const struct st_policy *p, const struct st_explanation *x)
{
    const struct st_rule *rules;

    if (x->decided >= st_policy_rules(p, &rules))
        return;
    st_jw_kstr(w, "file", rules[x->decided].at.file);
    st_jw_kint(w, "line", rules[x->decided].at.line);
}

void st_json_tried(struct st_jw *w, const struct st_policy *p, const struct st_explanation *x,
                   const struct st_event *e)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(p, &rules);

    if (x->decided < n)
        n = x->decided;
    st_jw_key(w, "tried");
    st_jw_array(w);
    for (size_t i = 0; i < n; i++) {
        st_auto_buf why = ST_BUF_INIT;

        st_explanation_why(p, x, i, e, &why);
        st_jw_object(w);
        st_jw_kstr(w, "file", rules[i].at.file);
        st_jw_kint(w, "line", rules[i].at.line);
        st_jw_kstr(w, "rule", rules[i].id);
        st_jw_kstr(w, "why", st_buf_cstr(&why));
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

static void put_json(const struct st_policy *p, const struct st_verdict *v, const struct st_explanation *x,
                     const struct st_event *e)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_json_rule(&w, p, x);
    st_jw_kstr(&w, "policy_sha256", v->policy_sha256);
    kstr_n(&w, "reason", v->reason);
    st_jw_kstr(&w, "response", st_response_name(v->response));
    st_jw_kstr(&w, "result", st_result_name(v->result));
    kstr_n(&w, "rule", v->rule);
    st_jw_kstr(&w, "severity", st_severity_name(v->severity));
    st_json_tried(&w, p, x, e);
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static int test_one(struct policy_cmd *c, struct st_policy *p)
{
    st_auto_counters counters = st_counters_new(p);
    struct st_event_room room;
    struct st_explanation x;
    struct st_error err = {0};
    enum st_event_word wrong;
    struct st_event e;
    struct st_verdict v;

    if (st_event_from_words(&c->words, &room, &e, &wrong, &err) < 0)
        return st_cli_usage(c->verb, "%s", err.msg);
    st_policy_explain(p, counters, &e, &v, &x);
    if (c->cli->json)
        put_json(p, &v, &x, &e);
    else
        put_verdict(c, p, &v, &x, &e);
    st_explanation_free(&x);
    return v.result == ST_ALLOW ? ST_EXIT_OK : ST_EXIT_FAILED;
}

int st_policy_test(struct policy_cmd *c, int argc, char **args)
{
    st_auto_policy p = NULL;
    int code;

    if (c->expect)
        return st_policy_expect(c, argc, args);
    if (argc != 1)
        return st_cli_usage(c->verb, "which policy? name one, and an event: --path, --connect, --exec …");
    code = st_policy_cmd_load(c, args[0], false, &p);
    if (code != ST_EXIT_OK)
        return code;
    return c->trace ? st_policy_test_trace(c, p) : test_one(c, p);
}
