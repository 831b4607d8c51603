/* reason: the sentence that a tired person reads. Subjects are cut: the whole is in the payload. */
#include "policy/judge.h"

#include "base/duration.h"
#include "policy/fields.h"

#include <netinet/in.h>

#define SUBJECT_MAX 256

static void add_subject(struct st_buf *b, struct st_str s)
{
    size_t n = s.len;

    if (!s.p) {
        st_buf_adds(b, "(unknown)");
        return;
    }
    if (n > SUBJECT_MAX) {
        for (n = SUBJECT_MAX; n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80;)
            n--; /* not within a character */
    }
    st_buf_add(b, s.p, n);
    if (n < s.len)
        st_buf_adds(b, "…");
}

static const char *doing(unsigned access)
{
    switch (access) {
    case ST_ACCESS_READ: return "reading";
    case ST_ACCESS_WRITE: return "writing";
    case ST_ACCESS_EXEC: return "running";
    case ST_ACCESS_CREATE: return "creating";
    case ST_ACCESS_DELETE: return "deleting";
    case ST_ACCESS_ATTRIB: return "changing the attributes of";
    default: return "using";
    }
}

static const char *deed(unsigned access)
{
    switch (access) {
    case ST_ACCESS_READ: return "read";
    case ST_ACCESS_EXEC: return "exec";
    case ST_ACCESS_CREATE: return "create";
    case ST_ACCESS_DELETE: return "delete";
    case ST_ACCESS_ATTRIB: return "change of attributes";
    default: return "write";
    }
}

static void add_peer(struct st_buf *b, const struct st_ev_network *net)
{
    char addr[ST_ADDR_TEXT_SIZE];

    st_addr_format(&net->addr, addr);
    if (net->host.p)
        add_subject(b, net->host);
    if (net->host.p && addr[0]) {
        st_buf_adds(b, " (");
        st_buf_adds(b, addr);
        st_buf_addc(b, ')');
    } else if (addr[0])
        st_buf_adds(b, addr);
    else if (!net->host.p)
        st_buf_adds(b, "an unknown address");
    if (net->port) {
        st_buf_adds(b, " port ");
        st_buf_addu(b, net->port);
        st_buf_adds(b, net->protocol == IPPROTO_TCP ? "/tcp" : net->protocol == IPPROTO_UDP ? "/udp" : "");
    }
}

/* What was attempted, as a noun: "reading /etc/shadow". */
static void add_attempt(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    const struct st_event *e = j->e;

    switch (e->type) {
    case ST_EV_NETWORK_EGRESS:
        st_buf_adds(b, "a connection to ");
        add_peer(b, &e->net);
        return;
    case ST_EV_NETWORK_INGRESS:
        st_buf_adds(b, "a connection from ");
        add_peer(b, &e->net);
        return;
    case ST_EV_DNS_QUERY:
        st_buf_adds(b, "looking up ");
        add_subject(b, e->dns.name);
        return;
    case ST_EV_SYSCALL:
        st_buf_adds(b, "the syscall ");
        add_subject(b, e->sys.name);
        return;
    case ST_EV_FILESYSTEM:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_PROCESS:
    case ST_EV_LIFECYCLE:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    st_buf_adds(b, doing(o->access));
    st_buf_addc(b, ' ');
    add_subject(b, o->subject);
}

static void add_scope(struct st_buf *b, const struct settings *s)
{
    for (size_t i = 0; i < s->n_scope && i < 4; i++) {
        st_buf_adds(b, i ? ", " : "");
        st_buf_adds(b, s->scope[i]);
    }
    if (s->n_scope > 4)
        st_buf_adds(b, " …");
}

/* Nothing in the table allowed it. */
static void add_default(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    const struct settings *s = &j->p->settings;
    bool file = j->e->type == ST_EV_FILESYSTEM || j->e->type == ST_EV_FILESYSTEM_SUMMARY;

    if (file && s->n_scope && o->access != ST_ACCESS_EXEC) {
        st_buf_adds(b, deed(o->access));
        st_buf_adds(b, " outside the scope ");
        add_scope(b, s);
        st_buf_adds(b, ": ");
        add_subject(b, o->subject);
        return;
    }
    st_buf_adds(b, "no rule allows ");
    add_attempt(b, j, o);
}

static void add_number(struct st_buf *b, double n)
{
    /* Beyond this a double holds whole numbers only, and not every one: they need no digits behind the point.
     */
    if (n >= 9e15 || n <= -9e15)
        st_buf_addf(b, "%.0f", n);
    else if (n == (double)(int64_t)n)
        st_buf_addf(b, "%lld", (long long)n);
    else
        st_buf_addf(b, "%.1f", n);
}

static void add_bytes(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    add_number(b, o->value);
    st_buf_adds(b, " bytes sent to ");
    add_peer(b, &j->e->net);
    st_buf_adds(b, o->why == WHY_TOTAL ? " and its like in all, over the " : ", over the ");
    add_number(b, o->limit);
    st_buf_addf(b, "%s that rule %s allows", o->why == WHY_TOTAL ? "" : " a call", j->p->rules[o->rule].id);
}

static void add_threshold(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    static const char *const words[] = {"count", "sum", "rate"};
    const struct st_rule *rule = &j->p->rules[o->rule];
    char window[ST_DURATION_SIZE];

    st_duration_format(rule->threshold.window_ms, window);
    st_buf_addf(b, "%s ", words[rule->threshold.metric]);
    add_number(b, o->value);
    if (rule->threshold.field >= 0)
        st_buf_addf(b, " of %s", st_field_name((unsigned)rule->threshold.field));
    st_buf_adds(b, " over the limit of ");
    add_number(b, o->limit);
    st_buf_addf(b, " within %s, by rule %s", window, rule->id);
}

static void add_sequence(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    const struct st_rule *rule = &j->p->rules[o->rule];
    char window[ST_DURATION_SIZE];

    st_duration_format(rule->sequence.window_ms, window);
    add_attempt(b, j, o);
    st_buf_addf(b, " is the last of %zu steps within %s, by rule %s", rule->sequence.n_steps, window,
                rule->id);
}

static void add_limit(struct st_buf *b, const struct outcome *o)
{
    const char *what = o->why == WHY_DEPTH      ? " levels of processes below the first"
                       : o->why == WHY_CHILDREN ? " children of one process"
                       : o->why == WHY_FORKS    ? " processes begun within a second"
                                                : " processes at once";

    add_number(b, o->value);
    st_buf_addf(b, "%s, over the limit of ", what);
    add_number(b, o->limit);
}

static void add_bindings(struct st_buf *b, const struct judge *j, const struct st_rule *rule)
{
    for (size_t i = 0; i < rule->n_bind; i++) {
        struct field_value v;

        st_field_of(j->e, rule->bind[i].field, &v);
        st_buf_addf(b, "%s%s=", i ? ", " : " [", rule->bind[i].name);
        if (!v.known)
            st_buf_adds(b, "unknown");
        else if (v.number)
            add_number(b, (double)v.n);
        else if (!v.set)
            add_subject(b, v.str);
        else
            for (unsigned bit = 1, n = 0; bit <= ST_ACCESS_ALL; bit <<= 1)
                if (v.set & bit)
                    st_buf_addf(b, "%s%s", n++ ? "+" : "", st_access_name(bit));
    }
    if (rule->n_bind)
        st_buf_addc(b, ']');
}

static void add_refusal(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    const struct rule_brief *brief = &j->p->brief[o->rule];

    add_attempt(b, j, o);
    st_buf_add(b, brief->refused.p, brief->refused.len);
    if (brief->binds)
        add_bindings(b, j, &j->p->rules[o->rule]);
}

static void add_odd(struct st_buf *b, const struct judge *j, const struct outcome *o)
{
    add_attempt(b, j, o);
    if (j->e->type == ST_EV_SYSCALL) {
        st_buf_adds(b, ", for a program that is in memory only (exec_of_memfd: deny)");
        return;
    }
    st_buf_adds(b, o->why == WHY_NEW       ? ", which was made or changed in this run (exec_of_new: deny)"
                   : o->why == WHY_DELETED ? ", which has been deleted (exec_of_deleted: deny)"
                                           : ", which is in memory only (exec_of_memfd: deny)");
}

struct st_str st_reason_for(struct judge *j, const struct outcome *o)
{
    struct st_buf *b = &j->c->reason;

    if (o->why == WHY_NOT_JUDGED)
        return ST_STR_LIT("nothing that a policy decides");
    if (o->result == ST_ALLOW && o->rule == NO_RULE)
        return ST_STR_LIT("allowed by default");
    if (o->result == ST_ALLOW && !j->p->brief[o->rule].binds)
        return j->p->brief[o->rule].allowed;
    st_buf_clear(b);
    switch (o->why) {
    case WHY_RULE:
        if (o->result != ST_ALLOW) {
            add_refusal(b, j, o);
        } else {
            st_buf_add(b, j->p->brief[o->rule].allowed.p, j->p->brief[o->rule].allowed.len);
            add_bindings(b, j, &j->p->rules[o->rule]);
        }
        break;
    case WHY_DEFAULT: add_default(b, j, o); break;
    case WHY_METADATA:
        add_default(b, j, o);
        st_buf_adds(b, " (where clouds hand out credentials: only by a rule that names the address)");
        break;
    case WHY_PER_CALL:
    case WHY_TOTAL: add_bytes(b, j, o); break;
    case WHY_THRESHOLD: add_threshold(b, j, o); break;
    case WHY_SEQUENCE: add_sequence(b, j, o); break;
    case WHY_DEPTH:
    case WHY_CHILDREN:
    case WHY_PROCESSES:
    case WHY_FORKS: add_limit(b, o); break;
    case WHY_NEW:
    case WHY_DELETED:
    case WHY_MEMFD: add_odd(b, j, o); break;
    case WHY_UNHASHED:
        add_refusal(b, j, o);
        st_buf_adds(b, " (its hash is not known: too large, or being written)");
        break;
    case WHY_BAD_PATH:
        st_buf_adds(b, "not a path that can be judged: ");
        add_subject(b, o->subject);
        break;
    case WHY_NOT_JUDGED: break;
    }
    return (struct st_str){st_buf_cstr(b), b->len};
}
