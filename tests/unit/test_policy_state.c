/* Verdicts that depend on what was before: bytes, limits, thresholds, sequences. */

#include "policy_unit.h"

static void bytes_over_the_limit_are_an_anomaly(void **state)
{
    st_auto_policy p =
        load(HEAD "rules:\n  - { id: tool:stripe_charge, type: network_egress, max_bytes_per_call: 4096, "
                  "max_bytes_total: 10000, destinations: [{ host: '*.stripe.com', port: 443 }] }\n"
                  "  - { id: other, type: network_egress, destinations: [{ host: other.example }] }\n");
    st_auto_counters c = st_counters_new(p);
    struct st_event e = sent("api.stripe.com", 4096);
    struct st_verdict v;

    (void)state;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "tool:stripe_charge");
    e.net.bytes_sent = 5000;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ANOMALY, "tool:stripe_charge");
    assert_int_equal(v.response, ST_RESPOND_PAUSE);
    assert_reason(&v, "5000 bytes sent to api.stripe.com port 443/tcp, over the 4096 a call that rule "
                      "tool:stripe_charge allows");
    e.net.bytes_sent = 904; /* 10,000 in all */
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "tool:stripe_charge");
    e = sent("files.stripe.com", 1); /* the total is the rule's, not one host's */
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ANOMALY, "tool:stripe_charge");
    assert_reason(
        &v, "10001 bytes sent to files.stripe.com port 443/tcp and its like in all, over the 10000 that rule "
            "tool:stripe_charge allows");
    e = sent("other.example", 1 << 30);
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "other");
}

static void a_flow_is_counted_once_however_often_it_is_told(void **state)
{
    st_auto_policy p =
        load(HEAD "rules:\n  - { id: r, type: network_egress, max_bytes_total: 1000, destinations: [{ host: "
                  "x.example }] }\n");
    st_auto_counters c = st_counters_new(p);
    struct st_event e = sent("x.example", ST_UNKNOWN);
    struct st_verdict v;

    (void)state;
    e.net.state = ST_NET_ATTEMPT;
    st_policy_eval(p, c, &e, &v);
    e.net.state = ST_NET_ESTABLISHED;
    for (e.net.bytes_sent = 100; e.net.bytes_sent <= 900; e.net.bytes_sent += 100) {
        st_policy_eval(p, c, &e, &v);
        assert_verdict(&v, ST_ALLOW, "r");
    }
    e.net.bytes_sent = 900;
    e.net.state = ST_NET_CLOSED;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "r");
    e.net.state = ST_NET_ESTABLISHED; /* the next one is seen before it ends */
    e.net.bytes_sent = 101;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ANOMALY, "r");
    e.net.state = ST_NET_ATTEMPT; /* the older dialect: no states, one event a flow */
    e.net.bytes_sent = 60;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "r");
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ANOMALY, "r");
}

static void totals_do_not_overflow(void **state)
{
    st_auto_policy p =
        load(HEAD "rules:\n  - { id: r, type: network_egress, max_bytes_total: 1000, destinations: [{ host: "
                  "x.example }] }\n");
    st_auto_counters c = st_counters_new(p);
    struct st_event e = sent("x.example", INT64_MAX);
    struct st_verdict v;

    (void)state;
    for (int i = 0; i < 3; i++) {
        st_policy_eval(p, c, &e, &v);
        assert_verdict(&v, ST_ANOMALY, "r");
    }
    e.net.bytes_sent = -5; /* not a number of bytes */
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "r");
}

static void process_limits_are_inclusive(void **state)
{
    st_auto_policy p = load(HEAD "process_limits: { max_depth: 4, max_children: 30, max_processes: 100, "
                                 "max_forks_per_second: 50 }\ndefaults: { severity: low }\n");
    st_auto_policy none = load(HEAD "process_limits: { max_depth: unlimited, max_children: unlimited }\n");
    struct st_event e = process(ST_PROC_EXEC, "/bin/sh");
    struct st_verdict v;

    (void)state;
    e.proc.depth = 4;
    e.proc.children = 30;
    e.proc.processes = 100;
    v = one(p, e);
    assert_verdict(&v, ST_ALLOW, NULL);
    e.proc.depth = 5;
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "process_limits");
    assert_reason(&v, "5 levels of processes below the first, over the limit of 4");
    e.proc.depth = 4;
    e.proc.op = ST_PROC_FORK_LIMIT;
    e.proc.children = 31;
    v = one(p, e);
    assert_reason(&v, "31 children of one process, over the limit of 30");
    e.proc.children = 1;
    e.proc.processes = 101;
    v = one(p, e);
    assert_reason(&v, "101 processes at once, over the limit of 100");
    assert_int_equal(v.response, ST_RESPOND_PAUSE);
    e.proc.processes = 100;
    e.proc.forks = 50;
    v = one(p, e);
    assert_verdict(&v, ST_ALLOW, NULL);
    e.proc.forks = 51;
    v = one(p, e);
    assert_reason(&v, "51 processes begun within a second, over the limit of 50");
    assert_int_equal(v.severity, ST_SEV_HIGH); /* whatever the default is */
    e.proc.depth = e.proc.children = 1 << 20;
    e.proc.processes = 512;
    v = one(none, e);
    assert_verdict(&v, ST_ALLOW, NULL);
}

static void match_rules_look_at_fields(void **state)
{
    st_auto_policy p = load(
        HEAD
        "defaults: { network_egress: allow }\nrules:\n"
        "  - { id: glob, type: match, action: deny, match: { dst_host: { glob: '*.evil.com' } } }\n"
        "  - { id: path, type: match, action: deny, match: { event_type: { equals: filesystem_summary }, "
        "path: { glob: '/home/agent/credentials*' } } }\n"
        "  - { id: uid, type: match, action: deny, match: { uid: { not_in: [1000, 1001] }, exe: /bin/x } }\n"
        "  - id: out\n    type: match\n    action: deny\n    match:\n      event_type: { equals: "
        "network_egress }\n      dest_host: { not_in: [api.stripe.com, api.openai.com] }\n    bind: { host: "
        "dest_host, n: bytes_sent }\n");
    struct st_event e = file("/home/agent/credentials.json", ST_ACCESS_READ);
    struct st_verdict v = one(p, sent("www.EVIL.com", 10));

    (void)state;
    assert_verdict(&v, ST_DENY, "glob");
    v = one(p, sent("api.stripe.com", 10));
    assert_verdict(&v, ST_ALLOW, NULL);
    v = one(p, sent("other.example", 10));
    assert_verdict(&v, ST_DENY, "out");
    assert_reason(
        &v, "a connection to other.example port 443/tcp is refused by rule out [host=other.example, n=10]");
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "path");
    e.fs.path = st_str("/home/agent/sub/credentials");
    v = one(p, e);
    assert_verdict(&v, ST_ALLOW, NULL);
    e.process = (struct st_process){.present = true, .uid = 0, .exe = ST_STR_LIT("/bin/x")};
    v = one(p, e);
    assert_verdict(&v, ST_DENY, "uid");
    e.process.uid = 1001;
    v = one(p, e);
    assert_verdict(&v, ST_ALLOW, NULL);
    e.process.present = false; /* a field that is not there equals nothing and is in no list */
    v = one(p, e);
    assert_verdict(&v, ST_ALLOW, NULL);
}

static void names_and_addresses_of_match_rules_have_one_form(void **state)
{
    st_auto_policy p =
        load(HEAD "defaults: { network_egress: allow, dns_query: allow }\nrules:\n"
                  "  - { id: host, type: match, action: deny, match: { dst_host: Evil.example. } }\n"
                  "  - { id: idn, type: match, action: deny, match: { dst_host: b\xc3\xbc"
                  "cher.example } }\n"
                  "  - { id: ip, type: match, action: deny, match: { dst_ip: '::ffff:1.2.3.4' } }\n"
                  "  - { id: name, type: match, action: deny, match: { name: { glob: '*.bad.example' } } }\n"
                  "  - { id: path, type: match, action: deny, match: { path: { glob: '/etc/**' } } }\n");
    struct st_verdict v = one(p, sent("EVIL.example.", 1));

    (void)state;
    assert_verdict(&v, ST_DENY, "host");
    v = one(p, sent("xn--bcher-kva.example", 1));
    assert_verdict(&v, ST_DENY, "idn");
    v = one(p, flow(NULL, "0x01020304", 443, IPPROTO_TCP));
    assert_verdict(&v, ST_DENY, "ip");
    v = one(p, query("X.BAD.example."));
    assert_verdict(&v, ST_DENY, "name");
    v = one(p, query("xbad.example"));
    assert_verdict(&v, ST_ALLOW, NULL);
    v = one(p, file("/workspace/../etc/passwd", ST_ACCESS_READ));
    assert_verdict(&v, ST_DENY, "path");
}

static void thresholds_count_within_their_window(void **state)
{
    st_auto_policy p = load(HEAD "rules:\n"
                                 "  - { id: few, type: threshold, severity: medium, threshold: { metric: "
                                 "count, window: 63s, limit: 3, "
                                 "match: { event_type: filesystem } } }\n"
                                 "  - { id: all, type: filesystem, paths: ['/**'] }\n");
    st_auto_counters c = st_counters_new(p);
    struct st_event e = file("/x", ST_ACCESS_READ), other = sent("x.example", 1);
    struct st_verdict v;

    (void)state;
    e.wall_us = 1000 * SECOND;
    other.wall_us = e.wall_us;
    for (int i = 0; i < 3; i++) {
        st_policy_eval(p, c, &e, &v);
        assert_verdict(&v, ST_ALLOW, "all");
        st_policy_eval(p, c, &other, &v); /* not what it counts */
    }
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_DENY, "few");
    assert_int_equal(v.response, ST_RESPOND_DENY);
    assert_reason(&v, "count 4 over the limit of 3 within 1m3s, by rule few");
    e.wall_us += 62 * SECOND;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_DENY, "few"); /* all five are still within it */
    e.wall_us -= 30 * SECOND;           /* the clock was set back: time does not go back */
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_DENY, "few");
    e.wall_us += 200 * SECOND;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "all");
    e.count = 3; /* a folded event counts as often as it happened */
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_DENY, "few");
}

static void thresholds_sum_a_field(void **state)
{
    st_auto_policy p =
        load(HEAD "defaults: { network_egress: allow }\nrules:\n"
                  "  - { id: sum, type: threshold, threshold: { metric: sum, field: bytes_sent, window: 1h, "
                  "limit: 1000.0 } }\n");
    st_auto_counters c = st_counters_new(p);
    struct st_event e = sent("x.example", 600);
    struct st_verdict v;

    (void)state;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, NULL);
    e.net.bytes_sent = 401;
    st_policy_eval(p, c, &e, &v);
    assert_verdict(&v, ST_DENY, "sum");
    assert_reason(&v, "sum 1001 of bytes_sent over the limit of 1000 within 1h, by rule sum");
}

static void a_rate_is_a_count_by_the_second(void **state)
{
    st_auto_policy p = load(
        HEAD "defaults: { dns_query: allow }\nrules:\n"
             "  - { id: rate, type: threshold, threshold: { metric: rate, window: 10s, limit: 0.5, match: { "
             "event_type: dns_query } } }\n");
    st_auto_counters c = st_counters_new(p);
    struct st_event q = query("x.example");
    struct st_verdict v;

    (void)state;
    for (int i = 0; i < 5; i++) { /* five in ten seconds are half a one a second, which is the limit */
        q.wall_us = i * SECOND;
        st_policy_eval(p, c, &q, &v);
        assert_verdict(&v, ST_ALLOW, NULL);
    }
    st_policy_eval(p, c, &q, &v);
    assert_verdict(&v, ST_DENY, "rate");
    assert_reason(&v, "rate 0.6 over the limit of 0.5 within 10s, by rule rate");
}

static void sequences_need_their_steps_in_order_and_in_time(void **state)
{
    static const char text[] =
        HEAD "defaults: { network_egress: allow }\nrules:\n"
             "  - id: exfil\n    type: sequence\n    action: deny\n    sequence:\n      window: 10m\n"
             "      steps:\n        - { event_type: { equals: filesystem }, path: { glob: '/secrets/**' } }\n"
             "        - { event_type: { equals: network_egress } }\n";
    st_auto_policy p = load(text);
    st_auto_counters c = st_counters_new(p);
    struct st_event look = file("/secrets/key", ST_ACCESS_READ), send = sent("x.example", 5);
    struct st_verdict v;

    (void)state;
    st_policy_eval(p, c, &send, &v); /* the other way round is nothing */
    assert_verdict(&v, ST_ALLOW, NULL);
    st_policy_eval(p, c, &look, &v);
    assert_verdict(&v, ST_ALLOW, NULL);
    send.wall_us = 601 * SECOND; /* too late */
    st_policy_eval(p, c, &send, &v);
    assert_verdict(&v, ST_ALLOW, NULL);
    look.wall_us = 700 * SECOND;
    st_policy_eval(p, c, &look, &v);
    look.wall_us = 1200 * SECOND; /* begun again: the later beginning counts */
    st_policy_eval(p, c, &look, &v);
    send.wall_us = 1790 * SECOND;
    st_policy_eval(p, c, &send, &v);
    assert_verdict(&v, ST_DENY, "exfil");
    assert_reason(&v,
                  "a connection to x.example port 443/tcp is the last of 2 steps within 10m, by rule exfil");
    st_policy_eval(p, c, &send, &v); /* done: it takes the whole again */
    assert_verdict(&v, ST_ALLOW, NULL);
}

static void counters_go_along_when_the_policy_is_loaded_again(void **state)
{
    static const char before[] = HEAD
        "rules:\n"
        "  - { id: a, type: network_egress, max_bytes_total: 100, destinations: [{ host: a.example }] }\n"
        "  - { id: b, type: network_egress, max_bytes_total: 100, destinations: [{ host: b.example }] }\n";
    static const char after[] = HEAD
        "rules:\n"
        "  - { id: new, type: network_egress, max_bytes_total: 9, destinations: [{ host: n.example }] }\n"
        "  - { id: b, type: network_egress, max_bytes_total: 100, destinations: [{ host: b.example }] }\n"
        "  - { id: a, type: threshold, threshold: { metric: count, window: 1m, limit: 1000 } }\n";
    st_auto_policy p = load(before);
    st_auto_policy q = load(after);
    st_auto_counters c = st_counters_new(p);
    struct st_event e = sent("b.example", 90);
    struct st_verdict v;

    (void)state;
    st_policy_eval(p, c, &e, &v);
    c = st_counters_renew(q, c);
    e.net.bytes_sent = 11;
    st_policy_eval(q, c, &e, &v);
    assert_verdict(&v, ST_ANOMALY, "b");
    e = sent("n.example", 9);
    st_policy_eval(q, c, &e, &v);
    assert_verdict(&v, ST_ALLOW, "new");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_over_the_limit_are_an_anomaly),
        cmocka_unit_test(a_flow_is_counted_once_however_often_it_is_told),
        cmocka_unit_test(totals_do_not_overflow),
        cmocka_unit_test(process_limits_are_inclusive),
        cmocka_unit_test(match_rules_look_at_fields),
        cmocka_unit_test(names_and_addresses_of_match_rules_have_one_form),
        cmocka_unit_test(thresholds_count_within_their_window),
        cmocka_unit_test(thresholds_sum_a_field),
        cmocka_unit_test(a_rate_is_a_count_by_the_second),
        cmocka_unit_test(sequences_need_their_steps_in_order_and_in_time),
        cmocka_unit_test(counters_go_along_when_the_policy_is_loaded_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
