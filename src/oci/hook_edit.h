/* hook_edit: modifiers that put our hook into config.json, or take it out. Others' hooks and their order
 * stay. */
#pragma once

#include "oci/config_edit.h"

#define ST_OCI_HOOK_NAME "sandtrace-hook"
#define ST_OCI_FLOOR_OPTION "--floor"     /* its value is the note of floor_edit.h */
#define ST_OCI_PIDS_OPTION "--pids-limit" /* its value is the note of pids_edit.h */

struct st_oci_hook {
    const char *path;
    const char *const *args; /* NULL-terminated, with the name as the first */
    const char *const
        *env;          /* NULL-terminated; never empty: runtimes differ on whether an empty one inherits */
    int64_t timeout_s; /* 0: none */
};

/* Our entry, the last in createRuntime, and where there is a poststop (else NULL), the last there. Entries of
 * ours that are elsewhere, or different, go; where all is already so, nothing changes. */
int st_oci_set_hooks(struct st_oci_config *config, const struct st_oci_hook *create,
                     const struct st_oci_hook *poststop, struct st_error *err);

/* No entry of ours, in any stage. */
void st_oci_drop_hooks(struct st_oci_config *config);

/* The value of an option of our createRuntime entry, as an earlier run left it; NULL: there is none. */
const char *st_oci_hook_argument(const struct st_oci_config *config, const char *option);

/* The same, of a `hooks` object from elsewhere. */
const char *st_oci_hooks_argument(const struct st_json_node *hooks, const char *option);
