/* sock_text: sockets in the text of /proc/net/raw, raw6, icmp, icmp6. Pure. */
#pragma once

#include "sensors/sock_find.h"

enum st_sock_text_kind { ST_SOCK_TEXT_RAW, ST_SOCK_TEXT_PING };

/* Those that can have sent what is of this flow; of raw ones first those of its protocol, then those of none,
 * then all, for they may write any header. *out is all zero before, and after where there is none. */
void st_sock_text_find(struct st_str text, enum st_sock_text_kind kind, const struct st_flow_tuple *flow,
                       struct st_sock_found *out);
