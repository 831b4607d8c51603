/* eval_net: connections, lookups of names, syscalls. */
#include "policy/judge.h"

#include "model/host.h"

#include <string.h>

struct net_query {
    struct judge *j;
    uint32_t best;
    uint16_t port;
    uint8_t protocol;
    bool metadata; /* the address is one of those that hand out a cloud's keys */
};

/* Where clouds tell a machine its credentials. */
static bool is_metadata(const struct st_addr *addr)
{
    static const uint8_t v4[] = {169, 254, 169, 254};
    static const uint8_t v6[16] = {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};

    return addr->family == 4   ? memcmp(addr->bytes, v4, sizeof(v4)) == 0
           : addr->family == 6 ? memcmp(addr->bytes, v6, sizeof(v6)) == 0
                               : false;
}

/* That address itself, and not a wide prefix, everything, or a name that leads there. */
static bool names_address(const struct st_rule *rule, uint32_t dest)
{
    const struct st_destination *d = dest < rule->n_dests ? &rule->dests[dest] : NULL;

    return d && d->addr.family && d->bits == (d->addr.family == 4 ? 32 : 128);
}

static bool port_in(const struct st_destination *d, uint16_t port)
{
    for (size_t i = 0; i < d->n_ports; i++)
        if (port >= d->ports[i].low && port <= d->ports[i].high)
            return true;
    return d->n_ports == 0;
}

/* A protocol that the sensor does not know is refused by what refuses any, and allowed by nothing that names
 * one. */
static bool protocol_fits(const struct st_destination *d, uint8_t protocol, enum st_result action)
{
    return d->protocol == 0 || d->protocol == protocol || (protocol == 0 && action == ST_DENY);
}

/* Name or address fit: do port and protocol? */
static bool on_dest(void *ctx, struct net_ref ref)
{
    struct net_query *q = ctx;
    const struct st_destination *d;

    if (ref.rule >= q->best && !q->j->notes)
        return false;
    if (q->metadata && q->j->p->rules[ref.rule].action == ST_ALLOW &&
        !names_address(&q->j->p->rules[ref.rule], ref.dest))
        return true;
    if (!ref.plain) { /* else the rule itself need not be looked at */
        const struct st_rule *rule = &q->j->p->rules[ref.rule];

        d = &rule->dests[ref.dest];
        if (!port_in(d, q->port)) {
            note(q->j, ref.rule, NOTE_PORT, ref.dest);
            return true;
        }
        if (!protocol_fits(d, q->protocol, rule->action)) {
            note(q->j, ref.rule, NOTE_PROTOCOL, ref.dest);
            return true;
        }
    }
    note(q->j, ref.rule, NOTE_MATCHED, ref.dest);
    if (ref.rule < q->best)
        q->best = ref.rule;
    return q->j->notes != NULL;
}

/* Bytes that one flow has sent so far against what its rule allows. */
static struct outcome check_bytes(struct judge *j, struct outcome o)
{
    const struct st_ev_network *net = &j->e->net;
    const struct st_rule *rule;
    uint64_t flows = j->e->count > 1 ? j->e->count : 1;
    int64_t total;

    if (o.rule >= j->p->n_rules || !j->p->brief[o.rule].limited || o.result != ST_ALLOW ||
        net->bytes_sent < 0)
        return o;
    rule = &j->p->rules[o.rule];
    if (__builtin_add_overflow(j->c->sent[rule->slot], net->bytes_sent, &total))
        total = INT64_MAX;
    /* While it is open the same bytes will be told again. The older dialect knows no states: what it tells
     * is over. */
    if (net->state != ST_NET_ESTABLISHED)
        j->c->sent[rule->slot] = total;
    if (rule->max_bytes_per_call >= 0 &&
        (uint64_t)net->bytes_sent / flows > (uint64_t)rule->max_bytes_per_call) {
        o.why = WHY_PER_CALL;
        o.value = (double)net->bytes_sent;
        o.limit = (double)rule->max_bytes_per_call;
    } else if (rule->max_bytes_total >= 0 && total > rule->max_bytes_total) {
        o.why = WHY_TOTAL;
        o.value = (double)total;
        o.limit = (double)rule->max_bytes_total;
    } else {
        return o;
    }
    o.result = ST_ANOMALY;
    o.severity = rule->severity;
    return o;
}

int64_t st_counters_sent(const struct st_counters *counters, size_t rule)
{
    const struct st_policy *p = counters->policy;

    return rule < p->n_rules && p->brief[rule].limited ? counters->sent[p->rules[rule].slot] : 0;
}

struct outcome st_judge_network(struct judge *j)
{
    const struct st_ev_network *net = &j->e->net;
    bool egress = j->e->type == ST_EV_NETWORK_EGRESS;
    const struct netmatch *m = egress ? j->p->egress : j->p->ingress;
    struct net_query q = {.j = j, .best = NO_RULE, .protocol = net->protocol};
    struct st_addr addr = net->addr, written;
    enum st_result fallback = egress ? j->p->settings.defaults.egress : j->p->settings.defaults.ingress;
    struct outcome o;
    char host[ST_HOST_SIZE];
    size_t len = st_host_canonical(net->host, host);

    /* Who is called is told by the container's own port; a caller's says nothing. */
    q.port = egress || !net->local_port ? net->port : net->local_port;
    /* An address in the place of a name is no name, nor is one with a dot behind it. */
    if (st_addr_parse(net->host, &written) || (len && st_addr_parse((struct st_str){host, len}, &written))) {
        if (!addr.family)
            addr = written;
        len = 0;
    }
    q.metadata = egress && is_metadata(&addr);
    if (len)
        st_netmatch_host(m, host, len, on_dest, &q);
    st_netmatch_addr(m, &addr, on_dest, &q);
    st_netmatch_any(m, on_dest, &q);
    o = st_outcome_of(j, q.best, q.metadata ? ST_DENY : fallback);
    if (q.metadata && o.why == WHY_DEFAULT)
        o.why = WHY_METADATA;
    return check_bytes(j, o);
}

struct outcome st_judge_dns(struct judge *j)
{
    struct net_query q = {.j = j, .best = NO_RULE};
    char name[ST_HOST_SIZE];
    size_t len = st_host_canonical(j->e->dns.name, name);

    if (len)
        st_netmatch_host(j->p->dns, name, len, on_dest, &q);
    st_netmatch_any(j->p->dns, on_dest, &q);
    return st_outcome_of(j, q.best, j->p->settings.defaults.dns);
}

struct outcome st_judge_syscall(struct judge *j)
{
    const struct st_policy *p = j->p;
    struct st_str name = j->e->sys.name;
    uint32_t node = TRIE_NONE, first = NO_RULE;

    if (name.p)
        node = st_trie_find(&p->syscalls, TRIE_ROOT, 0, name.p, name.len,
                            st_trie_hash(&p->syscalls, 0, name.p, name.len));
    for (uint32_t i = node ? p->by_syscall[node].first : 0; i; i = p->syscall_refs.items[i].next) {
        uint32_t rule = p->syscall_refs.items[i].rule;

        note(j, rule, NOTE_MATCHED, 0);
        if (rule < first)
            first = rule;
    }
    return st_judge_memory(j, st_outcome_of(j, first, p->settings.defaults.syscall));
}
