/* counts: the class of an event (schema.c), and how many there are of each, gathered for a batch and then
 * added up. */
#pragma once

#include "desk/db.h"
#include "desk/extract.h"

struct st_counts;

int st_counts_new(struct st_db *db, struct st_counts **out, struct st_error *err);
void st_counts_free(struct st_counts *t);
void st_counts_freep(struct st_counts **t);
#define st_auto_counts __attribute__((cleanup(st_counts_freep))) struct st_counts *

/* One more; *class is the number of its class, which is made where it is new. */
int st_counts_add(struct st_counts *t, int64_t trace, const struct st_extract *x, int64_t *class,
                  struct st_error *err);

/* Writes the counts. Before each commit. */
int st_counts_flush(struct st_counts *t, struct st_error *err);

/* What is gathered was rolled back. */
void st_counts_forget(struct st_counts *t);
