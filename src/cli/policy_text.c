/* policy_text: a rule in one line, and `policy show`. */
#include "cli/verb_policy.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "model/policy_name.h"
#include "policy/fields.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* ---- one rule ---- */

static void add_list(struct st_buf *out, const char *key, const char *const *items, size_t n)
{
    st_buf_addf(out, ", %s: [", key);
    for (size_t i = 0; i < n; i++)
        st_buf_addf(out, "%s%s", i ? ", " : "", items[i]);
    st_buf_addc(out, ']');
}

static void add_programs(struct st_buf *out, const struct st_rule *rule)
{
    st_buf_adds(out, ", exec: [");
    for (size_t i = 0; i < rule->n_paths; i++)
        st_buf_addf(out, "%s%s", i ? ", " : "", rule->paths[i]);
    for (size_t i = 0; i < rule->n_hashes; i++)
        st_buf_addf(out, "%ssha256:%s", i + rule->n_paths ? ", " : "", rule->hashes[i]);
    st_buf_addc(out, ']');
}

static void add_access(struct st_buf *out, unsigned access)
{
    unsigned n = 0;

    if (access == ST_ACCESS_ALL)
        return;
    st_buf_adds(out, ", access: [");
    for (unsigned bit = 1; bit <= ST_ACCESS_ALL; bit <<= 1)
        if (access & bit)
            st_buf_addf(out, "%s%s", n++ ? ", " : "", st_access_name(bit));
    st_buf_addc(out, ']');
}

static const char *protocol_name(uint8_t protocol)
{
    switch (protocol) {
    case IPPROTO_TCP: return "tcp";
    case IPPROTO_UDP: return "udp";
    case IPPROTO_ICMP: return "icmp";
    case IPPROTO_ICMPV6: return "icmpv6";
    case IPPROTO_SCTP: return "sctp";
    default: return "";
    }
}

static void add_dest(struct st_buf *out, const struct st_destination *d)
{
    char addr[ST_ADDR_TEXT_SIZE];

    st_addr_format(&d->addr, addr);
    if (d->host)
        st_buf_adds(out, d->host);
    else if (d->addr.family)
        st_buf_addf(out, "%s/%u", addr, d->bits);
    else
        st_buf_adds(out, "any");
    for (size_t i = 0; i < d->n_ports; i++) {
        st_buf_addf(out, "%s%u", i ? "," : " port ", d->ports[i].low);
        if (d->ports[i].high != d->ports[i].low)
            st_buf_addf(out, "-%u", d->ports[i].high);
    }
    if (d->protocol)
        st_buf_addf(out, " %s", protocol_name(d->protocol));
}

static void add_dests(struct st_buf *out, const struct st_rule *rule)
{
    st_buf_adds(out, rule->type == ST_RULE_EGRESS ? ", destinations: [" : ", sources: [");
    for (size_t i = 0; i < rule->n_dests; i++) {
        st_buf_adds(out, i ? ", " : "");
        add_dest(out, &rule->dests[i]);
    }
    st_buf_adds(out, rule->n_dests ? "]" : "all]");
    if (rule->max_bytes_per_call >= 0)
        st_buf_addf(out, ", max_bytes_per_call: %lld", (long long)rule->max_bytes_per_call);
    if (rule->max_bytes_total >= 0)
        st_buf_addf(out, ", max_bytes_total: %lld", (long long)rule->max_bytes_total);
}

static void add_condition(struct st_buf *out, const struct st_condition *c)
{
    static const char *const ops[] = {"=", " like ", " not in "};

    for (size_t i = 0; i < c->n; i++) {
        const struct st_predicate *p = &c->predicates[i];

        st_buf_addf(out, "%s%s%s", i ? " and " : "", st_field_name(p->field), ops[p->op]);
        for (size_t v = 0; v < p->n_values; v++)
            st_buf_addf(out, "%s%s", v ? "," : "", p->values[v]);
    }
}

static void add_threshold(struct st_buf *out, const struct st_rule *rule)
{
    static const char *const metrics[] = {"count", "sum", "rate"};
    char window[ST_DURATION_SIZE];

    st_duration_format(rule->threshold.window_ms, window);
    st_buf_addf(out, ", %s", metrics[rule->threshold.metric]);
    if (rule->threshold.field >= 0)
        st_buf_addf(out, " of %s", st_field_name((unsigned)rule->threshold.field));
    st_buf_addf(out, " over %g within %s", rule->threshold.limit, window);
    if (rule->when.n) {
        st_buf_adds(out, " where ");
        add_condition(out, &rule->when);
    }
}

static void add_sequence(struct st_buf *out, const struct st_rule *rule)
{
    char window[ST_DURATION_SIZE];

    st_duration_format(rule->sequence.window_ms, window);
    st_buf_addf(out, ", within %s:", window);
    for (size_t i = 0; i < rule->sequence.n_steps; i++) {
        st_buf_addf(out, "%s(", i ? " then " : " ");
        add_condition(out, &rule->sequence.steps[i]);
        st_buf_addc(out, ')');
    }
}

void st_rule_text(const struct st_rule *rule, struct st_buf *out)
{
    st_buf_addf(out, "%s %s", rule->action == ST_DENY ? "deny" : "allow", st_rule_type_name(rule->type));
    switch (rule->type) {
    case ST_RULE_FILESYSTEM:
        add_list(out, "paths", rule->paths, rule->n_paths);
        add_access(out, rule->access);
        break;
    case ST_RULE_PROCESS: add_programs(out, rule); break;
    case ST_RULE_EGRESS:
    case ST_RULE_INGRESS: add_dests(out, rule); break;
    case ST_RULE_DNS:
    case ST_RULE_SYSCALL: add_list(out, "names", rule->names, rule->n_names); break;
    case ST_RULE_MATCH:
        st_buf_adds(out, ", where ");
        add_condition(out, &rule->when);
        break;
    case ST_RULE_THRESHOLD: add_threshold(out, rule); break;
    case ST_RULE_SEQUENCE: add_sequence(out, rule); break;
    case ST_RULE_TYPES: break;
    }
    if (rule->if_exists)
        st_buf_addf(out, ", if_exists: %s", rule->if_exists);
    st_buf_addf(out, ", severity: %s%s", st_severity_name(rule->severity),
                rule->audit_only ? ", mode: audit" : "");
}

/* ---- show ---- */

static void put_limit(const char *name, int64_t n)
{
    if (n == ST_UNKNOWN)
        printf(" %s unlimited", name);
    else
        printf(" %s %lld", name, (long long)n);
}

static void show_settings(const struct st_policy *p)
{
    const struct st_policy_defaults *d = st_policy_defaults(p);
    const struct st_process_limits *l = st_policy_process_limits(p);
    const struct st_pause_policy *pause = st_policy_pause(p);
    const struct st_exec_of *of = st_policy_exec_of(p);
    char timeout[ST_DURATION_SIZE], fold[ST_DURATION_SIZE];
    const char *const *list;
    size_t n;

    st_duration_format(pause->timeout_ms, timeout);
    st_duration_format(st_policy_fold_ms(p), fold);
    printf("mode          %s%s\n", st_policy_mode_name(st_policy_mode(p)),
           st_policy_locked(p) ? " (locked)" : "");
    printf("scope        ");
    n = st_policy_scope(p, &list);
    for (size_t i = 0; i < n; i++)
        printf(" "), st_put_text(list[i]);
    printf("%s\nwritable     ", n ? "" : " none");
    n = st_policy_writable(p, &list);
    for (size_t i = 0; i < n; i++)
        printf(" "), st_put_text(list[i]);
    printf("%s\n", n ? "" : " none");
    printf("defaults      read %s, write %s, exec %s, egress %s, ingress %s, lookup %s, syscall %s; severity "
           "%s\n",
           st_result_name(d->fs_read), st_result_name(d->fs_write), st_result_name(d->exec),
           st_result_name(d->egress), st_result_name(d->ingress), st_result_name(d->dns),
           st_result_name(d->syscall), st_severity_name(d->severity));
    printf("floor         %s\ndepth         %s\n", st_floor_name(st_policy_floor(p)),
           st_depth_name(st_policy_depth(p)));
    printf("limits       ");
    put_limit("depth", l->max_depth);
    put_limit("children", l->max_children);
    put_limit("processes", l->max_processes);
    put_limit("forks a second", l->max_forks);
    printf("%s", l->before ? ", decided before" : "");
    printf("\nexec of       new %s, deleted %s, memfd %s", st_result_name(of->new_file),
           st_result_name(of->deleted), st_result_name(of->memfd));
    printf("\non violation ");
    for (unsigned s = ST_SEV_LOW; s <= ST_SEV_CRITICAL; s++)
        printf(" %s %s", st_severity_name((enum st_severity)s),
               st_response_name(st_policy_on_violation(p, (enum st_severity)s)));
    printf("\npause         %s, %s%s, then %s\nfold          %s\n", pause->hold ? "hold" : "no hold",
           pause->timeout_ms ? "for " : "for ever", pause->timeout_ms ? timeout : "",
           st_on_timeout_name(pause->on_timeout), fold);
}

static void show_rules(const struct st_policy *p)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(p, &rules);

    printf("\n%zu rules, the first that matches decides:\n", n);
    for (size_t i = 0; i < n; i++) {
        st_auto_buf text = ST_BUF_INIT;

        st_rule_text(&rules[i], &text);
        printf("%5zu  ", i + 1);
        st_put_text(rules[i].id);
        printf("  (");
        st_put_text(rules[i].at.file);
        printf(":%u)\n       ", rules[i].at.line);
        st_put_text(st_buf_cstr(&text));
        printf("\n");
        if (rules[i].description) {
            printf("       ");
            st_put_text(rules[i].description);
            printf("\n");
        }
    }
}

static void show_json(const struct st_policy *p)
{
    st_auto_buf out = ST_BUF_INIT;
    const struct st_rule *rules;
    const char *const *list;
    size_t n = st_policy_files(p, &list);
    struct st_jw w;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kstr(&w, "depth", st_depth_name(st_policy_depth(p)));
    st_jw_kstr(&w, "description", st_policy_description(p));
    st_jw_key(&w, "files");
    st_jw_array(&w);
    for (size_t i = 0; i < n; i++)
        st_jw_str(&w, list[i]);
    st_jw_end(&w, ']');
    st_jw_kstr(&w, "floor", st_floor_name(st_policy_floor(p)));
    st_jw_kbool(&w, "locked", st_policy_locked(p));
    st_jw_kstr(&w, "mode", st_policy_mode_name(st_policy_mode(p)));
    st_jw_kstr(&w, "name", st_policy_name(p));
    st_jw_key(&w, "rules");
    st_jw_array(&w);
    n = st_policy_rules(p, &rules);
    for (size_t i = 0; i < n; i++) {
        st_auto_buf text = ST_BUF_INIT;

        st_rule_text(&rules[i], &text);
        st_jw_object(&w);
        st_jw_kstr(&w, "file", rules[i].at.file);
        st_jw_kstr(&w, "id", rules[i].id);
        st_jw_kint(&w, "line", rules[i].at.line);
        st_jw_kstr(&w, "text", st_buf_cstr(&text));
        st_jw_end(&w, '}');
    }
    st_jw_end(&w, ']');
    st_jw_key(&w, "scope");
    st_jw_array(&w);
    n = st_policy_scope(p, &list);
    for (size_t i = 0; i < n; i++)
        st_jw_str(&w, list[i]);
    st_jw_end(&w, ']');
    st_jw_kstr(&w, "sha256", st_policy_sha256(p));
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

int st_policy_show(struct policy_cmd *c, int argc, char **args)
{
    st_auto_policy p = NULL;
    const char *const *files;
    size_t n;
    int code;

    if (argc != 1)
        return st_cli_usage(c->verb, "which policy? name one");
    code = st_policy_cmd_load(c, args[0], true, &p);
    if (code != ST_EXIT_OK)
        return code;
    if (c->cli->json) {
        show_json(p);
        return ST_EXIT_OK;
    }
    st_put_text(st_policy_name(p));
    if (*st_policy_description(p)) {
        printf(": ");
        st_put_text(st_policy_description(p));
    }
    printf("\n\nfiles        ");
    n = st_policy_files(p, &files);
    for (size_t i = 0; i < n; i++)
        printf(" "), st_put_text(files[i]);
    printf("\nsha256        %s\n", st_policy_sha256(p));
    show_settings(p);
    show_rules(p);
    return ST_EXIT_OK;
}
