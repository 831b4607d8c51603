/* explain: why a rule did not decide, in words. The facts were noted while deciding. */
#include "policy/judge.h"

#include "base/duration.h"
#include "policy/fields.h"

static bool is_about(const struct st_rule *rule, const struct st_event *e)
{
    switch (rule->type) {
    case ST_RULE_FILESYSTEM:
    case ST_RULE_PROCESS:
        return e->type == ST_EV_FILESYSTEM || e->type == ST_EV_FILESYSTEM_SUMMARY || e->type == ST_EV_PROCESS;
    case ST_RULE_EGRESS: return e->type == ST_EV_NETWORK_EGRESS || e->type == ST_EV_DNS_QUERY;
    case ST_RULE_INGRESS: return e->type == ST_EV_NETWORK_INGRESS;
    case ST_RULE_DNS: return e->type == ST_EV_DNS_QUERY;
    case ST_RULE_SYSCALL: return e->type == ST_EV_SYSCALL;
    case ST_RULE_MATCH:
    case ST_RULE_THRESHOLD:
    case ST_RULE_SEQUENCE:
    case ST_RULE_TYPES: return true;
    }
    return true;
}

static void add_access(struct st_buf *out, unsigned access)
{
    unsigned n = 0;

    for (unsigned bit = 1; bit <= ST_ACCESS_ALL; bit <<= 1)
        if (access & bit)
            st_buf_addf(out, "%s%s", n++ ? ", " : "", st_access_name(bit));
}

static void add_ports(struct st_buf *out, const struct st_rule *rule, uint32_t dest)
{
    const struct st_destination *d = dest < rule->n_dests ? &rule->dests[dest] : NULL;

    for (size_t i = 0; d && i < d->n_ports; i++) {
        st_buf_addf(out, "%s%u", i ? ", " : "", d->ports[i].low);
        if (d->ports[i].high != d->ports[i].low)
            st_buf_addf(out, "-%u", d->ports[i].high);
    }
}

static void add_value(struct st_buf *out, const struct field_value *v)
{
    if (!v->known)
        st_buf_adds(out, "not there");
    else if (v->number)
        st_buf_addf(out, "%lld", (long long)v->n);
    else if (v->set)
        add_access(out, v->set);
    else
        st_buf_add(out, v->str.p, v->str.len > 200 ? 200 : v->str.len);
}

static void add_predicate(struct st_buf *out, const struct st_rule *rule, uint32_t which,
                          const struct st_event *e)
{
    static const char *const words[] = {"", "like ", "outside the list of "};
    const struct st_predicate *p = which < rule->when.n ? &rule->when.predicates[which] : NULL;
    struct field_value v;

    if (!p) {
        st_buf_adds(out, "its condition does not hold");
        return;
    }
    st_field_of(e, p->field, &v);
    st_buf_addf(out, "%s is ", st_field_name(p->field));
    add_value(out, &v);
    if (p->op == ST_PRED_NOT_IN)
        st_buf_addf(out, ", not %s%zu", words[p->op], p->n_values);
    else
        st_buf_addf(out, ", not %s%s", words[p->op], p->values[0]);
}

static void add_nothing(struct st_buf *out, const struct st_rule *rule, const struct st_event *e)
{
    if (!is_about(rule, e)) {
        st_buf_addf(out, "is about %s", st_rule_type_name(rule->type));
        return;
    }
    switch (rule->type) {
    case ST_RULE_FILESYSTEM: st_buf_adds(out, "none of its paths matches"); return;
    case ST_RULE_PROCESS:
        st_buf_adds(out,
                    rule->n_hashes ? "none of its paths and hashes matches" : "none of its paths matches");
        return;
    case ST_RULE_EGRESS:
        if (e->type == ST_EV_DNS_QUERY)
            st_buf_adds(out, "none of its hosts is this name");
        else
            st_buf_adds(out, "none of its destinations matches");
        return;
    case ST_RULE_INGRESS: st_buf_adds(out, "none of its sources matches"); return;
    case ST_RULE_DNS:
    case ST_RULE_SYSCALL: st_buf_adds(out, "it does not name this one"); return;
    case ST_RULE_MATCH:
    case ST_RULE_THRESHOLD:
    case ST_RULE_SEQUENCE:
    case ST_RULE_TYPES: break;
    }
    st_buf_adds(out, "its condition does not hold");
}

void st_explanation_why(const struct st_policy *policy, const struct st_explanation *x, size_t rule,
                        const struct st_event *event, struct st_buf *out)
{
    const struct st_rule *r = &policy->rules[rule];
    const struct st_note *n = &x->notes[rule];
    char window[ST_DURATION_SIZE];

    switch (n->kind) {
    case NOTE_NOTHING: add_nothing(out, r, event); break;
    case NOTE_ACCESS:
        st_buf_adds(out, "the path matches, but it is about ");
        add_access(out, r->access);
        break;
    case NOTE_PORT:
        st_buf_adds(out, "the destination matches, but only on port ");
        add_ports(out, r, n->detail);
        break;
    case NOTE_PROTOCOL: st_buf_adds(out, "the destination matches, but for another protocol"); break;
    case NOTE_PREDICATE: add_predicate(out, r, n->detail, event); break;
    case NOTE_COUNTED:
        st_duration_format(r->threshold.window_ms, window);
        st_buf_addf(out, "has come to %.*f of %.*f within %s", n->value == (double)(int64_t)n->value ? 0 : 1,
                    n->value, r->threshold.limit == (double)(int64_t)r->threshold.limit ? 0 : 1,
                    r->threshold.limit, window);
        break;
    case NOTE_STEP: st_buf_addf(out, "%u of %zu steps done", n->detail, r->sequence.n_steps); break;
    case NOTE_MATCHED: st_buf_adds(out, "matches too, but another part of the event weighs more"); break;
    }
}
