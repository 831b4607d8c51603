/* audit_support: what the tests of the trace have in common: a folder of their own, a key, sample events. */
#pragma once

#include "audit/trace.h"
#include "audit/verify.h"
#include "base/buf.h"

struct place {
    char dir[64];
    char path[96]; /* dir/t.jsonl */
    struct st_signer *signer;
};

void place_make(struct place *p);
void place_remove(struct place *p);

/* The whole of a file; it must be there. */
void slurp(const char *path, struct st_buf *out);
void spew(const char *path, const void *bytes, size_t n);
size_t count_lines(const struct st_buf *text);

/* Opens the place's trace; asserts that it worked. */
struct st_trace *open_trace(const struct place *p, bool signed_, uint64_t rotate_bytes);

/* An event of a file that was opened, by its number; strings are in memory that the next call reuses. */
void sample_open(unsigned n, struct st_event *ev, struct st_verdict *v);

/* Appends n sample events. */
void append_samples(struct st_trace *t, unsigned n);

/* Verifies bytes in memory; p: with its key as the only trusted one, NULL: with none. */
struct st_verify_report verify_bytes(const struct place *p, const char *bytes, size_t n);

/* Puts the right record_hash into a line that was changed, as somebody without the key can. */
void rehash_line(char *line);
