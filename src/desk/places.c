/* places: see places.h. */
#include "desk/places.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/feed.h"

#include <stdlib.h>

struct st_places {
    struct st_feed *feed;
    sqlite3_stmt *add;
    struct st_place *list, *aside;
    size_t n, room;
};

static void column(const void *rows, size_t i, int at, sqlite3_context *out)
{
    const struct st_place *p = (const struct st_place *)rows + i;
    const int64_t columns[] = {p->text, p->ts, p->event, p->class};

    sqlite3_result_int64(out, columns[at]);
}

int st_places_new(struct st_db *db, struct st_places **out, struct st_error *err)
{
    st_auto_places p = st_xcalloc(1, sizeof(*p));

    /* One event may have the same text as its subject and as its command. */
    if (st_feed_new(db, "new_place", 4, column, &p->feed, err) < 0 ||
        st_db_prepare(db, "INSERT OR IGNORE INTO text_at SELECT * FROM new_place", &p->add, err) < 0)
        return -err->errnum;
    *out = st_steal_ptr(&p);
    return 0;
}

void st_places_free(struct st_places *p)
{
    if (!p)
        return;
    st_stmt_freep(&p->add);
    free(p->list);
    free(p->aside);
    free(p);
}

void st_places_freep(struct st_places **p)
{
    st_places_free(*p);
    *p = NULL;
}

void st_places_add(struct st_places *p, const struct st_place *one)
{
    if (p->n == p->room) {
        p->room = p->room ? p->room * 2 : 64;
        p->list = st_xrealloc(p->list, p->room * sizeof(*p->list));
        p->aside = st_xrealloc(p->aside, p->room * sizeof(*p->aside));
    }
    p->list[p->n++] = *one;
}

#define DIGIT 11
#define DIGITS (1u << DIGIT)

static unsigned digit(const struct st_place *p, unsigned shift)
{
    return (unsigned)((uint64_t)p->text >> shift) % DIGITS;
}

/* By text, digit by digit from the last; those of one text stay as they came, which is by time but for a few.
 * (Numbers of texts are small: two or three rounds, where comparing would take eighteen.) */
static void sort(struct st_places *p)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < p->n; i++)
        if ((uint64_t)p->list[i].text > highest)
            highest = (uint64_t)p->list[i].text;
    for (unsigned shift = 0; shift < 64 && highest >> shift; shift += DIGIT) {
        size_t to[DIGITS + 1] = {0};
        struct st_place *sorted = p->aside;

        for (size_t i = 0; i < p->n; i++)
            to[digit(&p->list[i], shift) + 1]++;
        for (unsigned d = 1; d < DIGITS; d++)
            to[d] += to[d - 1];
        for (size_t i = 0; i < p->n; i++)
            sorted[to[digit(&p->list[i], shift)]++] = p->list[i];
        p->aside = p->list;
        p->list = sorted;
    }
}

int st_places_flush(struct st_places *p, struct st_error *err)
{
    int rc;

    if (!p->n)
        return 0;
    sort(p);
    rc = st_feed_run(p->feed, p->list, p->n, p->add, err);
    p->n = 0;
    return rc;
}

void st_places_forget(struct st_places *p)
{
    p->n = 0;
}
