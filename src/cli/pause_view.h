/* pause_view: a pause as a block that stands out: who, what, which rule, why, how long, and the commands that
 * would decide it. Safe for a terminal. */
#pragma once

#include "audit/decode.h"
#include "base/buf.h"
#include "base/json.h"

struct st_pause_view {
    const char *container, *pause_id;
    bool held, by_person;
    bool expires;
    int64_t expires_ms;
    const char *on_timeout; /* may be NULL */
    const char *rule_file;  /* may be NULL */
    int64_t rule_line;
    const char *by;                 /* who paused it, where somebody did; may be NULL */
    const char *config;             /* --config, for the commands; may be NULL */
    const struct st_decoded *event; /* the cause; NULL: not known, or there is none */
};

void st_pause_show(struct st_buf *out, const struct st_pause_view *v, bool color);

/* One item of the answer to `pending`; text is the answer's. */
void st_pause_show_pending(struct st_buf *out, const char *container, const struct st_json_node *pause,
                           const char *text, const char *config, bool color);

/* 1 h 02 m */
void st_show_duration(struct st_buf *out, int64_t ms);
