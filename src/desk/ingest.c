/* ingest: see ingest.h. */
#include "desk/ingest.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "desk/pipeline.h"
#include "desk/rows.h"
#include "desk/source.h"
#include "desk/trace_row.h"

#include <stdio.h>
#include <string.h>

/* So many events, and it is committed: a batch has to fit into the log without the log growing for ever. */
#define BATCH 200000

struct st_ingest {
    struct st_db *db;
    struct st_rows *rows;
    struct st_pipeline *pipeline;
    struct st_ingest_options o;
};

/* One trace on its way in. */
struct pass {
    struct st_ingest *in;
    struct st_trace_row row;
    struct st_verifier *verifier;
    uint64_t issues_written; /* the first that is not in the database as it is */
    bool judged; /* its events say that it is broken, also those before the place where that was found */
    uint64_t events, uncommitted;
    bool unfinished;
    bool moved;         /* the row's place is another than the database knows */
    struct st_buf last; /* the line that was read last */
    int rc;             /* of what was done within a callback */
    struct st_error *err;
};

int st_ingest_new(struct st_db *db, const struct st_ingest_options *o, struct st_ingest **out,
                  struct st_error *err)
{
    st_auto_ingest in = st_xcalloc(1, sizeof(*in));

    in->db = db;
    in->o = *o;
    if (st_rows_new(db, &in->rows, err) < 0)
        return -err->errnum;
    in->pipeline = st_pipeline_new(in->rows);
    *out = st_steal_ptr(&in);
    return 0;
}

void st_ingest_free(struct st_ingest *in)
{
    if (!in)
        return;
    st_pipeline_freep(&in->pipeline);
    st_rows_freep(&in->rows);
    free(in);
}

void st_ingest_freep(struct st_ingest **in)
{
    st_ingest_free(*in);
    *in = NULL;
}

/* ---- what the verifier tells ---- */

static void on_record(void *ctx, const struct st_frame *f, const struct st_line *line)
{
    struct pass *p = ctx;
    bool broken = st_verifier_report(p->verifier)->n_issues > 0;

    (void)line;
    if (p->rc < 0)
        return;
    p->rc = st_pipeline_add(p->in->pipeline, p->row.no, broken, f, p->err);
    p->events += p->rc == 0;
    p->uncommitted += p->rc == 0;
}

/* What came since the doubt began is no part of the trace: its events go, and its issues. */
static void on_doubt(void *ctx, bool begins)
{
    struct pass *p = ctx;
    uint64_t issues = st_verifier_report(p->verifier)->n_issues;

    if (p->rc == 0)
        p->rc = st_pipeline_drain(p->in->pipeline, p->err);
    if (p->rc < 0)
        return;
    if (begins) {
        p->rc = st_rows_next_id(p->in->rows, &p->row.doubt_id, p->err);
        return;
    }
    p->rc = st_rows_drop(p->in->rows, p->row.no, p->row.doubt_id, p->err);
    if (issues < p->issues_written)
        p->issues_written = issues;
}

static bool demands_signatures(const struct pass *p)
{
    return p->in->o.n_keys && !p->in->o.allow_unsigned;
}

static struct st_verifier *resume(struct pass *p)
{
    const struct st_ingest_options *own = &p->in->o;
    struct st_verify_options o = {.keys = own->keys,
                                  .n_keys = own->n_keys,
                                  .allow_unsigned = own->allow_unsigned,
                                  .refuse_older = demands_signatures(p),
                                  .running = true,
                                  .on_record = on_record,
                                  .on_doubt = on_doubt,
                                  .ctx = p};

    return st_verifier_resume(&o, &p->row.place);
}

/* ---- a pass over what is new ---- */

static struct st_source_place place_of(const struct st_trace_row *row)
{
    return (struct st_source_place){.file = row->file,
                                    .offset = row->offset,
                                    .line = row->line,
                                    .last_len = row->last_len,
                                    .last_sha256 = row->last_sha256,
                                    .from = row->offset};
}

/* What the verifier has to see once more, so that a tear can still be explained. */
static int show_again(struct pass *p, int dirfd)
{
    struct st_source_place at = place_of(&p->row);
    st_auto_source source = NULL;
    struct st_line line;
    bool unfinished;
    int rc;

    if (!p->row.place.doubt)
        return 0;
    at.from = p->row.place.doubt_offset;
    rc = st_source_open(dirfd, p->row.name, &at, &source, p->err);
    if (rc <= 0)
        return rc;
    while ((rc = st_source_lines(source, &line, 1, &unfinished, p->err)) > 0 && line.offset < p->row.offset)
        st_verifier_show_again(p->verifier, &line);
    return rc < 0 ? rc : 0;
}

/* The reader's buffer is used again before it is known that this was the last. */
static void keep_last(struct pass *p, const struct st_line *line)
{
    st_buf_clear(&p->last);
    st_buf_add(&p->last, line->text.p, line->text.len);
    if (line->ended)
        st_buf_addc(&p->last, '\n');
    p->row.offset = line->offset + p->last.len;
    p->row.line = line->number;
    p->moved = true;
}

static void note_last(struct pass *p)
{
    unsigned char digest[ST_SHA256_SIZE];

    if (!p->last.len)
        return;
    st_sha256(p->last.data, p->last.len, digest);
    st_hex(digest, sizeof(digest), p->row.last_sha256);
    p->row.last_len = p->last.len;
}

/* Whoever changes a record can make its hash anew, and those behind it: then only the next link or signature
 * tells, and all since the last one that stands may be forged. Where a tear is declared, that was it. */
static int judge(struct pass *p)
{
    const struct st_verify_report *report = &p->row.place.report;
    bool broken = report->n_issues > 0;
    int rc = 0;

    if (demands_signatures(p) && broken != p->judged)
        rc = st_rows_judge(p->in->rows, p->row.no, broken ? report->signed_seq : 0, broken, p->err);
    p->judged = broken;
    return rc;
}

static int commit(struct pass *p)
{
    struct st_trace_row *row = &p->row;
    struct st_rows *rows = p->in->rows;

    st_verifier_save(p->verifier, &row->place);
    note_last(p);
    row->updated = st_now_wall_us();
    if (st_pipeline_drain(p->in->pipeline, p->err) < 0 || st_rows_begin(rows, p->err) < 0 || judge(p) < 0 ||
        st_rows_issues(rows, row->no, &row->place.report, p->issues_written, p->err) < 0 ||
        st_trace_row_save(p->in->db, row, p->err) < 0 || st_rows_commit(rows, p->err) < 0)
        return -p->err->errnum;
    p->issues_written = row->place.report.n_issues;
    p->moved = false;
    p->uncommitted = 0;
    return 0;
}

static int read_file(struct pass *p, struct st_source *source)
{
    struct st_line lines[ST_VERIFY_LINES];
    int n;

    while ((n = st_source_lines(source, lines, ST_VERIFY_LINES, &p->unfinished, p->err)) > 0) {
        st_verifier_lines(p->verifier, lines, n);
        if (p->rc < 0)
            return p->rc;
        if (p->in->o.on_read)
            p->in->o.on_read(p->in->o.ctx, p->row.name, p->events);
        /* Within a line that comes in pieces there is no place to stop at. */
        if (lines[n - 1].more)
            continue;
        keep_last(p, &lines[n - 1]);
        if (p->uncommitted >= BATCH && commit(p) < 0)
            return -p->err->errnum;
    }
    return n;
}

static void enter_next_file(struct pass *p, uint64_t file)
{
    st_verifier_next_file(p->verifier);
    p->row.file = file;
    p->row.offset = p->row.line = p->row.last_len = 0;
    p->row.last_sha256[0] = '\0';
    st_buf_clear(&p->last);
    p->moved = true;
}

static int read_files(struct pass *p, struct st_source *source)
{
    int rc;

    do {
        /* Also where what was there of a file is gone, or there never was a first one. */
        if (st_source_file(source) != p->row.file)
            enter_next_file(p, st_source_file(source));
        rc = read_file(p, source);
        if (rc == 0)
            rc = st_source_next(source, p->err);
    } while (rc > 0);
    return rc;
}

static const char *state_of(const struct pass *p, int dirfd)
{
    if (st_source_being_written(dirfd, p->row.name))
        return "running";
    if (p->unfinished)
        return "torn";
    return st_verifier_report(p->verifier)->final || p->row.place.report.dialect == ST_DIALECT_OLDER
               ? "sealed"
               : "truncated";
}

/* What is new, from where the row stands. 0: all of it; -ESTALE: this is not what was read before. */
static int pass_over(struct pass *p, int dirfd)
{
    struct st_source_place at = place_of(&p->row);
    st_auto_source source = NULL;
    const char *state;
    int rc = st_source_open(dirfd, p->row.name, &at, &source, p->err);

    if (rc <= 0)
        return rc;
    p->verifier = resume(p);
    p->issues_written = p->row.place.report.n_issues;
    p->judged = p->issues_written > 0;
    if (!p->row.no && st_trace_row_save(p->in->db, &p->row, p->err) < 0)
        return -p->err->errnum;
    rc = show_again(p, dirfd);
    if (rc == 0)
        rc = read_files(p, source);
    if (rc < 0)
        return rc;
    state = state_of(p, dirfd);
    if (p->moved || strcmp(state, p->row.state) != 0) {
        snprintf(p->row.state, sizeof(p->row.state), "%s", state);
        rc = commit(p);
    }
    return rc;
}

/* What was not committed is gone. */
static void undo(struct pass *p)
{
    st_pipeline_rest(p->in->pipeline);
    st_rows_rollback(p->in->rows);
    p->uncommitted = 0;
}

/* Another file is there by this name, or less of it. What was known of the first is its note's. */
static int begin_again(struct pass *p)
{
    struct st_trace_row *row = &p->row;
    char time[ST_RFC3339_SIZE];
    char *note;

    st_format_rfc3339(st_now_wall_us(), time);
    note = st_xasprintf("%s%sreplaced or cut when it was looked at %s: it had %llu records, the last one %s",
                        row->note ? row->note : "", row->note ? "; " : "", time,
                        (unsigned long long)row->place.report.records,
                        row->place.link.head[0] ? row->place.link.head : "of no hash");
    free(row->note);
    row->note = note;
    undo(p);
    if (st_rows_begin(p->in->rows, p->err) < 0 || st_rows_drop(p->in->rows, row->no, 0, p->err) < 0)
        return -p->err->errnum;
    st_trace_row_begin_again(row);
    st_verifier_freep(&p->verifier);
    p->verifier = resume(p);
    p->issues_written = 0;
    p->judged = false;
    st_buf_clear(&p->last);
    return commit(p);
}

static int run_pass(struct pass *p, int dirfd)
{
    int rc = pass_over(p, dirfd);

    if (rc != -ESTALE)
        return rc;
    rc = begin_again(p);
    st_verifier_freep(&p->verifier);
    return rc < 0 ? rc : pass_over(p, dirfd);
}

int st_ingest_trace(struct st_ingest *in, int dirfd, const char *name, uint64_t *events, struct st_error *err)
{
    struct pass p = {.in = in, .err = err};
    int rc = st_trace_row_load(in->db, name, &p.row, err);

    if (rc >= 0)
        rc = run_pass(&p, dirfd);
    if (rc < 0)
        undo(&p);
    st_pipeline_rest(in->pipeline);
    *events = rc < 0 ? 0 : p.events;
    st_verifier_freep(&p.verifier);
    st_trace_row_free(&p.row);
    st_buf_free(&p.last);
    return rc < 0 ? st_wrap(err, "%s", name) : 0;
}

int st_ingest_missing(struct st_ingest *in, const char *name, struct st_error *err)
{
    st_auto_trace_row row = {0};
    int rc = st_trace_row_load(in->db, name, &row, err);

    if (rc <= 0 || strcmp(row.state, "missing") == 0)
        return rc < 0 ? rc : 0;
    snprintf(row.state, sizeof(row.state), "missing");
    return st_trace_row_save(in->db, &row, err);
}
