/* control_client: the watched containers of this host, and a conversation with the monitor of one.
 *
 * docs/control.md has the protocol. Who watches is found in the state directory; nothing there is believed
 * that its monitor does not say itself. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "model/str.h"

#include <stdbool.h>
#include <stddef.h>

struct st_box {
    char *id;
    int dirfd;  /* of its state directory (O_PATH); -1: it can't be entered */
    int errnum; /* why not */
};

struct st_boxes {
    struct st_box *list; /* by ID */
    size_t n;
};

/* Containers with a state directory. None at all is no error. */
int st_boxes_read(const char *state_dir, struct st_boxes *out, struct st_error *err);
void st_boxes_free(struct st_boxes *b);
#define st_auto_boxes __attribute__((cleanup(st_boxes_free))) struct st_boxes

/* By ID or a beginning of it that only one has. NULL: err says which there are. */
const struct st_box *st_boxes_find(const struct st_boxes *b, const char *id, struct st_error *err);

struct st_answer {
    struct st_buf text;
    struct st_json_doc *doc;
    const struct st_json_node *root;
};

void st_answer_free(struct st_answer *a);
#define st_auto_answer __attribute__((cleanup(st_answer_free))) struct st_answer

/* Asks and waits for the answer, one line each. A refusal of the monitor is -EREMOTEIO with its message, and
 * the answer is there to look at. */
int st_ask(const struct st_box *box, const char *request, size_t len, struct st_answer *out,
           struct st_error *err);

/* A connection on which the request has been sent, for who wants to read more than one line. */
int st_ask_on(const struct st_box *box, const char *request, size_t len, struct st_error *err);

/* The stable code of a refusal, or "". */
const char *st_answer_code(const struct st_answer *a);

/* The login name of who runs this; of who ran sudo, where it was that. */
const char *st_login_name(void);

/* state.json of the container; false: it has none that can be read. */
bool st_box_state(const struct st_box *box, struct st_answer *out);

/* The object at node, with one member more, in order. */
void st_json_with(struct st_buf *out, const char *text, const struct st_json_node *object, const char *key,
                  const char *value);
