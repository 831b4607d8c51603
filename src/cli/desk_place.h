/* desk_place: where the review desk listens: this machine and nowhere else. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_DESK_LISTEN "127.0.0.1:8466"

struct st_desk_place {
    bool local;       /* a local socket: */
    const char *path; /* borrowed from the text */
    bool v6;
    unsigned port; /* 0: any that is free; the true one once it listens */
};

/* unix:PATH, 127.0.0.1:PORT, [::1]:PORT, localhost:PORT. Anything else is refused with the reason. */
int st_desk_place_parse(const char *text, struct st_desk_place *out, struct st_error *err);

/* An fd that listens. A socket of the same name at which nobody listens is replaced. gid: who may connect
 * besides root, or -1. */
int st_desk_place_open(struct st_desk_place *p, long gid, struct st_error *err);

/* http://127.0.0.1:8466, or for a local socket the name of its file. */
void st_desk_place_url(const struct st_desk_place *p, char *out, size_t size);
