/* guards: see guards.h. */
#include "monitor/guards.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "policy/rule.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What rules refuse by its path. */
static struct st_guarded_pattern *refused_paths(const struct st_policy *policy, size_t *count)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(policy, &rules);
    struct st_guarded_pattern *list = NULL;

    *count = 0;
    for (size_t i = 0; i < n; i++) {
        if (rules[i].type != ST_RULE_FILESYSTEM || rules[i].action != ST_DENY)
            continue;
        list = st_xrealloc(list, (*count + rules[i].n_paths + 1) * sizeof(*list));
        for (size_t k = 0; k < rules[i].n_paths; k++)
            list[(*count)++] = (struct st_guarded_pattern){.text = rules[i].paths[k]};
    }
    return list;
}

int st_guards_open(struct st_guards *g, struct st_pipeline *p, const struct st_watch *w, struct st_error *err)
{
    char path[PATH_MAX + 32];
    st_auto_fd root = -1;
    size_t n;
    st_auto_free struct st_guarded_pattern *refused = refused_paths(p->policy, &n);

    *g = (struct st_guards){.pipeline = p, .objects = st_guarded_new()};
    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)w->order.pid, w->order.rootfs);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return st_fail_errno(err, "open the container's root");
    st_guarded_collect(g->objects, root, refused, n);
    return 0;
}

/* Asked without counting. */
static bool would_refuse(const struct st_guards *g, const struct st_event *ev)
{
    st_auto_counters scratch = st_counters_new(g->pipeline->policy);
    struct st_verdict v = {0};

    st_policy_eval(g->pipeline->policy, scratch, ev, &v);
    return v.result != ST_ALLOW;
}

static bool is_named(const struct st_event *ev, const char *name)
{
    return strlen(name) == ev->fs.path.len && memcmp(name, ev->fs.path.p, ev->fs.path.len) == 0;
}

void st_guards_name(const struct st_guards *g, struct st_event *ev)
{
    const char *name = NULL;
    struct st_event guarded = *ev;

    if (g->objects && ev->fs.op != ST_FS_DELETE && ev->fs.op != ST_FS_RENAME)
        name = st_guarded_find(g->objects, (dev_t)ev->fs.dev, (ino_t)ev->fs.ino);
    if (!name || is_named(ev, name))
        return;
    guarded.fs.target = ev->fs.path;
    guarded.fs.path = st_str(name);
    if (would_refuse(g, &guarded))
        *ev = guarded;
}
