/* lines: a trace line by line, from anything that can be read, in bounded memory.
 *
 * Lines lie in the reader's buffer until the next call. A line longer than ST_LINES_MAX comes in pieces, each
 * but the last with `more` set: nobody can make a reader's memory grow. */
#pragma once

#include "base/error.h"
#include "model/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_LINES_MAX ((size_t)2 << 20)

struct st_line {
    struct st_str text; /* without the newline */
    uint64_t offset;    /* of its first byte in the file */
    uint64_t number;    /* from 1 */
    bool ended;         /* by a newline; false: the file's last bytes, or a piece */
    bool more;          /* a piece of a line that is too long; the rest follows */
    bool piece;         /* not the first piece of its line */
};

struct st_lines;

/* Bytes come from read, which returns how many, 0 at the end, or negative with err set. */
typedef ssize_t st_read_fn(void *ctx, void *out, size_t n, struct st_error *err);

struct st_lines *st_lines_new(st_read_fn *read, void *ctx);
struct st_lines *st_lines_of_fd(int fd); /* borrowed, read from where it stands */
/* Before anything is read: the first byte is at this offset of its file, after so many lines. */
void st_lines_begin_at(struct st_lines *l, uint64_t offset, uint64_t lines);
void st_lines_free(struct st_lines *l);
void st_lines_freep(struct st_lines **l);
#define st_auto_lines __attribute__((cleanup(st_lines_freep))) struct st_lines *

/* 1: a line; 0: the end; negative: could not be read. Called again after the end it reads on, for a file that
 * grows: the unfinished line is then given again, longer. */
int st_lines_next(struct st_lines *l, struct st_line *out, struct st_error *err);

/* Up to n lines that are in memory together; returns how many, 0 at the end. More than one only where that
 * takes no reading: all of them lie in the buffer until the next call. */
int st_lines_some(struct st_lines *l, struct st_line *out, int n, struct st_error *err);

/* Bytes given out so far. */
uint64_t st_lines_offset(const struct st_lines *l);
