/* policy_diff: `policy diff A B`: what two policies say differently: as they stand, or of the events of a
 * trace. */
#include "cli/verb_policy.h"

#include "base/json_write.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct difference {
    struct policy_cmd *c;
    size_t n;
};

static void say(struct difference *d, const char *kind, const char *what, const char *a, const char *b)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    d->n++;
    if (d->c->cli->json) {
        st_jw_init(&w, &out);
        st_jw_object(&w);
        st_jw_kstr(&w, "a", a);
        st_jw_kstr(&w, "b", b);
        st_jw_kstr(&w, "kind", kind);
        st_jw_kstr(&w, "what", what);
        st_jw_end(&w, '}');
        puts(st_buf_cstr(&out));
        return;
    }
    st_put_text(kind);
    printf(" ");
    st_put_text(what);
    if (a) {
        printf("\n  - ");
        st_put_text(a);
    }
    if (b) {
        printf("\n  + ");
        st_put_text(b);
    }
    printf("\n");
}

static void compare(struct difference *d, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        say(d, "setting", what, a, b);
}

static void compare_number(struct difference *d, const char *what, int64_t a, int64_t b)
{
    char x[32], y[32];

    snprintf(x, sizeof(x), a == ST_UNKNOWN ? "unlimited" : "%lld", (long long)a);
    snprintf(y, sizeof(y), b == ST_UNKNOWN ? "unlimited" : "%lld", (long long)b);
    compare(d, what, x, y);
}

static void add_scope(struct st_buf *out, const struct st_policy *p)
{
    const char *const *dirs;
    size_t n = st_policy_scope(p, &dirs);

    for (size_t i = 0; i < n; i++)
        st_buf_addf(out, "%s%s", i ? " " : "", dirs[i]);
}

static void compare_settings(struct difference *d, const struct st_policy *a, const struct st_policy *b)
{
    const struct st_policy_defaults *x = st_policy_defaults(a), *y = st_policy_defaults(b);
    const struct st_process_limits *l = st_policy_process_limits(a), *m = st_policy_process_limits(b);
    const struct st_pause_policy *s = st_policy_pause(a), *t = st_policy_pause(b);
    const struct st_exec_of *e = st_policy_exec_of(a), *f = st_policy_exec_of(b);
    st_auto_buf scope_a = ST_BUF_INIT, scope_b = ST_BUF_INIT;

    add_scope(&scope_a, a);
    add_scope(&scope_b, b);
    compare(d, "mode", st_policy_mode_name(st_policy_mode(a)), st_policy_mode_name(st_policy_mode(b)));
    compare(d, "locked", st_policy_locked(a) ? "true" : "false", st_policy_locked(b) ? "true" : "false");
    compare(d, "scope", st_buf_cstr(&scope_a), st_buf_cstr(&scope_b));
    compare(d, "floor", st_floor_name(st_policy_floor(a)), st_floor_name(st_policy_floor(b)));
    compare(d, "depth", st_depth_name(st_policy_depth(a)), st_depth_name(st_policy_depth(b)));
    compare(d, "default read", st_result_name(x->fs_read), st_result_name(y->fs_read));
    compare(d, "default write", st_result_name(x->fs_write), st_result_name(y->fs_write));
    compare(d, "default exec", st_result_name(x->exec), st_result_name(y->exec));
    compare(d, "default egress", st_result_name(x->egress), st_result_name(y->egress));
    compare(d, "default ingress", st_result_name(x->ingress), st_result_name(y->ingress));
    compare(d, "default lookup", st_result_name(x->dns), st_result_name(y->dns));
    compare(d, "default syscall", st_result_name(x->syscall), st_result_name(y->syscall));
    compare(d, "default severity", st_severity_name(x->severity), st_severity_name(y->severity));
    compare_number(d, "max_depth", l->max_depth, m->max_depth);
    compare_number(d, "max_children", l->max_children, m->max_children);
    compare_number(d, "max_processes", l->max_processes, m->max_processes);
    compare_number(d, "max_forks_per_second", l->max_forks, m->max_forks);
    compare(d, "limits before", l->before ? "true" : "false", m->before ? "true" : "false");
    compare(d, "exec_of_new", st_result_name(e->new_file), st_result_name(f->new_file));
    compare(d, "exec_of_deleted", st_result_name(e->deleted), st_result_name(f->deleted));
    compare(d, "exec_of_memfd", st_result_name(e->memfd), st_result_name(f->memfd));
    for (unsigned i = ST_SEV_LOW; i <= ST_SEV_CRITICAL; i++)
        compare(d, st_severity_name((enum st_severity)i),
                st_response_name(st_policy_on_violation(a, (enum st_severity)i)),
                st_response_name(st_policy_on_violation(b, (enum st_severity)i)));
    compare(d, "pause hold", s->hold ? "true" : "false", t->hold ? "true" : "false");
    compare_number(d, "pause timeout (ms)", s->timeout_ms, t->timeout_ms);
    compare(d, "pause on_timeout", st_on_timeout_name(s->on_timeout), st_on_timeout_name(t->on_timeout));
    compare_number(d, "fold window (ms)", st_policy_fold_ms(a), st_policy_fold_ms(b));
}

/* ---- rules, by their id ---- */

struct indexed {
    const struct st_rule *rule;
    size_t at;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct indexed *)a)->rule->id, ((const struct indexed *)b)->rule->id);
}

static struct indexed *sorted(const struct st_policy *p, size_t *n)
{
    const struct st_rule *rules;
    struct indexed *list;

    *n = st_policy_rules(p, &rules);
    list = st_xcalloc(*n + 1, sizeof(*list));
    for (size_t i = 0; i < *n; i++)
        list[i] = (struct indexed){&rules[i], i};
    qsort(list, *n, sizeof(*list), by_id);
    return list;
}

static void compare_pair(struct difference *d, const struct indexed *a, const struct indexed *b)
{
    st_auto_buf x = ST_BUF_INIT, y = ST_BUF_INIT;

    if (a)
        st_rule_text(a->rule, &x);
    if (b)
        st_rule_text(b->rule, &y);
    if (a && !b)
        say(d, "only in A: rule", a->rule->id, st_buf_cstr(&x), NULL);
    else if (b && !a)
        say(d, "only in B: rule", b->rule->id, NULL, st_buf_cstr(&y));
    else if (a && strcmp(st_buf_cstr(&x), st_buf_cstr(&y)) != 0)
        say(d, "changed rule", a->rule->id, st_buf_cstr(&x), st_buf_cstr(&y));
}

static int by_place(const void *a, const void *b)
{
    const struct indexed *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Of the rules that both have: are they in the same order? */
static bool same_order(struct indexed *a, struct indexed *b, size_t n)
{
    qsort(a, n, sizeof(*a), by_place);
    qsort(b, n, sizeof(*b), by_place);
    for (size_t i = 0; i < n; i++)
        if (strcmp(a[i].rule->id, b[i].rule->id) != 0)
            return false;
    return true;
}

static void compare_rules(struct difference *d, const struct st_policy *a, const struct st_policy *b)
{
    size_t na, nb, i = 0, j = 0, shared = 0;
    struct indexed *x = sorted(a, &na), *y = sorted(b, &nb);
    struct indexed *in_a = st_xcalloc(na + 1, sizeof(*in_a)), *in_b = st_xcalloc(nb + 1, sizeof(*in_b));

    while (i < na || j < nb) {
        int order = i == na ? 1 : j == nb ? -1 : by_id(&x[i], &y[j]);

        compare_pair(d, order <= 0 ? &x[i] : NULL, order >= 0 ? &y[j] : NULL);
        if (order == 0) {
            in_a[shared] = x[i];
            in_b[shared++] = y[j];
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (!same_order(in_a, in_b, shared))
        say(d, "order", "of the rules that both have: the first match wins, so it matters", NULL, NULL);
    free(x);
    free(y);
    free(in_a);
    free(in_b);
}

int st_policy_diff(struct policy_cmd *c, int argc, char **args)
{
    st_auto_policy a = NULL;
    st_auto_policy b = NULL;
    struct difference d = {.c = c};
    int code;

    if (argc != 2)
        return st_cli_usage(c->verb, "which two policies? name both");
    code = st_policy_cmd_load(c, args[0], false, &a);
    if (code == ST_EXIT_OK)
        code = st_policy_cmd_load(c, args[1], false, &b);
    if (code != ST_EXIT_OK)
        return code;
    if (c->trace)
        return st_policy_diff_trace(c, a, b);
    compare_settings(&d, a, b);
    compare_rules(&d, a, b);
    if (!d.n && !c->cli->json)
        printf("%s and %s say the same\n", args[0], args[1]);
    return d.n ? ST_EXIT_FAILED : ST_EXIT_OK;
}
