/* words: see words.h. Found by a hash whose key is the database's own, so that nobody can choose texts that
 * fall together; the last ones found are remembered, in as much memory however many there are. */
#include "desk/words.h"

#include "base/cleanup.h"
#include "base/keyed_hash.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define SLOTS ((size_t)1 << 17)

struct slot {
    uint64_t hash;
    int64_t id; /* 0: empty */
    uint32_t uses, blocked;
};

struct st_words {
    struct st_db *db;
    struct st_hash_key key;
    sqlite3_stmt *find, *add, *add_search, *count;
    struct slot *slots;
    uint32_t *touched; /* slots with counts that are not written */
    size_t n_touched;
};

static int read_key(struct st_words *w, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(w->db, "SELECT value FROM setting WHERE name = 'text_key'", &s, err);

    if (rc == 0)
        rc = st_db_step(w->db, s, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || sqlite3_column_bytes(s, 0) != (int)sizeof(w->key))
        return st_fail(err, EPROTO, "%s: its text_key is missing", w->db->path);
    memcpy(&w->key, sqlite3_column_blob(s, 0), sizeof(w->key));
    return 0;
}

int st_words_new(struct st_db *db, struct st_words **out, struct st_error *err)
{
    st_auto_words w = st_xcalloc(1, sizeof(*w));

    w->db = db;
    w->slots = st_xcalloc(SLOTS, sizeof(*w->slots));
    w->touched = st_xcalloc(SLOTS, sizeof(*w->touched));
    if (read_key(w, err) < 0 ||
        st_db_prepare(db, "SELECT id, body FROM text WHERE hash = ?1", &w->find, err) < 0 ||
        st_db_prepare(db, "INSERT INTO text(hash, body) VALUES(?1, ?2)", &w->add, err) < 0 ||
        st_db_prepare(db, "INSERT INTO text_search(rowid, body) VALUES(?1, ?2)", &w->add_search, err) < 0 ||
        st_db_prepare(db,
                      "INSERT INTO text_use VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET"
                      " uses = uses + excluded.uses, blocked = blocked + excluded.blocked",
                      &w->count, err) < 0)
        return -err->errnum;
    *out = st_steal_ptr(&w);
    return 0;
}

void st_words_free(struct st_words *w)
{
    if (!w)
        return;
    st_stmt_freep(&w->find);
    st_stmt_freep(&w->add);
    st_stmt_freep(&w->add_search);
    st_stmt_freep(&w->count);
    free(w->slots);
    free(w->touched);
    free(w);
}

void st_words_freep(struct st_words **w)
{
    st_words_free(*w);
    *w = NULL;
}

/* 1: it is there. */
static int find(struct st_words *w, uint64_t hash, struct st_str text, int64_t *id, struct st_error *err)
{
    int rc;

    sqlite3_bind_int64(w->find, 1, (int64_t)hash);
    while ((rc = st_db_step(w->db, w->find, err)) > 0) {
        struct st_str body = st_column_str(w->find, 1);

        if (body.len == text.len && memcmp(body.p, text.p, text.len) == 0) {
            *id = sqlite3_column_int64(w->find, 0);
            break;
        }
    }
    sqlite3_reset(w->find);
    return rc;
}

static int add(struct st_words *w, uint64_t hash, struct st_str text, int64_t *id, struct st_error *err)
{
    int rc;

    sqlite3_bind_int64(w->add, 1, (int64_t)hash);
    st_bind_str(w->add, 2, text);
    rc = st_db_run(w->db, w->add, err);
    if (rc < 0)
        return rc;
    *id = sqlite3_last_insert_rowid(w->db->sq);
    sqlite3_bind_int64(w->add_search, 1, *id);
    st_bind_str(w->add_search, 2, text);
    return st_db_run(w->db, w->add_search, err);
}

static int write_counts(struct st_words *w, struct slot *slot, struct st_error *err)
{
    if (!slot->uses)
        return 0;
    sqlite3_bind_int64(w->count, 1, slot->id);
    sqlite3_bind_int64(w->count, 2, slot->uses);
    sqlite3_bind_int64(w->count, 3, slot->blocked);
    slot->uses = slot->blocked = 0;
    return st_db_run(w->db, w->count, err);
}

uint64_t st_words_hash(const struct st_words *w, struct st_str text)
{
    return st_keyed_hash(&w->key, text.p, text.len);
}

/* There are more slots than a processor keeps close. */
void st_words_expect(const struct st_words *w, uint64_t hash)
{
    __builtin_prefetch(&w->slots[hash % SLOTS], 1);
}

int st_words_id(struct st_words *w, struct st_str text, uint64_t hash, bool about, bool blocked, int64_t *id,
                struct st_error *err)
{
    struct slot *slot = &w->slots[hash % SLOTS];
    int rc = 0;

    if (!slot->id || slot->hash != hash) {
        rc = write_counts(w, slot, err);
        if (rc == 0)
            rc = find(w, hash, text, &slot->id, err);
        if (rc == 0)
            rc = add(w, hash, text, &slot->id, err);
        if (rc < 0) {
            slot->id = 0;
            return rc;
        }
        slot->hash = hash;
    }
    *id = slot->id;
    if (!about)
        return 0;
    if (!slot->uses && w->n_touched < SLOTS)
        w->touched[w->n_touched++] = (uint32_t)(slot - w->slots);
    slot->uses++;
    slot->blocked += blocked;
    return w->n_touched == SLOTS ? st_words_flush(w, err) : 0;
}

int st_words_flush(struct st_words *w, struct st_error *err)
{
    for (size_t i = 0; i < w->n_touched; i++)
        if (write_counts(w, &w->slots[w->touched[i]], err) < 0)
            return -err->errnum;
    w->n_touched = 0;
    return 0;
}

void st_words_forget(struct st_words *w)
{
    memset(w->slots, 0, SLOTS * sizeof(*w->slots));
    w->n_touched = 0;
}
