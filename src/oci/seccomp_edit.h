/* seccomp_edit: modifiers that have the kernel ask us before a container changes a file system, by the
 * notifications of its seccomp profile; and that take this back.
 *
 * A profile is only ever tightened (but for `permit`). What it permits and we want to know of is taken out of
 * the rule that permits it and asked about instead; what it refuses stays refused; all else stays bit for
 * bit. A container without a profile gets one. Syscalls of other architectures (32 bit, x32) are refused: the
 * kernel ends who makes one. Where the default is to permit, it becomes "no such syscall" for those that
 * nobody here knows the name of, so that a newer kernel's calls do not pass by.
 *
 * What was done is noted in listenerMetadata, so that a bundle that is run again can be put back first. */
#pragma once

#include "base/buf.h"
#include "oci/config_edit.h"

#include <stdbool.h>
#include <stddef.h>

/* Where listeners are, in the state directory; who lists containers there leaves out what begins with a dot.
 */
#define ST_NOTIFY_DIR ".notify"

#define ST_OCI_LISTENER_MAX 107 /* the path of a socket */

struct st_oci_seccomp {
    const char *listener;      /* socket of the monitor */
    const char *const *notify; /* asked about, besides all mutations and the boundary */
    size_t n_notify;
    const char *const *permit; /* let by where no rule speaks of them: they only take rights away */
    size_t n_permit;
    bool forks;   /* asked about whoever makes a process; threads never are */
    bool observe; /* the boundary only, no mutations; and nothing else about the profile changes */
};

/* Refused (-EBUSY) where the profile has a listener of its own, and (-EINVAL) where it decides by arguments
 * in a way that can't be kept. */
int st_oci_set_seccomp(struct st_oci_config *config, const struct st_oci_seccomp *plan, struct st_error *err);

/* As it was before st_oci_set_seccomp; nothing where it was not. The change is seen by later modifiers only
 * after st_oci_config_settle. */
int st_oci_reset_seccomp(struct st_oci_config *config, struct st_error *err);

/* The listener that we put there, or NULL. */
const char *st_oci_seccomp_listener(const struct st_oci_config *config);

/* Appends what the note says of syscalls that the profile refuses and that we are told of, of sockets
 * likewise, and of those that could not be watched because it decides them by arguments:
 * {"refused":[{"errno","name"}…], "sockets":[{"errno","family","protocol"}…],"unwatched":[name…]}. protocol
 * -1: any. An error where there is a note, and it is not as we left it. */
int st_oci_seccomp_note(const struct st_oci_config *config, struct st_buf *out, struct st_error *err);
