/* watch: see watch.h. */
#include "monitor/watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/netgroup.h"
#include "monitor/outpost.h"
#include "monitor/quarantine.h"
#include "sensors/fan.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREDECESSOR_TIMEOUT_NS 5000000000LL

struct shared {
    struct st_pulse pulse;
    struct st_doom doom;
};
_Static_assert(sizeof(struct shared) <= 4096, "one page");

static int open_freezer(struct st_watch *w, struct st_error *err)
{
    enum st_cgroup_choice choice = strcmp(w->order.freezer, "v1") == 0   ? ST_CGROUP_ONLY_V1
                                   : strcmp(w->order.freezer, "v2") == 0 ? ST_CGROUP_ONLY_V2
                                                                         : ST_CGROUP_AUTO;
    struct st_error why = {0};

    if (st_cgroup_open(&w->mounts, w->order.pid, choice, &w->cgroup, &why) == 0) {
        w->can_freeze = true;
        return 0;
    }
    /* A container that can't be frozen alone is still watched: where it would be frozen it is killed. */
    snprintf(w->no_freeze, sizeof(w->no_freeze), "%.255s", why.msg);
    if (choice != ST_CGROUP_AUTO)
        return st_fail(err, why.errnum, "freezer %s: %s", w->order.freezer, why.msg);
    return 0;
}

static int open_all(struct st_watch *w, const char *order, size_t len, struct st_error *err)
{
    struct shared *shared;

    /* Where there are many mounts it takes milliseconds. */
    if (st_order_parse(order, len, &w->order, err) < 0 || st_mounts_read(0, &w->mounts, err) < 0 ||
        st_statedir_claim(w->order.state_dir, PREDECESSOR_TIMEOUT_NS, &w->state, err) < 0 ||
        st_statedir_share(&w->state, w->order.control_gid, err) < 0)
        return -err->errnum;
    if (!w->order.light) {
        w->fan = st_fan_open(err);
        if (w->fan < 0)
            return w->fan;
    }
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return st_fail_errno(err, "shared memory");
    w->pulse = &shared->pulse;
    w->doom = &shared->doom;
    return 0;
}

int st_watch_open(struct st_watch *w, const char *order, size_t len, struct st_error *err)
{
    *w = (struct st_watch){.life = ST_LIFECYCLE_NONE,
                           .cgroup = ST_CGROUP_NONE,
                           .unified = ST_CGROUP_NONE,
                           .state = ST_STATEDIR_NONE,
                           .fan = -1,
                           .worker_epfd = -1,
                           .errands = -1,
                           .runtime = -1,
                           .network = -1,
                           .outpost = -1,
                           .warden = getpid()};
    if (open_all(w, order, len, err) < 0) {
        st_watch_close(w);
        return -err->errnum;
    }
    return 0;
}

static bool is_in_our_network(pid_t pid)
{
    struct stat own, theirs;
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    return stat("/proc/self/ns/net", &own) == 0 && stat(path, &theirs) == 0 && own.st_dev == theirs.st_dev &&
           own.st_ino == theirs.st_ino;
}

int st_watch_meet(struct st_watch *w, pid_t pid, struct st_error *err)
{
    struct st_error no_group = {0}, no_unified = {0};
    int rc;

    if (pid)
        w->order.pid = pid;
    w->started_ns = st_now_mono_ns();
    st_close(&w->runtime);
    if (w->order.pid <= 0)
        return st_fail(err, EINVAL, "order to the monitor: no process");
    if (st_lifecycle_open(w->order.pid, &w->life, err) < 0)
        return -err->errnum;
    w->hosts_network = is_in_our_network(w->order.pid);
    if (st_watch_by_group(w) && st_netgroup_find(w->order.pid, &w->group, &no_group) < 0)
        snprintf(w->no_group, sizeof(w->no_group), "%.250s", no_group.msg);
    rc = open_freezer(w, err);
    if (rc == 0 && st_watch_unified(w) < 0)
        st_cgroup_open(&w->mounts, w->order.pid, ST_CGROUP_ONLY_V2, &w->unified, &no_unified);
    st_mounts_free(&w->mounts);
    return rc;
}

void st_watch_rules(const struct st_watch *w, struct st_ruleset *out)
{
    char name[ST_RULESET_NAME];
    const struct st_ruleset_order order = {.group = w->group, .table = st_watch_by_group(w) ? name : NULL};

    st_ruleset_name(w->order.id, name);
    st_ruleset_adopt(out, w->network, &order);
}

void st_watch_cut_network(const struct st_watch *w)
{
    struct st_ruleset rules;
    struct st_error err = {0};

    st_outpost_tell(w->outpost, ST_OUTPOST_CUT);
    if (w->network < 0)
        return;
    st_watch_rules(w, &rules);
    st_ruleset_cut(&rules, &err);
}

void st_watch_members(const struct st_watch *w, struct st_membership *out)
{
    snprintf(out->controller, sizeof(out->controller), "%s", w->cgroup.kind == ST_CGROUP_V1 ? "freezer" : "");
    snprintf(out->path, sizeof(out->path), "%s", w->cgroup.path);
    out->tree = w->tree;
}

void st_watch_remove(struct st_watch *w)
{
    if (!w->state.path)
        return;
    if (w->order.listener)
        unlink(w->order.listener);
    st_statedir_remove(&w->state);
}

void st_watch_close(struct st_watch *w)
{
    st_watch_remove(w);
    if (w->pulse)
        munmap(w->pulse, sizeof(struct shared)); /* of which it is the beginning */
    w->pulse = NULL;
    st_close(&w->worker_epfd);
    st_close(&w->fan);
    st_close(&w->network);
    st_close(&w->outpost);
    st_close(&w->runtime);
    st_mounts_free(&w->mounts);
    st_cgroup_close(&w->cgroup);
    st_cgroup_close(&w->unified);
    st_lifecycle_close(&w->life);
    st_order_free(&w->order);
}
