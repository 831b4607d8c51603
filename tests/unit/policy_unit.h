/* policy_unit: what the tests of src/policy share: policies from text, events in one line, verdicts that
 * outlive their counters. */
#pragma once

#include "policy/policy.h"
#include "policy/rule.h"

#include "unit.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#define HEAD "schema_version: \"2.0\"\nname: t\n"
#define SECOND ((int64_t)1000000)

static inline struct st_policy *load(const char *text)
{
    struct st_policy *policy = NULL;
    struct st_error err = {0};

    if (st_policy_parse("t.yaml", text, strlen(text), NULL, &policy, NULL, &err) < 0)
        fail_msg("%s\n%s", err.msg, text);
    return policy;
}

static inline struct st_event file_n(const char *path, size_t len, unsigned access)
{
    struct st_event e = {.type = ST_EV_FILESYSTEM};

    e.fs.path = (struct st_str){path, len};
    e.fs.access = access;
    e.fs.size = ST_UNKNOWN;
    return e;
}

static inline struct st_event file(const char *path, unsigned access)
{
    return file_n(path, path ? strlen(path) : 0, access);
}

static inline struct st_event flow(const char *host, const char *addr, unsigned port, unsigned protocol)
{
    struct st_event e = {.type = ST_EV_NETWORK_EGRESS};

    e.net.host = st_str(host);
    if (addr && !st_addr_parse(st_str(addr), &e.net.addr))
        fail_msg("no address: %s", addr);
    e.net.port = (uint16_t)port;
    e.net.protocol = (uint8_t)protocol;
    e.net.bytes_sent = ST_UNKNOWN;
    return e;
}

/* A connection that has ended. */
static inline struct st_event sent(const char *host, int64_t bytes)
{
    struct st_event e = flow(host, NULL, 443, IPPROTO_TCP);

    e.net.bytes_sent = bytes;
    e.net.state = ST_NET_CLOSED;
    return e;
}

static inline struct st_event query(const char *name)
{
    struct st_event e = {.type = ST_EV_DNS_QUERY};

    e.dns.name = st_str(name);
    return e;
}

static inline struct st_event process(enum st_proc_op op, const char *path)
{
    struct st_event e = {.type = ST_EV_PROCESS};

    e.proc.op = op;
    e.proc.path = st_str(path);
    e.proc.depth = e.proc.children = e.proc.processes = ST_UNKNOWN;
    return e;
}

/* With counters of its own; the reason is overwritten by the next call. */
static inline struct st_verdict one(struct st_policy *policy, struct st_event e)
{
    static char reason[1024];
    st_auto_counters c = st_counters_new(policy);
    struct st_verdict v;

    st_policy_eval(policy, c, &e, &v);
    snprintf(reason, sizeof(reason), "%.*s", (int)v.reason.len, v.reason.p);
    v.reason = st_str(reason);
    return v;
}

static inline void assert_verdict(const struct st_verdict *v, enum st_result result, const char *rule)
{
    if (v->result != result)
        fail_msg("%s, not %s: %.*s", st_result_name(v->result), st_result_name(result), (int)v->reason.len,
                 v->reason.p);
    if (rule ? (v->rule.len != strlen(rule) || memcmp(v->rule.p, rule, v->rule.len) != 0) : v->rule.p != NULL)
        fail_msg("rule %.*s, not %s", (int)v->rule.len, v->rule.p ? v->rule.p : "", rule ? rule : "none");
}

static inline void assert_reason(const struct st_verdict *v, const char *reason)
{
    if (v->reason.len != strlen(reason) || memcmp(v->reason.p, reason, v->reason.len) != 0)
        fail_msg("'%.*s', not '%s'", (int)v->reason.len, v->reason.p, reason);
}
