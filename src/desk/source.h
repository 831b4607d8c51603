/* source: the files of one trace, read on from where somebody stopped, while their writer goes on and
 * rotates, and others compress what is full.
 *
 * Files have ordinals: NAME.1 is the first, and NAME itself the one after the last that has a number. */
#pragma once

#include "audit/lines.h"
#include "base/error.h"
#include "base/sha256.h"

#include <stdbool.h>

/* Where somebody stopped. */
struct st_source_place {
    uint64_t file, offset, line;
    uint64_t last_len; /* bytes of the last line before it; 0: nothing is looked at */
    const char *last_sha256;
    uint64_t from; /* give lines from this offset on, which is at or before the place */
};

struct st_source;

/* 1: opened. 0: there is no such file (now). -ESTALE: it is not the file that was read, or has become
 * shorter. */
int st_source_open(int dirfd, const char *name, const struct st_source_place *at, struct st_source **out,
                   struct st_error *err);
void st_source_free(struct st_source *s);
void st_source_freep(struct st_source **s);
#define st_auto_source __attribute__((cleanup(st_source_freep))) struct st_source *

/* The ordinal of the present file. */
uint64_t st_source_file(const struct st_source *s);

/* As st_lines_some(), of the present file. A last line without its newline is not given while it may yet
 * grow: *unfinished says that there is one. */
int st_source_lines(struct st_source *s, struct st_line *out, int n, bool *unfinished, struct st_error *err);

/* After the present file's end. 1: there is more to read, in the next file or, where it was just rotated, in
 * this one; 0: not (yet). */
int st_source_next(struct st_source *s, struct st_error *err);

/* Has a writer the lock of the trace? */
bool st_source_being_written(int dirfd, const char *name);
