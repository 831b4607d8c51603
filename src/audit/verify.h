/* verify: is this trace what its writer wrote? Streams: memory does not grow with the trace.
 *
 * Lines go in, issues come out, each with seq, line and byte offset (formats.md, 3). After an issue the chain
 * is taken up again from what the line says of itself, so that one change is one issue, and not one for each
 * record behind it. Bytes that a crash tore, which the writer then declared, are no issue: they are counted.
 */
#pragma once

#include "audit/frame.h"
#include "audit/lines.h"
#include "audit/record.h"
#include "audit/sign.h"

enum st_issue_code {
    ST_ISSUE_HASH_MISMATCH,
    ST_ISSUE_BROKEN_LINK,
    ST_ISSUE_SEQ_GAP,
    ST_ISSUE_SEQ_REORDER,
    ST_ISSUE_INVALID_GENESIS,
    ST_ISSUE_BAD_JSON,
    ST_ISSUE_NOT_CANONICAL,
    ST_ISSUE_BAD_SIGNATURE,
    ST_ISSUE_UNKNOWN_KEY,
    ST_ISSUE_TRUNCATED,
    ST_ISSUE_TORN_TAIL,
    ST_ISSUE_CODES
};

const char *st_issue_name(enum st_issue_code code);

struct st_issue {
    enum st_issue_code code;
    unsigned file;    /* which of the files of a set, from 0 */
    uint64_t seq;     /* that the record has, or should have had */
    uint64_t line;    /* from 1 */
    uint64_t offset;  /* of the line's first byte */
    const char *what; /* a sentence, static */
};

#define ST_ISSUES_KEPT 64

struct st_verify_report {
    enum st_dialect dialect;
    uint64_t records, lines, bytes;
    uint64_t seq;            /* of the last record */
    char head[ST_HASH_SIZE]; /* its hash */
    bool final;              /* it is a final checkpoint */
    uint64_t checkpoints;    /* with a signature that stands */
    uint64_t signed_seq;     /* all up to this seq is whole, and vouched for by a signature; 0: nothing */
    uint64_t unsigned_checkpoints;
    uint64_t torn, torn_bytes; /* tears that the writer declared */
    bool unfinished;           /* the last line is being written */
    uint64_t n_issues;         /* all; the first ST_ISSUES_KEPT are in issues */
    struct st_issue issues[ST_ISSUES_KEPT];
};

struct st_verify_options {
    const struct st_public_key *keys; /* trusted; borrowed */
    size_t n_keys;
    bool allow_unsigned; /* keys are given, and yet a checkpoint without signature is no issue */
    bool refuse_older;   /* a trace of the older dialect, which nobody signs, is an issue */
    bool running;        /* the container may be running: there may be no final checkpoint yet */
    bool writing;        /* a writer has the trace now: the last line may be unfinished */
    /* Called for each record that could be read, whether or not it fits; may be NULL. */
    void (*on_record)(void *ctx, const struct st_frame *f, const struct st_line *line);
    /* Called before the first record of a stretch that may yet be explained as torn, and when it was: what
     * came since is then no part of the trace. May be NULL. */
    void (*on_doubt)(void *ctx, bool begins);
    void *ctx;
};

struct st_verifier;

struct st_verifier *st_verifier_new(const struct st_verify_options *o);
void st_verifier_free(struct st_verifier *v);
void st_verifier_freep(struct st_verifier **v);
#define st_auto_verifier __attribute__((cleanup(st_verifier_freep))) struct st_verifier *

/* One more that has seen the same, and goes on by itself. */
struct st_verifier *st_verifier_copy(const struct st_verifier *v);

/* The next lines of the present file; two at a time are quicker than one by one (st_lines_some). */
#define ST_VERIFY_LINES 2
void st_verifier_lines(struct st_verifier *v, const struct st_line *lines, int n);

/* The file is at its end, and the trace goes on in another. */
void st_verifier_next_file(struct st_verifier *v);

/* The trace is at its end. */
const struct st_verify_report *st_verifier_end(struct st_verifier *v);

/* ---- going on another time ---- */

/* Where a verifier stands, in plain numbers. */
struct st_verify_place {
    struct st_verify_report report; /* its issues but for their number are not taken up again */
    struct st_link link;
    uint64_t unread;
    bool doubt; /* a stretch began that may yet be explained as torn: */
    struct st_link doubt_link;
    uint64_t doubt_records, doubt_checkpoints, doubt_issues, doubt_signed_seq, doubt_offset;
    unsigned file;
    uint64_t bytes_before;
};

void st_verifier_save(const struct st_verifier *v, struct st_verify_place *out);

/* A verifier that stands there. Where there is doubt, it has to be shown again what is between doubt_offset
 * and the place before it is given anything else. */
struct st_verifier *st_verifier_resume(const struct st_verify_options *o,
                                       const struct st_verify_place *place);
void st_verifier_show_again(struct st_verifier *v, const struct st_line *line);

/* What is known so far. */
const struct st_verify_report *st_verifier_report(const struct st_verifier *v);

/* All lines of l into v. Negative: could not be read. */
int st_verify_lines(struct st_verifier *v, struct st_lines *l, struct st_error *err);

/* Has a writer the lock of this trace now? */
bool st_trace_is_being_written(int fd);
