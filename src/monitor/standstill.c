/* standstill: see standstill.h. */
#include "monitor/standstill.h"

#include "base/clock.h"
#include "base/procstat.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* What it has had of processors since it began; 0 where it is gone. */
static int64_t cpu_of(pid_t pid)
{
    clockid_t clock;
    struct timespec used;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
        return 0;
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

static bool is_ready_to_run(pid_t pid)
{
    char path[48], text[ST_PROCSTAT_SIZE];
    const char *state;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    state = st_procstat(AT_FDCWD, path, text);
    return state && *state == 'R';
}

void st_standstill_begin(struct st_standstill *s, pid_t pid)
{
    *s = (struct st_standstill){.pid = pid, .seen_ns = st_now_mono_ns(), .cpu_ns = cpu_of(pid)};
}

int64_t st_standstill_look(struct st_standstill *s)
{
    int64_t now = st_now_mono_ns(), cpu = cpu_of(s->pid);

    s->stood_ns += is_ready_to_run(s->pid) ? cpu - s->cpu_ns : now - s->seen_ns;
    s->seen_ns = now;
    s->cpu_ns = cpu;
    return s->stood_ns;
}
