/* summary: see summary.h. */
#include "monitor/summary.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct st_summary_file {
    char *path; /* NULL: a free place */
    size_t len;
    uint32_t hash;
    uint16_t next; /* of its chain, or of the free places: index + 1 */
    enum st_summary_fate fate;
    int64_t size;      /* ST_UNKNOWN */
    uint64_t dev, ino; /* 0: not known */
};

#define CHAINS 4096

static uint32_t hash_of(struct st_str s)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h;
}

static struct st_summary_file *at(const struct st_summary *s, uint16_t place)
{
    return place ? &s->list[place - 1] : NULL;
}

static struct st_summary_file *find(const struct st_summary *s, struct st_str path)
{
    uint32_t hash = hash_of(path);
    struct st_summary_file *f = s->chains ? at(s, s->chains[hash % CHAINS]) : NULL;

    while (f && !(f->hash == hash && f->len == path.len && memcmp(f->path, path.p, path.len) == 0))
        f = at(s, f->next);
    return f;
}

static void take_out(struct st_summary *s, struct st_summary_file *f)
{
    uint16_t *link = &s->chains[f->hash % CHAINS];

    while (at(s, *link) != f)
        link = &at(s, *link)->next;
    *link = f->next;
    free(f->path);
    f->path = NULL;
}

static void put_in(struct st_summary *s, struct st_summary_file *f, struct st_str path)
{
    uint32_t hash = hash_of(path);

    f->path = st_xstrndup(path.p, path.len);
    f->len = path.len;
    f->hash = hash;
    f->next = s->chains[hash % CHAINS];
    s->chains[hash % CHAINS] = (uint16_t)(f - s->list + 1);
}

static void forget(struct st_summary *s, struct st_summary_file *f)
{
    take_out(s, f);
    f->next = s->free;
    s->free = (uint16_t)(f - s->list + 1);
}

static struct st_summary_file *free_place(struct st_summary *s)
{
    struct st_summary_file *f = at(s, s->free);

    if (f) {
        s->free = f->next;
        return f;
    }
    if (s->n == ST_SUMMARY_FILES)
        return NULL;
    if ((s->n & (s->n - 1)) == 0)
        s->list = st_xrealloc(s->list, (s->n ? 2 * s->n : 1) * sizeof(*s->list));
    return &s->list[s->n++];
}

/* NULL: there is no room. */
static struct st_summary_file *new_file(struct st_summary *s, struct st_str path)
{
    struct st_summary_file *f = free_place(s);

    if (!f) {
        s->omitted++;
        return NULL;
    }
    if (!s->chains)
        s->chains = st_xcalloc(CHAINS, sizeof(*s->chains));
    *f = (struct st_summary_file){.size = ST_UNKNOWN};
    put_in(s, f, path);
    return f;
}

static void put(struct st_summary *s, struct st_str path, enum st_summary_fate fate, int64_t size)
{
    struct st_summary_file *f = find(s, path);

    if (f && f->fate == ST_SUMMARY_CREATED && fate == ST_SUMMARY_MODIFIED)
        return;
    /* What was removed and is there again has changed. */
    if (f && f->fate == ST_SUMMARY_DELETED && fate == ST_SUMMARY_CREATED)
        fate = ST_SUMMARY_MODIFIED;
    if (!f && !(f = new_file(s, path)))
        return;
    f->fate = fate;
    f->size = size;
}

static void remove_file(struct st_summary *s, struct st_str path, int64_t size)
{
    struct st_summary_file *f = find(s, path);

    if (f && f->fate == ST_SUMMARY_CREATED)
        forget(s, f);
    else
        put(s, path, ST_SUMMARY_DELETED, size);
}

static bool is_below(const struct st_summary_file *f, struct st_str dir)
{
    return f->path && f->len > dir.len && f->path[dir.len] == '/' && memcmp(f->path, dir.p, dir.len) == 0;
}

/* What is in a directory goes with it. */
static void move_below(struct st_summary *s, struct st_str from, struct st_str to)
{
    for (size_t i = 0; i < s->n; i++) {
        struct st_summary_file *f = &s->list[i];
        st_auto_buf path = ST_BUF_INIT;

        if (!is_below(f, from))
            continue;
        st_buf_add(&path, to.p, to.len);
        st_buf_add(&path, f->path + from.len, f->len - from.len);
        take_out(s, f);
        put_in(s, f, (struct st_str){path.data, path.len});
    }
}

static void move_file(struct st_summary *s, const struct st_ev_filesystem *fs)
{
    struct st_summary_file *f = find(s, fs->path);
    int64_t size = f && f->size != ST_UNKNOWN ? f->size : fs->size;

    remove_file(s, fs->path, size);
    move_below(s, fs->path, fs->target);
    put(s, fs->target, ST_SUMMARY_CREATED, size);
}

void st_summary_use(struct st_summary *s, const struct st_ev_filesystem *fs)
{
    if (!fs->path.p)
        return;
    switch (fs->op) {
    case ST_FS_CREATE: put(s, fs->path, ST_SUMMARY_CREATED, ST_UNKNOWN); break;
    case ST_FS_DELETE: remove_file(s, fs->path, fs->size); break;
    case ST_FS_MODIFY: put(s, fs->path, ST_SUMMARY_MODIFIED, ST_UNKNOWN); break;
    case ST_FS_OPEN:
        if ((fs->access & ST_ACCESS_WRITE) && fs->size != ST_UNKNOWN) { /* no device, no pipe */
            put(s, fs->path, ST_SUMMARY_MODIFIED, fs->size);
            st_summary_identify(s, fs);
        }
        break;
    case ST_FS_RENAME:
        if (fs->target.p)
            move_file(s, fs);
        break;
    case ST_FS_LINK:
        if (fs->target.p)
            put(s, fs->target, ST_SUMMARY_CREATED, fs->size);
        break;
    case ST_FS_EXEC:
    case ST_FS_ATTRIB:
    case ST_FS_MOUNT:
    case ST_FS_OPS: break;
    }
}

void st_summary_identify(struct st_summary *s, const struct st_ev_filesystem *fs)
{
    struct st_summary_file *f = find(s, fs->path);

    if (!f)
        return;
    f->dev = fs->dev;
    f->ino = fs->ino;
}

static struct st_summary_file *find_object(const struct st_summary *s, uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].path && s->list[i].ino == ino && s->list[i].dev == dev)
            return &s->list[i];
    return NULL;
}

void st_summary_closed(struct st_summary *s, const struct st_ev_filesystem *fs)
{
    struct st_summary_file *f = fs->path.p ? find(s, fs->path) : NULL;

    if (!f && fs->ino)
        f = find_object(s, fs->dev, fs->ino);
    if (f && f->fate != ST_SUMMARY_DELETED)
        f->size = fs->size;
}

void st_summary_each(const struct st_summary *s,
                     void (*each)(void *ctx, enum st_summary_fate fate, struct st_str path), void *ctx)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].path)
            each(ctx, s->list[i].fate, (struct st_str){s->list[i].path, s->list[i].len});
}

static void write_file(struct st_jw *w, const struct st_summary_file *f)
{
    st_jw_object(w);
    st_jw_key(w, "path");
    st_jw_strn(w, f->path, f->len);
    if (!st_utf8_valid(f->path, f->len)) {
        st_auto_free char *text = st_xmalloc(ST_BASE64_LEN(f->len));

        st_jw_key(w, "path_b64");
        st_jw_strn(w, text, st_base64_encode(f->path, f->len, text));
    }
    if (f->size != ST_UNKNOWN)
        st_jw_kint(w, "size", f->size);
    st_jw_end(w, '}');
}

/* Returns how many there was no room for. */
static uint64_t write_list(const struct st_summary *s, struct st_jw *w, const char *key,
                           enum st_summary_fate fate)
{
    uint64_t left = 0;

    st_jw_key(w, key);
    st_jw_array(w);
    for (size_t i = 0; i < s->n; i++) {
        if (!s->list[i].path || s->list[i].fate != fate)
            continue;
        if (w->out->len < ST_SUMMARY_BYTES)
            write_file(w, &s->list[i]);
        else
            left++;
    }
    st_jw_end(w, ']');
    return left;
}

void st_summary_write(const struct st_summary *s, struct st_buf *out)
{
    static const char *const keys[] = {"files_created", "files_deleted", "files_modified"};
    static const enum st_summary_fate fates[] = {ST_SUMMARY_CREATED, ST_SUMMARY_DELETED, ST_SUMMARY_MODIFIED};
    uint64_t left = s->omitted;
    int64_t written = 0;
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        left += write_list(s, &w, keys[i], fates[i]);
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].path && s->list[i].fate != ST_SUMMARY_DELETED && s->list[i].size > 0)
            written += s->list[i].size;
    if (left)
        st_jw_kint(&w, "omitted", (int64_t)left);
    st_jw_kint(&w, "total_bytes_written", written);
    st_jw_end(&w, '}');
}

void st_summary_free(struct st_summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->list[i].path);
    free(s->list);
    free(s->chains);
    *s = (struct st_summary){0};
}
