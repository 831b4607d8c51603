/* fields: the names by which `match`, `threshold` and `sequence` rules speak of an event. Private to
 * src/policy.
 *
 * The names are those of the payload (the trace's own), and the older dialect's where they differ. */
#pragma once

#include "model/event.h"

#include <stdbool.h>

#define FIELD_SIZE 256

struct field_value {
    bool known;
    bool number;
    bool fold;         /* names of hosts: upper and lower case alike */
    int64_t n;         /* number */
    struct st_str str; /* else */
    unsigned set;      /* access: a set of ST_ACCESS_*; 0: not a set */
    char room[FIELD_SIZE];
};

int st_field_by_name(const char *name); /* -1 */
const char *st_field_name(unsigned field);
size_t st_field_count(void);
bool st_field_is_number(unsigned field);
bool st_field_is_path(unsigned field); /* a glob is then a path pattern */

/* Values of these fields have one form in which they are compared: names of hosts and addresses. NULL: the
 * text can't be a value of this field. room has FIELD_SIZE bytes. */
const char *st_field_canonical(unsigned field, const char *text, char *room);

void st_field_of(const struct st_event *event, unsigned field, struct field_value *out);
