/* state: the OCI state that a runtime writes to a hook's stdin, checked as the hostile text it may be. */
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ST_OCI_STATE_MAX ((size_t)4 << 20)
#define ST_OCI_ID_MAX 240 /* it becomes a file name, with a suffix */

struct st_oci_state {
    const char *id;
    const char *bundle; /* absolute */
    const char *status; /* creating, created, running, stopped; "" where the runtime says nothing */
    pid_t pid;          /* 0: none (any more) */
    const struct st_json_node *annotations; /* NULL: none */
    struct st_json_doc *doc;                /* owns all of it */
    char *text;
};

/* The text is copied. */
int st_oci_state_parse(const char *text, size_t len, struct st_oci_state *out, struct st_error *err);
void st_oci_state_free(struct st_oci_state *state);
#define st_auto_oci_state __attribute__((cleanup(st_oci_state_free))) struct st_oci_state

/* As runc has it: letters, digits, `_ + , - .`, and neither `.` nor `..`. */
bool st_oci_id_ok(const char *id);
