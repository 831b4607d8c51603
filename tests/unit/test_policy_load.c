/* Loading a policy: the forms, what is refused, and how it is said. */
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"

#include "policy_unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- what a policy says about itself ---- */

static void the_form_of_the_manual_loads(void **state)
{
    static const char text[] = HEAD
        "mode: enforce\nlocked: false\nscope: [/workspace]\n"
        "defaults:\n  filesystem: { read: allow, write: deny, exec: allow }\n  network_egress: deny\n"
        "  network_ingress: allow\n  syscall: allow\n"
        "rules:\n"
        "  - id: secrets\n    type: filesystem\n    action: deny\n    severity: critical\n"
        "    paths: [\"/root/.ssh/**\", \"/home/*/.ssh/**\", \"/etc/shadow\", \"/**/.git/config\"]\n"
        "    access: [read, write]\n"
        "  - id: tool:stripe_charge\n    type: network_egress\n"
        "    destinations: [{ host: \"*.stripe.com\", port: 443 }, { cidr: 10.0.0.0/8, ports: [443, "
        "8000-8010],"
        " protocol: tcp }]\n"
        "    max_bytes_per_call: 4096\n    max_bytes_total: 1048576\n"
        "  - id: no-tracing\n    type: syscall\n    action: deny\n    severity: high\n"
        "    names: [ptrace, process_vm_writev, bpf, mount, setns, unshare]\n"
        "  - id: only-our-tools\n    type: process\n    exec: [\"/usr/bin/**\", \"/workspace/**\"]\n"
        "floor: mount\ndepth: guard\n"
        "process_limits: { max_depth: 16, max_children: 128, max_processes: 512, max_forks_per_second: 90 }\n"
        "on_violation: { low: record, medium: deny, high: pause, critical: pause }\n"
        "pause: { hold: true, timeout: 15m, on_timeout: deny }\nfold: { window: 10s }\n";
    st_auto_policy p = load(text);
    const char *const *scope;
    const struct st_rule *rules;

    (void)state;
    assert_string_equal(st_policy_name(p), "t");
    assert_int_equal(st_policy_mode(p), ST_MODE_ENFORCE);
    assert_false(st_policy_locked(p));
    assert_int_equal(st_policy_scope(p, &scope), 1);
    assert_string_equal(scope[0], "/workspace");
    assert_int_equal(st_policy_floor(p), ST_FLOOR_MOUNT);
    assert_int_equal(st_policy_depth(p), ST_DEPTH_GUARD);
    assert_int_equal(st_policy_process_limits(p)->max_children, 128);
    assert_int_equal(st_policy_process_limits(p)->max_forks, 90);
    assert_int_equal(st_policy_on_violation(p, ST_SEV_HIGH), ST_RESPOND_PAUSE);
    assert_int_equal(st_policy_pause(p)->timeout_ms, 15 * 60 * 1000);
    assert_int_equal(st_policy_fold_ms(p), 10000);
    assert_int_equal(st_policy_defaults(p)->exec, ST_DENY); /* a list of programs: no others */
    assert_int_equal(st_policy_rules(p, &rules), 4);
    assert_string_equal(rules[1].id, "tool:stripe_charge");
    assert_int_equal(rules[1].dests[1].ports[1].high, 8010);
    assert_int_equal(rules[1].max_bytes_per_call, 4096);
    assert_int_equal(rules[0].at.line, 12);
}

static void a_seed_manifest_loads_unchanged(void **state)
{
    st_auto_policy p =
        load("schema_version: \"1.0\"\n\nrules:\n  - id: tool:stripe_charge\n    type: network_egress\n"
             "    destinations:\n      - host: api.stripe.com\n        port: 443\n"
             "    max_bytes_per_call: 4096\n\n  - id: tool:read_file\n    type: filesystem\n"
             "    paths:\n      - /home/agent/**\n      - /tmp/**\n");
    const struct st_rule *rules;

    (void)state;
    assert_int_equal(st_policy_rules(p, &rules), 2);
    assert_string_equal(rules[0].dests[0].host, "api.stripe.com");
    assert_int_equal(st_policy_defaults(p)->egress, ST_DENY);
    assert_int_equal(st_policy_defaults(p)->fs_write, ST_DENY);
    assert_string_equal(st_policy_name(p), "t"); /* of the file */
}

static void the_form_with_fs_writes_loads_unchanged(void **state)
{
    st_auto_policy p = load(
        "fs_writes:\n  allowed_prefixes: [/tmp, /scratch/]\n  blocked_prefixes: [/etc, ~/.ssh]\n"
        "network:\n  allowed_domains: [mirror.example]\n  blocked_domains: [pastebin.com]\n  allowed_ports: "
        "[443]\n"
        "process_limits: { max_depth: 4, max_fanout: 30 }\n"
        "severity_rules:\n  high: { paths: [/usr] }\n  critical: { paths: [/etc/shadow], domains: [evil.com] "
        "}\n");
    const struct st_rule *rules;

    (void)state;
    assert_int_equal(st_policy_rules(p, &rules), 7);
    assert_string_equal(rules[0].id, "severity_rules.critical.paths");
    assert_int_equal(rules[0].severity, ST_SEV_CRITICAL);
    assert_string_equal(rules[2].id, "severity_rules.high.paths");
    assert_string_equal(rules[3].id, "fs_writes.blocked_prefixes");
    assert_string_equal(rules[3].paths[1], "/root/.ssh/**");
    assert_string_equal(rules[3].paths[2], "/home/*/.ssh/**");
    assert_string_equal(rules[4].paths[1], "/scratch/**");
    assert_string_equal(rules[6].dests[1].host, "**.mirror.example");
    assert_int_equal(rules[6].dests[1].ports[0].low, 443);
    assert_int_equal(st_policy_process_limits(p)->max_depth, 4);
    assert_int_equal(st_policy_process_limits(p)->max_children, 30);
    assert_true(st_policy_process_limits(p)->max_forks == ST_UNKNOWN);
}

static void the_hash_of_one_file_is_that_of_its_bytes(void **state)
{
    static const char text[] = HEAD;
    unsigned char digest[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];
    st_auto_policy p = load(text);

    (void)state;
    st_sha256(text, strlen(text), digest);
    st_hex(digest, sizeof(digest), hex);
    assert_string_equal(st_policy_sha256(p), hex);
}

static void a_locked_policy_can_not_be_put_into_audit_mode(void **state)
{
    st_auto_policy locked = load(HEAD "locked: true\n");
    st_auto_policy open = load(HEAD);
    st_auto_policy audit = NULL;
    st_auto_policy twin = NULL;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_policy_with_mode(locked, ST_MODE_AUDIT, &audit, &err), -EPERM);
    assert_non_null(strstr(err.msg, "locked"));
    assert_int_equal(st_policy_with_mode(locked, ST_MODE_ENFORCE, &twin, &err), 0);
    assert_int_equal(st_policy_with_mode(open, ST_MODE_AUDIT, &audit, &err), 0);
    assert_int_equal(st_policy_mode(audit), ST_MODE_AUDIT);
    assert_int_equal(st_policy_floor(audit), ST_FLOOR_OFF);
    assert_int_equal(st_policy_floor(open), ST_FLOOR_MOUNT);
    assert_string_equal(st_policy_sha256(audit), st_policy_sha256(open));
}

static bool is_listed(void *ctx, const char *path)
{
    return strcmp(ctx, path) == 0;
}

static void a_rule_may_hold_only_where_a_path_is_there_at_the_start(void **state)
{
    st_auto_policy p = load(
        HEAD
        "scope: [/w]\nrules:\n"
        "  - { id: a, type: filesystem, action: deny, paths: [/w/.git/config], if_exists: /w/.git }\n"
        "  - { id: b, type: filesystem, action: deny, paths: [/w/x], if_exists: /w/y }\n"
        "  - { id: c, type: match, action: deny, match: { path: { glob: '/w/z/**' } } }\n"
        "  - { id: d, type: network_egress, max_bytes_total: 5, destinations: [{ host: a.example }] }\n");
    static char present[] = "/w/.git";
    st_auto_policy settled = st_policy_settle(p, is_listed, present);
    struct st_verdict v = one(p, file("/w/x", ST_ACCESS_WRITE));
    const struct st_rule *rules;

    (void)state;
    assert_verdict(&v, ST_DENY, "b"); /* until it is settled, everything holds */
    assert_int_equal(st_policy_rules(settled, &rules), 3);
    v = one(settled, file("/w/x", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_ALLOW, NULL);
    v = one(settled, file("/w/.git/config", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, "a");
    v = one(settled, file("/w/z/q", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, "c");
    v = one(settled, sent("a.example", 6));
    assert_verdict(&v, ST_ANOMALY, "d");
    assert_string_equal(st_policy_sha256(settled), st_policy_sha256(p));
    st_policy_shed(settled); /* somebody asks the first one still */
    v = one(p, file("/w/x", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, "b");
    st_policy_unref(p); /* the settled one keeps what it needs */
    p = NULL;
    st_policy_shed(settled);
    st_policy_shed(settled);
    v = one(settled, file("/w/.git/config", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, "a");
    v = one(settled, file("/w/z/q", ST_ACCESS_WRITE));
    assert_verdict(&v, ST_DENY, "c");
    v = one(settled, sent("a.example", 6));
    assert_verdict(&v, ST_ANOMALY, "d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_of_the_manual_loads),
        cmocka_unit_test(a_seed_manifest_loads_unchanged),
        cmocka_unit_test(the_form_with_fs_writes_loads_unchanged),
        cmocka_unit_test(the_hash_of_one_file_is_that_of_its_bytes),
        cmocka_unit_test(a_locked_policy_can_not_be_put_into_audit_mode),
        cmocka_unit_test(a_rule_may_hold_only_where_a_path_is_there_at_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
