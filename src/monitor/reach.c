/* reach: see reach.h. */
#include "monitor/reach.h"

#include "sensors/exposure.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

struct kind {
    const char *what;    /* is said of it, with the detail behind */
    const char *why;     /* that is no good */
    const char *instead; /* and what would be */
    size_t let;          /* in struct st_order_reach; 0: never */
};

#define LET(member) offsetof(struct st_order_reach, member)
static const struct kind kinds[ST_EXPOSURES] = {
    [ST_EXPOSED_PIDS] =
        {"the container can see the host's processes: ",
         "those that watch it are among them, and it could signal them",
         "give it a pid namespace of its own, mount no /proc of others, or set host_pid: allow",
         LET(let_pids)},
    [ST_EXPOSED_GROUPS] = {"the container can write control groups: ",
                           "it could thaw itself, or leave its own and the watch with it",
                           "mount them read-only, or set cgroup_write: allow", LET(let_groups)},
    [ST_EXPOSED_ENGINE] = {"the container can reach ", "it could have anything started outside of the watch",
                           "do not mount it, or set engine_socket: allow", LET(let_engine)},
    [ST_EXPOSED_KERNEL] = {"the container can reach what is the machine's own (privileged?): ",
                           "it could change what watches it from beneath",
                           "do not grant it, or set host_devices: allow", LET(let_devices)},
    [ST_EXPOSED_US] = {"the container can reach ", "that is sandtrace's own", "mount less of the host", 0},
};
#undef LET

static bool is_let(const struct st_order_reach *o, const struct kind *k)
{
    return k->let && *(const bool *)((const char *)o + k->let);
}

/* Of one that was not started ahead the table that it had at its start is gone. */
int st_reach_prepare(const struct st_watch *w, struct st_places *out, struct st_error *err)
{
    st_auto_mounts now = {0};

    if (w->mounts.n == 0 && st_mounts_read(0, &now, err) < 0)
        return st_wrap(err, "what no container may reach");
    st_exposure_gather(w->mounts.n ? &w->mounts : &now, w->order.reach.secret, w->order.reach.kept, out);
    return 0;
}

static int find(const struct st_watch *w, const struct st_mount_tables *mounts,
                const struct st_places *places, struct st_exposed *out, struct st_error *err)
{
    const struct st_order_reach *o = &w->order.reach;
    const struct st_exposure_order order = {.pid = w->order.pid,
                                            .rootfs = w->order.rootfs,
                                            .mounts = mounts,
                                            .places = places,
                                            .closing = o->closing};

    if (st_exposure_find(&order, out, err) < 0)
        return st_wrap(err, "what the container can reach");
    if (o->devices && !out->what[ST_EXPOSED_KERNEL][0])
        snprintf(out->what[ST_EXPOSED_KERNEL], ST_EXPOSED_TEXT, "%s", o->devices);
    return 0;
}

static int refuse(const struct kind *k, const char *what, struct st_error *err)
{
    return st_fail(err, EPERM, "%s%s; %s; %s", k->what, what, k->why, k->instead);
}

int st_reach_prove(const struct st_watch *w, struct st_error *err)
{
    struct st_exposed found;

    if (st_exposure_find_open(w->order.pid, &found, err) < 0)
        return st_wrap(err, "what the container can reach");
    for (int i = 0; i < ST_EXPOSURES; i++)
        if (found.what[i][0] && !is_let(&w->order.reach, &kinds[i]))
            return refuse(&kinds[i], found.what[i], err);
    return 0;
}

int st_reach_check(const struct st_watch *w, const struct st_mount_tables *mounts,
                   const struct st_places *places, bool enforce, struct st_buf *open, bool *closing,
                   struct st_error *err)
{
    struct st_exposed found;

    *closing = false;
    if (find(w, mounts, places, &found, err) < 0) {
        if (enforce)
            return -err->errnum;
        st_buf_adds(open, err->msg);
        *err = (struct st_error){0};
        return 0;
    }
    *closing = found.closing;
    for (int i = 0; i < ST_EXPOSURES; i++) {
        const struct kind *k = &kinds[i];

        if (!found.what[i][0])
            continue;
        if (enforce && !is_let(&w->order.reach, k))
            return refuse(k, found.what[i], err);
        st_buf_addf(open, "%s%s%s: %s", open->len ? "; " : "", k->what, found.what[i], k->why);
    }
    return 0;
}
