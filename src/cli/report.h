/* report: what a trace says, added up: who talked to whom, what was written, what was refused.
 *
 * report_data.c adds up, report_tables.c makes tables of it, report_text.c, report_html.c and report_json.c
 * write those. Memory is bounded, whatever the trace holds. */
#pragma once

#include "audit/decode.h"
#include "audit/verify.h"
#include "base/buf.h"
#include "cli/tally.h"

#define ST_REPORT_BUCKETS 60
#define ST_REPORT_OUTCOMES 3 /* allowed, refused, stopped (paused, killed) */

struct st_timeline {
    int64_t start_us, width_us; /* of a bucket */
    uint64_t counts[ST_REPORT_BUCKETS][ST_REPORT_OUTCOMES];
};

/* What is told apart and counted. */
enum st_report_tally {
    ST_TALLY_REFUSED,
    ST_TALLY_TALKED,
    ST_TALLY_NAMES,
    ST_TALLY_WRITTEN,
    ST_TALLY_DELETED,
    ST_TALLY_RAN,
    ST_TALLY_SYSCALLS,
    ST_TALLY_ANSWERS,
    ST_TALLY_SENSORS,
    ST_TALLY_AGENTS,
    ST_TALLY_POLICIES,
    ST_TALLIES
};

struct st_report {
    char *file;
    size_t top; /* rows of a table */
    uint64_t records, events, unreadable;
    uint64_t by_type[ST_EV_TYPES + 1];
    uint64_t by_outcome[5]; /* allow, deny, anomaly, paused, killed */
    int64_t first_us, last_us;
    uint64_t bytes_sent, bytes_received;
    struct st_timeline timeline;
    struct st_tally tallies[ST_TALLIES];
    const struct st_verify_report *verified;
};

void st_report_init(struct st_report *r, const char *file, size_t top);
void st_report_free(struct st_report *r);
void st_report_add(struct st_report *r, const struct st_decoded *d);

/* No more will be added. */
void st_report_finish(struct st_report *r, const struct st_verify_report *verified);

/* ---- tables, for whichever format ---- */

#define ST_REPORT_COLUMNS 5

struct st_column {
    const char *title; /* NULL: no such column */
    bool right;        /* numbers */
};

struct st_table {
    const char *title;
    const char *empty; /* what to say where there is no row */
    struct st_column columns[ST_REPORT_COLUMNS];
    const struct st_tally *tally;
    void (*cell)(const struct st_tally_item *item, unsigned column, struct st_buf *out);
};

#define ST_REPORT_TABLES 9
void st_report_tables(const struct st_report *r, struct st_table out[ST_REPORT_TABLES]);

/* Facts at the top: n-th label and text; false: no more. */
bool st_report_fact(const struct st_report *r, unsigned n, const char **label, struct st_buf *out);

/* Is there anything at all against the trace or in it? For the headline. */
void st_report_headline(const struct st_report *r, struct st_buf *out);

void st_report_text(const struct st_report *r, bool color, struct st_buf *out);
void st_report_markdown(const struct st_report *r, struct st_buf *out);
void st_report_html(const struct st_report *r, struct st_buf *out);
void st_report_json(const struct st_report *r, struct st_buf *out);
