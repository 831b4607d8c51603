/* floor_edit: modifiers that give a container a floor: what is outside of the scope can't be written,
 * whatever becomes of the monitor; and that take this back.
 *
 * By mounts: the root becomes read-only, each directory of the scope gets a mount of its own over itself that
 * is not; other mounts that could be written become read-only. By Landlock: the helper goes before the
 * command (landlock_edit.h). By either, what is guarded within the scope gets a mount that is read-only. The
 * note that set makes is handed to the hook, and to reset when the bundle is run again. */
#pragma once

#include "base/buf.h"
#include "oci/config_edit.h"

#include <stdbool.h>
#include <stddef.h>

struct st_oci_floor {
    const char *rootfs;       /* absolute, without a symbolic link in it */
    const char *const *scope; /* directories that stay writable; absolute, normal */
    size_t n_scope;
    const char *const *also; /* paths outside of it that rules let be written, where they are there already */
    size_t n_also;
    const char *const *guarded; /* what must not be written in them, where it is there already */
    size_t n_guarded;
    int helper; /* by Landlock: number of the helper's fd in the container; 0: by mounts */
    int abi;    /* of Landlock, for the note */
};

/* -EPERM: the container may mount, and could take a floor of mounts away. Appends the note, a canonical JSON
 * object: root, readonly, writable, guarded; of Landlock the rules and the abi. */
int st_oci_set_floor(struct st_oci_config *config, const struct st_oci_floor *plan, struct st_buf *note,
                     struct st_error *err);

/* note: of set; NULL: nothing was done. Seen by later modifiers only after st_oci_config_settle. */
int st_oci_reset_floor(struct st_oci_config *config, const char *note, struct st_error *err);
