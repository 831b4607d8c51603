/* Tampering with a signed trace of 1,000 records, of every kind, in a hundred thousand random cases: each is
 * found, and at the right record. Cases are spread over the processors. ST_MUTATIONS sets another number.
 *
 * What lies before the first byte that was changed has been verified once: one verifier goes over the
 * untouched trace, and at each milestone leaves a copy of itself that cases go on from, up to the first
 * issue. (Only a declared tear takes an issue back; there is none here.) One case in WHOLE is verified from
 * its first byte to its last. */
#include "audit_support.h"

#include "audit/frame.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ST_SANITIZED
#define CASES 4000
#else
#define CASES 100000
#endif
#define RECORDS 1000
#define CHECKPOINT_EVERY 250
#define WORKERS 2
#define MILE 20 /* records from milestone to milestone */
#define WHOLE 20

struct sample {
    struct st_buf text;
    size_t at[RECORDS + 8]; /* where each line begins; at[n] is the end */
    size_t n;
};

struct bench {
    struct place place, other; /* two keys */
    struct sample a, b;        /* two traces of the same length, of the same key */
    struct st_verify_options how;
    struct st_verifier *milestones[RECORDS / MILE]; /* each has seen a up to record MILE * its index */
    unsigned seed;
};

/* What must be found first. codes: any of these, as bits. */
struct expected {
    uint64_t seq;
    unsigned codes;
};

#define CODE(c) (1u << ST_ISSUE_##c)
#define ANY_CHANGE (CODE(HASH_MISMATCH) | CODE(BAD_JSON) | CODE(NOT_CANONICAL))

/* Uses of files; one in seven is a refusal. */
static void append_one(struct st_trace *t)
{
    char id[ST_EVENT_ID_SIZE];
    struct st_verdict v;
    struct st_event ev;
    struct st_error err;

    sample_open((unsigned)st_trace_seq(t) + 1, &ev, &v);
    if (st_trace_seq(t) % 7 == 3) {
        ev.fs.blocked = true;
        v.result = ST_DENY;
        v.action = ST_ACT_DENIED;
        v.severity = ST_SEV_HIGH;
    }
    assert_int_equal(st_trace_append(t, &ev, &v, id, &err), 0);
}

static void make_sample(struct place *p, struct sample *s)
{
    struct st_trace *t;
    struct st_error err;

    unlink(p->path);
    t = open_trace(p, true, 0);
    while (st_trace_seq(t) < RECORDS - 1) {
        append_one(t);
        if (st_trace_seq(t) % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1 && st_trace_seq(t) < RECORDS - 1)
            assert_int_equal(st_trace_checkpoint(t, false, &err), 0);
    }
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(p->path, &s->text);
    s->at[s->n = 0] = 0;
    for (size_t i = 0; i < s->text.len; i++)
        if (s->text.data[i] == '\n')
            s->at[++s->n] = i + 1;
    assert_int_equal(s->n, RECORDS);
}

static size_t pick(struct bench *b, size_t n)
{
    return ((size_t)rand_r(&b->seed) << 16 ^ (size_t)rand_r(&b->seed)) % n;
}

static void add_lines(struct st_buf *out, const struct sample *s, size_t from, size_t to)
{
    st_buf_add(out, s->text.data + s->at[from], s->at[to] - s->at[from]);
}

static size_t line_of(const struct sample *s, size_t offset)
{
    size_t k = 0;

    while (s->at[k + 1] <= offset)
        k++;
    return k;
}

static bool is_checkpoint(size_t k)
{
    return (k + 1) % CHECKPOINT_EVERY == 0 || k + 1 == RECORDS;
}

static size_t checkpoint_from(size_t k)
{
    while (!is_checkpoint(k))
        k++;
    return k;
}

/* ---- the kinds; records are counted from 0 here, seq is one more ---- */

static struct expected flip(struct bench *b, struct st_buf *out)
{
    size_t offset = pick(b, b->a.text.len), k = line_of(&b->a, offset);

    st_buf_add(out, b->a.text.data, b->a.text.len);
    out->data[offset] = (char)(out->data[offset] ^ (1 + (int)pick(b, 255)));
    if (offset == b->a.text.len - 1)
        return (struct expected){k + 1, CODE(TORN_TAIL)};
    return (struct expected){k + 1, ANY_CHANGE};
}

static struct expected drop(struct bench *b, struct st_buf *out)
{
    size_t k = pick(b, b->a.n);

    add_lines(out, &b->a, 0, k);
    add_lines(out, &b->a, k + 1, b->a.n);
    if (k == 0)
        return (struct expected){2, CODE(INVALID_GENESIS)};
    if (k == b->a.n - 1)
        return (struct expected){k + 1, CODE(TRUNCATED)};
    return (struct expected){k + 2, CODE(SEQ_GAP)};
}

/* Another severity, in the same number of bytes. */
static void turn_severity(char *line, size_t len)
{
    char *none = memmem(line, len, "\"severity\":\"none\"", 17);
    char *at = none ? none : memmem(line, len, "\"severity\":\"high\"", 17);

    memcpy(at, none ? "\"severity\":\"high\"" : "\"severity\":\"none\"", 17);
}

/* A record that is not in the trace, with the right seq, link and hash. */
static struct expected insert(struct bench *b, struct st_buf *out)
{
    size_t k = 1 + pick(b, b->a.n - 1), start;

    add_lines(out, &b->a, 0, k);
    start = out->len;
    add_lines(out, &b->a, k, k + 1);
    turn_severity(out->data + start, out->len - start);
    rehash_line(out->data + start);
    add_lines(out, &b->a, k, b->a.n);
    if (is_checkpoint(k))
        return (struct expected){k + 1, CODE(BAD_SIGNATURE)};
    return (struct expected){k + 1, CODE(SEQ_REORDER)};
}

static struct expected copy(struct bench *b, struct st_buf *out)
{
    size_t k = 1 + pick(b, b->a.n - 1), j = pick(b, b->a.n);

    if (j == k) /* that would be a duplicate */
        j = k - 1;
    add_lines(out, &b->a, 0, k);
    add_lines(out, &b->a, j, j + 1);
    add_lines(out, &b->a, k, b->a.n);
    return (struct expected){j + 1, j > k ? CODE(SEQ_GAP) : CODE(SEQ_REORDER)};
}

static struct expected swap(struct bench *b, struct st_buf *out)
{
    size_t i = pick(b, b->a.n - 1), j = i + 1 + pick(b, b->a.n - 1 - i);

    add_lines(out, &b->a, 0, i);
    add_lines(out, &b->a, j, j + 1);
    add_lines(out, &b->a, i + 1, j);
    add_lines(out, &b->a, i, i + 1);
    add_lines(out, &b->a, j + 1, b->a.n);
    return (struct expected){j + 1, i == 0 ? CODE(INVALID_GENESIS) : CODE(SEQ_GAP)};
}

static struct expected duplicate(struct bench *b, struct st_buf *out)
{
    size_t k = pick(b, b->a.n);

    add_lines(out, &b->a, 0, k + 1);
    add_lines(out, &b->a, k, b->a.n);
    return (struct expected){k + 1, CODE(SEQ_REORDER)};
}

static struct expected cut(struct bench *b, struct st_buf *out)
{
    size_t offset = pick(b, 8) ? pick(b, b->a.text.len) : b->a.at[pick(b, b->a.n)],
           k = line_of(&b->a, offset);

    st_buf_add(out, b->a.text.data, offset);
    if (offset == 0)
        return (struct expected){1, CODE(INVALID_GENESIS)};
    return (struct expected){k + 1, offset == b->a.at[k] ? CODE(TRUNCATED) : CODE(TORN_TAIL)};
}

/* The line k with one part of its verdict turned into another; false: it has no such part. */
static bool add_turned(struct st_buf *out, const struct sample *s, size_t k, const char *from, const char *to)
{
    const char *line = s->text.data + s->at[k], *end = s->text.data + s->at[k + 1];
    const char *verdict = memmem(line, (size_t)(end - line), "\"verdict\":", 10);
    const char *at = memmem(verdict, (size_t)(end - verdict), from, strlen(from));

    if (!at)
        return false;
    st_buf_add(out, line, (size_t)(at - line));
    st_buf_adds(out, to);
    st_buf_add(out, at + strlen(from), (size_t)(end - at) - strlen(from));
    return true;
}

/* A refusal made a permission, or the other way, by any part of the verdict; with its own hash put right or
 * not. */
static struct expected change_verdict(struct bench *b, struct st_buf *out)
{
    static const char *const turns[][2] = {{"\"result\":\"allow\"", "\"result\":\"deny\""},
                                           {"\"result\":\"deny\"", "\"result\":\"allow\""},
                                           {"\"action\":\"none\"", "\"action\":\"denied\""},
                                           {"\"action\":\"denied\"", "\"action\":\"none\""},
                                           {"\"severity\":\"none\"", "\"severity\":\"critical\""},
                                           {"\"severity\":\"high\"", "\"severity\":\"low\""},
                                           {"\"policy_rule\":\"scope\"", "\"policy_rule\":null"},
                                           {"\"policy_rule\":null", "\"policy_rule\":\"mine\""},
                                           {"\"reason\":null", "\"reason\":\"asked\""}};
    size_t k = pick(b, b->a.n), way = pick(b, N_OF(turns)), start;
    bool hashed = pick(b, 2);

    add_lines(out, &b->a, 0, k);
    start = out->len;
    while (!add_turned(out, &b->a, k, turns[way][0], turns[way][1]))
        way = (way + 1) % N_OF(turns);
    add_lines(out, &b->a, k + 1, b->a.n);
    if (!hashed)
        return (struct expected){k + 1, CODE(HASH_MISMATCH)};
    rehash_line(out->data + start);
    if (is_checkpoint(k))
        return (struct expected){k + 1, CODE(BAD_SIGNATURE)};
    return (struct expected){k + 2, CODE(BROKEN_LINK)};
}

static struct expected splice(struct bench *b, struct st_buf *out)
{
    size_t k = 1 + pick(b, b->a.n - 1);

    add_lines(out, &b->a, 0, k);
    add_lines(out, &b->b, k, b->b.n);
    return (struct expected){k + 1, CODE(BROKEN_LINK)};
}

/* Puts prev_hash, a checkpoint's head and record_hash of line k right, as anybody can. */
static void rechain(struct st_buf *text, const struct sample *s, size_t k)
{
    char *line = text->data + s->at[k], *before = text->data + s->at[k - 1], *hash, *at;
    size_t len = s->at[k + 1] - s->at[k];

    hash = memmem(before, s->at[k] - s->at[k - 1], "\"record_hash\":\"", 15);
    at = memmem(line, len, "\"prev_hash\":\"", 13);
    memcpy(at + 13, hash + 15, ST_HASH_SIZE - 1);
    at = memmem(line, len, "\"head\":\"", 8);
    if (at)
        memcpy(at + 8, hash + 15, ST_HASH_SIZE - 1);
    rehash_line(line);
}

static struct expected rehash_from(struct bench *b, struct st_buf *out)
{
    size_t k = pick(b, b->a.n);

    st_buf_add(out, b->a.text.data, b->a.text.len);
    turn_severity(out->data + b->a.at[k], b->a.at[k + 1] - b->a.at[k]);
    rehash_line(out->data + b->a.at[k]);
    for (size_t i = k + 1; i < b->a.n; i++)
        rechain(out, &b->a, i);
    return (struct expected){checkpoint_from(k) + 1, CODE(BAD_SIGNATURE)};
}

/* Cut behind a checkpoint in the middle, and closed by a final one that another key signed; under its own
 * name, or under that of the right key. */
static struct expected resign(struct bench *b, struct st_buf *out)
{
    size_t k = CHECKPOINT_EVERY * (1 + pick(b, RECORDS / CHECKPOINT_EVERY - 1)), start = b->a.at[k];
    bool lying = pick(b, 2);
    const char *mine = st_signer_public(b->other.signer)->id, *right = st_signer_public(b->place.signer)->id;
    struct st_trace *t;
    struct st_error err;
    char *at;

    unlink(b->other.path);
    spew(b->other.path, b->a.text.data, start);
    t = open_trace(&b->other, true, 0);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    slurp(b->other.path, out);
    if (!lying)
        return (struct expected){k + 1, CODE(UNKNOWN_KEY)};
    at = memmem(out->data + start, out->len - start, mine, strlen(mine));
    memcpy(at, right, strlen(right));
    rehash_line(out->data + start);
    return (struct expected){k + 1, CODE(BAD_SIGNATURE)};
}

static const struct {
    const char *name;
    struct expected (*make)(struct bench *, struct st_buf *);
    unsigned weight;
} kinds[] = {
    {"flip a byte", flip, 48},
    {"drop", drop, 8},
    {"insert", insert, 6},
    {"copy", copy, 6},
    {"swap", swap, 6},
    {"duplicate", duplicate, 6},
    {"cut", cut, 8},
    {"verdict", change_verdict, 6},
    {"splice", splice, 4},
    {"re-chain without the key", rehash_from, 1},
    {"re-sign by another key", resign, 1},
};

static struct st_line line_at(const struct st_buf *text, size_t offset, uint64_t number)
{
    const char *end = memchr(text->data + offset, '\n', text->len - offset);
    size_t len = end ? (size_t)(end - text->data) - offset : text->len - offset;

    return (struct st_line){.text = {.p = text->data + offset, .len = len},
                            .offset = offset,
                            .number = number,
                            .ended = end != NULL};
}

static void set_milestones(struct bench *b)
{
    struct st_verifier *v = st_verifier_new(&b->how);

    for (size_t k = 0; k < b->a.n; k++) {
        struct st_line line = line_at(&b->a.text, b->a.at[k], k + 1);

        if (k % MILE == 0)
            b->milestones[k / MILE] = st_verifier_copy(v);
        st_verifier_lines(v, &line, 1);
    }
    assert_int_equal(st_verifier_end(v)->n_issues, 0);
    st_verifier_free(v);
}

static size_t first_change(const struct sample *s, const struct st_buf *text)
{
    size_t at = 0, end = text->len < s->text.len ? text->len : s->text.len;

    while (end - at >= 256 && memcmp(s->text.data + at, text->data + at, 256) == 0)
        at += 256;
    while (at < end && s->text.data[at] == text->data[at])
        at++;
    return at;
}

/* The report up to the first issue, or to the end. */
static struct st_verify_report verify_from_milestone(const struct bench *b, const struct st_buf *text)
{
    size_t change = first_change(&b->a, text);
    size_t k = change < b->a.text.len ? line_of(&b->a, change) / MILE * MILE : b->a.n - MILE;
    st_auto_verifier v = st_verifier_copy(b->milestones[k / MILE]);

    for (size_t at = b->a.at[k]; at < text->len && st_verifier_report(v)->n_issues == 0;) {
        struct st_line line = line_at(text, at, ++k);

        st_verifier_lines(v, &line, 1);
        at += line.text.len + line.ended;
    }
    return st_verifier_report(v)->n_issues ? *st_verifier_report(v) : *st_verifier_end(v);
}

static bool found(struct bench *b, size_t kind, struct st_buf *text)
{
    struct expected want = kinds[kind].make(b, text);
    struct st_verify_report r =
        pick(b, WHOLE) ? verify_from_milestone(b, text) : verify_bytes(&b->place, text->data, text->len);

    if (r.n_issues && r.issues[0].seq == want.seq && want.codes >> r.issues[0].code & 1)
        return true;
    fprintf(stderr, "# %s: wanted seq %llu of codes %x, found %llu issues, first %s seq %llu line %llu\n",
            kinds[kind].name, (unsigned long long)want.seq, want.codes, (unsigned long long)r.n_issues,
            r.n_issues ? st_issue_name(r.issues[0].code) : "none", (unsigned long long)r.issues[0].seq,
            (unsigned long long)r.issues[0].line);
    return false;
}

/* One worker's share; the exit code says whether all were found. */
static int work(struct bench *b, unsigned worker, unsigned long cases)
{
    st_auto_buf text = ST_BUF_INIT;
    unsigned total = 0, wrong = 0;

    b->seed = 4711 + worker;
    snprintf(b->other.path, sizeof(b->other.path), "%s/%u.jsonl", b->other.dir, worker);
    for (size_t i = 0; i < N_OF(kinds); i++)
        total += kinds[i].weight;
    for (unsigned long i = 0; i < cases && wrong < 20; i++) {
        size_t kind = 0, at = i < N_OF(kinds) ? SIZE_MAX : pick(b, total);

        if (at == SIZE_MAX)
            kind = i; /* each at least once */
        else
            while (at >= kinds[kind].weight)
                at -= kinds[kind++].weight;
        st_buf_clear(&text);
        wrong += !found(b, kind, &text);
    }
    return wrong != 0;
}

static void every_kind_of_tampering_is_found_at_the_right_record(void **state)
{
    const char *number = getenv("ST_MUTATIONS");
    unsigned long cases = number ? strtoul(number, NULL, 10) : CASES;
    struct bench *b = st_xcalloc(1, sizeof(*b));
    struct st_verify_report r;
    pid_t child[WORKERS];

    (void)state;
    place_make(&b->place);
    place_make(&b->other);
    make_sample(&b->place, &b->b);
    make_sample(&b->place, &b->a);
    r = verify_bytes(&b->place, b->a.text.data, b->a.text.len);
    assert_int_equal(r.n_issues, 0);
    b->how = (struct st_verify_options){.keys = st_signer_public(b->place.signer), .n_keys = 1};
    set_milestones(b);
    for (unsigned i = 0; i < WORKERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(work(b, i, (cases + WORKERS - 1) / WORKERS));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        int status;

        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    for (size_t i = 0; i < N_OF(b->milestones); i++)
        st_verifier_free(b->milestones[i]);
    st_buf_free(&b->a.text);
    st_buf_free(&b->b.text);
    place_remove(&b->place);
    place_remove(&b->other);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_tampering_is_found_at_the_right_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
