/* http_sets: see http_sets.h. */
#include "desk/http_sets.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool st_set_has(const struct st_set *s, int64_t no)
{
    return no > 0 && no <= s->max && (s->bits[no / 8] >> (no % 8) & 1);
}

static void set_free(struct st_set *s)
{
    free(s->list);
    free(s->bits);
    *s = (struct st_set){0};
}

void st_sets_free(struct st_sets *s)
{
    set_free(&s->classes);
    set_free(&s->texts);
}

static void set_close(struct st_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->max = s->list[i] > s->max ? s->list[i] : s->max;
    s->bits = st_xcalloc((size_t)s->max / 8 + 1, 1);
    for (size_t i = 0; i < s->n; i++)
        s->bits[s->list[i] / 8] |= (unsigned char)(1 << s->list[i] % 8);
}

static int set_fill(struct st_db *db, sqlite3_stmt *st, struct st_set *s, struct st_error *err)
{
    int rc;

    while ((rc = st_db_step(db, st, err)) > 0) {
        int64_t no = sqlite3_column_int64(st, 0);

        if (no <= 0)
            continue;
        if (s->n == s->room) {
            s->room = s->room ? s->room * 2 : 64;
            s->list = st_xrealloc(s->list, s->room * sizeof(*s->list));
        }
        s->list[s->n++] = no;
        s->events += sqlite3_column_int64(st, 1);
    }
    set_close(s);
    return rc;
}

/* ---- classes ---- */

struct where {
    struct st_buf sql;
    struct st_str texts[3 * ST_FIND_WORDS + 2];
    size_t n;
};

static void add_text(struct where *w, const char *before, struct st_str text, const char *behind)
{
    w->texts[w->n++] = text;
    st_buf_addf(&w->sql, "%s?%zu%s", before, w->n, behind);
}

static void add_list(struct where *w, const char *column, const struct st_find_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (i == 0)
            st_buf_addf(&w->sql, " AND %s IN (", column);
        add_text(w, i ? "," : "", l->words[i], i + 1 == l->n ? ")" : "");
    }
}

static int find_classes(struct st_db *db, const struct st_find *f, struct st_set *out, struct st_error *err)
{
    struct where w = {0};
    st_auto_buf sql = ST_BUF_INIT;
    st_auto_stmt st = NULL;
    int rc;

    st_buf_adds(&w.sql, "SELECT no, n FROM class WHERE n > 0");
    if (f->analysis_id)
        add_text(&w, " AND analysis_id = ", st_str(f->analysis_id), "");
    if (f->container)
        add_text(&w, " AND trace IN (SELECT no FROM trace WHERE container = ", st_str(f->container), ")");
    add_list(&w, "severity", &f->severity);
    add_list(&w, "kind", &f->kind);
    add_list(&w, "result", &f->verdict);
    if (f->blocked >= 0)
        st_buf_addf(&w.sql, " AND blocked = %d", f->blocked);
    sql = w.sql;
    rc = st_db_prepare(db, st_buf_cstr(&sql), &st, err);
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        st_bind_str(st, (int)i + 1, w.texts[i]);
    return rc < 0 ? rc : set_fill(db, st, out, err);
}

/* ---- texts ---- */

void st_sets_words(const char *text, struct st_buf *out)
{
    while (*text) {
        size_t len = strcspn(text, " ");

        if (len) {
            st_buf_adds(out, out->len ? " \"" : "\"");
            for (size_t i = 0; i < len; i++) {
                if (text[i] == '"')
                    st_buf_addc(out, '"');
                st_buf_addc(out, text[i]);
            }
            st_buf_adds(out, "\"*");
        }
        text += len + (text[len] == ' ');
    }
}

static int find_texts(struct st_db *db, const char *text, struct st_set *out, struct st_error *err)
{
    st_auto_buf words = ST_BUF_INIT;
    st_auto_stmt st = NULL;
    int rc = st_db_prepare(db, "SELECT rowid, 0 FROM text_search WHERE text_search MATCH ?1", &st, err);

    st_sets_words(text, &words);
    if (rc < 0)
        return rc;
    st_bind_str(st, 1, (struct st_str){.p = st_buf_cstr(&words), .len = words.len});
    return set_fill(db, st, out, err);
}

int st_sets_find(struct st_db *db, const struct st_find *f, struct st_sets *out, struct st_error *err)
{
    int rc = 0;

    *out = (struct st_sets){.by_class = f->analysis_id || f->container || f->severity.n || f->kind.n ||
                                        f->verdict.n || f->blocked >= 0,
                            .by_text = f->text != NULL};
    if (out->by_class)
        rc = find_classes(db, f, &out->classes, err);
    if (rc == 0 && f->text)
        rc = find_texts(db, f->text, &out->texts, err);
    return rc;
}
