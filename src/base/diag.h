/* diag: all that is wrong with a file, said at once and with its place.
 *
 * A reader adds what it finds and goes on; who asked for the file renders the list. Text from the file
 * is made harmless for a terminal before it is kept (control characters, direction overrides). */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/yaml.h"

#include <stdbool.h>
#include <stddef.h>

/* The file that is being read; borrowed. */
struct st_diag_file {
    const char *name;
    const char *text;
    size_t len;
};

struct st_diag {
    bool warning;
    char *file;
    unsigned line, column; /* 0: the file as a whole */
    unsigned caret, width; /* where under `source`, and how many characters */
    char *what;
    char *right;  /* what would be right; may be NULL */
    char *source; /* the line, or the part of it around the column; may be NULL */
};

/* Beyond this many the rest is only counted. */
#define ST_DIAG_MAX 64

struct st_diagnostics {
    struct st_diag items[ST_DIAG_MAX];
    size_t n;
    size_t errors, warnings; /* all of them, kept or not */
};

void st_diag_free(struct st_diagnostics *d);
#define st_auto_diag __attribute__((cleanup(st_diag_free))) struct st_diagnostics

struct st_diag_at {
    struct st_yaml_place place; /* {0}: the file as a whole */
    unsigned width;             /* characters to underline */
};

/* right may be NULL. d may be NULL: nothing is kept. */
void st_diag_error(struct st_diagnostics *d, const struct st_diag_file *file, struct st_diag_at at,
                   const char *right, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void st_diag_warning(struct st_diagnostics *d, const struct st_diag_file *file, struct st_diag_at at,
                     const char *right, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The file as a tree, with everything that is wrong with it as YAML; NULL: nothing of it can be looked at. */
struct st_yaml_doc *st_diag_yaml(struct st_diagnostics *d, const struct st_diag_file *file,
                                 const struct st_yaml_limits *limits);

/* What was found late (a pair of rules that does not go together) moves to its place in its file. */
void st_diag_sort(struct st_diagnostics *d);

/* `file:line:column: what; what would be right`, of the first error. */
int st_diag_fail(const struct st_diagnostics *d, int errnum, struct st_error *err);

/* For people, with the line and a caret under the place; or one JSON object a line. */
void st_diag_text(const struct st_diagnostics *d, bool color, struct st_buf *out);
void st_diag_json(const struct st_diagnostics *d, struct st_buf *out);
