/* suggest: "did you mean …": the known word that is nearest to one that is not known. */
#pragma once

#include <stddef.h>

struct st_suggestion {
    const char *word;  /* nearest so far; NULL: none is near enough */
    unsigned distance; /* edits between it and what was written */
};

/* Consider one candidate, for callers whose words lie in tables of their own. Start from {0}. */
void st_suggest_offer(struct st_suggestion *best, const char *written, const char *candidate);

/* The nearest of n words, or NULL. */
const char *st_suggest(const char *written, const char *const *words, size_t n);
