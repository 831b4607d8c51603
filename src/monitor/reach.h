/* reach: whether a container that is about to start could reach past its watch: to us, to its control group,
 * to an engine, to the machine itself. Where it could, it does not start unless the configuration lets it; in
 * audit mode that is only recorded. */
#pragma once

#include "base/buf.h"
#include "monitor/watch.h"
#include "sensors/places.h"

/* What lies on the machine that it must not reach, found before there is a container. */
int st_reach_prepare(const struct st_watch *w, struct st_places *out, struct st_error *err);

/* Before its files are watched. open: gets what it can reach, for the start record; stays empty where that is
 * nothing. */
int st_reach_check(const struct st_watch *w, const struct st_mount_tables *mounts,
                   const struct st_places *places, bool enforce, struct st_buf *open, bool *closing,
                   struct st_error *err);

/* closing: what the runtime is going to make read-only is not so yet. Then once more, when its first program
 * is about to begin: 0, or what is still open. */
int st_reach_prove(const struct st_watch *w, struct st_error *err);
