/* standstill: for how long a process has done nothing although it could have.
 *
 * One that is ready to run and is given no processor has not failed: on an overloaded host everybody waits,
 * and another in its place would wait as long. Of the time that it is ready, only what it was given counts.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct st_standstill {
    pid_t pid;
    int64_t seen_ns, cpu_ns; /* at the last look */
    int64_t stood_ns;
};

void st_standstill_begin(struct st_standstill *s, pid_t pid);

/* In nanoseconds, so far. Looks are to be frequent: the state that one finds stands for the time since the
 * last. */
int64_t st_standstill_look(struct st_standstill *s);
