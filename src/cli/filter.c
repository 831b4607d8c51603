/* filter: see filter.h. */
#include "cli/filter.h"

#include "base/clock.h"
#include "base/duration.h"
#include "cli/show.h"

#include <errno.h>

#define RULE "wanted"

static const char *const outcome_words[ST_OUTCOMES] = {"allow", "deny", "anomaly", "paused", "killed"};

static int outcome_by_name(struct st_str name)
{
    for (int i = 0; i < ST_OUTCOMES; i++)
        if (strlen(outcome_words[i]) == name.len && memcmp(outcome_words[i], name.p, name.len) == 0)
            return i;
    return -1;
}

void st_filter_init(struct st_filter *f)
{
    *f = (struct st_filter){.since_us = INT64_MIN, .until_us = INT64_MAX};
}

void st_filter_free(struct st_filter *f)
{
    st_counters_free(f->path_counters);
    st_counters_free(f->host_counters);
    st_policy_unref(f->path);
    st_policy_unref(f->host);
    st_filter_init(f);
}

static int add_words(uint32_t *set, const char *words, int (*by_name)(struct st_str), const char *hint,
                     struct st_error *err)
{
    for (const char *p = words;; p++) {
        size_t len = strcspn(p, ",");
        int n = by_name((struct st_str){.p = p, .len = len});

        if (n < 0)
            return st_fail(err, EINVAL, "'%.*s' is none of %s", (int)len, p, hint);
        *set |= 1u << n;
        p += len;
        if (!*p)
            return 0;
    }
}

int st_filter_types(struct st_filter *f, const char *words, struct st_error *err)
{
    return add_words(
        &f->types, words, st_event_type_by_name,
        "lifecycle, filesystem, filesystem_summary, network_egress, network_ingress, dns_query, process, "
        "syscall, security_pause, security_resume, policy_change, sensor, checkpoint",
        err);
}

int st_filter_tiers(struct st_filter *f, const char *words, struct st_error *err)
{
    return add_words(&f->tiers, words, st_tier_by_name, "kernel, derived, polled", err);
}

int st_filter_outcomes(struct st_filter *f, const char *words, struct st_error *err)
{
    return add_words(&f->outcomes, words, outcome_by_name, "allow, deny, anomaly, paused, killed", err);
}

/* A policy whose one rule refuses exactly what is wanted. */
static int one_rule(const char *rule, const char *pattern, struct st_policy **policy,
                    struct st_counters **counters, struct st_error *err)
{
    static const char before[] =
        "schema_version: \"2.0\"\nname: filter\ndefaults:\n  filesystem: { read: allow, write: "
        "allow, exec: allow }\n  network_egress: allow\nrules:\n  - id: " RULE "\n    action: deny\n";
    const struct st_policy_source none = {0};
    st_auto_buf text = ST_BUF_INIT;

    st_buf_adds(&text, before);
    st_buf_adds(&text, rule);
    st_buf_addc(&text, '\'');
    for (const char *p = pattern; *p; p++) {
        if ((unsigned char)*p < 0x20)
            return st_fail(err, EINVAL, "a control character in the pattern: write it as \\x%02x",
                           (unsigned)*p);
        st_buf_add(&text, "''", *p == '\'' ? 2 : 0);
        if (*p != '\'')
            st_buf_addc(&text, *p);
    }
    st_buf_adds(&text, strchr(rule, '{') ? "' }]\n" : "']\n");
    if (st_policy_parse("pattern", text.data, text.len, &none, policy, NULL, err) < 0) {
        char *what = strchr(err->msg, ' '); /* behind the place in a file that nobody wrote */

        if (what)
            memmove(err->msg, what + 1, strlen(what));
        return -err->errnum;
    }
    *counters = st_counters_new(*policy);
    return 0;
}

int st_filter_path(struct st_filter *f, const char *glob, struct st_error *err)
{
    return one_rule("    type: filesystem\n    paths: [", glob, &f->path, &f->path_counters, err);
}

int st_filter_host(struct st_filter *f, const char *pattern, struct st_error *err)
{
    struct st_addr addr;
    unsigned bits;
    bool address = st_cidr_parse(st_str(pattern), &addr, &bits) == ST_CIDR_OK;

    return one_rule(address ? "    type: network_egress\n    destinations: [{ cidr: "
                            : "    type: network_egress\n    destinations: [{ host: ",
                    pattern, &f->host, &f->host_counters, err);
}

int st_filter_time(int64_t *out, const char *text, struct st_error *err)
{
    int64_t ms;

    if (st_parse_rfc3339(text, strlen(text), out))
        return 0;
    if (st_duration_parse(text, &ms)) {
        *out = st_now_wall_us() - ms * 1000;
        return 0;
    }
    return st_fail(err, EINVAL, "'%s' is no time: write 2026-03-26T12:00:00Z, or how long ago: 10m, 2h",
                   text);
}

static bool matches(const struct st_policy *policy, struct st_counters *counters, const struct st_event *ev)
{
    struct st_verdict v = {0};

    st_policy_eval(policy, counters, ev, &v);
    return v.result != ST_ALLOW && v.rule.p && v.rule.len == strlen(RULE) &&
           memcmp(v.rule.p, RULE, v.rule.len) == 0;
}

static bool path_wanted(struct st_filter *f, struct st_str path)
{
    struct st_event ev = {
        .type = ST_EV_FILESYSTEM,
        .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_READ, .path = path, .size = ST_UNKNOWN}};

    return path.p && matches(f->path, f->path_counters, &ev);
}

static bool any_path_wanted(struct st_filter *f, const struct st_event *ev)
{
    if (ev->type == ST_EV_FILESYSTEM)
        return path_wanted(f, ev->fs.path) || path_wanted(f, ev->fs.target);
    return ev->type == ST_EV_PROCESS && path_wanted(f, ev->proc.path);
}

static bool host_wanted(struct st_filter *f, const struct st_event *in)
{
    struct st_event ev = {.type = ST_EV_NETWORK_EGRESS,
                          .net = {.bytes_sent = ST_UNKNOWN,
                                  .bytes_received = ST_UNKNOWN,
                                  .packets_sent = ST_UNKNOWN,
                                  .packets_received = ST_UNKNOWN,
                                  .duration_ms = ST_UNKNOWN}};

    if (in->type == ST_EV_DNS_QUERY) {
        ev.net.host = in->dns.name;
        ev.net.host_source = ST_HOST_DNS;
    } else if (in->type == ST_EV_NETWORK_EGRESS || in->type == ST_EV_NETWORK_INGRESS) {
        ev.net.host = in->net.host;
        ev.net.host_source = in->net.host_source;
        ev.net.addr = in->net.addr;
        ev.net.port = in->net.port;
        ev.net.protocol = in->net.protocol;
    } else {
        return false;
    }
    return matches(f->host, f->host_counters, &ev);
}

/* What was decided, and what was done: a refusal that paused the container is both deny and paused. */
static bool outcome_wanted(const struct st_filter *f, const struct st_verdict *v)
{
    unsigned decided = 1u << outcome_by_name(st_str(st_result_name(v->result)));
    unsigned done = 1u << outcome_by_name(st_str(st_show_outcome(v)));

    return (v->result == ST_ALLOW ? done : decided | done) & f->outcomes;
}

bool st_filter_wants(struct st_filter *f, const struct st_decoded *d, const struct st_verdict *v)
{
    const struct st_event *ev = &d->ev;

    if (ev->wall_us < f->since_us || ev->wall_us > f->until_us)
        return false;
    if (f->types && !(d->known_type && f->types >> ev->type & 1))
        return false;
    if (f->tiers && !(d->known_tier && f->tiers >> ev->tier & 1))
        return false;
    if (f->outcomes && !outcome_wanted(f, v))
        return false;
    if (f->path && !(d->known_type && any_path_wanted(f, ev)))
        return false;
    return !f->host || (d->known_type && host_wanted(f, ev));
}
