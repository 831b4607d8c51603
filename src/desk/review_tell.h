/* review_tell: the program of `on_review` is told that a task was opened or closed: one JSON object on its
 * standard input, an environment of ours, a bounded time. That it failed is noted beside the task
 * (told.jsonl) and changes nothing else. */
#pragma once

#include "base/error.h"
#include "desk/review.h"

#define ST_REVIEW_TELL_MS 10000

/* argv: NULL-terminated, an absolute path first. what: "opened", "closed". 0: it ended with 0. */
int st_review_tell(const char *const *argv, const char *what, const struct st_review *r,
                   struct st_error *err);
