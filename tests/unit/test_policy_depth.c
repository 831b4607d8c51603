/* Which opens are asked about: by the rules and the mounts alone. */
#include "policy_unit.h"

#include "policy/depth.h"

#include <errno.h>

static const struct st_footing usual[] = {
    {.point = "/", .own = true},
    {.point = "/proc", .silent = true, .writable = true, .own = true},
    {.point = "/dev", .own = true},
    {.point = "/w", .writable = true, .own = true},
    {.point = "/vol"},
    {.point = "/w/held", .own = true},
    {.point = "/w/deep/held", .own = true},
};

#define N_USUAL (sizeof(usual) / sizeof(usual[0]))
#define BASE HEAD "scope: [/w]\nrules:\n"
#define DENY "  - { id: r, type: filesystem, action: deny, "

static void plan_of(struct st_policy *policy, enum st_depth asked, bool notified, struct st_depth_plan *out)
{
    st_depth_plan_make(
        policy,
        &(struct st_depth_facts){.asked = asked, .notified = notified, .mounts = usual, .n_mounts = N_USUAL},
        out);
}

/* The points of mounts of which every open is asked about, and the lists of objects, each with a blank. */
static void say(const struct st_depth_plan *plan, struct st_buf *mounts, struct st_buf *objects)
{
    for (size_t i = 0; i < plan->n_mounts; i++)
        if (plan->mounts[i].every_open)
            st_buf_addf(mounts, "%s ", plan->mounts[i].at->point);
    for (size_t i = 0; i < plan->n_objects; i++)
        st_buf_addf(objects, "%s ", plan->objects[i].list);
}

static const struct {
    const char *text;
    enum st_cost cost; /* of the first rule */
    const char *mounts, *objects, *unseen;
} rows[] = {
    /* nobody can write there, and it can be listed */
    {BASE DENY "paths: [/etc/shadow] }\n", ST_COST_OBJECTS, "", "/etc/shadow ", NULL},
    {BASE DENY "paths: ['/root/.ssh/**', '/home/*/.n?trc'] }\n", ST_COST_OBJECTS, "",
     "/root/.ssh/** /home/*/.n?trc ", NULL},
    /* a part of it can */
    {BASE DENY "paths: ['/opt/**/*.pem'] }\n", ST_COST_OBJECTS, "", "/opt/** ", NULL},
    {BASE DENY "paths: ['/opt/k**'] }\n", ST_COST_OBJECTS, "", "/opt/** ", NULL},
    /* it can't */
    {BASE DENY "access: [read], paths: ['/**/*.pem'] }\n", ST_COST_OPENS,
     "/ /dev /w /vol /w/held /w/deep/held ", "", "/proc"},
    {BASE DENY "paths: ['/opt/a**b'] }\n", ST_COST_OPENS, "/ ", "", NULL},
    {BASE DENY "paths: ['/opt/[x]'] }\n", ST_COST_OPENS, "/ ", "", NULL},
    {BASE DENY "paths: ['/opt/\\*'] }\n", ST_COST_OPENS, "/ ", "", NULL},
    {BASE DENY "paths: ['/opt/\\*/**/x'] }\n", ST_COST_OPENS, "/ ", "", NULL},
    /* what may be made there could be read in the same breath */
    {BASE DENY "access: [read], paths: [/w/x] }\n", ST_COST_OPENS, "/w ", "", NULL},
    {BASE DENY "access: [read], paths: ['/*/x'] }\n", ST_COST_OPENS, "/w /vol ", "/*/x ", "/proc"},
    /* others than the container may make it */
    {BASE DENY "paths: ['/vol/key'] }\n", ST_COST_OPENS, "/vol ", "", NULL},
    {BASE DENY "access: [write], paths: ['/vol/key'] }\n", ST_COST_CALLS, "", "", NULL},
    /* all of a mount */
    {BASE DENY "paths: ['/dev/**'] }\n", ST_COST_OPENS, "/dev ", "", NULL},
    /* another mount has it: one that can't be moved away, or, to write, one that can't be written */
    {BASE DENY "access: [read], paths: ['/w/held/a'] }\n", ST_COST_OBJECTS, "", "/w/held/a ", NULL},
    {BASE DENY "access: [read], paths: ['/w/deep/held/a'] }\n", ST_COST_OPENS, "/w ", "/w/deep/held/a ",
     NULL},
    {BASE DENY "access: [write], paths: ['/w/deep/held/a'] }\n", ST_COST_CALLS, "", "", NULL},
    {BASE DENY "access: [write], paths: ['/w/hel*/a'] }\n", ST_COST_OBJECTS, "", "/w/hel*/a ", NULL},
    /* writing: asked about before; what is there, once more */
    {BASE DENY "access: [write], paths: [/etc/passwd] }\n", ST_COST_CALLS, "", "", NULL},
    {BASE DENY "access: [write], paths: ['/w/.git/hooks/**'] }\n", ST_COST_OBJECTS, "", "/w/.git/hooks/** ",
     NULL},
    {BASE DENY "access: [write], paths: ['/w/.git/modules/**/config'] }\n", ST_COST_OBJECTS, "",
     "/w/.git/modules/** ", NULL},
    {BASE DENY "access: [write], paths: ['/w/**/config'] }\n", ST_COST_OPENS, "/w ", "", NULL},
    {BASE DENY "access: [delete], paths: [/w] }\n", ST_COST_CALLS, "", "", NULL},
    {BASE DENY "access: [exec], paths: ['/w/**'] }\n", ST_COST_RUNS, "", "", NULL},
    /* no file system of processes asks */
    {BASE DENY "paths: ['/proc/*/mem'] }\n", ST_COST_CALLS, "", "", "/proc"},
    /* what allows costs nothing; what is about something else neither */
    {BASE "  - { id: r, type: filesystem, paths: ['/**'] }\n", ST_COST_NOTHING, "", "", NULL},
    {BASE "  - { id: r, type: network_egress }\n", ST_COST_NOTHING, "", "", NULL},
    {BASE "  - { id: r, type: process, exec: ['/usr/**'] }\n", ST_COST_RUNS, "", "", NULL},
    {BASE "  - { id: r, type: syscall, action: deny, names: [mount] }\n", ST_COST_CALLS, "", "", NULL},
    /* rules about more than one event */
    {BASE
     "  - { id: r, type: match, action: deny, severity: low, match: { event_type: filesystem, path: { glob: "
     "'/etc/k*' } } }\n",
     ST_COST_OBJECTS, "", "/etc/k* ", NULL},
    {BASE "  - { id: r, type: match, action: deny, severity: low, match: { path: /w/x, uid: 0 } }\n",
     ST_COST_OPENS, "/w ", "", NULL},
    {BASE "  - { id: r, type: match, action: deny, severity: low, match: { event_type: network_egress } }\n",
     ST_COST_NOTHING, "", "", NULL},
    {BASE "  - { id: r, type: match, action: deny, severity: low, match: { dst_port: 80 } }\n",
     ST_COST_NOTHING, "", "", NULL},
    {BASE "  - { id: r, type: match, action: deny, severity: low, match: { event_type: filesystem, op: "
          "delete } }\n",
     ST_COST_NOTHING, "", "", NULL},
    {BASE "  - { id: r, type: sequence, severity: low, sequence: { window: 1m, steps: [{ path: { glob: "
          "'/etc/x/**' } "
          "}, { event_type: network_egress }] } }\n",
     ST_COST_OBJECTS, "", "/etc/x/** ", NULL},
    {BASE "  - { id: r, type: match, action: deny, severity: low, match: { path: /w/x, process.cwd: /tmp, "
          "comm: cat } "
          "}\n",
     ST_COST_OPENS, "/w ", "", NULL},
    /* a floor that is not there */
    {HEAD "scope: [/w/inner]\nrules:\n" DENY "paths: [/etc/shadow] }\n", ST_COST_OBJECTS, "/w ",
     "/etc/shadow ", NULL},
};

static void no_more_is_asked_about_than_rules_and_mounts_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        st_auto_policy policy = load(rows[i].text);
        st_auto_depth_plan plan = {0};
        st_auto_buf mounts = ST_BUF_INIT, objects = ST_BUF_INIT;

        plan_of(policy, ST_DEPTH_GUARD, true, &plan);
        say(&plan, &mounts, &objects);
        if (plan.depth != ST_DEPTH_GUARD || plan.rules[0].cost != rows[i].cost ||
            strcmp(st_buf_cstr(&mounts), rows[i].mounts) != 0 ||
            strcmp(st_buf_cstr(&objects), rows[i].objects) != 0 || !plan.rules[0].unseen != !rows[i].unseen)
            fail_msg("row %zu: %s, %s; every open of %s; objects %s; unseen %s\n%s", i,
                     st_depth_name(plan.depth), st_cost_name(plan.rules[0].cost), st_buf_cstr(&mounts),
                     st_buf_cstr(&objects), plan.rules[0].unseen, rows[i].text);
    }
}

static const struct {
    const char *text;
    bool notified;
    const char *why;
    bool by_rule;
} strict[] = {
    {BASE DENY "paths: [/x] }\n", false, "without the shim", false},
    {HEAD "mode: audit\n", true, "audit mode", false},
    {HEAD "defaults: { filesystem: { read: deny } }\n", true, "may not be read", false},
    {BASE "  - { id: h, type: process, exec: ['sha256:"
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] }\n",
     true, "content of programs", true},
    {BASE "  - { id: m, type: syscall, names: [getpid, mount] }\n", true, "change its mounts", true},
    {BASE "  - { id: t, type: threshold, severity: low, threshold: { metric: count, window: 1m, limit: 9, "
          "match: { "
          "event_type: filesystem } } }\n",
     true, "opens of anything", true},
    {BASE "  - { id: m, type: match, action: deny, severity: low, match: { uid: 0 } }\n", true,
     "opens of anything", true},
    {BASE "  - { id: m, type: match, action: deny, severity: low, match: { event_type: { not_in: [process] } "
          "} }\n",
     true, "opens of anything", true},
};

static void every_open_is_asked_about_where_less_would_be_milder(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(strict) / sizeof(strict[0]); i++) {
        st_auto_policy policy = load(strict[i].text);
        st_auto_depth_plan plan = {0};

        plan_of(policy, ST_DEPTH_RECORD, strict[i].notified, &plan);
        if (plan.depth != ST_DEPTH_STRICT || !plan.why || !strstr(plan.why, strict[i].why) ||
            !plan.rule == strict[i].by_rule)
            fail_msg("row %zu: %s: %s\n%s", i, st_depth_name(plan.depth), plan.why, strict[i].text);
        assert_int_equal(plan.n_objects, 0);
        for (size_t k = 0; k < plan.n_mounts; k++)
            assert_int_equal(plan.mounts[k].every_open, !usual[k].silent);
    }
}

static void a_locked_policy_is_only_made_deeper(void **state)
{
    st_auto_policy open = load(HEAD "depth: record\n");
    st_auto_policy locked = load(HEAD "locked: true\ndepth: record\n");
    struct st_error err = {0};
    st_auto_depth_plan plan = {0};
    enum st_depth depth;

    (void)state;
    assert_int_equal(st_depth_choose(open, NULL, &depth, &err), 0);
    assert_int_equal(depth, ST_DEPTH_RECORD);
    assert_int_equal(st_depth_choose(open, "guard", &depth, &err), 0);
    assert_int_equal(depth, ST_DEPTH_GUARD);
    assert_int_equal(st_depth_choose(locked, "strict", &depth, &err), 0);
    assert_int_equal(depth, ST_DEPTH_STRICT);
    assert_int_equal(st_depth_choose(locked, "guard", &depth, &err), -EPERM);
    assert_int_equal(st_depth_choose(open, "deep", &depth, &err), -EINVAL);
    plan_of(open, ST_DEPTH_RECORD, true, &plan);
    assert_int_equal(plan.depth, ST_DEPTH_RECORD);
    assert_null(plan.why);
}

static void what_is_made_later_is_known_to_belong_on_the_list(void **state)
{
    st_auto_policy policy = load(BASE DENY "paths: ['/root/.ssh/**', '/etc/k*'] }\n");
    st_auto_depth_plan plan = {0};

    (void)state;
    plan_of(policy, ST_DEPTH_GUARD, true, &plan);
    assert_true(plan.mounts[0].listed);
    assert_false(plan.mounts[3].listed);
    assert_true(st_depth_plan_reaches(&plan, st_str("/root/.ssh")));
    assert_true(st_depth_plan_reaches(&plan, st_str("/root")));
    assert_true(st_depth_plan_reaches(&plan, st_str("/root/.ssh/a/b")));
    assert_true(st_depth_plan_reaches(&plan, st_str("/etc/key")));
    assert_false(st_depth_plan_reaches(&plan, st_str("/etc/key/x")));
    assert_false(st_depth_plan_reaches(&plan, st_str("/root/.sshd")));
    st_depth_plan_widen(&plan, &plan.objects[0], "too many");
    assert_true(plan.mounts[0].every_open);
    assert_string_equal(plan.mounts[0].why, "too many");
    assert_false(plan.mounts[2].every_open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_is_asked_about_than_rules_and_mounts_need),
        cmocka_unit_test(every_open_is_asked_about_where_less_would_be_milder),
        cmocka_unit_test(a_locked_policy_is_only_made_deeper),
        cmocka_unit_test(what_is_made_later_is_known_to_belong_on_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
