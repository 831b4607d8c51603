/* arena: see arena.h. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE 16384

struct st_arena_chunk {
    struct st_arena_chunk *next;
    size_t used, cap;
    _Alignas(16) char bytes[];
};

void *st_arena_alloc(struct st_arena *arena, size_t size)
{
    struct st_arena_chunk *c = arena->chunks;
    void *out;

    if (__builtin_add_overflow(size, 15, &size))
        abort();
    size &= ~(size_t)15;
    if (!c || c->cap - c->used < size) {
        size_t cap = size > CHUNK_SIZE ? size : CHUNK_SIZE;

        c = st_xmalloc(sizeof(*c) + cap);
        c->next = arena->chunks;
        c->used = 0;
        c->cap = cap;
        arena->chunks = c;
    }
    out = c->bytes + c->used;
    c->used += size;
    return out;
}

void *st_arena_zalloc(struct st_arena *arena, size_t size)
{
    return memset(st_arena_alloc(arena, size), 0, size);
}

char *st_arena_strndup(struct st_arena *arena, const char *s, size_t n)
{
    char *copy = st_arena_alloc(arena, n + 1);

    if (n)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

void *st_arena_dup(struct st_arena *arena, const void *bytes, size_t n)
{
    void *copy = st_arena_alloc(arena, n);

    if (n)
        memcpy(copy, bytes, n);
    return copy;
}

void st_arena_clear(struct st_arena *arena)
{
    struct st_arena rest = {arena->chunks ? arena->chunks->next : NULL};

    st_arena_free(&rest);
    if (arena->chunks) {
        arena->chunks->next = NULL;
        arena->chunks->used = 0;
    }
}

void st_arena_free(struct st_arena *arena)
{
    for (struct st_arena_chunk *c = arena->chunks; c;) {
        struct st_arena_chunk *next = c->next;

        free(c);
        c = next;
    }
    arena->chunks = NULL;
}

void st_arena_reset(struct st_arena *arena)
{
    struct st_arena_chunk *kept = arena->chunks;

    while (kept && (kept->next || kept->cap > CHUNK_SIZE)) {
        arena->chunks = kept->next;
        free(kept);
        kept = arena->chunks;
    }
    if (kept)
        kept->used = 0;
}
