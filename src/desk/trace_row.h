/* trace_row: what the database knows of one trace: how far it was read, and how its chain stands there. */
#pragma once

#include "audit/verify.h"
#include "desk/db.h"

#define ST_CHAIN_WHOLE "whole"
#define ST_CHAIN_BROKEN "broken"

struct st_trace_row {
    int64_t no;     /* 0: not in the database yet */
    char *name;     /* of its file: ID.jsonl */
    char state[16]; /* running, sealed, truncated, torn, missing */
    char *note;     /* what was seen and can't be read from the trace any more; NULL: nothing */
    int64_t updated;
    /* All up to here was read. */
    uint64_t file; /* the ordinal of the file in its set, from 1 */
    uint64_t offset, line;
    uint64_t last_len; /* of the last line, with its newline; and its hash: is it still the same file? */
    char last_sha256[ST_SHA256_HEX + 1];
    struct st_verify_place place;
    int64_t doubt_id; /* the first event since doubt began */
};

/* As one that was never read. */
void st_trace_row_init(struct st_trace_row *row, const char *name);
void st_trace_row_free(struct st_trace_row *row);
#define st_auto_trace_row __attribute__((cleanup(st_trace_row_free))) struct st_trace_row

/* 1: it is there; 0: the row is as _init leaves it. */
int st_trace_row_load(struct st_db *db, const char *name, struct st_trace_row *out, struct st_error *err);

/* Writes it; a new one gets its number. */
int st_trace_row_save(struct st_db *db, struct st_trace_row *row, struct st_error *err);

/* Nothing of it was read. Number, name and note stay. */
void st_trace_row_begin_again(struct st_trace_row *row);
