/* table: see table.h. */
#include "base/table.h"

#include "base/mem.h"

#include <stdlib.h>

#define FIRST_BUCKETS 16

static void into_bucket(struct st_table *t, struct st_table_link *link)
{
    struct st_table_link **at = &t->buckets[link->hash & (t->n_buckets - 1)];

    link->next = *at;
    link->at = at;
    if (link->next)
        link->next->at = &link->next;
    *at = link;
}

/* From the oldest on, so that the newest stand before others. */
static void grow(struct st_table *t)
{
    free(t->buckets);
    t->n_buckets = t->n_buckets ? t->n_buckets * 2 : FIRST_BUCKETS;
    t->buckets = st_xcalloc(t->n_buckets, sizeof(struct st_table_link *));
    for (struct st_table_link *link = t->oldest; link; link = link->newer)
        into_bucket(t, link);
}

static struct st_table_link *with_hash(struct st_table_link *link, uint64_t hash)
{
    while (link && link->hash != hash)
        link = link->next;
    return link;
}

struct st_table_link *st_table_find(const struct st_table *t, uint64_t hash)
{
    return t->n ? with_hash(t->buckets[hash & (t->n_buckets - 1)], hash) : NULL;
}

struct st_table_link *st_table_find_next(const struct st_table_link *link)
{
    return with_hash(link->next, link->hash);
}

static void into_order(struct st_table *t, struct st_table_link *link)
{
    link->older = t->newest;
    link->newer = NULL;
    if (t->newest)
        t->newest->newer = link;
    else
        t->oldest = link;
    t->newest = link;
}

static void out_of_order(struct st_table *t, struct st_table_link *link)
{
    if (link->older)
        link->older->newer = link->newer;
    else
        t->oldest = link->newer;
    if (link->newer)
        link->newer->older = link->older;
    else
        t->newest = link->older;
}

void st_table_add(struct st_table *t, struct st_table_link *link, uint64_t hash)
{
    if (t->n == t->n_buckets)
        grow(t);
    link->hash = hash;
    into_bucket(t, link);
    into_order(t, link);
    t->n++;
}

static void out_of_bucket(struct st_table_link *link)
{
    *link->at = link->next;
    if (link->next)
        link->next->at = link->at;
}

void st_table_touch(struct st_table *t, struct st_table_link *link)
{
    out_of_order(t, link);
    into_order(t, link);
    out_of_bucket(link);
    into_bucket(t, link);
}

void st_table_remove(struct st_table *t, struct st_table_link *link)
{
    out_of_bucket(link);
    out_of_order(t, link);
    if (--t->n == 0) {
        free(t->buckets);
        *t = (struct st_table){0};
    }
}
