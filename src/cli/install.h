/* install: one file of an engine, as it is and as it is to be: planned whole, shown, then made at once.
 *
 * A file that was there is kept beside itself (FILE.before-sandtrace) when something of ours first goes in.
 * To undo is to put that back where nobody has changed the file since, and else to take away what is ours. */
#pragma once

#include "cli/engine.h"

#include <stdbool.h>

#define ST_INSTALL_BACKUP ".before-sandtrace"

struct st_change {
    char *file; /* where it really lies, symlinks resolved */
    bool was, will;
    struct st_buf before, after;
    bool keep;   /* what was there goes to the backup first */
    bool forget; /* the backup is not needed any more */
};

void st_change_free(struct st_change *c);
#define st_auto_change __attribute__((cleanup(st_change_free))) struct st_change

int st_change_plan(const struct st_engine *engine, const char *file, const char *runtime, bool undo,
                   struct st_change *out, struct st_error *err);

/* A file that is ours alone: exactly these bytes, or none. Somebody else's under its name is not taken for
 * it. */
int st_change_plan_own(const char *file, const struct st_buf *bytes, bool undo, struct st_change *out,
                       struct st_error *err);

bool st_change_is_none(const struct st_change *c);

/* As a unified diff. */
void st_change_show(const struct st_change *c, struct st_buf *out, bool color);

int st_change_make(const struct st_change *c, struct st_error *err);

/* The text of a file; *there: is there one? */
int st_install_read(const char *file, struct st_buf *out, bool *there, struct st_error *err);
