/* forks: a task asks whether it may make a process: let at once where no limit is near, without a look at
 * anything but the book; else judged like any other use. */
#pragma once

#include "monitor/inquiry.h"

/* false: it asks for something else, or for more (a namespace). */
bool st_fork_take(struct st_inquiry *q);
