/* answer: what a monitor says at the end of its start. */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* 0 only when it said that marks, rules and the first record are in place; else its own words; -ESRCH: it
 * died without any. */
int st_answer_read(int fd, int64_t timeout_ms, struct st_error *err);
