/* caps: the capabilities with which a process could get past what holds its container, as a runtime reads
 * their names. */
#pragma once

#include "base/json.h"

enum {
    ST_CAP_NET_ADMIN = 1, /* change its network */
    ST_CAP_NET_RAW = 2,   /* write packets by hand */
    ST_CAP_SYS_ADMIN = 4, /* mount and unmount */
    ST_CAPS_ALL = 7
};

/* In letters of any case, with or without its CAP_; 0: none of these. */
unsigned st_cap_bit(const char *name);
/* Its name; NULL: none of these. */
const char *st_cap_name(unsigned bit);

/* Of an OCI process, in any of its sets. */
unsigned st_caps_of(const struct st_json_node *process);
