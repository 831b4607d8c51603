/* dns: see dns.h. */
#include "sensors/net/dns.h"

#include "sensors/net/cursor.h"

#include <string.h>

#define QR 0x8000
#define OPCODE 0x7800
#define TC 0x0200
#define RD 0x0100
#define RA 0x0080
#define RCODE 0x000f

struct counts {
    uint16_t question, answer, authority, additional;
};

static void read_header(struct st_cursor *c, struct st_dns_message *out, struct counts *n)
{
    uint16_t flags;

    out->id = st_take16(c);
    flags = st_take16(c);
    out->response = flags & QR;
    out->truncated = flags & TC;
    out->opcode = (uint8_t)((flags & OPCODE) >> 11);
    out->rcode = flags & RCODE;
    out->edns = false;
    n->question = st_take16(c);
    n->answer = st_take16(c);
    n->authority = st_take16(c);
    n->additional = st_take16(c);
}

static bool read_question(const uint8_t *message, size_t n, struct st_dns_message *out)
{
    size_t at = ST_DNS_HEADER;
    struct st_cursor c;

    if (!st_dns_name_read(message, n, &at, ST_DNS_NO_POINTERS, &out->name))
        return false;
    c = st_cursor(message + at, n - at);
    out->qtype = st_take16(&c);
    out->qclass = st_take16(&c);
    out->records = at + 4;
    return !c.bad;
}

bool st_dns_record_read(const uint8_t *message, size_t n, size_t *at, struct st_dns_record *out)
{
    struct st_cursor c;

    if (!st_dns_name_read(message, n, at, ST_DNS_POINTERS, &out->owner))
        return false;
    c = st_cursor(message + *at, n - *at);
    out->type = st_take16(&c);
    out->class = st_take16(&c);
    out->ttl = st_take32(&c);
    out->len = st_take16(&c);
    if (c.bad || out->len > c.left)
        return false;
    out->data = *at + 10;
    *at = out->data + out->len;
    return true;
}

/* RFC 6891: the root's, once, among the additional; its TTL has the upper bits of rcode. */
static bool read_opt(const struct st_dns_record *r, bool additional, struct st_dns_message *out)
{
    if (out->edns || !additional || strcmp(r->owner.text, ".") != 0)
        return false;
    out->edns = true;
    out->rcode |= (uint16_t)(r->ttl >> 24 << 4);
    return true;
}

static bool refused(struct st_dns_message *out, const char *why)
{
    out->why = why;
    return false;
}

static bool read_records(const uint8_t *message, size_t n, const struct counts *counts,
                         struct st_dns_message *out)
{
    size_t in_order = (size_t)counts->answer + counts->authority, all = in_order + counts->additional;
    size_t at = out->records;
    struct st_dns_record r;

    if (all > ST_DNS_MAX_RECORDS)
        return refused(out, "more records than any answer needs");
    for (size_t i = 0; i < all; i++) {
        if (!st_dns_record_read(message, n, &at, &r))
            return refused(out, "a record that ends too early or has no right name");
        if (r.type == ST_DNS_OPT && !read_opt(&r, i >= in_order, out))
            return refused(out, "EDNS twice or where it does not belong");
        if (!out->response && r.type != ST_DNS_OPT)
            return refused(out, "a query that brings records with it");
    }
    if (at != n)
        return refused(out, "bytes behind the last record");
    return true;
}

bool st_dns_read(const uint8_t *message, size_t n, struct st_dns_message *out)
{
    struct st_cursor c = st_cursor(message, n);
    struct counts counts;

    out->why = NULL;
    read_header(&c, out, &counts);
    if (c.bad)
        return refused(out, "shorter than a header");
    if (out->opcode != 0)
        return refused(out, "not a query but another operation");
    if (counts.question != 1)
        return refused(out, "not exactly one question");
    if (!read_question(message, n, out))
        return refused(out, "a question that can't be read");
    out->n_answer = counts.answer;
    return read_records(message, n, &counts, out);
}

size_t st_dns_refuse(const uint8_t *query, size_t n, uint8_t *out, size_t room)
{
    struct st_cursor c = st_cursor(query, n);
    struct st_dns_message m;
    struct counts counts;
    size_t len = ST_DNS_HEADER;

    read_header(&c, &m, &counts);
    if (c.bad || m.response)
        return 0;
    if (counts.question == 1 && read_question(query, n, &m))
        len = m.records;
    if (len > room)
        return 0;
    memcpy(out, query, len);
    st_store16(out + 2, QR | ((unsigned)(query[2] << 8) & (OPCODE | RD)) | RA | ST_DNS_REFUSED);
    memset(out + 4, 0, ST_DNS_HEADER - 4);
    out[5] = len > ST_DNS_HEADER;
    return len;
}

enum st_dns_frame st_dns_frame(const uint8_t *bytes, size_t n, size_t *len)
{
    struct st_cursor c = st_cursor(bytes, n);

    *len = st_take16(&c);
    if (c.bad)
        return ST_DNS_FRAME_MORE;
    if (*len < ST_DNS_HEADER)
        return ST_DNS_FRAME_BAD;
    return *len <= c.left ? ST_DNS_FRAME_WHOLE : ST_DNS_FRAME_MORE;
}
