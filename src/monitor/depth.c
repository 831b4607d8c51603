/* depth: see depth.h. */
#include "monitor/depth.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "monitor/errand.h"
#include "monitor/record.h"
#include "sensors/guarded.h"
#include "sensors/own_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static struct st_depth_mount *mount_by_id(struct st_depth_watch *d, uint64_t id)
{
    for (size_t i = 0; i < d->plan.n_mounts; i++)
        if (id && (uint64_t)d->plan.mounts[i].at->id == id)
            return &d->plan.mounts[i];
    return NULL;
}

/* ---- the plan ---- */

static int make_plan(struct st_depth_watch *d, const struct st_mounts *host, struct st_error *err)
{
    const struct st_order *o = &d->pipeline->watch->order;
    const struct st_footings_order order = {.rootfs = o->rootfs,
                                            .root_readonly = o->floor_root,
                                            .readonly = o->floor_points,
                                            .n_readonly = o->n_floor_points};
    struct st_depth_facts facts = {.asked = ST_DEPTH_STRICT, .notified = o->listener != NULL};

    if (o->depth && st_depth_choose(d->pipeline->policy, o->depth, &facts.asked, err) < 0)
        return -err->errnum;
    d->plan.depth = d->asked = facts.asked;
    if (facts.asked == ST_DEPTH_STRICT)
        return 0;
    st_footings_find(&d->mounts, host, &order, &d->footings);
    facts.mounts = d->footings.list;
    facts.n_mounts = d->footings.n;
    st_depth_plan_make(d->pipeline->policy, &facts, &d->plan);
    return 0;
}

/* ---- objects ---- */

struct marking {
    struct st_depth_watch *d;
    int rc;
};

/* Of an overlay, the names of a file with more than one are different objects to the kernel. */
static bool has_hidden_names(int fd, const struct stat *sb)
{
    struct statfs fs;

    return !S_ISDIR(sb->st_mode) && sb->st_nlink > 1 &&
           (fstatfs(fd, &fs) < 0 || fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

static void widen_by_names(void *ctx, int fd)
{
    struct st_depth_watch *d = ctx;
    struct stat sb;

    if (fstat(fd, &sb) == 0 && !has_hidden_names(fd, &sb))
        return;
    for (size_t i = 0; i < d->plan.n_mounts; i++) {
        if (d->plan.mounts[i].every_open || d->plan.mounts[i].at->silent)
            continue;
        d->plan.mounts[i].every_open = true;
        d->plan.mounts[i].why = "what may be refused has a second name somewhere";
    }
}

static void mark_object(void *ctx, int fd)
{
    struct marking *m = ctx;
    const struct st_depth_mount *mount = mount_by_id(m->d, st_mount_of(fd));
    struct stat sb;
    int rc;

    if (m->rc < 0 || !mount || mount->every_open || mount->at->silent || fstat(fd, &sb) < 0 ||
        S_ISLNK(sb.st_mode))
        return;
    rc = st_fan_mark(m->d->pipeline->watch->fan, ST_FAN_INODE, st_fan_object_mask(S_ISDIR(sb.st_mode)), fd);
    if (rc < 0)
        m->rc = rc;
    else
        m->d->n_objects++;
}

static int mark_objects(struct st_depth_watch *d, struct st_error *err)
{
    const struct st_order *o = &d->pipeline->watch->order;
    st_auto_guarded objects = st_guarded_new();
    st_auto_free struct st_guarded_pattern *patterns = st_xcalloc(d->plan.n_objects + 1, sizeof(*patterns));
    struct marking marking = {.d = d};
    char path[PATH_MAX + 32];
    st_auto_fd root = -1;

    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)o->pid, o->rootfs);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return st_fail_errno(err, "open the container's root");
    for (size_t i = 0; i < d->plan.n_objects; i++)
        patterns[i].text = d->plan.objects[i].list;
    st_guarded_collect(objects, root, patterns, d->plan.n_objects);
    for (size_t i = 0; i < d->plan.n_objects; i++)
        if (!patterns[i].whole)
            st_depth_plan_widen(&d->plan, &d->plan.objects[i], "what may be refused is too much to list");
    st_guarded_each(objects, widen_by_names, d);
    st_guarded_each(objects, mark_object, &marking);
    if (marking.rc < 0)
        return st_fail(err, -marking.rc, "watch what may be refused: %s", strerror(-marking.rc));
    return 0;
}

int st_depth_watch_open(struct st_depth_watch *d, struct st_pipeline *p, struct st_mounts *mounts,
                        const struct st_mounts *host, struct st_mark_plan *marks, struct st_error *err)
{
    d->pipeline = p;
    d->told = -1;
    d->policy = st_policy_ref(p->policy);
    d->mounts = *mounts;
    *mounts = (struct st_mounts){0};
    if (make_plan(d, host, err) < 0 || (d->plan.n_objects && mark_objects(d, err) < 0))
        return -err->errnum;
    for (size_t i = 0; i < marks->n; i++) {
        const struct st_depth_mount *m = mount_by_id(d, (uint64_t)marks->list[i].mount->id);

        if (m && !m->every_open)
            marks->list[i].mask = st_fan_run_mask();
    }
    return 0;
}

int st_depth_watch_tell(struct st_depth_watch *d, const struct st_mark_plan *marks, struct st_error *err)
{
    st_auto_mark_plan told = {.list = st_xcalloc(marks->n + 1, sizeof(*told.list))};

    if (d->plan.depth != ST_DEPTH_RECORD)
        return 0;
    for (size_t i = 0; i < marks->n; i++) {
        const struct st_depth_mount *m = mount_by_id(d, (uint64_t)marks->list[i].mount->id);

        if (marks->list[i].skip || !m || m->every_open)
            continue;
        told.list[told.n] = marks->list[i];
        told.list[told.n++].mask = st_fan_tell_mask();
    }
    d->told = st_fan_open_telling(err);
    return d->told < 0 ? d->told : st_marks_put(d->told, d->pipeline->watch->order.pid, &told, err);
}

bool st_depth_watch_is_told(struct st_depth_watch *d, int fd)
{
    const struct st_depth_mount *m = mount_by_id(d, st_mount_of(fd));

    return m && !m->every_open;
}

void st_depth_watch_close(struct st_depth_watch *d)
{
    st_depth_watch_find(d);
    if (d->pipeline)
        st_close(&d->told);
    st_depth_plan_free(&d->plan);
    st_footings_free(&d->footings);
    st_mounts_free(&d->mounts);
    st_policy_unref(d->policy);
    *d = (struct st_depth_watch){.told = -1};
}

/* As "; depth guard: 12 objects; every open: /dev (rule memory: …)". */
void st_depth_watch_describe(const struct st_depth_watch *d, struct st_buf *out)
{
    const char *before = "; every open:";

    if (d->plan.depth == ST_DEPTH_STRICT) {
        if (d->plan.why)
            st_buf_addf(out, "; depth strict, not %s: %s", st_depth_name(d->asked), d->plan.why);
        return;
    }
    st_buf_addf(out, "; depth %s: %zu objects", st_depth_name(d->plan.depth), d->n_objects);
    if (d->told >= 0)
        st_buf_adds(out, "; other opens are told afterwards, some that are alike as one");
    for (size_t i = 0; i < d->plan.n_mounts; i++) {
        const struct st_depth_mount *m = &d->plan.mounts[i];

        if (!m->every_open)
            continue;
        st_buf_addf(out, "%s %s (%s%s%s%s)", before, m->at->point, m->rule ? "rule " : "",
                    m->rule ? m->rule->id : "", m->rule ? ": " : "", m->why);
        before = ",";
    }
}

/* ---- later ---- */

static void tell(struct st_depth_watch *d, const char *point, const char *why)
{
    st_auto_buf detail = ST_BUF_INIT, payload = ST_BUF_INIT;
    struct st_pipeline *p = d->pipeline;
    struct st_error err = {0};

    st_buf_addf(&detail, "every open of %s is asked about from now on: %s", point, why);
    st_record_sensor(&payload, "files", "on", st_buf_cstr(&detail));
    if (st_pipeline_note(p, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, true, &err) < 0 &&
        p->trace_failed)
        p->trace_failed(p->ctx, &err);
}

static int widen(struct st_depth_watch *d, struct st_depth_mount *m, int fd, const char *why)
{
    const struct st_errand e = {.kind = ST_ERRAND_MARK, .tid = d->pipeline->watch->order.pid};
    int rc = st_errand_do(d->pipeline->watch->errands, &e, fd);

    if (rc < 0)
        return rc;
    m->every_open = true;
    m->why = why;
    tell(d, m->at->point, why);
    return 0;
}

int st_depth_watch_makes(struct st_depth_watch *d, struct st_str path, int fd)
{
    struct st_depth_mount *m;

    if (d->plan.n_objects == 0 || !path.p || fd < 0)
        return 0;
    if (!st_depth_plan_reaches(&d->plan, path))
        return 0;
    m = mount_by_id(d, st_mount_of(fd));
    if (!m || !m->listed || m->every_open)
        return 0;
    return widen(d, m, fd, "something is made where what may be refused could be");
}

void st_depth_watch_expect(struct st_depth_watch *d, struct st_resolved *r)
{
    const struct st_depth_mount *m = d->pipeline ? mount_by_id(d, st_resolved_mount(r)) : NULL;

    if (m && !m->every_open)
        st_made_expect(&d->made, &d->pipeline->summary, r);
}

int st_depth_watch_widen(struct st_depth_watch *d, const char *why, struct st_error *err)
{
    st_auto_mounts now = {0};
    st_auto_fd root = -1;
    char path[32];

    if (!d->pipeline || d->plan.depth == ST_DEPTH_STRICT)
        return 0;
    snprintf(path, sizeof(path), "/proc/%d/root", (int)d->pipeline->watch->order.pid);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return st_fail_errno(err, "open the container's root");
    if (st_mounts_read(d->pipeline->watch->order.pid, &now, err) < 0)
        return -err->errnum;
    for (size_t i = 0; i < now.n; i++) {
        struct st_depth_mount *m = mount_by_id(d, (uint64_t)now.list[i].id);
        st_auto_fd fd = m && !m->every_open && !m->at->silent ? st_marks_open(root, &now.list[i]) : -ESTALE;
        int rc = fd == -ESTALE ? 0 : fd < 0 ? fd : widen(d, m, fd, why);

        if (rc < 0)
            return st_fail(err, -rc, "watch all of %s: %s", now.list[i].point, strerror(-rc));
    }
    d->plan.depth = ST_DEPTH_STRICT;
    return 0;
}
