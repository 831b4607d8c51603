/* frame: see frame.h. */
#include "audit/frame.h"

#include "audit/canonical.h"
#include "audit/record.h"
#include "audit/scan_text.h"
#include "base/sha256_text.h"

#define PREFIX "sha256:"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

/* Of the right form but for its digits: those are compared with a digest, or with another's, anyway. */
static inline bool is_hash(const struct st_scan_value *v, enum st_dialect dialect)
{
    size_t skip = dialect == ST_DIALECT_CURRENT ? PREFIX_LEN : 0;

    return v->type == ST_SCAN_STRING && v->text.len == skip + ST_SHA256_HEX &&
           memcmp(v->text.p, PREFIX, skip) == 0;
}

/* ---- the current dialect: a fixed sequence of members ---- */

/* Takes literal where the scanner stands at it. */
static inline __attribute__((always_inline)) void expect(struct st_scanner *s, const char *literal,
                                                         size_t len)
{
    if (s->p && (size_t)(s->end - s->p) >= len && memcmp(s->p, literal, len) == 0)
        s->p += len;
    else
        s->p = NULL;
}

#define EXPECT(s, literal) expect(s, literal, sizeof(literal) - 1)

/* A string behind what leads to it, its opening quote included. */
static inline __attribute__((always_inline)) void string(struct st_scanner *s, const char *before, size_t len,
                                                         struct st_scan_value *out)
{
    const char *stop;

    out->type = ST_SCAN_STRING;
    expect(s, before, len);
    if (!s->p)
        return;
    stop = st_scan_string_end(s->p, s->end, &out->plain);
    out->text.p = s->p;
    out->text.len = stop ? (size_t)(stop - s->p) : 0;
    s->p = stop ? stop + 1 : NULL;
}

#define STRING(s, before, out) string(s, before "\"", sizeof(before), out)

static void object(struct st_scanner *s, struct st_scan_value *out)
{
    st_scan_value(s, out);
    if (out->type != ST_SCAN_OBJECT)
        s->p = NULL;
}

static void take_prev_hash(struct st_scanner *s, struct st_frame *f)
{
    struct st_scan_value v = {0};

    EXPECT(s, ",\"prev_hash\":");
    if (s->p && s->p < s->end && *s->p == 'n') {
        EXPECT(s, "null");
        return;
    }
    STRING(s, "", &v);
    if (s->p && !is_hash(&v, ST_DIALECT_CURRENT))
        s->p = NULL;
    f->prev_hash = v.text;
}

static void take_record_hash(struct st_scanner *s, struct st_frame *f)
{
    struct st_scan_value v = {0};

    f->cut_from = s->p ? (size_t)(s->p - f->line.p) : 0;
    STRING(s, ",\"record_hash\":", &v);
    if (s->p && !is_hash(&v, ST_DIALECT_CURRENT))
        s->p = NULL;
    f->record_hash = v.text;
    f->cut_to = s->p ? (size_t)(s->p - f->line.p) : 0;
}

/* At most 53 bits, no leading zero. */
static void take_seq(struct st_scanner *s, struct st_frame *f)
{
    const char *first;
    uint64_t n = 0;

    EXPECT(s, ",\"schema_version\":\"1.0\",\"seq\":");
    if (!s->p)
        return;
    for (first = s->p; s->p < s->end && *s->p >= '0' && *s->p <= '9' && s->p - first < 17; s->p++)
        n = n * 10 + (uint64_t)(*s->p - '0');
    f->seq = n;
    if (s->p == first || *first == '0' || n >= (uint64_t)ST_JSON_INT_MAX)
        s->p = NULL;
}

static bool read_current(struct st_str line, struct st_frame *f)
{
    struct st_scanner s = {.p = line.p, .end = line.p + line.len, .rules = ST_SCAN_RFC8785};

    f->dialect = ST_DIALECT_CURRENT;
    f->line = line;
    f->prev_hash = (struct st_str){0};
    STRING(&s, "{\"agent_id\":", &f->agent_id);
    STRING(&s, ",\"event_id\":", &f->event_id);
    STRING(&s, ",\"event_type\":", &f->event_type);
    STRING(&s, ",\"evidence_tier\":", &f->tier);
    EXPECT(&s, ",\"payload\":");
    object(&s, &f->payload);
    take_prev_hash(&s, f);
    take_record_hash(&s, f);
    take_seq(&s, f);
    STRING(&s, ",\"trace_id\":", &f->trace_id);
    EXPECT(&s, ",\"verdict\":");
    object(&s, &f->verdict);
    STRING(&s, ",\"wall_time\":", &f->wall_time);
    EXPECT(&s, "}");
    return s.p && s.p == s.end;
}

/* ---- the older dialect: members in any order, others ignored ---- */

struct older {
    struct st_frame *f;
    int64_t seq; /* -1: not yet seen */
    bool prev_seen;
};

static bool take_older_link(struct older *o, struct st_scan_value key, struct st_scan_value v)
{
    if (st_scan_is(key, "seq"))
        return o->seq == -1 && st_scan_int(v, &o->seq) && o->seq >= 0;
    if (st_scan_is(key, "prev_hash")) {
        if (o->prev_seen || (v.type != ST_SCAN_NULL && !is_hash(&v, ST_DIALECT_OLDER)))
            return false;
        o->prev_seen = true;
        if (v.type == ST_SCAN_STRING)
            o->f->prev_hash = v.text;
    } else if (st_scan_is(key, "record_hash")) {
        if (o->f->record_hash.p || !is_hash(&v, ST_DIALECT_OLDER))
            return false;
        o->f->record_hash = v.text;
    }
    return true;
}

static bool take_older(struct older *o, struct st_scan_value key, struct st_scan_value v)
{
    struct st_frame *f = o->f;
    const struct {
        const char *key;
        struct st_scan_value *at;
        enum st_scan_type type;
    } parts[] = {{"event_id", &f->event_id, ST_SCAN_STRING},   {"event_type", &f->event_type, ST_SCAN_STRING},
                 {"sandbox_id", &f->agent_id, ST_SCAN_STRING}, {"trace_id", &f->trace_id, ST_SCAN_STRING},
                 {"wall_time", &f->wall_time, ST_SCAN_STRING}, {"evidence_tier", &f->tier, ST_SCAN_STRING},
                 {"payload", &f->payload, ST_SCAN_OBJECT},     {"verdict", &f->verdict, v.type}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (st_scan_is(key, parts[i].key)) {
            bool fresh = parts[i].at->type == ST_SCAN_BAD;

            *parts[i].at = v;
            return fresh && v.type == parts[i].type;
        }
    return take_older_link(o, key, v);
}

/* The whole object must be compact, and its payload canonical: then its text is what was hashed. */
static bool read_older(struct st_str line, struct st_frame *f)
{
    const struct st_scan_value none = {.type = ST_SCAN_BAD};
    struct st_scanner s = {.p = line.p, .end = line.p + line.len, .rules = ST_SCAN_BYTEWISE};
    struct older o = {.f = f, .seq = -1};

    *f = (struct st_frame){.dialect = ST_DIALECT_OLDER, .line = line};
    f->agent_id = f->event_id = f->event_type = f->tier = f->trace_id = f->wall_time = f->payload =
        f->verdict = none;
    do {
        struct st_scan_value key, v;

        if (s.p == line.p)
            EXPECT(&s, "{");
        else
            EXPECT(&s, ",");
        st_scan_value(&s, &key);
        EXPECT(&s, ":");
        st_scan_value(&s, &v);
        if (key.type != ST_SCAN_STRING || v.type == ST_SCAN_BAD || !take_older(&o, key, v))
            return false;
    } while (s.p < s.end && *s.p == ',');
    EXPECT(&s, "}");
    f->seq = (uint64_t)o.seq;
    return s.p && s.p == s.end && o.seq >= 0 && o.prev_seen && f->record_hash.p &&
           f->agent_id.type == ST_SCAN_STRING && f->event_id.type == ST_SCAN_STRING &&
           f->event_type.type == ST_SCAN_STRING && f->trace_id.type == ST_SCAN_STRING &&
           f->wall_time.type == ST_SCAN_STRING && f->tier.type == ST_SCAN_STRING &&
           f->payload.type == ST_SCAN_OBJECT;
}

/* Neither reads it as it stands: what is it? */
static enum st_frame_result look_closer(struct st_str line, struct st_buf *scratch, struct st_frame *out,
                                        const char **why)
{
    st_auto_json doc = NULL;
    const struct st_json_node *root;
    const struct st_json_limits limits = {.max_depth = ST_SCAN_DEPTH, .max_nodes = 1u << 16};
    struct st_error err;

    if (st_json_parse(line.p, line.len, &limits, &doc, &err) < 0) {
        *why = "not JSON";
        return ST_FRAME_BAD_JSON;
    }
    root = st_json_root(doc);
    if (!st_json_is(root, ST_JSON_OBJECT)) {
        *why = "not an object";
        return ST_FRAME_BAD_JSON;
    }
    if (st_json_get(root, "sandbox_id") && !st_json_get(root, "agent_id")) {
        st_buf_clear(scratch);
        if (st_canonical(root, ST_SCAN_BYTEWISE, scratch) &&
            read_older((struct st_str){.p = scratch->data, .len = scratch->len}, out))
            return ST_FRAME_OK;
    } else if (!st_scan_canonical(line.p, line.len, ST_SCAN_RFC8785)) {
        *why = "not canonical: white space, order of keys, escapes or numbers";
        return ST_FRAME_NOT_CANONICAL;
    }
    *why = "not a record: a member is missing, unknown or of the wrong type";
    return ST_FRAME_BAD_JSON;
}

enum st_frame_result st_frame_read(struct st_str line, struct st_buf *scratch, struct st_frame *out,
                                   const char **why)
{
    if (read_current(line, out) || read_older(line, out))
        return ST_FRAME_OK;
    return look_closer(line, scratch, out, why);
}

/* ---- hashes ---- */

static void update(struct sha256_ctx *ctx, const char *p, size_t n)
{
    sha256_update(ctx, n, (const uint8_t *)p);
}

static void update_u64(struct sha256_ctx *ctx, uint64_t n)
{
    uint8_t le[8];

    for (int i = 0; i < 8; i++)
        le[i] = (uint8_t)(n >> (8 * i));
    sha256_update(ctx, sizeof(le), le);
}

/* L(x): the length, then the bytes of the value. */
static void update_text(struct sha256_ctx *ctx, struct st_str s)
{
    update_u64(ctx, s.len);
    update(ctx, s.p, s.len);
}

static void update_value(struct sha256_ctx *ctx, struct st_scan_value v)
{
    st_auto_buf value = ST_BUF_INIT;

    if (!v.plain) {
        st_buf_reserve(&value, v.text.len);
        value.len = st_scan_unescape(v, value.data);
        v.text = (struct st_str){.p = value.data, .len = value.len};
    }
    update_text(ctx, v.text);
}

static void hash_older(const struct st_frame *f, struct sha256_ctx *ctx)
{
    update_value(ctx, f->event_id);
    update_value(ctx, f->event_type);
    update_value(ctx, f->agent_id);
    update_value(ctx, f->trace_id);
    update_u64(ctx, f->seq);
    update_text(ctx, f->prev_hash.p ? f->prev_hash : ST_STR_LIT("null"));
    update_value(ctx, f->wall_time);
    update_value(ctx, f->tier);
    update_text(ctx, f->payload.text);
}

void st_frame_hash(const struct st_frame *f, unsigned char out[ST_SHA256_SIZE])
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    if (f->dialect == ST_DIALECT_OLDER) {
        hash_older(f, &ctx);
    } else {
        update(&ctx, f->line.p, f->cut_from);
        update(&ctx, f->line.p + f->cut_to, f->line.len - f->cut_to);
        if (f->prev_hash.p)
            update(&ctx, f->prev_hash.p, f->prev_hash.len);
    }
    sha256_digest(&ctx, ST_SHA256_SIZE, out);
}

static struct st_sha256_text hashed_text(const struct st_frame *f)
{
    return (struct st_sha256_text){.parts = {{f->line.p, f->cut_from},
                                             {f->line.p + f->cut_to, f->line.len - f->cut_to},
                                             {f->prev_hash.p, f->prev_hash.len}}};
}

void st_frame_hash_two(bool instructions, const struct st_frame *a, const struct st_frame *b,
                       unsigned char out[2][ST_SHA256_SIZE])
{
    if (a->dialect == ST_DIALECT_CURRENT && b->dialect == ST_DIALECT_CURRENT) {
        const struct st_sha256_text texts[2] = {hashed_text(a), hashed_text(b)};

        st_sha256_two(instructions, texts, out);
        return;
    }
    st_frame_hash(a, out[0]);
    st_frame_hash(b, out[1]);
}

bool st_frame_states(const struct st_frame *f, const unsigned char digest[ST_SHA256_SIZE])
{
    char hex[ST_SHA256_HEX + 1];

    st_hex(digest, ST_SHA256_SIZE, hex);
    return memcmp(f->record_hash.p + f->record_hash.len - ST_SHA256_HEX, hex, ST_SHA256_HEX) == 0;
}
