/* arena: memory that is given out piece by piece and let go all at once. */
#pragma once

#include <stddef.h>

struct st_arena {
    struct st_arena_chunk *chunks;
};

/* Aligned for any type; not cleared. */
void *st_arena_alloc(struct st_arena *arena, size_t size) __attribute__((malloc, returns_nonnull));
void *st_arena_zalloc(struct st_arena *arena, size_t size) __attribute__((malloc, returns_nonnull));

/* A copy of n bytes and a NUL behind them. */
char *st_arena_strndup(struct st_arena *arena, const char *s, size_t n) __attribute__((returns_nonnull));
void *st_arena_dup(struct st_arena *arena, const void *bytes, size_t n) __attribute__((returns_nonnull));

/* Everything given out so far is gone; the memory is kept for what comes next. */
void st_arena_clear(struct st_arena *arena);
void st_arena_free(struct st_arena *arena);

/* Lets all of it go but one chunk, which the next use fills again. */
void st_arena_reset(struct st_arena *arena);
