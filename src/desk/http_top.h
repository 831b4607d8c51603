/* http_top: which paths and destinations come most often. */
#pragma once

#include "base/json_write.h"
#include "desk/db.h"

/* Members top_destinations and top_paths. agent NULL: of all events there are; else of its newest. */
int st_top_write(struct st_jw *w, struct st_db *db, const char *agent, struct st_error *err);
