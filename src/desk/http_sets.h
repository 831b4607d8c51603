/* http_sets: which classes of events, and which texts, a filter is about (http_find.h). */
#pragma once

#include "base/buf.h"
#include "desk/http_find.h"

struct st_set {
    int64_t *list;
    size_t n, room;
    unsigned char *bits; /* one for each number up to max */
    int64_t max;
    int64_t events; /* of classes: how many they are together */
};

bool st_set_has(const struct st_set *s, int64_t no);

struct st_sets {
    bool by_class, by_text; /* false: all */
    struct st_set classes, texts;
};

int st_sets_find(struct st_db *db, const struct st_find *f, struct st_sets *out, struct st_error *err);
void st_sets_free(struct st_sets *s);
#define st_auto_sets __attribute__((cleanup(st_sets_free))) struct st_sets

/* What is looked for, as the full-text search wants it: every word, the beginning of one is enough. */
void st_sets_words(const char *text, struct st_buf *out);
