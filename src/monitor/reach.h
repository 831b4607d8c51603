/* reach: whether a container that is about to start could reach past its watch: to us, to its control group,
 * to an engine, to the machine itself. Where it could, it does not start unless the configuration lets it; in
 * audit mode that is only recorded. */
#pragma once

#include "base/buf.h"
#include "monitor/watch.h"
#include "sensors/places.h"

/* What is to be kept from it, where that lies: needs no container yet. What fails here is done later. */
void st_reach_prepare(const struct st_watch *w, struct st_places *places);

/* Before its files are watched. open: gets what it can reach, for the start record; stays empty where that is
 * nothing. */
int st_reach_check(const struct st_watch *w, const struct st_places *places, bool enforce,
                   struct st_buf *open, struct st_error *err);
