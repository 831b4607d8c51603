/* seccomp_note: what the monitor must know of a profile, as members of the note in listenerMetadata. Private
 * to this folder. */
#pragma once

#include "base/json_write.h"
#include "oci/seccomp_subjects.h"

/* What the profile refuses and we are told of, with its errno; sockets likewise; what could not be watched.
 */
void st_seccomp_note_refused(struct st_jw *w, const struct st_seccomp_subjects *all);
void st_seccomp_note_sockets(struct st_jw *w, const struct st_seccomp_subjects *all);
void st_seccomp_note_left(struct st_jw *w, const struct st_seccomp_subjects *all);
