/* tar: see tar.h. */
#include "snapshot/tar.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#define FLUSH_BYTES ((size_t)256 << 10)
#define OCTAL_SIZE_MAX 077777777777ULL /* eleven digits */
#define OCTAL_ID_MAX 07777777U         /* seven */

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == ST_TAR_BLOCK, "one block");

/* ---- bytes ---- */

static void flush(struct st_tar *t)
{
    int rc = t->error ? 0 : st_write_all(t->fd, t->out.data, t->out.len);

    if (rc < 0)
        t->error = -rc;
    st_buf_clear(&t->out);
}

static void put(struct st_tar *t, const void *bytes, size_t n)
{
    if (t->out.len + n > FLUSH_BYTES)
        flush(t);
    st_buf_add(&t->out, bytes, n);
    t->bytes += n;
}

static void pad(struct st_tar *t)
{
    static const char zeroes[ST_TAR_BLOCK];
    size_t over = t->bytes % ST_TAR_BLOCK;

    if (over)
        put(t, zeroes, ST_TAR_BLOCK - over);
}

static uint64_t in_blocks(uint64_t n)
{
    return (n + ST_TAR_BLOCK - 1) / ST_TAR_BLOCK * ST_TAR_BLOCK;
}

/* ---- extended headers ---- */

void st_tar_record(struct st_buf *out, const char *key, const void *value, size_t len)
{
    size_t rest = 1 + strlen(key) + 1 + len + 1, total = rest + 1;
    char digits[24];

    while ((size_t)snprintf(digits, sizeof(digits), "%zu", total) + rest != total)
        total = rest + strlen(digits);
    st_buf_addf(out, "%zu %s=", total, key);
    st_buf_add(out, value, len);
    st_buf_addc(out, '\n');
}

static void record_number(struct st_buf *out, const char *key, uint64_t n)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
    st_tar_record(out, key, digits, strlen(digits));
}

static uint64_t data_of(const struct st_tar_entry *e)
{
    uint64_t n = 0;

    if (e->type != '0')
        return 0;
    for (size_t i = 0; e->extents && i < e->n_extents; i++)
        n += e->extents[i].len;
    return e->extents ? n : (uint64_t)e->st->st_size;
}

/* Where the data lies: numbers in lines, in front of it, to the end of a block. */
static void write_map(const struct st_tar_entry *e, struct st_buf *out)
{
    static const char zeroes[ST_TAR_BLOCK];

    if (!e->extents)
        return;
    st_buf_addf(out, "%zu\n", e->n_extents);
    for (size_t i = 0; i < e->n_extents; i++)
        st_buf_addf(out, "%llu\n%llu\n", (unsigned long long)e->extents[i].at,
                    (unsigned long long)e->extents[i].len);
    st_buf_add(out, zeroes, in_blocks(out->len) - out->len);
}

static void extend(const struct st_tar_entry *e, uint64_t size, struct st_buf *out)
{
    if (e->extents) {
        record_number(out, "GNU.sparse.major", 1);
        record_number(out, "GNU.sparse.minor", 0);
        st_tar_record(out, "GNU.sparse.name", e->name, strlen(e->name));
        record_number(out, "GNU.sparse.realsize", (uint64_t)e->st->st_size);
    } else if (strlen(e->name) > sizeof(((struct header *)0)->name)) {
        st_tar_record(out, "path", e->name, strlen(e->name));
    }
    if (e->link && strlen(e->link) > sizeof(((struct header *)0)->link))
        st_tar_record(out, "linkpath", e->link, strlen(e->link));
    if (size > OCTAL_SIZE_MAX)
        record_number(out, "size", size);
    if (e->st->st_uid > OCTAL_ID_MAX)
        record_number(out, "uid", e->st->st_uid);
    if (e->st->st_gid > OCTAL_ID_MAX)
        record_number(out, "gid", e->st->st_gid);
    if (e->extended)
        st_buf_add(out, e->extended->data, e->extended->len);
}

/* ---- one header ---- */

static void octal(char *field, size_t size, uint64_t n, uint64_t max)
{
    snprintf(field, size, "%0*llo", (int)size - 1, (unsigned long long)(n > max ? 0 : n));
}

static void copy(char *field, size_t size, const char *text)
{
    memcpy(field, text, strnlen(text, size));
}

static void sum(struct header *h)
{
    const unsigned char *bytes = (const unsigned char *)h;
    unsigned total = 0;

    memset(h->checksum, ' ', sizeof(h->checksum));
    for (size_t i = 0; i < sizeof(*h); i++)
        total += bytes[i];
    snprintf(h->checksum, sizeof(h->checksum), "%06o", total);
    h->checksum[7] = ' ';
}

static void fill(struct header *h, char type, const struct stat *st, uint64_t size)
{
    *h = (struct header){.type = type, .magic = "ustar", .version = {'0', '0'}};
    octal(h->mode, sizeof(h->mode), st->st_mode & 07777, OCTAL_ID_MAX);
    octal(h->uid, sizeof(h->uid), st->st_uid, OCTAL_ID_MAX);
    octal(h->gid, sizeof(h->gid), st->st_gid, OCTAL_ID_MAX);
    octal(h->size, sizeof(h->size), size, OCTAL_SIZE_MAX);
    octal(h->mtime, sizeof(h->mtime), st->st_mtim.tv_sec < 0 ? 0 : (uint64_t)st->st_mtim.tv_sec,
          OCTAL_SIZE_MAX);
}

static void put_extended(struct st_tar *t, const struct st_buf *records, const struct stat *st)
{
    struct stat plain = {.st_mode = 0600, .st_mtim = st->st_mtim};
    struct header h;

    fill(&h, 'x', &plain, records->len);
    copy(h.name, sizeof(h.name), "PaxHeaders/0");
    sum(&h);
    put(t, &h, sizeof(h));
    put(t, records->data, records->len);
    pad(t);
}

uint64_t st_tar_cost(const struct st_tar_entry *e)
{
    st_auto_buf records = ST_BUF_INIT, map = ST_BUF_INIT;
    uint64_t data = data_of(e);

    write_map(e, &map);
    extend(e, map.len + data, &records);
    return ST_TAR_BLOCK + map.len + in_blocks(data) +
           (records.len ? ST_TAR_BLOCK + in_blocks(records.len) : 0);
}

void st_tar_header(struct st_tar *t, const struct st_tar_entry *e)
{
    st_auto_buf records = ST_BUF_INIT, map = ST_BUF_INIT;
    uint64_t data = data_of(e);
    struct header h;

    write_map(e, &map);
    extend(e, map.len + data, &records);
    if (records.len)
        put_extended(t, &records, e->st);
    fill(&h, e->type, e->st, map.len + data);
    copy(h.name, sizeof(h.name), e->name);
    if (e->link)
        copy(h.link, sizeof(h.link), e->link);
    if (e->type == '3' || e->type == '4') {
        octal(h.major, sizeof(h.major), major(e->st->st_rdev), OCTAL_ID_MAX);
        octal(h.minor, sizeof(h.minor), minor(e->st->st_rdev), OCTAL_ID_MAX);
    }
    sum(&h);
    put(t, &h, sizeof(h));
    put(t, map.data, map.len);
    t->missing = data;
}

void st_tar_data(struct st_tar *t, const void *bytes, size_t n)
{
    if (n > t->missing)
        n = (size_t)t->missing;
    put(t, bytes, n);
    t->missing -= n;
}

uint64_t st_tar_end_entry(struct st_tar *t)
{
    static const char zeroes[4096];
    uint64_t missing = t->missing;

    while (t->missing)
        st_tar_data(t, zeroes, sizeof(zeroes));
    pad(t);
    return missing;
}

int st_tar_finish(struct st_tar *t)
{
    static const char zeroes[2 * ST_TAR_BLOCK];

    put(t, zeroes, sizeof(zeroes));
    flush(t);
    st_buf_free(&t->out);
    return -t->error;
}
