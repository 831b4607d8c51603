/* places: see places.h. */
#include "desk/places.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>

struct st_places {
    struct st_db *db;
    sqlite3_stmt *add;
    struct st_place *list;
    size_t n, room;
};

int st_places_new(struct st_db *db, struct st_places **out, struct st_error *err)
{
    st_auto_places p = st_xcalloc(1, sizeof(*p));

    p->db = db;
    /* One event may have the same text as its subject and as its command. */
    if (st_db_prepare(db, "INSERT OR IGNORE INTO text_at VALUES(?1, ?2, ?3, ?4)", &p->add, err) < 0)
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
    }
    p->list[p->n++] = *one;
}

static int in_order(const void *a, const void *b)
{
    const struct st_place *x = a, *y = b;

    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

int st_places_flush(struct st_places *p, struct st_error *err)
{
    int rc = 0;

    if (!p->n)
        return 0;
    qsort(p->list, p->n, sizeof(*p->list), in_order);
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        sqlite3_bind_int64(p->add, 1, p->list[i].text);
        sqlite3_bind_int64(p->add, 2, p->list[i].ts);
        sqlite3_bind_int64(p->add, 3, p->list[i].event);
        sqlite3_bind_int64(p->add, 4, p->list[i].class);
        rc = st_db_run(p->db, p->add, err);
    }
    p->n = 0;
    return rc;
}

void st_places_forget(struct st_places *p)
{
    p->n = 0;
}
