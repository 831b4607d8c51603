/* Any bytes as a policy: loaded or refused, never a crash; and where it loads, what must be true of every
 * verdict. */
#include "base/mem.h"
#include "policy/depth.h"
#include "policy/policy.h"
#include "policy/rule.h"

#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool same_text(struct st_str a, struct st_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

struct asked {
    struct st_policy *policy, *audit;
    struct st_counters *plain, *explained, *audited; /* of the same policy, fed the same events */
};

/* Asked plainly, asked why, and asked in audit mode: one verdict. */
static void ask(struct asked *k, const struct st_event *e)
{
    struct st_explanation x;
    struct st_verdict a, b, c;

    st_policy_eval(k->policy, k->plain, e, &a);
    st_policy_explain(k->policy, k->explained, e, &b, &x);
    demand(a.result == b.result && a.severity == b.severity && a.response == b.response);
    demand(same_text(a.rule, b.rule) && same_text(a.reason, b.reason));
    demand(a.reason.p && a.reason.len > 0);
    demand((a.result == ST_ALLOW) == (a.severity == ST_SEV_NONE));
    for (size_t i = 0; i < x.n_notes; i++) {
        st_auto_buf why = ST_BUF_INIT;

        st_explanation_why(k->policy, &x, i, e, &why);
        demand(why.len > 0);
    }
    st_explanation_free(&x);
    if (!k->audit)
        return;
    st_policy_eval(k->audit, k->audited, e, &c);
    demand(c.result == a.result && c.response == ST_RESPOND_RECORD);
}

static void ask_files(struct asked *k)
{
    static const char *const paths[] = {
        "/",        "/etc/shadow", "/workspace/a/b",  "/workspace/../x", "relative", "",
        "/a/a/a/a", "/\xff/\x01",  "/home/u/.ssh/id", "/tmp/x.pem",      "//",       "/x/y/z"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct st_event e = {.type = ST_EV_FILESYSTEM, .wall_us = (int64_t)i * 1000000};

        e.fs.path = st_str(paths[i]);
        e.fs.access = (unsigned)(i * 7) & ST_ACCESS_ALL;
        e.fs.op = (enum st_fs_op)(i % ST_FS_OPS);
        e.fs.target = i & 1 ? st_str(paths[(i + 3) % 12]) : (struct st_str){NULL, 0};
        ask(k, &e);
        e.type = ST_EV_PROCESS;
        e.proc = (struct st_ev_process){
            .op = (enum st_proc_op)(i % ST_PROC_OPS), .path = st_str(paths[i]), .depth = (int64_t)i};
        ask(k, &e);
    }
}

static void ask_others(struct asked *k)
{
    static const char *const hosts[] = {"api.stripe.com", "a.b.example.com",      "1.2.3.4", "",
                                        "evil",           "xn--bcher-kva.example"};

    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct st_event e = {.type = i & 1 ? ST_EV_NETWORK_EGRESS : ST_EV_NETWORK_INGRESS,
                             .wall_us = 60000000};

        e.net = (struct st_ev_network){
            .host = st_str(hosts[i]), .port = (uint16_t)(443 * i), .protocol = IPPROTO_TCP};
        e.net.addr = (struct st_addr){.family = i % 3 ? 4 : 6, .bytes = {10, (uint8_t)i, 2, 3}};
        e.net.bytes_sent = (int64_t)1 << (8 * i);
        e.net.state = (enum st_net_state)(i % 3);
        ask(k, &e);
        e.type = ST_EV_DNS_QUERY;
        e.dns = (struct st_ev_dns){.name = st_str(hosts[i])};
        ask(k, &e);
        e.type = ST_EV_SYSCALL;
        e.sys = (struct st_ev_syscall){.name = st_str(i & 1 ? "ptrace" : "mount")};
        ask(k, &e);
    }
}

static void look_at(const struct st_policy *policy)
{
    const char *const *list;
    const struct st_rule *rules;
    size_t n = st_policy_rules(policy, &rules);

    demand(strlen(st_policy_sha256(policy)) == 64 && st_policy_name(policy) && st_policy_description(policy));
    for (size_t i = 0; i < n; i++)
        demand(rules[i].id && rules[i].at.file && (size_t)rules[i].type < ST_RULE_TYPES);
    n = st_policy_writable(policy, &list);
    for (size_t i = 0; i < n; i++)
        demand(list[i][0] == '/');
}

/* Mounts of every kind, at places that patterns may name. */
static void plan_for(const struct st_policy *policy)
{
    static const char *const points[] = {"/",    "/w",    "/etc", "/w/a", "/proc", "/home/user/.ssh",
                                         "/tmp", "/w/a/b"};
    struct st_footing mounts[8];
    st_auto_depth_plan plan = {0};

    for (unsigned i = 0; i < 8; i++)
        mounts[i] = (struct st_footing){points[i], 0, (i & 1) != 0, i % 3 != 2, i == 4};
    st_depth_plan_make(policy, &(struct st_depth_facts){ST_DEPTH_GUARD, true, mounts, 8}, &plan);
    for (size_t i = 0; i < plan.n_objects; i++) {
        demand(plan.objects[i].list[0] == '/' && plan.depth == ST_DEPTH_GUARD);
        st_depth_plan_reaches(&plan, st_str(plan.objects[i].list));
        st_depth_plan_widen(&plan, &plan.objects[i], "too many");
    }
    demand(!plan.mounts[4].every_open);
}

static bool never(void *ctx, const char *path)
{
    (void)ctx, (void)path;
    return false;
}

static void use(struct st_policy *policy)
{
    struct asked k = {.policy = policy};
    st_auto_policy settled = st_policy_settle(policy, never, NULL);
    struct st_error err;

    look_at(policy);
    look_at(settled);
    plan_for(settled);
    if (st_policy_with_mode(policy, ST_MODE_AUDIT, &k.audit, &err) < 0)
        demand(st_policy_locked(policy));
    k.plain = st_counters_new(policy);
    k.explained = st_counters_new(policy);
    k.audited = st_counters_new(policy);
    ask_files(&k);
    ask_others(&k);
    k.plain = st_counters_renew(settled, k.plain);
    st_counters_free(k.plain);
    st_counters_free(k.explained);
    st_counters_free(k.audited);
    st_policy_unref(k.audit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_policy policy = NULL;
    st_auto_diag diags = {0};
    st_auto_buf text = ST_BUF_INIT, json = ST_BUF_INIT;
    struct st_error err = {0};
    int rc = st_policy_parse("fuzz.yaml", (const char *)data, size, NULL, &policy, &diags, &err);

    demand((rc < 0) == (policy == NULL) && (rc < 0) == (diags.errors > 0));
    demand(rc == 0 || err.msg[0]);
    st_diag_text(&diags, true, &text);
    st_diag_json(&diags, &json);
    if (policy)
        use(policy);
    return 0;
}
