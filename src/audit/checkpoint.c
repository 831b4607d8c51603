/* checkpoint: see checkpoint.h; record.h says what is signed. */
#include "audit/checkpoint.h"

#include "audit/record.h"
#include "base/base64.h"

static bool same(struct st_str a, struct st_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* head is the hash of the record before, or null; seq is its seq. */
static bool fits(const struct st_frame *f, struct st_scan_value head, int64_t seq)
{
    if ((uint64_t)seq + 1 != f->seq)
        return false;
    if (!f->prev_hash.p)
        return head.type == ST_SCAN_NULL;
    return head.type == ST_SCAN_STRING && same(head.text, f->prev_hash);
}

bool st_checkpoint_read(const struct st_frame *f, struct st_checkpoint *out)
{
    const enum st_scan_rules rules = ST_SCAN_RFC8785;
    struct st_scan_value final = st_scan_get(f->payload, "final", rules);
    struct st_scan_value head = st_scan_get(f->payload, "head", rules);
    struct st_scan_value key_id = st_scan_get(f->payload, "key_id", rules);
    struct st_scan_value signature = st_scan_get(f->payload, "signature", rules);
    int64_t seq;

    *out = (struct st_checkpoint){0};
    if (f->dialect != ST_DIALECT_CURRENT || !st_scan_is(f->event_type, "checkpoint") ||
        (final.type != ST_SCAN_TRUE && final.type != ST_SCAN_FALSE) ||
        !st_scan_int(st_scan_get(f->payload, "seq", rules), &seq) || head.type == ST_SCAN_BAD ||
        key_id.type == ST_SCAN_BAD || signature.type == ST_SCAN_BAD)
        return false;
    out->final = final.type == ST_SCAN_TRUE;
    out->fits = fits(f, head, seq);
    if (key_id.type == ST_SCAN_NULL) {
        out->signature_formed = signature.type == ST_SCAN_NULL;
        return true;
    }
    out->key_id = key_id.text;
    out->signature_formed = key_id.type == ST_SCAN_STRING && signature.type == ST_SCAN_STRING &&
                            st_base64_decode(signature.text.p, signature.text.len, out->signature,
                                             ST_SIGNATURE_SIZE) == ST_SIGNATURE_SIZE;
    out->cut_from = (size_t)(signature.text.p - f->line.p) - (sizeof(",\"signature\":\"") - 1);
    out->cut_to = (size_t)(signature.text.p - f->line.p) + signature.text.len + 1;
    return true;
}

bool st_checkpoint_stands(const struct st_frame *f, const struct st_checkpoint *c,
                          const struct st_public_key *key)
{
    st_auto_buf message = ST_BUF_INIT;

    if (!c->signature_formed || !c->key_id.p)
        return false;
    st_buf_adds(&message, ST_CHECKPOINT_DOMAIN);
    st_buf_add(&message, f->line.p, c->cut_from);
    st_buf_add(&message, f->line.p + c->cut_to, f->cut_from - c->cut_to);
    st_buf_add(&message, f->line.p + f->cut_to, f->line.len - f->cut_to);
    return st_signature_valid(key, message.data, message.len, c->signature);
}
