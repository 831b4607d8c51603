/* What the parts of the pipeline share. */
#pragma once

#include "monitor/pipeline.h"

void st_jw_kstr_or_null(struct st_jw *w, const char *key, const char *value);

/* cause NULL: no event, but a person, by. */
int st_pipeline_note_pause(struct st_pipeline *p, const struct st_pause *pause, const char *cause,
                           int64_t freeze_us, const struct st_decider *by, struct st_error *err);
