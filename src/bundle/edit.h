/* edit: a container's config.json as it must be before the real runtime reads it: profile, floor, our hooks.
 *
 * By the shim on the bundle, or by a precreate hook on what the engine hands it: one way for both. Any
 * failure means that the container must not start. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "bundle/plan.h"
#include "config/config.h"
#include "oci/config_edit.h"

#include <stdbool.h>

struct st_bundle_source {
    const char *id;      /* "": not known yet */
    const char *dir;     /* of the bundle; NULL: the present one */
    const char *key;     /* what the listener's socket is named after: no other container's */
    const char *standby; /* directory where a monitor will wait for the hook already; NULL: nobody stands by,
                            and nobody but a hook of ours is called at the end */
    int helper; /* the fd under which the runtime can be handed what lays Landlock's floor; 0: it can't be */
    const char *no_helper; /* why not */
};

#define ST_HOOK_ENV_MAX 7

struct st_bundle_edit { /* what was done */
    const char *env[ST_HOOK_ENV_MAX];
    char *made[ST_HOOK_ENV_MAX];
    struct st_bundle_plan plan;
    struct st_buf closed; /* note of oci/openings.h */
    struct st_buf floor;  /* note of oci/floor_edit.h */
    struct st_buf pids;   /* note of oci/pids_edit.h */
    bool landlock;        /* the runtime must be handed the helper */
    bool watched;         /* else its owner may do without us, and does */
};

/* Into the config's changes; the caller flushes or settles them. */
int st_bundle_edit(struct st_oci_config *bundle, const struct st_config *config,
                   const struct st_bundle_source *source, struct st_bundle_edit *out, struct st_error *err);
void st_bundle_edit_end(struct st_bundle_edit *e);
#define st_auto_bundle_edit __attribute__((cleanup(st_bundle_edit_end))) struct st_bundle_edit

struct st_hook_args {
    const char *list[20];
    size_t n;
};

/* value NULL: not at all. */
void st_hook_push(struct st_hook_args *args, const char *option, const char *value);

/* What was done to the bundle, for the hook. */
void st_hook_push_order(struct st_hook_args *args, const struct st_config *config,
                        const struct st_bundle_edit *e);
