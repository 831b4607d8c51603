/* record: the frame of a line, event ids, times, hash and signature. See record.h. */
#include "audit/record.h"

#include "audit/put.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/sha256_text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define TIME_LEN (ST_RFC3339_SIZE - 1)
#define MEMBER_HEAD ",\"record_hash\":\"sha256:"
#define MEMBER_LEN (sizeof(MEMBER_HEAD) - 1 + ST_SHA256_HEX + 1)
#define FRAME_FIXED 1024 /* the frame without ids, rule and reason, with room to spare */

/* The words of a frame, with their lengths. */
struct words {
    struct st_str type[ST_EV_TYPES], tier[ST_TIER_POLLED + 1];
    struct st_str action[ST_ACT_KILLED + 1], result[ST_ANOMALY + 1], severity[ST_SEV_CRITICAL + 1];
};

struct st_recorder {
    struct words words;
    struct st_buf before; /* {"agent_id":"…","event_id":"evt_ */
    struct st_buf trace;  /* ,"trace_id":"…","verdict":{"action":" */
    int64_t second;       /* that time_text shows */
    char time_text[ST_RFC3339_SIZE];
    int64_t id_ms;         /* of the last event id */
    uint8_t id_random[16]; /* its 80 random bits, five a byte */
    char id_text[ST_ULID_SIZE];
    bool instructions; /* for hashing */
};

/* Marks of a line that is being written. */
struct line {
    char *start;
    char *payload_end; /* the payload's closing brace */
    char *member;      /* record_hash: MEMBER_LEN bytes, the digest not yet in it */
    char *end;         /* behind the closing brace of the line */
};

#define READ_WORDS(list, name)                                                                               \
    for (unsigned i = 0; i < sizeof(list) / sizeof((list)[0]); i++)                                          \
    (list)[i] = st_str(name(i))

static void read_words(struct words *w)
{
    READ_WORDS(w->type, st_event_type_name);
    READ_WORDS(w->tier, st_tier_name);
    READ_WORDS(w->action, st_action_name);
    READ_WORDS(w->result, st_result_name);
    READ_WORDS(w->severity, st_severity_name);
}

int st_recorder_new(const char *agent_id, const char *trace_id, struct st_recorder **out,
                    struct st_error *err)
{
    size_t agent_len = strlen(agent_id), trace_len = strlen(trace_id);
    struct st_recorder *r;

    if (agent_len == 0 || agent_len > ST_ID_MAX)
        return st_fail(err, EINVAL, "agent id of %zu bytes: 1 to %d are possible", agent_len, ST_ID_MAX);
    if (trace_len == 0 || trace_len > ST_ID_MAX)
        return st_fail(err, EINVAL, "trace id of %zu bytes: 1 to %d are possible", trace_len, ST_ID_MAX);
    r = st_xcalloc(1, sizeof(*r));
    read_words(&r->words);
    st_buf_adds(&r->before, "{\"agent_id\":");
    st_json_quote(&r->before, agent_id, agent_len);
    st_buf_adds(&r->before, ",\"event_id\":\"evt_");
    st_buf_adds(&r->trace, ",\"trace_id\":");
    st_json_quote(&r->trace, trace_id, trace_len);
    st_buf_adds(&r->trace, ",\"verdict\":{\"action\":\"");
    r->second = INT64_MIN;
    r->id_ms = -1;
    r->instructions = st_sha256_instructions();
    *out = r;
    return 0;
}

void st_recorder_free(struct st_recorder *r)
{
    if (!r)
        return;
    st_buf_free(&r->before);
    st_buf_free(&r->trace);
    free(r);
}

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* A new millisecond: its ten characters, and fresh random bits. The top bit stays clear, so that counting
 * up within the millisecond can't run over. */
static void renew_id(struct st_recorder *r, int64_t ms)
{
    uint64_t rest = (uint64_t)ms;

    if (getrandom(r->id_random, sizeof(r->id_random), 0) != (ssize_t)sizeof(r->id_random))
        abort();
    for (int i = 9; i >= 0; i--, rest >>= 5)
        r->id_text[i] = alphabet[rest & 31];
    r->id_random[0] &= 15;
    for (int i = 0; i < 16; i++) {
        r->id_random[i] &= 31;
        r->id_text[10 + i] = alphabet[r->id_random[i]];
    }
    r->id_ms = ms;
}

/* A ULID that is above the one before it, whatever the clock does. */
static const char *next_id(struct st_recorder *r, int64_t wall_us)
{
    int64_t ms = wall_us / 1000;

    if (ms > r->id_ms) {
        renew_id(r, ms);
        return r->id_text;
    }
    for (int i = 15; i >= 0; i--) {
        r->id_random[i] = (r->id_random[i] + 1) & 31;
        r->id_text[10 + i] = alphabet[r->id_random[i]];
        if (r->id_random[i])
            break;
    }
    return r->id_text;
}

/* RFC 3339; what does not change from one event to the next is kept. */
static char *put_wall_time(struct st_recorder *r, char *p, int64_t us)
{
    int64_t second = us / 1000000;
    unsigned micros = (unsigned)(us % 1000000);

    if (us < 0 || second != r->second) {
        st_format_rfc3339(us, r->time_text);
        r->second = us < 0 ? INT64_MIN : second;
        return st_put(p, r->time_text, TIME_LEN);
    }
    p = st_put(p, r->time_text, TIME_LEN);
    for (char *digit = p - 2; digit > p - 8; digit--) {
        *digit = (char)('0' + micros % 10);
        micros /= 10;
    }
    return p;
}

static char *put_text_or_null(char *p, struct st_str s)
{
    bool exact;

    return s.p ? st_put_string(p, s, &exact) : ST_PUT_LIT(p, "null");
}

static char *put_word(char *p, struct st_str word)
{
    return st_put(p, word.p, word.len);
}

static char *put_verdict(char *p, const struct words *w, const struct st_verdict *v)
{
    static const struct st_verdict nothing = {.result = ST_ALLOW};

    if (!v)
        v = &nothing;
    p = put_word(p, w->action[v->action]);
    p = ST_PUT_LIT(p, "\",\"policy_rule\":");
    p = put_text_or_null(p, v->rule);
    p = ST_PUT_LIT(p, ",\"policy_sha256\":");
    p = put_text_or_null(p, st_str(v->policy_sha256));
    p = ST_PUT_LIT(p, ",\"reason\":");
    p = put_text_or_null(p, v->reason);
    p = ST_PUT_LIT(p, ",\"result\":\"");
    p = put_word(p, w->result[v->result]);
    p = ST_PUT_LIT(p, "\",\"severity\":\"");
    p = put_word(p, w->severity[v->severity]);
    return ST_PUT_LIT(p, "\"}");
}

/* All of the line but for the digest. */
static struct line put_line(struct st_recorder *r, char *out, const struct st_event *ev,
                            const struct st_verdict *v, const struct st_link *link,
                            char event_id[ST_EVENT_ID_SIZE])
{
    struct line line = {.start = out};
    const char *id = next_id(r, ev->wall_us);
    char *p = st_put(out, r->before.data, r->before.len);

    memcpy(event_id, "evt_", 4);
    memcpy(event_id + 4, id, ST_ULID_SIZE - 1);
    event_id[ST_EVENT_ID_SIZE - 1] = '\0';
    p = st_put(p, id, ST_ULID_SIZE - 1);
    p = ST_PUT_LIT(p, "\",\"event_type\":\"");
    p = put_word(p, r->words.type[ev->type]);
    p = ST_PUT_LIT(p, "\",\"evidence_tier\":\"");
    p = put_word(p, r->words.tier[ev->tier]);
    p = ST_PUT_LIT(p, "\",\"payload\":");
    p = st_payload_put(p, ev);
    line.payload_end = p - 1;
    p = ST_PUT_LIT(p, ",\"prev_hash\":");
    if (link->seq) {
        *p++ = '"';
        p = st_put(p, link->head, ST_HASH_SIZE - 1);
        *p++ = '"';
    } else {
        p = ST_PUT_LIT(p, "null");
    }
    line.member = p;
    p = ST_PUT_LIT(p, MEMBER_HEAD) + ST_SHA256_HEX;
    p = ST_PUT_LIT(p, "\",\"schema_version\":\"1.0\",\"seq\":");
    p = st_put_u64(p, link->seq + 1);
    p = st_put(p, r->trace.data, r->trace.len);
    p = put_verdict(p, &r->words, v);
    p = ST_PUT_LIT(p, ",\"wall_time\":\"");
    p = put_wall_time(r, p, ev->wall_us);
    line.end = ST_PUT_LIT(p, "\"}");
    return line;
}

/* Hashes the line, fills the digest in, ends it with a newline and moves the link on. */
static size_t seal(const struct st_recorder *r, const struct line *line, struct st_link *link)
{
    const char *rest = line->member + MEMBER_LEN;
    char *digest_text = line->member + sizeof(MEMBER_HEAD) - 1;
    unsigned char digest[ST_SHA256_SIZE];
    const struct st_sha256_text text = {.parts = {{line->start, (size_t)(line->member - line->start)},
                                                  {rest, (size_t)(line->end - rest)},
                                                  {link->head, link->seq ? ST_HASH_SIZE - 1 : 0}}};

    st_sha256_one(r->instructions, &text, digest);
    memcpy(link->head, "sha256:", 7);
    st_hex(digest, sizeof(digest), link->head + 7);
    memcpy(digest_text, link->head + 7, ST_SHA256_HEX);
    link->seq++;
    *line->end = '\n';
    return (size_t)(line->end + 1 - line->start);
}

size_t st_record_bound(const struct st_recorder *r, const struct st_event *ev, const struct st_verdict *v)
{
    size_t n = FRAME_FIXED + r->before.len + r->trace.len + st_payload_bound(ev);

    if (v && (v->rule.len > ST_RECORD_MAX || v->reason.len > ST_RECORD_MAX))
        return ST_RECORD_BOUND_MAX + 1;
    return v ? n + (v->rule.len + v->reason.len) * ST_PUT_WORST : n;
}

size_t st_record_put(struct st_recorder *r, char *out, const struct st_event *ev, const struct st_verdict *v,
                     struct st_link *link, char event_id[ST_EVENT_ID_SIZE])
{
    struct line line = put_line(r, out, ev, v, link, event_id);

    return seal(r, &line, link);
}

/* The payload without its signature, which comes last in canonical order. */
static size_t put_unsigned_payload(char *out, bool final, const struct st_signer *signer,
                                   const struct st_link *link)
{
    char *p = ST_PUT_LIT(out, "{\"final\":");

    p = final ? ST_PUT_LIT(p, "true") : ST_PUT_LIT(p, "false");
    p = ST_PUT_LIT(p, ",\"head\":");
    p = put_text_or_null(p, link->seq ? st_str(link->head) : (struct st_str){0});
    p = ST_PUT_LIT(p, ",\"key_id\":");
    p = put_text_or_null(p, st_str(signer ? st_signer_public(signer)->id : NULL));
    p = ST_PUT_LIT(p, ",\"seq\":");
    p = st_put_u64(p, link->seq);
    return (size_t)(ST_PUT_LIT(p, "}") - out);
}

/* ,"signature":"…" or null, over the line as it stands now. */
static size_t put_signature(char *out, const struct line *line, const struct st_signer *signer)
{
    char message[sizeof(ST_CHECKPOINT_DOMAIN) + ST_CHECKPOINT_BOUND], *p = message;
    unsigned char signature[ST_SIGNATURE_SIZE];
    char *q = ST_PUT_LIT(out, ",\"signature\":");

    if (!signer)
        return (size_t)(ST_PUT_LIT(q, "null") - out);
    p = ST_PUT_LIT(p, ST_CHECKPOINT_DOMAIN);
    p = st_put(p, line->start, (size_t)(line->member - line->start));
    p = st_put(p, line->member + MEMBER_LEN, (size_t)(line->end - line->member) - MEMBER_LEN);
    st_sign(signer, message, (size_t)(p - message), signature);
    *q++ = '"';
    q += st_base64_encode(signature, sizeof(signature), q);
    *q++ = '"';
    return (size_t)(q - out);
}

size_t st_record_put_checkpoint(struct st_recorder *r, char *out, int64_t wall_us, bool final,
                                const struct st_signer *signer, struct st_link *link,
                                char event_id[ST_EVENT_ID_SIZE])
{
    char payload[512], signature[128];
    size_t len = put_unsigned_payload(payload, final, signer, link);
    struct st_event ev = {.type = ST_EV_CHECKPOINT,
                          .tier = ST_TIER_DERIVED,
                          .wall_us = wall_us,
                          .json = {.p = payload, .len = len}};
    struct line line = put_line(r, out, &ev, NULL, link, event_id);
    size_t more = put_signature(signature, &line, signer);

    memmove(line.payload_end + more, line.payload_end, (size_t)(line.end - line.payload_end));
    memcpy(line.payload_end, signature, more);
    line.member += more;
    line.end += more;
    return seal(r, &line, link);
}
