/* show: an event in words, on one line, safe for a terminal. */
#pragma once

#include "audit/decode.h"
#include "base/buf.h"

/* What happened: "read /etc/passwd", "api.stripe.com:443 tcp 316 B sent" … */
void st_show_subject(struct st_buf *out, const struct st_decoded *d);

/* Who did it: "curl[42]"; nothing where it is not known. */
void st_show_actor(struct st_buf *out, const struct st_decoded *d);

/* The whole line, in columns: seq, time, verdict, type, subject, actor, rule. verdict may be another than the
 * recorded one. */
void st_show_line(struct st_buf *out, const struct st_decoded *d, const struct st_verdict *verdict,
                  bool color);

/* One word for what was decided and done: allow, deny, anomaly, paused, killed. */
const char *st_show_outcome(const struct st_verdict *v);

/* 1.5 kB */
void st_show_bytes(struct st_buf *out, uint64_t bytes);

/* NUL-separated words, as a person would type them, cut at about so many bytes. */
void st_show_argv(struct st_buf *out, struct st_str argv, size_t most);

/* A text that others chose. */
void st_show_text(struct st_buf *out, struct st_str s);
