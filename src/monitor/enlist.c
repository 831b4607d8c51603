/* enlist: see enlist.h. */
#include "monitor/enlist.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "bundle/find.h"
#include "monitor/order_write.h"
#include "monitor/standby.h"
#include "oci/config_edit.h"
#include "oci/facts.h"
#include "oci/openings.h"
#include "oci/seccomp_edit.h"
#include "oci/select.h"

#include <limits.h>
#include <unistd.h>

static int make_places(const struct st_config *config, struct st_error *err)
{
    if (st_mkdir_p(config->state_dir, 0755, err) < 0)
        return -err->errnum;
    return st_mkdir_p(config->log_dir, 0750, err);
}

int st_enlist_order(const struct st_enlist *e, const struct st_config *config,
                    const struct st_oci_state *state, bool bound, struct st_buf *order, struct st_error *err)
{
    st_auto_buf facts = ST_BUF_INIT, profile = ST_BUF_INIT, closing = ST_BUF_INIT;
    st_auto_oci_config oci = NULL;
    struct st_selection selection;
    struct st_order_input in = {.config = config,
                                .state = state,
                                .selection = &selection,
                                .facts = &facts,
                                .control_gid = -1,
                                .listener = e->listener,
                                .listener_fd = bound ? ST_LAUNCH_LISTENER_FD : -1,
                                .floor = e->floor,
                                .profile = &profile};
    char rootfs[PATH_MAX];
    struct st_jw w;
    gid_t gid = 0;

    if (st_oci_config_load(state->bundle, NULL, &oci, err) < 0 ||
        st_bundle_select(config, oci, state->id, &selection, err) < 0)
        return -err->errnum;
    if (selection.disabled)
        return 0;
    if (st_oci_seccomp_note(oci, &profile, err) < 0)
        return -err->errnum;
    st_oci_facts(oci, state->bundle, &facts);
    in.rootfs = rootfs;
    in.opening = st_oci_opening(oci);
    st_jw_init(&w, &closing);
    st_oci_put_read_only(oci, &w);
    in.closing = &closing;
    in.net_admin = st_oci_grants(oci, "CAP_NET_ADMIN");
    in.net_made = st_oci_makes_namespace(oci, "network");
    in.net_raw = in.net_admin || st_oci_grants(oci, "CAP_NET_RAW");
    if (st_bundle_rootfs(oci, state->bundle, rootfs, err) < 0 ||
        st_config_control_gid(config, "/etc/group", &gid, err) < 0 || make_places(config, err) < 0)
        return -err->errnum;
    if (config->control_group)
        in.control_gid = gid;
    st_order_write(order, &in);
    return 0;
}

int st_enlist_standby(const struct st_enlist *e, const struct st_config *config,
                      const struct st_oci_state *state, int socket_fd, int runtime_fd, int listener_fd,
                      struct st_error *err)
{
    st_auto_buf order = ST_BUF_INIT;
    st_auto_launch launch = ST_LAUNCH_NONE;

    /* The monitor comes up while we read. */
    if (st_launch_standby(config->monitor, socket_fd, runtime_fd, listener_fd, &launch, err) < 0 ||
        st_enlist_order(e, config, state, listener_fd >= 0, &order, err) < 0) {
        st_standby_leave(socket_fd);
        if (e->listener)
            unlink(e->listener);
        return -err->errnum;
    }
    st_launch_leave(&launch, &order);
    return 0;
}
