/* counts: see counts.h. */
#include "desk/counts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/keyed_hash.h"
#include "base/mem.h"
#include "base/table.h"

#include <string.h>

#define ENTRIES_MAX 4096
#define PARTS 5

/* One row to be: its texts one behind the other. */
struct entry {
    struct st_table_link link;
    int64_t n;
    bool blocked;
    size_t len[PARTS];
    char text[];
};

struct st_counts {
    struct st_db *db;
    struct st_hash_key key;
    struct st_table table;
    struct st_buf scratch;
    sqlite3_stmt *add;
};

int st_counts_new(struct st_db *db, struct st_counts **out, struct st_error *err)
{
    st_auto_counts t = st_xcalloc(1, sizeof(*t));

    t->db = db;
    t->key = st_hash_key_random();
    if (st_db_prepare(db,
                      "INSERT INTO tally VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                      " ON CONFLICT DO UPDATE SET n = n + excluded.n",
                      &t->add, err) < 0)
        return -err->errnum;
    *out = st_steal_ptr(&t);
    return 0;
}

void st_counts_forget(struct st_counts *t)
{
    while (t->table.oldest) {
        struct st_table_link *link = t->table.oldest;

        st_table_remove(&t->table, link);
        free(st_table_entry(link, struct entry, link));
    }
}

void st_counts_free(struct st_counts *t)
{
    if (!t)
        return;
    st_counts_forget(t);
    st_stmt_freep(&t->add);
    st_buf_free(&t->scratch);
    free(t);
}

void st_counts_freep(struct st_counts **t)
{
    st_counts_free(*t);
    *t = NULL;
}

static bool same(const struct entry *e, const struct st_str parts[PARTS], bool blocked)
{
    const char *p = e->text;

    if (e->blocked != blocked)
        return false;
    for (int i = 0; i < PARTS; p += e->len[i++])
        if (e->len[i] != parts[i].len || memcmp(p, parts[i].p, parts[i].len) != 0)
            return false;
    return true;
}

static struct entry *find(const struct st_counts *t, uint64_t hash, const struct st_str parts[PARTS],
                          bool blocked)
{
    for (struct st_table_link *l = st_table_find(&t->table, hash); l; l = st_table_find_next(l)) {
        struct entry *e = st_table_entry(l, struct entry, link);

        if (same(e, parts, blocked))
            return e;
    }
    return NULL;
}

static struct entry *make(struct st_counts *t, uint64_t hash, const struct st_str parts[PARTS], bool blocked)
{
    struct entry *e = st_xcalloc(1, sizeof(*e) + t->scratch.len);

    memcpy(e->text, t->scratch.data, t->scratch.len);
    e->blocked = blocked;
    for (int i = 0; i < PARTS; i++)
        e->len[i] = parts[i].len;
    st_table_add(&t->table, &e->link, hash);
    return e;
}

int st_counts_add(struct st_counts *t, const struct st_extract *x, struct st_error *err)
{
    const struct st_str parts[PARTS] = {x->analysis_id, x->kind, x->severity, x->result, x->action};
    struct entry *e;
    uint64_t hash;

    st_buf_clear(&t->scratch);
    for (int i = 0; i < PARTS; i++)
        st_buf_add(&t->scratch, parts[i].p, parts[i].len);
    hash = st_keyed_hash(&t->key, t->scratch.data, t->scratch.len) + x->blocked;
    e = find(t, hash, parts, x->blocked);
    if (!e)
        e = make(t, hash, parts, x->blocked);
    e->n++;
    return t->table.n > ENTRIES_MAX ? st_counts_flush(t, err) : 0;
}

int st_counts_flush(struct st_counts *t, struct st_error *err)
{
    int rc = 0;

    for (struct st_table_link *l = t->table.oldest; l && rc == 0; l = l->newer) {
        const struct entry *e = st_table_entry(l, struct entry, link);
        const char *p = e->text;

        for (int i = 0; i < PARTS; p += e->len[i++])
            st_bind_str(t->add, i + 1, (struct st_str){.p = p, .len = e->len[i]});
        sqlite3_bind_int(t->add, 6, e->blocked);
        sqlite3_bind_int64(t->add, 7, e->n);
        rc = st_db_run(t->db, t->add, err);
    }
    st_counts_forget(t);
    return rc;
}
