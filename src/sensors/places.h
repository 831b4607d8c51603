/* places: where things of the machine lie within their file systems, so that a mount that shows them under
 * another name is known for it. */
#pragma once

#include "base/mountinfo.h"

#include <stdbool.h>
#include <stddef.h>

struct st_place {
    unsigned major, minor;
    char *path;    /* within the file system */
    char *name;    /* as the machine calls it */
    unsigned kind; /* the caller's */
};

struct st_places {
    struct st_place *list;
    size_t n;
};

/* What is not there is left out; symbolic links are followed. */
void st_places_add(struct st_places *all, const struct st_mounts *host, const char *path, unsigned kind);

/* The sockets of engines, and of other services that start things for root: those that are bound anywhere
 * under a name that is known, and those of known paths. */
void st_places_add_engines(struct st_places *all, const struct st_mounts *host, unsigned kind);

/* Directories in which engines keep what they will start, or have started. */
void st_places_add_stores(struct st_places *all, const struct st_mounts *host, unsigned kind);

void st_places_free(struct st_places *all);
#define st_auto_places __attribute__((cleanup(st_places_free))) struct st_places

/* Can the place be reached through the mount: is it at or below its root? */
bool st_place_in(const struct st_place *p, const struct st_mount *m);

/* Does the mount show a part of the place? */
bool st_place_above(const struct st_place *p, const struct st_mount *m);
