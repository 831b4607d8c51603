/* torn: see torn.h. */
#include "audit/torn.h"

#include "base/json_write.h"

void st_torn_payload(const struct st_torn *t, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "sensor", "trace");
    st_jw_kstr(&w, "state", "torn_tail");
    st_jw_key(&w, "torn");
    st_jw_object(&w);
    st_jw_kint(&w, "length", (int64_t)t->length);
    st_jw_kint(&w, "offset", (int64_t)t->offset);
    st_jw_kstr(&w, "sha256", t->sha256);
    st_jw_end(&w, '}');
    st_jw_end(&w, '}');
}

bool st_torn_read(const struct st_frame *f, struct st_torn *out)
{
    const enum st_scan_rules rules = ST_SCAN_RFC8785;
    struct st_scan_value torn, sha256;
    int64_t offset, length;

    if (f->dialect != ST_DIALECT_CURRENT || !st_scan_is(f->event_type, "sensor"))
        return false;
    torn = st_scan_get(f->payload, "torn", rules);
    sha256 = st_scan_get(torn, "sha256", rules);
    if (!st_scan_int(st_scan_get(torn, "offset", rules), &offset) || offset < 0 ||
        !st_scan_int(st_scan_get(torn, "length", rules), &length) || length < 1 ||
        sha256.type != ST_SCAN_STRING || sha256.text.len != ST_SHA256_HEX)
        return false;
    *out = (struct st_torn){.offset = (uint64_t)offset, .length = (uint64_t)length};
    memcpy(out->sha256, sha256.text.p, ST_SHA256_HEX);
    return true;
}

void st_torn_sum_begin(struct st_torn_sum *s, uint64_t offset)
{
    s->offset = offset;
    s->newline = false;
    sha256_init(&s->ctx);
}

void st_torn_sum_add(struct st_torn_sum *s, const struct st_line *line)
{
    if (s->newline)
        sha256_update(&s->ctx, 1, (const uint8_t *)"\n");
    sha256_update(&s->ctx, line->text.len, (const uint8_t *)line->text.p);
    s->newline = line->ended;
}

bool st_torn_matches(const struct st_torn *t, const struct st_torn_sum *s, uint64_t line_offset)
{
    uint64_t all = line_offset - s->offset;
    struct sha256_ctx ctx = s->ctx;
    unsigned char digest[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];

    if (t->offset != s->offset || (t->length != all && t->length + 1 != all))
        return false;
    if (t->length == all)
        sha256_update(&ctx, 1, (const uint8_t *)"\n");
    sha256_digest(&ctx, sizeof(digest), digest);
    st_hex(digest, sizeof(digest), hex);
    return memcmp(hex, t->sha256, ST_SHA256_HEX) == 0;
}
