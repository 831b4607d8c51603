/* order_write: writes what order.h reads; by whoever starts a monitor. */
#pragma once

#include "base/buf.h"
#include "config/config.h"
#include "oci/select.h"
#include "oci/state.h"

#include <sys/types.h>

struct st_order_input {
    const struct st_config *config;
    const struct st_oci_state *state;
    const struct st_selection *selection;
    const struct st_buf *facts;   /* canonical JSON object */
    const char *rootfs;           /* real path */
    int64_t control_gid;          /* -1: root only */
    const char *listener;         /* socket for seccomp notifications; NULL: nothing is notified */
    int listener_fd;              /* as the monitor has it, bound; -1: it is not */
    bool net_admin;               /* the container may change its network namespace */
    bool net_raw;                 /* it can make packets of any kind */
    const char *opening;          /* what config.json opens of the machine, in words; NULL: nothing */
    const struct st_buf *closing; /* st_oci_put_read_only */
    bool net_made;                /* the runtime makes a network namespace for it */
    const char *floor;            /* note of the floor, JSON; NULL: there is none */
    const struct st_buf *profile; /* st_oci_seccomp_note */
};

void st_order_write(struct st_buf *out, const struct st_order_input *in);
