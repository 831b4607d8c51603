/* dns_tally: see dns_tally.h. */
#include "sensors/net/dns_tally.h"

#include "base/mem.h"

#include <stdlib.h>

#define NAME_BITS 2048 /* far more than the names that are too many: few fall on a bit that is set */

struct suffix {
    uint64_t hash;
    int64_t begun_ms, heard_ms;
    struct st_dns_counts counts;
    uint8_t names[NAME_BITS / 8];
};

struct st_dns_tally {
    uint64_t seed, forgotten;
    size_t n, max;
    struct suffix *suffixes;
};

struct st_dns_tally *st_dns_tally_new(size_t max_suffixes, uint64_t seed)
{
    struct st_dns_tally *t = st_xcalloc(1, sizeof(*t));

    t->seed = seed;
    t->max = max_suffixes;
    t->suffixes = st_xcalloc(max_suffixes, sizeof(*t->suffixes));
    return t;
}

void st_dns_tally_free(struct st_dns_tally *t)
{
    if (!t)
        return;
    free(t->suffixes);
    free(t);
}

uint64_t st_dns_tally_forgotten(const struct st_dns_tally *t)
{
    return t->forgotten;
}

/* FNV-1a from a secret beginning, mixed so that all bits depend on all. */
static uint64_t hash_of(const struct st_dns_tally *t, struct st_str text)
{
    uint64_t h = t->seed ^ 14695981039346656037u;

    for (size_t i = 0; i < text.len; i++)
        h = (h ^ (uint8_t)text.p[i]) * 1099511628211u;
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static struct suffix *silent_longest(struct st_dns_tally *t)
{
    struct suffix *found = &t->suffixes[0];

    for (size_t i = 1; i < t->n; i++)
        if (t->suffixes[i].heard_ms < found->heard_ms)
            found = &t->suffixes[i];
    return found;
}

static bool is_over(const struct suffix *s, int64_t now_ms)
{
    return now_ms - s->begun_ms >= ST_DNS_WINDOW_MS;
}

/* The suffix in its present window, new where it is. */
static struct suffix *suffix_of(struct st_dns_tally *t, uint64_t hash, int64_t now_ms)
{
    struct suffix *s = NULL;

    for (size_t i = 0; i < t->n && !s; i++)
        if (t->suffixes[i].hash == hash)
            s = &t->suffixes[i];
    if (s && !is_over(s, now_ms))
        return s;
    if (!s && t->n < t->max) {
        s = &t->suffixes[t->n++];
    } else if (!s) {
        s = silent_longest(t);
        t->forgotten += !is_over(s, now_ms);
    }
    *s = (struct suffix){.hash = hash, .begun_ms = now_ms};
    return s;
}

static void count_up(uint32_t *counter, uint32_t by)
{
    *counter = *counter > UINT32_MAX - by ? UINT32_MAX : *counter + by;
}

static bool is_new_name(struct suffix *s, uint64_t hash)
{
    uint8_t *byte = &s->names[hash / 8 % sizeof(s->names)], bit = (uint8_t)(1u << hash % 8);
    bool is_new = !(*byte & bit);

    *byte |= bit;
    return is_new;
}

unsigned st_dns_tally_ask(struct st_dns_tally *t, struct st_str name, uint16_t qtype, int64_t now_ms)
{
    struct st_dns_look look;
    struct suffix *s;

    st_dns_look(name, qtype, &look);
    s = suffix_of(t, hash_of(t, look.suffix), now_ms);
    s->heard_ms = now_ms;
    count_up(&s->counts.queries, 1);
    count_up(&s->counts.rare, look.rare);
    if (is_new_name(s, hash_of(t, name))) {
        count_up(&s->counts.names, 1);
        count_up(&s->counts.bytes, look.below);
        count_up(&s->counts.random_names, st_dns_look_random(&look));
    }
    return st_dns_suspect(&look, &s->counts);
}
