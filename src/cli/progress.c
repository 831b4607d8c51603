/* progress: see progress.h. Nothing is shown in the first half second. */
#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_NS INT64_C(500000000)
#define EVERY_NS INT64_C(100000000)
#define CALLS 4096
#define WIDTH 30

void st_progress_begin(struct st_progress *p, const char *what)
{
    *p = (struct st_progress){.on = isatty(STDERR_FILENO), .what = what, .began_ns = st_now_mono_ns()};
    p->next_ns = p->began_ns + FIRST_NS;
}

bool st_progress_due(struct st_progress *p)
{
    return p->on && ++p->calls % CALLS == 0 && st_now_mono_ns() >= p->next_ns;
}

void st_progress_show(struct st_progress *p, uint64_t done, uint64_t total, uint64_t records)
{
    int64_t now = st_now_mono_ns();
    double seconds = (double)(now - p->began_ns) / 1e9, rate = (double)done / seconds / 1e6;
    char bar[WIDTH + 1];
    size_t filled;

    p->shown = true;
    p->next_ns = now + EVERY_NS;
    if (total && done > total) /* it grows while it is read */
        done = total;
    if (!total) {
        fprintf(stderr, "\r\033[K%s: %llu records", p->what, (unsigned long long)records);
        return;
    }
    filled = (size_t)((double)done / (double)total * WIDTH);
    memset(bar, '-', WIDTH);
    memset(bar, '#', filled);
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%s: [%s] %3.0f %%  %llu records  %.0f MB/s  %.0f s left", p->what, bar,
            100.0 * (double)done / (double)total, (unsigned long long)records, rate,
            done && done < total ? seconds * (double)(total - done) / (double)done : 0.0);
}

void st_progress_end(struct st_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
