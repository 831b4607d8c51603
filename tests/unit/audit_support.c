/* audit_support: see audit_support.h. */
#include "audit_support.h"

#include "audit/frame.h"
#include "base/io.h"
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void place_make(struct place *p)
{
    struct st_public_key public;
    struct st_error err;

    snprintf(p->dir, sizeof(p->dir), "/tmp/sandtrace-test.XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->path, sizeof(p->path), "%s/t.jsonl", p->dir);
    assert_int_equal(st_keygen(p->dir, &public, &err), 0);
    assert_int_equal(st_signer_load(p->dir, &p->signer, &err), 0);
}

void place_remove(struct place *p)
{
    DIR *dir = opendir(p->dir);
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
    closedir(dir);
    assert_int_equal(rmdir(p->dir), 0);
    st_signer_free(p->signer);
}

void slurp(const char *path, struct st_buf *out)
{
    struct st_error err;

    st_buf_clear(out);
    assert_int_equal(st_read_file(path, (size_t)1 << 30, out, &err), 0);
}

void spew(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

size_t count_lines(const struct st_buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->len; i++)
        n += text->data[i] == '\n';
    return n;
}

struct st_trace *open_trace(const struct place *p, bool signed_, uint64_t rotate_bytes)
{
    struct st_trace_options o = {.path = p->path,
                                 .agent_id = "agent-7",
                                 .trace_id = "trace-1",
                                 .signer = signed_ ? p->signer : NULL,
                                 .rotate_bytes = rotate_bytes};
    struct st_trace *t = NULL;
    struct st_error err = {0};

    if (st_trace_open(&o, &t, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

void sample_open(unsigned n, struct st_event *ev, struct st_verdict *v)
{
    static char path[64];

    snprintf(path, sizeof(path), "/workspace/src/file-%u.c", n);
    *ev = (struct st_event){
        .type = ST_EV_FILESYSTEM,
        .tier = ST_TIER_KERNEL,
        .wall_us = 1774526400000000 + (int64_t)n * 137,
        .process = {.present = true,
                    .pid = 4242,
                    .container_pid = 17,
                    .uid = 1000,
                    .gid = 1000,
                    .comm = ST_STR_LIT("cc1"),
                    .exe = ST_STR_LIT("/usr/lib/gcc/cc1")},
        .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_READ, .path = st_str(path), .size = ST_UNKNOWN}};
    *v = (struct st_verdict){.result = ST_ALLOW, .rule = ST_STR_LIT("scope")};
}

void append_samples(struct st_trace *t, unsigned n)
{
    char id[ST_EVENT_ID_SIZE];
    struct st_verdict v;
    struct st_event ev;
    struct st_error err;

    for (unsigned i = 0; i < n; i++) {
        sample_open((unsigned)st_trace_seq(t) + 1, &ev, &v);
        if (st_trace_append(t, &ev, &v, id, &err) < 0)
            fail_msg("%s", err.msg);
    }
}

struct memory {
    const char *p;
    size_t left;
};

static ssize_t read_memory(void *ctx, void *out, size_t n, struct st_error *err)
{
    struct memory *m = ctx;

    (void)err;
    if (n > m->left)
        n = m->left;
    if (n)
        memcpy(out, m->p, n);
    m->p += n;
    m->left -= n;
    return (ssize_t)n;
}

struct st_verify_report verify_bytes(const struct place *p, const char *bytes, size_t n)
{
    struct st_verify_options o = {.n_keys = p ? 1 : 0, .keys = p ? st_signer_public(p->signer) : NULL};
    struct memory m = {bytes, n};
    st_auto_verifier v = st_verifier_new(&o);
    st_auto_lines lines = st_lines_new(read_memory, &m);
    struct st_error err;

    assert_int_equal(st_verify_lines(v, lines, &err), 0);
    return *st_verifier_end(v);
}

void rehash_line(char *line)
{
    size_t len = strcspn(line, "\n");
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_str span = {.p = line, .len = len};
    unsigned char digest[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];
    struct st_frame f;
    const char *why;

    assert_int_equal(st_frame_read(span, &scratch, &f, &why), ST_FRAME_OK);
    st_frame_hash(&f, digest);
    st_hex(digest, sizeof(digest), hex);
    memcpy(line + (f.record_hash.p - line) + 7, hex, ST_SHA256_HEX);
}
