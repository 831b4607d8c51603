/* hashmatch: see hashmatch.h. Sorted, and looked up by halving. */
#include "policy/hashmatch.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool st_hash_parse(struct st_str text, unsigned char out[ST_SHA256_SIZE])
{
    if (!text.p || text.len != ST_SHA256_HEX)
        return false;
    for (size_t i = 0; i < ST_SHA256_SIZE; i++) {
        int high = digit_of(text.p[2 * i]), low = digit_of(text.p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

void st_hashmatch_init(struct hashmatch *m)
{
    *m = (struct hashmatch){.first_deny = UINT32_MAX};
}

void st_hashmatch_add(struct hashmatch *m, const char *hex, uint32_t rule, bool deny)
{
    struct hash_entry entry = {.rule = rule};

    if (!st_hash_parse(st_str(hex), entry.digest))
        abort(); /* the reader let it through */
    if ((m->n & (m->n - 1)) == 0)
        m->list = st_xrealloc(m->list, (m->n ? 2 * m->n : 1) * sizeof(*m->list));
    m->list[m->n++] = entry;
    if (deny && rule < m->first_deny)
        m->first_deny = rule;
}

static int by_digest(const void *a, const void *b)
{
    const struct hash_entry *x = a, *y = b;
    int order = memcmp(x->digest, y->digest, sizeof(x->digest));

    return order ? order : (x->rule > y->rule) - (x->rule < y->rule);
}

void st_hashmatch_finish(struct hashmatch *m)
{
    if (m->n)
        qsort(m->list, m->n, sizeof(*m->list), by_digest);
}

void st_hashmatch_free(struct hashmatch *m)
{
    free(m->list);
    *m = (struct hashmatch){0};
}

uint32_t st_hashmatch_first(const struct hashmatch *m, struct st_str hex)
{
    struct hash_entry wanted = {.rule = 0};
    size_t low = 0, high = m->n;

    if (m->n == 0 || !st_hash_parse(hex, wanted.digest))
        return UINT32_MAX;
    while (low < high) { /* the first that is not before the wanted one */
        size_t middle = low + (high - low) / 2;

        if (by_digest(&m->list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->n && memcmp(m->list[low].digest, wanted.digest, sizeof(wanted.digest)) == 0
               ? m->list[low].rule
               : UINT32_MAX;
}
