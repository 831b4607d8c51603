/* process_pace: how soon news of processes are read. Each fork, execution and end that wakes us costs the
 * container more than the news are worth: while there is much of it we look by ourselves, some hundred times
 * a second and before anything else that the container does is looked at (worker.c), and nothing wakes us but
 * the first fork that might break a limit. When nothing was told for a while, everything wakes us again. */
#pragma once

#include "monitor/processes.h"

/* All was read that is there. news: there was something. */
void st_process_pace(struct st_processes *p, bool news);

/* When to look by ourselves (monotonic ns); -1: we are woken. */
int64_t st_process_pace_deadline(const struct st_processes *p);
