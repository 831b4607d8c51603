/* input: a trace to be read, wherever it is: a file with the rotated ones before it, compressed or not, or
 * standard input. Decompression is done by gzip and zstd themselves, in a process of their own: it is their
 * memory, and hostile bytes stay out of ours. */
#pragma once

#include "audit/lines.h"
#include "base/error.h"
#include "cli/progress.h"

#include <stdbool.h>

struct st_input;

/* file "-": standard input. What is there of NAME.1, NAME.2 … is read before NAME; a writer may go on
 * rotating while we read. */
int st_input_open(const char *file, struct st_input **out, struct st_error *err);
void st_input_free(struct st_input *in);
void st_input_freep(struct st_input **in);
#define st_auto_input __attribute__((cleanup(st_input_freep))) struct st_input *

/* The next line over all files. 1, 0 at the end, negative: could not be read. Called again after the end it
 * finds what came since, also in files that are new. */
int st_input_line(struct st_input *in, struct st_line *out, struct st_error *err);

/* As st_lines_some(); all lines are of the same file. */
int st_input_lines(struct st_input *in, struct st_line *out, int n, struct st_error *err);

/* The files that were opened so far; the last of them is the present one. */
unsigned st_input_files(const struct st_input *in);
const char *st_input_name(const struct st_input *in, unsigned n);

/* Bytes in all files, and how many have been read; 0 total: not known. */
void st_input_progress(const struct st_input *in, uint64_t *done, uint64_t *total);
/* The same as a bar, where one is due. */
void st_input_show_progress(const struct st_input *in, struct st_progress *p, uint64_t records);

/* Has a writer the lock of the trace now? */
bool st_input_being_written(const struct st_input *in);

/* Is there any sense in waiting for more? Not of standard input, which waits by itself, and not of compressed
 * files. */
bool st_input_can_grow(const struct st_input *in);
