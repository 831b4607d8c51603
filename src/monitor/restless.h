/* restless: opens whose thread had not gone to sleep yet when they were reported: what it wants is in its
 * registers, which are not to be had before. Where a machine is busy that may take seconds, and nobody else
 * must wait for it. */
#pragma once

#include "sensors/fan.h"

#include <stddef.h>
#include <stdint.h>

struct st_restless {
    struct st_restless_open {
        struct st_fan_event seen; /* unanswered */
        int64_t seen_ns;
    } * list;
    size_t n, room;
    int64_t look_ns; /* when to look again */
};

void st_restless_keep(struct st_restless *r, const struct st_fan_event *seen, int64_t seen_ns);

/* When to look again (monotonic ns), or -1: there is none. */
int64_t st_restless_deadline(const struct st_restless *r);

/* Hands each over to take, which may keep it again. */
void st_restless_look(struct st_restless *r, void (*take)(void *ctx, const struct st_restless_open *open),
                      void *ctx);
