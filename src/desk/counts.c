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

/* One class: its texts one behind the other. n: what is not written yet. */
struct entry {
    struct st_table_link link;
    int64_t no, trace, n;
    bool blocked;
    size_t len[PARTS];
    char text[];
};

struct st_counts {
    struct st_db *db;
    struct st_hash_key key;
    struct st_table table;
    struct entry *last; /* that was asked for: mostly it is the next one too */
    struct st_buf scratch;
    sqlite3_stmt *find, *make, *add;
};

int st_counts_new(struct st_db *db, struct st_counts **out, struct st_error *err)
{
    st_auto_counts t = st_xcalloc(1, sizeof(*t));

    t->db = db;
    t->key = st_hash_key_random();
    if (st_db_prepare(
            db,
            "SELECT no FROM class WHERE trace = ?1 AND analysis_id = ?2 AND kind = ?3 AND severity = ?4"
            " AND result = ?5 AND action = ?6 AND blocked = ?7",
            &t->find, err) < 0 ||
        st_db_prepare(db, "INSERT INTO class VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)", &t->make, err) <
            0 ||
        st_db_prepare(db, "UPDATE class SET n = n + ?2 WHERE no = ?1", &t->add, err) < 0)
        return -err->errnum;
    *out = st_steal_ptr(&t);
    return 0;
}

void st_counts_forget(struct st_counts *t)
{
    t->last = NULL;
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
    st_stmt_freep(&t->find);
    st_stmt_freep(&t->make);
    st_stmt_freep(&t->add);
    st_buf_free(&t->scratch);
    free(t);
}

void st_counts_freep(struct st_counts **t)
{
    st_counts_free(*t);
    *t = NULL;
}

static bool same(const struct entry *e, int64_t trace, const struct st_str parts[PARTS], bool blocked)
{
    const char *p = e->text;

    if (e->blocked != blocked || e->trace != trace)
        return false;
    for (int i = 0; i < PARTS; p += e->len[i++])
        if (e->len[i] != parts[i].len || memcmp(p, parts[i].p, parts[i].len) != 0)
            return false;
    return true;
}

static struct entry *find(const struct st_counts *t, uint64_t hash, int64_t trace,
                          const struct st_str parts[PARTS], bool blocked)
{
    for (struct st_table_link *l = st_table_find(&t->table, hash); l; l = st_table_find_next(l)) {
        struct entry *e = st_table_entry(l, struct entry, link);

        if (same(e, trace, parts, blocked))
            return e;
    }
    return NULL;
}

static void bind(sqlite3_stmt *s, int64_t trace, const struct st_str parts[PARTS], bool blocked)
{
    sqlite3_bind_int64(s, 1, trace);
    for (int i = 0; i < PARTS; i++)
        st_bind_str(s, i + 2, parts[i]);
    sqlite3_bind_int(s, PARTS + 2, blocked);
}

/* Its number in the database. */
static int number(struct st_counts *t, int64_t trace, const struct st_str parts[PARTS], bool blocked,
                  int64_t *no, struct st_error *err)
{
    int rc;

    bind(t->find, trace, parts, blocked);
    rc = st_db_step(t->db, t->find, err);
    *no = rc > 0 ? sqlite3_column_int64(t->find, 0) : 0;
    sqlite3_reset(t->find);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    bind(t->make, trace, parts, blocked);
    rc = st_db_run(t->db, t->make, err);
    *no = sqlite3_last_insert_rowid(t->db->sq);
    return rc;
}

static struct entry *keep(struct st_counts *t, uint64_t hash, int64_t no, int64_t trace,
                          const struct st_str parts[PARTS], bool blocked)
{
    struct entry *e = st_xcalloc(1, sizeof(*e) + t->scratch.len);

    memcpy(e->text, t->scratch.data, t->scratch.len);
    e->no = no;
    e->trace = trace;
    e->blocked = blocked;
    for (int i = 0; i < PARTS; i++)
        e->len[i] = parts[i].len;
    st_table_add(&t->table, &e->link, hash);
    return e;
}

/* The entry of a class, which is made where it is new. NULL: failed. */
static struct entry *look_up(struct st_counts *t, int64_t trace, const struct st_str parts[PARTS],
                             bool blocked, struct st_error *err)
{
    struct entry *e;
    uint64_t hash;
    int64_t no;

    st_buf_clear(&t->scratch);
    for (int i = 0; i < PARTS; i++)
        st_buf_add(&t->scratch, parts[i].p, parts[i].len);
    hash = st_keyed_hash(&t->key, t->scratch.data, t->scratch.len) + (uint64_t)trace * 2 + blocked;
    e = find(t, hash, trace, parts, blocked);
    if (e)
        return e;
    if ((t->table.n > ENTRIES_MAX && st_counts_flush(t, err) < 0) ||
        number(t, trace, parts, blocked, &no, err) < 0)
        return NULL;
    return keep(t, hash, no, trace, parts, blocked);
}

int st_counts_add(struct st_counts *t, int64_t trace, const struct st_extract *x, int64_t *class,
                  struct st_error *err)
{
    const struct st_str parts[PARTS] = {x->analysis_id, x->kind, x->severity, x->result, x->action};
    struct entry *e = t->last;

    if (!e || !same(e, trace, parts, x->blocked))
        e = look_up(t, trace, parts, x->blocked, err);
    if (!e)
        return -err->errnum;
    t->last = e;
    e->n++;
    *class = e->no;
    return 0;
}

/* What is known of the classes themselves is kept, as long as there are not too many. */
int st_counts_flush(struct st_counts *t, struct st_error *err)
{
    int rc = 0;

    for (struct st_table_link *l = t->table.oldest; l && rc == 0; l = l->newer) {
        struct entry *e = st_table_entry(l, struct entry, link);

        if (!e->n)
            continue;
        sqlite3_bind_int64(t->add, 1, e->no);
        sqlite3_bind_int64(t->add, 2, e->n);
        rc = st_db_run(t->db, t->add, err);
        e->n = 0;
    }
    if (t->table.n > ENTRIES_MAX)
        st_counts_forget(t);
    return rc;
}
