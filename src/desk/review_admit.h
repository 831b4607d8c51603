/* review_admit: may a container start, or is there a task about it, or about its image, that nobody has
 * closed?
 * (`refuse_unreviewed`.) */
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "oci/config_edit.h"

/* 0: it may. -EPERM: err says what to do. dir: of the bundle; NULL: the present one. What can't be read is an
 * open task. Costs nothing where it is off. */
int st_review_admit(const struct st_config *config, const struct st_oci_config *bundle, const char *dir,
                    const char *id, struct st_error *err);
