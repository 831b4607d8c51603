/* http_live: what handlers ask of monitors (live.h), taken apart. */
#pragma once

#include "base/json.h"
#include "base/json_write.h"
#include "desk/desk.h"

/* One answer. */
struct st_live_answer {
    struct st_buf text;
    struct st_json_doc *doc;
    const struct st_json_node *root; /* NULL: there is none */
};

void st_live_answer_free(struct st_live_answer *a);
#define st_auto_live_answer __attribute__((cleanup(st_live_answer_free))) struct st_live_answer

/* Asks; a refusal of the monitor is an answer like any other. */
int st_live_ask(const struct st_live *l, const char *id, const struct st_buf *request,
                struct st_live_answer *out, struct st_error *err);

/* {"request":NAME} */
int st_live_ask_plain(const struct st_live *l, const char *id, const char *request,
                      struct st_live_answer *out, struct st_error *err);

/* state.json; false: there is none that can be read. */
bool st_live_state(const struct st_live *l, const char *id, struct st_live_answer *out);

/* A member copied as it stands; absent: null. */
void st_live_copy(struct st_jw *w, const char *key, const struct st_live_answer *from,
                  const struct st_json_node *node);

/* {"pending":[…]} of all containers, as /api/pending and the stream tell it. */
int st_live_pending(const struct st_live *l, struct st_buf *out, struct st_error *err);

/* An ID from a path: NULL where it can be none. The caller's. */
char *st_call_id(const struct st_call *c);
