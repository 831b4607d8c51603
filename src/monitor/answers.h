/* answers: what answerers share. Private to answers*.c. */
#pragma once

#include "monitor/worker_private.h"

/* See st_control_answer. */
typedef bool (*st_answerer)(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                            struct st_buf *out);

/* answers_change.c: what changes something. */
bool st_answer_approve(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                       struct st_buf *out);
bool st_answer_deny(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                    struct st_buf *out);
bool st_answer_kill(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                    struct st_buf *out);
bool st_answer_pause(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                     struct st_buf *out);
bool st_answer_resume(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out);
bool st_answer_reload(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out);

/* answers_listen.c: what only listens. */
bool st_answer_events(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out);
bool st_answer_pending(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                       struct st_buf *out);
bool st_answer_summary(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                       struct st_buf *out);

/* answers_engine.c: the shim, before an engine's command. */
bool st_answer_engine(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out);
