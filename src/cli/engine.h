/* engine: where Docker, Podman and containerd are told of a runtime, and how that is written there.
 *
 * Pure: texts in, texts out; every byte that is not about sandtrace stays as it is. Who reads and writes the
 * files is install.c. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

#define ST_ENGINE_NAME "sandtrace" /* of the runtime, as people call it */

struct st_engine {
    const char *name;    /* as on our command line */
    const char *program; /* by which it is known to be installed */
    const char *file;    /* where it is told */
    /* The text with our runtime in it; the same where it already is. A text of nothing but blanks stands for
     * no file. Fails where the text can't be read, or has something of that name that is not ours. */
    int (*add)(const char *text, size_t len, const char *runtime, struct st_buf *out, struct st_error *err);
    /* The text without it. */
    int (*drop)(const char *text, size_t len, struct st_buf *out, struct st_error *err);
    /* *path: the program that the text has for it, the caller's; NULL: none. */
    int (*find)(const char *text, size_t len, char **path, struct st_error *err);
    const char *reload; /* what makes the engine read it; NULL: it does by itself */
    const char *forget; /* the same once it is gone */
    const char *use;    /* how a container is then started */
};

/* NULL-terminated. */
const struct st_engine *const *st_engines(void);

extern const struct st_engine st_engine_docker;
extern const struct st_engine st_engine_podman;
extern const struct st_engine st_engine_containerd;
