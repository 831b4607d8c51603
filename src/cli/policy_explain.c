/* policy explain: what is asked about because of a policy, and what each rule costs; for a container as most
 * are, or for one that runs. */
#include "cli/verb_policy.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/request.h"
#include "policy/depth.h"
#include "sensors/footings.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

struct explained {
    const struct policy_cmd *cmd;
    struct st_policy *policy;
    enum st_depth asked;
    struct st_depth_plan plan;
    struct st_mounts container, host; /* of --container */
    struct st_footings mounts;
};

/* ---- which mounts ---- */

static void add_mount(struct st_footings *f, const char *point, bool writable, bool silent)
{
    f->list = st_xrealloc(f->list, (f->n + 1) * sizeof(*f->list));
    f->list[f->n++] =
        (struct st_footing){.point = point, .writable = writable, .own = true, .silent = silent};
}

/* A floor of mounts leaves these writable, each as a mount of its own. */
static void add_open_trees(struct explained *x)
{
    const struct st_rule *rules;
    const char *const *trees;
    size_t n_rules = st_policy_rules(x->policy, &rules), n = st_policy_writable(x->policy, &trees);
    const char *const *scope;
    size_t n_scope = st_policy_scope(x->policy, &scope);

    for (size_t i = 0; i < n; i++) {
        st_auto_free char *whole = st_xasprintf("%s/**", trees[i]);
        bool open = false;

        for (size_t k = 0; k < n_scope; k++)
            open |= strcmp(scope[k], trees[i]) == 0;
        for (size_t r = 0; r < n_rules; r++)
            for (size_t k = 0; k < rules[r].n_paths; k++)
                open |= rules[r].type == ST_RULE_FILESYSTEM && strcmp(rules[r].paths[k], whole) == 0;
        if (open && strcmp(trees[i], "/") != 0)
            add_mount(&x->mounts, trees[i], true, false);
    }
}

static void assume_mounts(struct explained *x)
{
    bool floor = st_policy_floor(x->policy) == ST_FLOOR_MOUNT;

    add_mount(&x->mounts, "/", !floor, false);
    add_mount(&x->mounts, "/proc", true, true);
    add_mount(&x->mounts, "/sys", false, true);
    add_mount(&x->mounts, "/dev", !floor, false);
    if (floor)
        add_open_trees(x);
}

/* As its own processes would find it. */
static bool is_there(void *ctx, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    st_auto_fd fd = (int)syscall(SYS_openat2, *(int *)ctx, path, &how, sizeof(how));

    return fd >= 0;
}

/* Of rules with a condition it is looked at now: at the start it may have been otherwise. */
static void settle(struct explained *x, int64_t pid)
{
    st_auto_policy loaded = x->policy;
    st_auto_fd root = -1;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    x->policy = root < 0 ? st_policy_ref(loaded) : st_policy_settle(loaded, is_there, &root);
}

static int read_mounts(struct explained *x, int64_t pid)
{
    const struct st_footings_order order = {.rootfs = "/"};
    struct st_error err = {0};

    if (st_mounts_read((pid_t)pid, &x->container, &err) < 0 || st_mounts_read(0, &x->host, &err) < 0)
        return st_cli_error(x->cmd->verb, "%s", err.msg);
    st_footings_find(&x->container, &x->host, &order, &x->mounts);
    return ST_EXIT_OK;
}

/* ---- as text ---- */

static const char *watch_of(const struct st_depth_mount *m)
{
    if (m->every_open)
        return "every open";
    if (m->at->silent)
        return "changes";
    return "changes, executions";
}

static void put_mounts(const struct explained *x)
{
    printf("\n%-24s %-20s %s\n", "MOUNT", "ASKED ABOUT", "BECAUSE");
    for (size_t i = 0; i < x->plan.n_mounts; i++) {
        const struct st_depth_mount *m = &x->plan.mounts[i];
        st_auto_buf point = ST_BUF_INIT;

        st_add_printable(&point, m->at->point, strlen(m->at->point));
        printf("%-24s %-20s %s%s%s%s\n", st_buf_cstr(&point), watch_of(m), m->rule ? "rule " : "",
               m->rule ? m->rule->id : "", m->rule ? ": " : "",
               m->why            ? m->why
               : m->at->silent   ? "its file system has no permission events"
               : m->at->writable ? "writable"
                                 : "read-only");
    }
}

static void put_rules(const struct explained *x)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(x->policy, &rules);

    printf("\n%-24s %s\n", "RULE", "COSTS AT");
    for (size_t i = 0; i < n; i++) {
        const struct st_depth_rule *r = &x->plan.rules[i];

        if (r->cost == ST_COST_NOTHING && !r->unseen)
            continue;
        printf("%-24s %s", rules[i].id, st_cost_name(r->cost));
        if (r->everywhere)
            printf(" of "), st_put_text(r->everywhere);
        printf("\n");
    }
    for (size_t i = 0; i < n; i++)
        if (x->plan.rules[i].unseen) {
            printf("warning: rule %s: reading below ", rules[i].id);
            st_put_text(x->plan.rules[i].unseen);
            printf(" can't be refused: the kernel asks nobody there\n");
        }
}

static void put_text(const struct explained *x)
{
    const struct st_depth_plan *p = &x->plan;

    st_put_text(st_policy_name(x->policy));
    printf(": depth %s", st_depth_name(p->depth));
    if (p->why)
        printf(", not %s: %s%s%s%s", st_depth_name(x->asked), p->rule ? "rule " : "",
               p->rule ? p->rule->id : "", p->rule ? ": " : "", p->why);
    printf("\n");
    if (p->depth != ST_DEPTH_STRICT && !x->cmd->container && !x->cmd->depth_by_policy)
        printf("A container gets that where the annotation io.sandtrace.depth or --depth asks for it; else "
               "every open is\nasked about, because sandtrace.yaml says `depth: strict`.\n");
    put_mounts(x);
    put_rules(x);
    for (size_t i = 0; i < p->n_objects; i++) {
        printf(i ? "  " : "\nopens asked about one by one:\n  ");
        st_put_text(p->objects[i].list);
        printf("\n");
    }
}

/* ---- as JSON ---- */

static void json_mounts(struct st_jw *w, const struct st_depth_plan *p)
{
    st_jw_key(w, "mounts");
    st_jw_array(w);
    for (size_t i = 0; i < p->n_mounts; i++) {
        st_jw_object(w);
        st_jw_kbool(w, "every_open", p->mounts[i].every_open);
        st_jw_kstr(w, "point", p->mounts[i].at->point);
        st_jw_kstr(w, "reason", p->mounts[i].why);
        st_jw_kstr(w, "rule", p->mounts[i].rule ? p->mounts[i].rule->id : NULL);
        st_jw_kbool(w, "writable", p->mounts[i].at->writable);
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

static void put_json(const struct explained *x)
{
    const struct st_depth_plan *p = &x->plan;
    st_auto_buf out = ST_BUF_INIT;
    const struct st_rule *rules;
    struct st_jw w;

    st_policy_rules(x->policy, &rules);
    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kstr(&w, "asked", st_depth_name(x->asked));
    st_jw_kstr(&w, "depth", st_depth_name(p->depth));
    json_mounts(&w, p);
    st_jw_kstr(&w, "name", st_policy_name(x->policy));
    st_jw_key(&w, "objects");
    st_jw_array(&w);
    for (size_t i = 0; i < p->n_objects; i++)
        st_jw_str(&w, p->objects[i].list);
    st_jw_end(&w, ']');
    st_jw_kstr(&w, "reason", p->why);
    st_jw_key(&w, "rules");
    st_jw_array(&w);
    for (size_t i = 0; i < p->n_rules; i++) {
        st_jw_object(&w);
        st_jw_kstr(&w, "cost", st_cost_name(p->rules[i].cost));
        st_jw_kstr(&w, "id", rules[i].id);
        st_jw_kstr(&w, "mount", p->rules[i].everywhere);
        st_jw_kstr(&w, "unseen", p->rules[i].unseen);
        st_jw_end(&w, '}');
    }
    st_jw_end(&w, ']');
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

/* ---- all of it ---- */

/* Its policy and its mounts, as they are now. */
static int of_container(struct explained *x)
{
    st_auto_request r = {0};
    st_auto_answer state = {0};
    struct st_error err = {0};
    const struct st_box *box;
    const char *policy;
    int64_t pid = 0;
    int code = st_request_open(&r, x->cmd->cli, x->cmd->verb);

    if (code != ST_EXIT_OK)
        return code;
    box = st_boxes_find(&r.boxes, x->cmd->container, &err);
    if (!box)
        return st_cli_error(x->cmd->verb, "%s", err.msg);
    if (!st_box_state(box, &state) || !st_json_int(st_json_get(state.root, "pid"), &pid) ||
        !(policy = st_json_str(st_json_get(state.root, "policy"), NULL)))
        return st_cli_error(x->cmd->verb, "%s: its state can't be read", box->id);
    code = st_policy_cmd_load(x->cmd, policy, false, &x->policy);
    if (code != ST_EXIT_OK)
        return code;
    if (st_depth_choose(x->policy, st_json_str(st_json_get(state.root, "depth"), NULL), &x->asked, &err) < 0)
        return st_cli_error(x->cmd->verb, "%s: %s", box->id, err.msg);
    settle(x, pid);
    return read_mounts(x, pid);
}

static int of_policy(struct explained *x, const char *what)
{
    int code = st_policy_cmd_load(x->cmd, what, false, &x->policy);

    if (code != ST_EXIT_OK)
        return code;
    x->asked = st_policy_depth(x->policy);
    assume_mounts(x);
    return ST_EXIT_OK;
}

int st_policy_explain_plan(struct policy_cmd *c, int argc, char **args)
{
    struct explained x = {.cmd = c};
    int code;

    if (c->container ? argc != 0 : argc != 1)
        return st_cli_usage(c->verb, "explain one policy, or --container ID");
    code = c->container ? of_container(&x) : of_policy(&x, args[0]);
    if (code == ST_EXIT_OK) {
        st_depth_plan_make(
            x.policy,
            &(struct st_depth_facts){
                .asked = x.asked, .notified = true, .mounts = x.mounts.list, .n_mounts = x.mounts.n},
            &x.plan);
        if (c->cli->json)
            put_json(&x);
        else
            put_text(&x);
    }
    st_depth_plan_free(&x.plan);
    st_footings_free(&x.mounts);
    st_mounts_free(&x.container);
    st_mounts_free(&x.host);
    st_policy_unref(x.policy);
    return code;
}
