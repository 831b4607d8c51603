/* words: each text that is searched for is kept once, and events point to it: paths and commands come again
 * and again. Counts how often each was what an event was about. */
#pragma once

#include "desk/db.h"

struct st_words;

int st_words_new(struct st_db *db, struct st_words **out, struct st_error *err);
void st_words_free(struct st_words *w);
void st_words_freep(struct st_words **w);
#define st_auto_words __attribute__((cleanup(st_words_freep))) struct st_words *

/* By which a text is found. Any thread may ask for it. */
uint64_t st_words_hash(const struct st_words *w, struct st_str text);

/* It will be asked for soon. */
void st_words_expect(const struct st_words *w, uint64_t hash);

/* The number of a text, which is added where it is new. about: count it as what an event was about; blocked:
 * which did not happen. */
int st_words_id(struct st_words *w, struct st_str text, uint64_t hash, bool about, bool blocked, int64_t *id,
                struct st_error *err);

/* Writes the counts. Before each commit. */
int st_words_flush(struct st_words *w, struct st_error *err);

/* What is remembered was rolled back. */
void st_words_forget(struct st_words *w);
