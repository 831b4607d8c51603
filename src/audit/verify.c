/* verify: see verify.h. */
#include "audit/verify.h"

#include "audit/checkpoint.h"
#include "audit/link.h"
#include "audit/torn.h"
#include "base/mem.h"
#include "base/sha256_text.h"

#include <fcntl.h>
#include <stdlib.h>

const char *st_issue_name(enum st_issue_code code)
{
    static const char *const names[] = {"hash_mismatch",   "broken_link", "seq_gap",       "seq_reorder",
                                        "invalid_genesis", "bad_json",    "not_canonical", "bad_signature",
                                        "unknown_key",     "truncated",   "torn_tail"};

    return (size_t)code < sizeof(names) / sizeof(names[0]) ? names[code] : "?";
}

/* From the first issue on: what would have to be declared as torn for it to be none. */
struct suspect {
    bool open;
    struct st_link link;           /* the last record before it */
    uint64_t records, checkpoints; /* so many there were before it */
    uint64_t n_issues, signed_seq;
    struct st_torn_sum sum;
};

struct st_verifier {
    struct st_verify_options o;
    struct st_verify_report report;
    struct st_link link; /* what the next record has to follow */
    uint64_t unread;     /* lines since then that could not be read: each may have been a record */
    struct suspect suspect;
    struct st_buf scratch[ST_VERIFY_LINES];
    bool instructions; /* for hashing two at once */
    unsigned file;
    uint64_t bytes_before; /* in the files before this one */
    bool unfinished;       /* the file's last line has no newline */
    struct st_line last;
};

struct st_verifier *st_verifier_new(const struct st_verify_options *o)
{
    struct st_verifier *v = st_xcalloc(1, sizeof(*v));

    v->o = *o;
    v->instructions = st_sha256_instructions();
    return v;
}

struct st_verifier *st_verifier_copy(const struct st_verifier *v)
{
    struct st_verifier *copy = st_xmalloc(sizeof(*copy));

    *copy = *v;
    for (int i = 0; i < ST_VERIFY_LINES; i++)
        copy->scratch[i] = (struct st_buf)ST_BUF_INIT;
    return copy;
}

void st_verifier_free(struct st_verifier *v)
{
    if (!v)
        return;
    for (int i = 0; i < ST_VERIFY_LINES; i++)
        st_buf_free(&v->scratch[i]);
    free(v);
}

void st_verifier_freep(struct st_verifier **v)
{
    st_verifier_free(*v);
    *v = NULL;
}

static void add_issue(struct st_verifier *v, enum st_issue_code code, uint64_t seq, const char *what)
{
    struct st_verify_report *r = &v->report;

    if (r->n_issues < ST_ISSUES_KEPT)
        r->issues[r->n_issues] = (struct st_issue){.code = code,
                                                   .file = v->file,
                                                   .seq = seq,
                                                   .line = v->last.number,
                                                   .offset = v->last.offset,
                                                   .what = what};
    r->n_issues++;
}

/* A line had an issue that was not there before: a tear that begins here may explain it. The link is still
 * that of the record before. */
static void suspect_from_here(struct st_verifier *v, uint64_t n_issues)
{
    const struct st_verify_report *r = &v->report;

    if (v->suspect.open || r->n_issues == n_issues)
        return;
    v->suspect = (struct suspect){.open = true,
                                  .link = v->link,
                                  .records = r->records,
                                  .checkpoints = r->checkpoints,
                                  .n_issues = n_issues,
                                  .signed_seq = r->signed_seq};
    st_torn_sum_begin(&v->suspect.sum, v->last.offset);
    if (v->o.on_doubt)
        v->o.on_doubt(v->o.ctx, true);
}

/* Where in the chain does the record stand? */
static void check_place(struct st_verifier *v, const struct st_frame *f)
{
    uint64_t expected = v->link.seq + 1 + v->unread;
    bool first = v->report.records == 0;

    if (first) {
        v->report.dialect = f->dialect;
        if (v->o.refuse_older && f->dialect == ST_DIALECT_OLDER)
            add_issue(v, ST_ISSUE_BAD_SIGNATURE, f->seq,
                      "the older dialect has no signatures: anybody can have written this");
    }
    if (f->dialect != v->report.dialect)
        add_issue(v, ST_ISSUE_BROKEN_LINK, f->seq, "the dialect changes within the trace");
    else if (first && !v->unread && (f->seq != 1 || f->prev_hash.p))
        add_issue(v, ST_ISSUE_INVALID_GENESIS, f->seq,
                  "the first record must have seq 1 and no prev_hash: what was before it is missing");
    else if (f->seq > expected)
        add_issue(v, ST_ISSUE_SEQ_GAP, f->seq, "records before this one are missing");
    else if (f->seq < expected)
        add_issue(v, ST_ISSUE_SEQ_REORDER, f->seq, "this record was here before, or belongs further up");
    else if (!v->unread && !st_link_followed(&v->link, f))
        add_issue(v, ST_ISSUE_BROKEN_LINK, f->seq, "prev_hash is not the hash of the record before it");
    v->unread = 0;
}

static const struct st_public_key *find_key(const struct st_verifier *v, struct st_str id)
{
    for (size_t i = 0; i < v->o.n_keys; i++)
        if (strlen(v->o.keys[i].id) == id.len && memcmp(v->o.keys[i].id, id.p, id.len) == 0)
            return &v->o.keys[i];
    return NULL;
}

static void check_checkpoint(struct st_verifier *v, const struct st_frame *f)
{
    const struct st_public_key *key;
    struct st_checkpoint c;

    if (!st_checkpoint_read(f, &c)) {
        add_issue(v, ST_ISSUE_BAD_SIGNATURE, f->seq, "a checkpoint without the members of one");
        return;
    }
    v->report.final = c.final;
    key = c.key_id.p ? find_key(v, c.key_id) : NULL;
    if (!c.fits) {
        add_issue(v, ST_ISSUE_BAD_SIGNATURE, f->seq, "the checkpoint is of another place in the chain");
    } else if (!c.signature_formed) {
        add_issue(v, ST_ISSUE_BAD_SIGNATURE, f->seq, "the signature is not one");
    } else if (!c.key_id.p) {
        v->report.unsigned_checkpoints++;
        if (v->o.n_keys && !v->o.allow_unsigned)
            add_issue(v, ST_ISSUE_BAD_SIGNATURE, f->seq, "the checkpoint is not signed");
    } else if (!key) {
        add_issue(v, ST_ISSUE_UNKNOWN_KEY, f->seq,
                  "the checkpoint is signed by a key that is not trusted here");
    } else if (!st_checkpoint_stands(f, &c, key)) {
        add_issue(v, ST_ISSUE_BAD_SIGNATURE, f->seq, "the signature does not stand");
    } else {
        v->report.checkpoints++;
        /* It vouches for hashes: not for a record before it that is not what its hash says. */
        if (v->report.n_issues == 0)
            v->report.signed_seq = f->seq;
    }
}

/* Is this the record that declares all since the suspect place as torn? */
static bool explains(struct st_verifier *v, const struct st_frame *f, uint64_t line_offset)
{
    struct st_torn torn;

    return v->suspect.open && st_torn_read(f, &torn) && f->seq == v->suspect.link.seq + 1 &&
           st_link_followed(&v->suspect.link, f) && st_torn_matches(&torn, &v->suspect.sum, line_offset);
}

static void forgive(struct st_verifier *v, uint64_t line_offset)
{
    struct st_verify_report *r = &v->report;

    v->link = v->suspect.link;
    v->unread = 0;
    r->records = v->suspect.records;
    r->checkpoints = v->suspect.checkpoints;
    r->n_issues = v->suspect.n_issues;
    r->signed_seq = v->suspect.signed_seq;
    r->torn++;
    r->torn_bytes += line_offset - v->suspect.sum.offset;
    v->suspect.open = false;
    if (v->o.on_doubt)
        v->o.on_doubt(v->o.ctx, false);
}

/* A line taken apart, before it is looked at in its turn. */
struct look {
    enum st_frame_result result;
    const char *why;
    struct st_frame f;
    bool stands; /* its hash does */
};

static void check_record(struct st_verifier *v, const struct look *look, const struct st_line *line)
{
    const struct st_frame *f = &look->f;
    bool stands = look->stands;
    uint64_t before;

    if (v->suspect.open && stands && explains(v, f, line->offset))
        forgive(v, line->offset);
    before = v->report.n_issues;
    if (!stands)
        add_issue(v, ST_ISSUE_HASH_MISMATCH, v->link.seq + 1 + v->unread,
                  "the record was changed: its hash is another");
    check_place(v, f);
    suspect_from_here(v, before);
    v->report.final = false;
    if (f->dialect == ST_DIALECT_CURRENT && st_scan_is(f->event_type, "checkpoint"))
        check_checkpoint(v, f);
    st_link_take(&v->link, f);
    v->report.records++;
    if (v->o.on_record)
        v->o.on_record(v->o.ctx, f, line);
}

static void check_line(struct st_verifier *v, const struct look *look, const struct st_line *line)
{
    uint64_t before = v->report.n_issues;

    if (look->result == ST_FRAME_OK) {
        check_record(v, look, line);
        return;
    }
    v->report.final = false;
    add_issue(v, look->result == ST_FRAME_BAD_JSON ? ST_ISSUE_BAD_JSON : ST_ISSUE_NOT_CANONICAL,
              v->link.seq + 1 + v->unread, look->why);
    v->unread++;
    suspect_from_here(v, before);
}

static void take_apart(const struct st_line *line, struct st_buf *scratch, struct look *look)
{
    look->result = ST_FRAME_BAD_JSON;
    look->why = "longer than any record may be";
    if (!line->more && !line->piece)
        look->result = st_frame_read(line->text, scratch, &look->f, &look->why);
}

static void check_hash(struct look *look)
{
    unsigned char digest[ST_SHA256_SIZE];

    if (look->result != ST_FRAME_OK)
        return;
    st_frame_hash(&look->f, digest);
    look->stands = st_frame_states(&look->f, digest);
}

static void check_two_hashes(const struct st_verifier *v, struct look look[2])
{
    unsigned char digests[2][ST_SHA256_SIZE];

    st_frame_hash_two(v->instructions, &look[0].f, &look[1].f, digests);
    for (int i = 0; i < 2; i++)
        look[i].stands = st_frame_states(&look[i].f, digests[i]);
}

/* One line in its turn. A last one without its newline was cut; only in the older dialect, whose writers
 * differ, it may yet be a record. */
static void take_line(struct st_verifier *v, const struct look *look, const struct st_line *line)
{
    v->last = *line;
    if (!line->piece) {
        v->report.lines++;
        v->unfinished = !line->ended && !line->more &&
                        !(look->result == ST_FRAME_OK && look->f.dialect == ST_DIALECT_OLDER);
        if (!v->unfinished)
            check_line(v, look, line);
    }
    v->report.bytes = v->bytes_before + line->offset + line->text.len + line->ended;
    if (v->suspect.open)
        st_torn_sum_add(&v->suspect.sum, line);
}

void st_verifier_lines(struct st_verifier *v, const struct st_line *lines, int n)
{
    struct look look[ST_VERIFY_LINES];

    for (int i = 0; i < n; i++)
        take_apart(&lines[i], &v->scratch[i], &look[i]);
    if (n == 2 && look[0].result == ST_FRAME_OK && look[1].result == ST_FRAME_OK)
        check_two_hashes(v, look);
    else
        for (int i = 0; i < n; i++)
            check_hash(&look[i]);
    for (int i = 0; i < n; i++)
        take_line(v, &look[i], &lines[i]);
}

static void check_unfinished(struct st_verifier *v, bool writing)
{
    if (!v->unfinished)
        return;
    v->report.unfinished = true;
    if (!writing)
        add_issue(v, ST_ISSUE_TORN_TAIL, v->link.seq + 1 + v->unread,
                  "the last line was cut while it was written; the records before it stand");
}

void st_verifier_next_file(struct st_verifier *v)
{
    check_unfinished(v, false);
    v->unfinished = false;
    v->suspect.open = false;
    v->bytes_before = v->report.bytes;
    v->last = (struct st_line){0};
    v->file++;
}

const struct st_verify_report *st_verifier_end(struct st_verifier *v)
{
    struct st_verify_report *r = &v->report;

    check_unfinished(v, v->o.writing);
    r->seq = v->link.seq;
    memcpy(r->head, v->link.head, sizeof(r->head));
    if (r->records == 0 && r->n_issues == 0)
        add_issue(v, ST_ISSUE_INVALID_GENESIS, 1, "there is no record in it");
    else if (!v->unfinished && r->dialect == ST_DIALECT_CURRENT && !r->final && !v->o.running &&
             !v->o.writing)
        add_issue(v, ST_ISSUE_TRUNCATED, v->link.seq + 1 + v->unread,
                  "the end is missing: the last record is no final checkpoint");
    return r;
}

void st_verifier_save(const struct st_verifier *v, struct st_verify_place *out)
{
    *out = (struct st_verify_place){.report = v->report,
                                    .link = v->link,
                                    .unread = v->unread,
                                    .doubt = v->suspect.open,
                                    .file = v->file,
                                    .bytes_before = v->bytes_before};
    if (!out->doubt)
        return;
    out->doubt_link = v->suspect.link;
    out->doubt_records = v->suspect.records;
    out->doubt_checkpoints = v->suspect.checkpoints;
    out->doubt_issues = v->suspect.n_issues;
    out->doubt_signed_seq = v->suspect.signed_seq;
    out->doubt_offset = v->suspect.sum.offset;
}

struct st_verifier *st_verifier_resume(const struct st_verify_options *o, const struct st_verify_place *place)
{
    struct st_verifier *v = st_verifier_new(o);

    v->report = place->report;
    memset(v->report.issues, 0, sizeof(v->report.issues));
    v->link = place->link;
    v->unread = place->unread;
    v->file = place->file;
    v->bytes_before = place->bytes_before;
    if (!place->doubt)
        return v;
    v->suspect = (struct suspect){.open = true,
                                  .link = place->doubt_link,
                                  .records = place->doubt_records,
                                  .checkpoints = place->doubt_checkpoints,
                                  .n_issues = place->doubt_issues,
                                  .signed_seq = place->doubt_signed_seq};
    st_torn_sum_begin(&v->suspect.sum, place->doubt_offset);
    return v;
}

void st_verifier_show_again(struct st_verifier *v, const struct st_line *line)
{
    if (v->suspect.open)
        st_torn_sum_add(&v->suspect.sum, line);
}

const struct st_verify_report *st_verifier_report(const struct st_verifier *v)
{
    return &v->report;
}

int st_verify_lines(struct st_verifier *v, struct st_lines *l, struct st_error *err)
{
    struct st_line lines[ST_VERIFY_LINES];
    int n;

    while ((n = st_lines_some(l, lines, ST_VERIFY_LINES, err)) > 0)
        st_verifier_lines(v, lines, n);
    return n;
}

bool st_trace_is_being_written(int fd)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_GETLK, &fl) == 0 && fl.l_type != F_UNLCK;
}
