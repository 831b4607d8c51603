/* Verdicts: order, scope, defaults, modes, the older forms; and the sentences that go with them. */

#include "policy_unit.h"

static void the_first_match_wins(void **state)
{
    st_auto_policy p =
        load(HEAD "scope: [/workspace]\nrules:\n"
                  "  - { id: a, type: filesystem, paths: [/workspace/x/y/**], action: allow }\n"
                  "  - { id: b, type: filesystem, paths: ['/workspace/x/**'], action: deny, severity: low }\n"
                  "  - { id: c, type: filesystem, paths: ['/**'], access: [exec], action: deny }\n"
                  "  - { id: d, type: filesystem, paths: ['/workspace/x/y/z'], action: deny }\n");
    struct st_verdict v;

    (void)state;
    v = one(p, file("/workspace/x/y/z", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_ALLOW, "a");
    assert_reason(&v, "allowed by rule a");
    assert_int_equal(v.severity, ST_SEV_NONE);
    v = one(p, file("/workspace/x/q", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, "b");
    assert_int_equal(v.severity, ST_SEV_LOW);
    assert_int_equal(v.response, ST_RESPOND_RECORD); /* low: record */
    assert_reason(&v, "writing /workspace/x/q is refused by rule b");
    v = one(p, file("/workspace/q", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_ALLOW, NULL);
    assert_reason(&v, "inside the scope /workspace");
    v = one(p, file("/workspace/q", ST_ACCESS_EXEC)); /* the scope says nothing of running */
    assert_verdict(&v, ST_DENY, "c");
    v = one(p, file("/etc/hosts", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, NULL);
    assert_reason(&v, "write outside the scope /workspace: /etc/hosts");
    assert_int_equal(v.severity, ST_SEV_HIGH);
    assert_int_equal(v.response, ST_RESPOND_PAUSE);
    v = one(p, file("/etc/hosts", ST_ACCESS_READ));
    assert_verdict(&v, ST_ALLOW, NULL);
    assert_reason(&v, "allowed by default");
    assert_string_equal(v.policy_sha256, st_policy_sha256(p));
}

static void the_gravest_of_several_accesses_decides(void **state)
{
    st_auto_policy p = load(
        HEAD
        "scope: [/w]\nrules:\n"
        "  - { id: r, type: filesystem, paths: ['/s/**'], access: [read], action: deny, severity: medium }\n"
        "  - { id: w, type: filesystem, paths: ['/s/**'], access: [write], action: deny, severity: "
        "critical }\n");
    struct st_verdict v = one(p, file("/s/x", ST_ACCESS_READ | ST_ACCESS_WRITE));
    struct st_event move = file("/w/a", 0);

    (void)state;
    assert_verdict(&v, ST_DENY, "w");
    assert_int_equal(v.severity, ST_SEV_CRITICAL);
    move.fs.op = ST_FS_RENAME;
    move.fs.target = st_str("/s/x");
    v = one(p, move);
    assert_verdict(&v, ST_DENY, "w");
    assert_reason(&v, "writing /s/x is refused by rule w");
}

static void severities_lead_to_responses(void **state)
{
    static const struct {
        const char *severity;
        enum st_response response;
    } rows[] = {{"low", ST_RESPOND_DENY},
                {"medium", ST_RESPOND_RECORD},
                {"high", ST_RESPOND_KILL},
                {"critical", ST_RESPOND_PAUSE}};

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        char text[400];
        st_auto_policy p = NULL;
        struct st_verdict v;

        snprintf(text, sizeof(text),
                 HEAD "on_violation: { low: deny, medium: record, high: kill, critical: pause }\nrules:\n"
                      "  - { id: a, type: filesystem, paths: [/x], action: deny, severity: %s }\n",
                 rows[i].severity);
        p = load(text);
        v = one(p, file("/x", ST_ACCESS_READ));
        assert_int_equal(v.response, rows[i].response);
        assert_int_equal(v.action, ST_ACT_NONE); /* policy never acts */
    }
}

static void audit_mode_says_what_would_have_been(void **state)
{
    st_auto_policy p =
        load(HEAD "mode: audit\nrules:\n  - { id: a, type: filesystem, paths: [/x], action: deny, severity: "
                  "critical }\n");
    st_auto_policy q =
        load(HEAD "rules:\n  - { id: a, type: filesystem, paths: [/x], action: deny, mode: audit }\n"
                  "  - { id: b, type: filesystem, paths: [/y], action: deny }\n");
    st_auto_policy strict = NULL;
    struct st_verdict v = one(p, file("/x", ST_ACCESS_READ));
    struct st_error err;

    (void)state;
    assert_verdict(&v, ST_DENY, "a");
    assert_int_equal(v.severity, ST_SEV_CRITICAL);
    assert_int_equal(v.response, ST_RESPOND_RECORD);
    assert_int_equal(st_policy_with_mode(p, ST_MODE_ENFORCE, &strict, &err), 0);
    v = one(strict, file("/x", ST_ACCESS_READ));
    assert_int_equal(v.response, ST_RESPOND_PAUSE);
    v = one(q, file("/x", ST_ACCESS_READ)); /* one rule on trial */
    assert_verdict(&v, ST_DENY, "a");
    assert_int_equal(v.response, ST_RESPOND_RECORD);
    v = one(q, file("/y", ST_ACCESS_READ));
    assert_int_equal(v.response, ST_RESPOND_PAUSE);
}

static void a_deny_by_address_before_an_allow_by_name_wins(void **state)
{
    st_auto_policy p = load(
        HEAD "rules:\n"
             "  - { id: metadata, type: network_egress, action: deny, destinations: [{ cidr: 169.254.0.0/16 "
             "}, { cidr: 'fd00:ec2::254' }] }\n"
             "  - { id: ours, type: network_egress, destinations: [{ host: '**.ours.example' }] }\n");
    struct st_event e = sent("api.ours.example", ST_UNKNOWN);
    struct st_verdict v = one(p, e);

    (void)state;
    assert_verdict(&v, ST_ALLOW, "ours");
    st_addr_parse(st_str("169.254.169.254"), &e.net.addr); /* the name was made to point there */
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "metadata");
    assert_reason(
        &v, "a connection to api.ours.example (169.254.169.254) port 443/tcp is refused by rule metadata");
}

static void a_name_may_be_looked_up_where_it_may_be_connected_to(void **state)
{
    st_auto_policy p = load(
        HEAD
        "rules:\n"
        "  - { id: bad, type: network_egress, action: deny, destinations: [{ host: bad.ours.example }] }\n"
        "  - { id: smtp, type: network_egress, action: deny, destinations: [{ host: mail.ours.example, "
        "port: 25 }] }\n"
        "  - { id: names, type: dns_query, names: ['*.arpa.example'] }\n"
        "  - { id: ours, type: network_egress, destinations: [{ host: '**.ours.example', port: 443 }, { "
        "cidr: 10.0.0.0/8 }] }\n");
    st_auto_policy open =
        load(HEAD "rules:\n  - { id: any, type: network_egress, destinations: [{ cidr: 0.0.0.0/0 }] }\n");
    static const struct {
        const char *name;
        enum st_result result;
        const char *rule;
    } rows[] = {
        {"api.ours.example", ST_ALLOW, "ours"}, {"API.ours.example.", ST_ALLOW, "ours"},
        {"bad.ours.example", ST_DENY, "bad"},   {"mail.ours.example", ST_ALLOW, "ours"},
        {"x.arpa.example", ST_ALLOW, "names"},  {"secret-in-a-label.evil.example", ST_DENY, NULL},
        {"evilours.example", ST_DENY, NULL},    {"", ST_DENY, NULL},
    };
    struct st_verdict v;

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        v = one(p, query(rows[i].name));
        assert_verdict(&v, rows[i].result, rows[i].rule);
    }
    v = one(p, query("evil.example"));
    assert_reason(&v, "no rule allows looking up evil.example");
    v = one(open, query("any.example"));
    assert_verdict(&v, ST_ALLOW, "any");
}

static void a_list_of_programs_means_no_others(void **state)
{
    st_auto_policy p =
        load(HEAD "rules:\n  - { id: tools, type: process, exec: ['/usr/bin/**', '/workspace/**'] }\n");
    st_auto_policy open = load(
        HEAD
        "defaults: { process: allow }\nrules:\n  - { id: tools, type: process, exec: ['/usr/bin/**'] }\n");
    struct st_verdict v = one(p, process(ST_PROC_EXEC, "/usr/bin/git"));
    struct st_event script = process(ST_PROC_EXEC, "/workspace/run.sh");

    (void)state;
    assert_verdict(&v, ST_ALLOW, "tools");
    v = one(p, process(ST_PROC_EXEC, "/tmp/nc"));
    assert_verdict(&v, ST_DENY, NULL);
    assert_reason(&v, "no rule allows running /tmp/nc");
    v = one(p, file("/tmp/nc", ST_ACCESS_EXEC)); /* the same fact from the other sensor */
    assert_verdict(&v, ST_DENY, NULL);
    v = one(p, file("/usr/bin/git", ST_ACCESS_EXEC));
    assert_verdict(&v, ST_ALLOW, "tools");
    script.proc.interpreter = st_str("/tmp/sh"); /* a script runs its interpreter */
    v = one(p, script);
    assert_verdict(&v, ST_DENY, NULL);
    v = one(open, process(ST_PROC_EXEC, "/tmp/nc"));
    assert_verdict(&v, ST_ALLOW, NULL);
    v = one(p, process(ST_PROC_EXIT, "/tmp/nc"));
    assert_verdict(&v, ST_ALLOW, NULL);
}

static void the_stripe_manifest_decides_as_it_did(void **state)
{
    st_auto_policy p =
        load("schema_version: \"1.0\"\nrules:\n  - id: tool:stripe_charge\n    type: network_egress\n    "
             "destinations:\n      - host: api.stripe.com\n        port: 443\n    max_bytes_per_call: 4096\n"
             "  - id: tool:read_file\n    type: filesystem\n    paths:\n      - /home/agent/**\n      - "
             "/tmp/**\n");
    struct st_event e = sent("api.stripe.com", 316), summary = {.type = ST_EV_FILESYSTEM_SUMMARY};
    struct st_verdict v = one(p, e);

    (void)state;
    assert_verdict(&v, ST_ALLOW, "tool:stripe_charge");
    v = one(p, sent("api.stripe.com", 5000));
    assert_verdict(&v, ST_ANOMALY, "tool:stripe_charge");
    v = one(p, sent("evil.com", 100));
    assert_verdict(&v, ST_DENY, NULL);
    e.net.port = 80;
    v = one(p, e);
    assert_verdict(&v, ST_DENY, NULL);
    summary.json = ST_STR_LIT(
        "{\"files_created\":[\"/tmp/a\",{\"path\":\"/home/agent/b\",\"size\":3}],\"files_deleted\":[],"
        "\"files_modified\":[],\"total_bytes_written\":0}");
    v = one(p, summary);
    assert_verdict(&v, ST_ALLOW, "tool:read_file");
    summary.json = ST_STR_LIT("{\"files_created\":[\"/tmp/a\"],\"files_deleted\":[\"/etc/"
                              "passwd\"],\"files_modified\":[\"/tmp/b\"]}");
    v = one(p, summary);
    assert_verdict(&v, ST_DENY, NULL);
    assert_reason(&v, "no rule allows deleting /etc/passwd");
    summary.json = ST_STR_LIT("{\"files_created\":[7]}");
    v = one(p, summary);
    assert_verdict(&v, ST_DENY, NULL);
    summary.json = ST_STR_LIT("not json");
    v = one(p, summary);
    assert_verdict(&v, ST_DENY, NULL);
    summary.json = ST_STR_LIT("{}");
    v = one(p, summary);
    assert_verdict(&v, ST_ALLOW, NULL);
}

static void the_form_with_fs_writes_decides_as_it_says(void **state)
{
    st_auto_policy p =
        load("fs_writes:\n  allowed_prefixes: [/scratch]\n  blocked_prefixes: [/scratch/keep, /etc]\n"
             "network:\n  allowed_domains: [mirror.example]\n  blocked_domains: [files.mirror.example]\n  "
             "allowed_ports: "
             "[443]\n"
             "severity_rules:\n  critical: { paths: [/etc/shadow], domains: [pastebin.com] }\n  high: { "
             "paths: [/etc] }\n");
    static const struct {
        const char *path;
        unsigned access;
        enum st_result result;
        enum st_severity severity;
    } rows[] = {
        {"/scratch/a", ST_ACCESS_CREATE, ST_ALLOW, ST_SEV_NONE},
        {"/scratchx", ST_ACCESS_CREATE, ST_DENY, ST_SEV_HIGH},
        {"/scratch/keep/a", ST_ACCESS_WRITE, ST_DENY, ST_SEV_HIGH},
        {"/etc/hosts", ST_ACCESS_READ, ST_ALLOW, ST_SEV_NONE},
        {"/etc/hosts", ST_ACCESS_WRITE, ST_DENY, ST_SEV_HIGH},
        {"/etc/shadow", ST_ACCESS_ATTRIB, ST_DENY, ST_SEV_CRITICAL},
        {"/var/x", ST_ACCESS_DELETE, ST_DENY, ST_SEV_HIGH},
    };
    static const struct {
        const char *host;
        enum st_result result;
        enum st_severity severity;
    } hosts[] = {
        {"mirror.example", ST_ALLOW, ST_SEV_NONE},      {"x.mirror.example", ST_ALLOW, ST_SEV_NONE},
        {"files.mirror.example", ST_DENY, ST_SEV_HIGH}, {"notmirror.example", ST_DENY, ST_SEV_HIGH},
        {"a.pastebin.com", ST_DENY, ST_SEV_CRITICAL},
    };
    struct st_verdict v;

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        v = one(p, file(rows[i].path, rows[i].access));
        if (v.result != rows[i].result || v.severity != rows[i].severity)
            fail_msg("%s: %s", rows[i].path, v.reason.p);
    }
    for (size_t i = 0; i < N_OF(hosts); i++) {
        v = one(p, sent(hosts[i].host, 1));
        if (v.result != hosts[i].result || v.severity != hosts[i].severity)
            fail_msg("%s: %s", hosts[i].host, v.reason.p);
    }
}

static void what_the_monitor_says_of_itself_is_not_judged(void **state)
{
    st_auto_policy p =
        load(HEAD "rules:\n  - { id: all, type: match, action: deny, match: { event_type: sensor } }\n");
    struct st_event e = {.type = ST_EV_SENSOR, .json = ST_STR_LIT("{}")};
    struct st_verdict v = one(p, e);

    (void)state;
    assert_verdict(&v, ST_ALLOW, NULL);
}

static void rules_about_fields_may_ask_who_it_is_others_do_not(void **state)
{
    st_auto_policy asks =
        load(HEAD "rules:\n  - { id: who, type: match, action: deny, match: { process.uid: 7 } }\n");
    st_auto_policy does_not =
        load(HEAD "rules:\n  - { id: where, type: filesystem, action: deny, paths: ['/x'] }\n");

    (void)state;
    assert_true(st_policy_asks_who(asks));
    assert_false(st_policy_asks_who(does_not));
}

static void an_explanation_names_each_rule_before_the_one_that_decided(void **state)
{
    static const char text[] = HEAD
        "rules:\n"
        "  - { id: net, type: syscall, action: deny, names: [bpf] }\n"
        "  - { id: far, type: network_egress, destinations: [{ host: far.example }] }\n"
        "  - { id: port, type: network_egress, destinations: [{ host: x.example, ports: [80, 8000-8010] }] "
        "}\n"
        "  - { id: udp, type: network_egress, destinations: [{ host: x.example, protocol: udp }] }\n"
        "  - { id: when, type: match, action: deny, match: { dst_host: evil.example } }\n"
        "  - { id: rate, type: threshold, threshold: { metric: count, window: 5m, limit: 100 } }\n"
        "  - { id: seq, type: sequence, sequence: { window: 5m, steps: [{ event_type: network_egress }, { "
        "event_type: filesystem }] } }\n"
        "  - { id: yes, type: network_egress, destinations: [{ host: '*.example' }] }\n";
    static const char *const why[] = {
        "is about syscall",
        "none of its destinations matches",
        "the destination matches, but only on port 80, 8000-8010",
        "the destination matches, but for another protocol",
        "dst_host is x.example, not evil.example",
        "has come to 1 of 100 within 5m",
        "1 of 2 steps done",
    };
    st_auto_policy p = load(text);
    st_auto_counters c = st_counters_new(p);
    struct st_explanation x;
    struct st_event e = sent("x.example", 1);
    struct st_verdict v;

    (void)state;
    st_policy_explain(p, c, &e, &v, &x);
    assert_verdict(&v, ST_ALLOW, "yes");
    assert_int_equal(x.decided, N_OF(why));
    for (size_t i = 0; i < N_OF(why); i++) {
        st_auto_buf out = ST_BUF_INIT;

        st_explanation_why(p, &x, i, &e, &out);
        assert_string_equal(st_buf_cstr(&out), why[i]);
    }
    st_explanation_free(&x);
}

static void an_explanation_gives_the_same_verdict(void **state)
{
    st_auto_policy p = load(HEAD "scope: [/w]\nrules:\n  - { id: a, type: filesystem, paths: ['/w/x/**'], "
                                 "access: [write], action: deny }\n");
    static const char *const paths[] = {"/w/x/y", "/w/y", "/etc", "relative"};

    (void)state;
    for (size_t i = 0; i < N_OF(paths); i++)
        for (unsigned access = 0; access <= ST_ACCESS_ALL; access++) {
            st_auto_counters c = st_counters_new(p);
            struct st_event e = file(paths[i], access);
            struct st_explanation x;
            struct st_verdict v, w;

            st_policy_eval(p, c, &e, &v);
            st_policy_explain(p, c, &e, &w, &x);
            assert_int_equal(v.result, w.result);
            assert_ptr_equal(v.rule.p, w.rule.p);
            assert_int_equal(v.severity, w.severity);
            st_explanation_free(&x);
        }
}

static void a_long_subject_is_cut_between_characters(void **state)
{
    st_auto_policy p = load(HEAD "defaults: { filesystem: { read: deny } }\n");
    char path[1024];
    struct st_verdict v;

    (void)state;
    path[0] = '/';
    for (size_t i = 1; i + 1 < sizeof(path); i += 2)
        memcpy(path + i, "\xc3\xa9", 2);
    path[sizeof(path) - 1] = '\0';
    v = one(p, file(path, ST_ACCESS_READ));
    assert_true(v.reason.len < 320);
    assert_non_null(strstr(v.reason.p, "\xc3\xa9…"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_match_wins),
        cmocka_unit_test(the_gravest_of_several_accesses_decides),
        cmocka_unit_test(severities_lead_to_responses),
        cmocka_unit_test(audit_mode_says_what_would_have_been),
        cmocka_unit_test(a_deny_by_address_before_an_allow_by_name_wins),
        cmocka_unit_test(a_name_may_be_looked_up_where_it_may_be_connected_to),
        cmocka_unit_test(a_list_of_programs_means_no_others),
        cmocka_unit_test(the_stripe_manifest_decides_as_it_did),
        cmocka_unit_test(the_form_with_fs_writes_decides_as_it_says),
        cmocka_unit_test(what_the_monitor_says_of_itself_is_not_judged),
        cmocka_unit_test(rules_about_fields_may_ask_who_it_is_others_do_not),
        cmocka_unit_test(an_explanation_names_each_rule_before_the_one_that_decided),
        cmocka_unit_test(an_explanation_gives_the_same_verdict),
        cmocka_unit_test(a_long_subject_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
