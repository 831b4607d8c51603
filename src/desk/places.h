/* places: in which events each text stands, and when (table text_at). Texts come in no order, so that each
 * event would change a page of its own of an index: they are gathered for a batch, sorted, and written as the
 * table has them. */
#pragma once

#include "desk/db.h"

struct st_places;

struct st_place {
    int64_t text, ts, event, class;
};

int st_places_new(struct st_db *db, struct st_places **out, struct st_error *err);
void st_places_free(struct st_places *p);
void st_places_freep(struct st_places **p);
#define st_auto_places __attribute__((cleanup(st_places_freep))) struct st_places *

void st_places_add(struct st_places *p, const struct st_place *one);

/* Writes what is gathered. Before each commit, and before anything is deleted. */
int st_places_flush(struct st_places *p, struct st_error *err);

/* What is gathered was rolled back. */
void st_places_forget(struct st_places *p);
