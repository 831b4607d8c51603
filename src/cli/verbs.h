/* verbs: declarations of the verbs' structs, one line a verb. */
#pragma once

#include "cli/cli.h"

extern const struct st_verb st_verb_run;
extern const struct st_verb st_verb_demo;
extern const struct st_verb st_verb_policy;
extern const struct st_verb st_verb_ps;
extern const struct st_verb st_verb_watch;
extern const struct st_verb st_verb_pending;
extern const struct st_verb st_verb_approve;
extern const struct st_verb st_verb_deny;
extern const struct st_verb st_verb_pause;
extern const struct st_verb st_verb_resume;
extern const struct st_verb st_verb_kill;
extern const struct st_verb st_verb_reload;
extern const struct st_verb st_verb_completion;
extern const struct st_verb st_verb_version;
extern const struct st_verb st_verb_doctor;
extern const struct st_verb st_verb_install;
extern const struct st_verb st_verb_index;
extern const struct st_verb st_verb_review;
extern const struct st_verb st_verb_keygen;
extern const struct st_verb st_verb_report;
extern const struct st_verb st_verb_serve;
extern const struct st_verb st_verb_stream;
extern const struct st_verb st_verb_verify;
