/* lint: see lint.h. Whether a rule can ever decide is found out by asking: events are made that its own
 * patterns match, and if every one of them is decided by an earlier rule, the rule is dead. Patterns for
 * which no certain event can be made count as alive. */
#include "policy/lint.h"

#include "policy/judge.h"
#include "policy/pattern.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define PROBE "sandtrace-probe"

struct lint {
    struct st_policy asked; /* the policy without its rules about fields: those have a memory */
    struct st_counters *counters;
    const struct st_policy *p;
    const struct st_diag_file *top;
    struct st_diagnostics *diags;
};

struct probe {
    struct lint *l;
    const char *id;   /* of the rule on trial */
    bool alive;       /* it decided once, or nobody knows */
    char killer[132]; /* who decided instead */
};

static struct st_diag_file file_of(const struct lint *l, const char *name)
{
    return name && strcmp(name, l->top->name) == 0 ? *l->top
                                                   : (struct st_diag_file){.name = name ? name : "?"};
}

static void ask(struct probe *pr, const struct st_event *e)
{
    struct st_verdict v;

    if (pr->alive)
        return;
    st_policy_eval(&pr->l->asked, pr->l->counters, e, &v);
    if (v.rule.p == pr->id || !v.rule.p)
        pr->alive = true;
    else
        snprintf(pr->killer, sizeof(pr->killer), "%.*s", (int)v.rule.len, v.rule.p);
}

/* ---- events that a rule matches for certain ---- */

static void ask_path(struct probe *pr, const char *path, unsigned access)
{
    for (unsigned bit = 1; bit <= ST_ACCESS_ALL; bit <<= 1) {
        struct st_event e = {.type = ST_EV_FILESYSTEM};

        e.fs.path = st_str(path);
        e.fs.access = bit;
        if (access & bit)
            ask(pr, &e);
    }
}

static void probe_paths(struct probe *pr, const struct st_rule *rule)
{
    for (size_t i = 0; i < rule->n_paths && !pr->alive; i++) {
        const char *pattern = rule->paths[i];
        size_t wild = strcspn(pattern, "*?\\"), len = strlen(pattern);
        st_auto_buf path = ST_BUF_INIT;

        if (wild == len) {
            ask_path(pr, pattern, rule->access);
        } else if (len > 3 && wild == len - 2 && strcmp(pattern + len - 3, "/**") == 0) {
            st_buf_add(&path, pattern, len - 3);
            ask_path(pr, st_buf_cstr(&path), rule->access);
            for (int depth = 0; depth < 6; depth++) {
                st_buf_addf(&path, "/" PROBE "-%d", depth);
                ask_path(pr, st_buf_cstr(&path), rule->access);
            }
        } else {
            pr->alive = true;
        }
    }
}

/* The same content under a name that nobody else has. */
static void probe_hashes(struct probe *pr, const struct st_rule *rule)
{
    for (size_t i = 0; i < rule->n_hashes && !pr->alive; i++) {
        struct st_event e = {.type = ST_EV_FILESYSTEM};

        e.fs.op = ST_FS_EXEC;
        e.fs.path = ST_STR_LIT("/" PROBE "/" PROBE);
        e.fs.access = ST_ACCESS_EXEC;
        e.fs.program.sha256 = st_str(rule->hashes[i]);
        ask(pr, &e);
    }
}

static void ask_flow(struct probe *pr, const struct st_rule *rule, const struct st_destination *d,
                     struct st_event *e)
{
    static const struct st_port_range some[] = {{1, 443}, {8080, 65535}};
    const struct st_port_range *ports = d->n_ports ? d->ports : some;
    size_t n = d->n_ports ? d->n_ports : N_OF(some);

    e->type = rule->type == ST_RULE_EGRESS ? ST_EV_NETWORK_EGRESS : ST_EV_NETWORK_INGRESS;
    e->net.bytes_sent = ST_UNKNOWN;
    for (size_t i = 0; i < 2 * n; i++) {
        e->net.port = i % 2 ? ports[i / 2].high : ports[i / 2].low;
        e->net.protocol = d->protocol ? d->protocol : IPPROTO_TCP;
        ask(pr, e);
        if (!d->protocol) {
            e->net.protocol = IPPROTO_UDP;
            ask(pr, e);
        }
    }
}

static void probe_host(struct probe *pr, const struct st_rule *rule, const struct st_destination *d)
{
    static const char *const fronts[] = {"", PROBE ".", PROBE ".a." PROBE "."};
    size_t stars = strspn(d->host, "*");
    struct st_event e = {0};
    char host[400];

    if (d->host[stars] == '\0') {
        pr->alive = true;
        return;
    }
    snprintf(host, sizeof(host), "%s%s", fronts[stars], d->host + stars + (stars ? 1 : 0));
    e.net.host = st_str(host);
    ask_flow(pr, rule, d, &e);
}

static void probe_dests(struct probe *pr, const struct st_rule *rule)
{
    pr->alive |= rule->n_dests == 0;
    for (size_t i = 0; i < rule->n_dests && !pr->alive; i++) {
        const struct st_destination *d = &rule->dests[i];
        struct st_event e = {0};

        if (d->host) {
            probe_host(pr, rule, d);
        } else if (d->addr.family) { /* the first address and the last */
            e.net.addr = d->addr;
            ask_flow(pr, rule, d, &e);
            for (unsigned bit = d->bits; bit < (d->addr.family == 4 ? 32u : 128u); bit++)
                e.net.addr.bytes[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
            ask_flow(pr, rule, d, &e);
        } else {
            pr->alive = true;
        }
    }
}

static void probe_names(struct probe *pr, const struct st_rule *rule)
{
    for (size_t i = 0; i < rule->n_names && !pr->alive; i++) {
        struct st_event e = {.type = ST_EV_SYSCALL};

        e.sys.name = st_str(rule->names[i]);
        if (rule->type == ST_RULE_DNS) {
            e = (struct st_event){.type = ST_EV_DNS_QUERY};
            e.dns.name = st_str(rule->names[i]);
            pr->alive |= rule->names[i][0] == '*';
        }
        ask(pr, &e);
    }
}

static void check_rule(struct lint *l, const struct st_rule *rule)
{
    struct probe pr = {.l = l, .id = rule->id};
    struct st_diag_file file = file_of(l, rule->at.file);

    switch (rule->type) {
    case ST_RULE_FILESYSTEM: probe_paths(&pr, rule); break;
    case ST_RULE_PROCESS:
        probe_paths(&pr, rule);
        probe_hashes(&pr, rule);
        break;
    case ST_RULE_EGRESS:
    case ST_RULE_INGRESS: probe_dests(&pr, rule); break;
    case ST_RULE_DNS:
    case ST_RULE_SYSCALL: probe_names(&pr, rule); break;
    case ST_RULE_MATCH:
    case ST_RULE_THRESHOLD:
    case ST_RULE_SEQUENCE:
    case ST_RULE_TYPES: return;
    }
    if (!pr.alive && pr.killer[0] && !rule->derived)
        st_diag_warning(l->diags, &file, (struct st_diag_at){{rule->at.line, rule->at.column}, 1},
                        "the first match wins: move it up, or take it out",
                        "rule `%s` never decides anything: rule `%s` before it matches all that it does",
                        rule->id, pr.killer);
}

/* ---- the policy as a whole ---- */

static void check_names_refused(struct lint *l, const struct st_rule *rule)
{
    struct st_diag_file file = file_of(l, rule->at.file);

    if (rule->type != ST_RULE_EGRESS || rule->action != ST_DENY || l->p->settings.defaults.egress == ST_DENY)
        return;
    for (size_t i = 0; i < rule->n_dests; i++)
        if (rule->dests[i].host) {
            st_diag_warning(l->diags, &file, (struct st_diag_at){{rule->at.line, rule->at.column}, 1},
                            "refuse by default (network_egress: deny) and allow what is needed",
                            "rule `%s` refuses a name, but its address can still be reached without it",
                            rule->id);
            return;
        }
}

static void check_settings(struct lint *l)
{
    const struct settings *s = &l->p->settings;
    struct st_diag_file file = file_of(l, s->scope_at.file);

    for (size_t i = 0; i < s->n_scope; i++)
        if (strcmp(s->scope[i], "/") == 0)
            st_diag_warning(l->diags, &file, (struct st_diag_at){{s->scope_at.line, s->scope_at.column}, 1},
                            "name the directories that the agent works in",
                            "the scope is everything: no write is ever outside it");
    if (s->floor_given && s->floor != ST_FLOOR_OFF && s->defaults.fs_write == ST_ALLOW)
        st_diag_warning(l->diags, l->top, (struct st_diag_at){{0, 0}, 0}, "write floor: off",
                        "the floor holds nothing where writing is allowed by default");
}

void st_policy_lint(struct st_policy *policy, const struct st_diag_file *top, struct st_diagnostics *diags)
{
    struct lint l = {.p = policy, .top = top, .diags = diags};

    memcpy(&l.asked, policy, sizeof(l.asked));
    l.asked.parent = policy;
    l.asked.n_generic = 0;
    l.counters = st_counters_new(policy);
    check_settings(&l);
    for (size_t i = 0; i < policy->n_rules; i++) {
        check_rule(&l, &policy->rules[i]);
        check_names_refused(&l, &policy->rules[i]);
    }
    st_counters_free(l.counters);
}
