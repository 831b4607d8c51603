/* dns_answer: see dns_answer.h. */
#include "sensors/net/dns_answer.h"

#include "sensors/net/cursor.h"

#include <string.h>

/* RFC 9460, 14.3.2 */
#define KEY_IPV4HINT 4
#define KEY_ECH 5
#define KEY_IPV6HINT 6

struct reading {
    const uint8_t *message;
    size_t n;
    struct st_dns_message *of;
    struct st_dns_answers *out;
    struct st_dns_name owner; /* whose records count: the name, or what it is an alias of */
    uint32_t ttl;
};

static bool refused(struct reading *r, const char *why)
{
    r->of->why = why;
    return false;
}

/* RFC 2181, 8: with the highest bit set it is 0. */
static uint32_t ttl_of(const struct st_dns_record *record)
{
    return record->ttl >> 31 ? 0 : record->ttl;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void add_addr(struct reading *r, struct st_addr addr, uint32_t ttl, bool hint)
{
    ttl = least(ttl, r->ttl);
    if (ttl < ST_DNS_TTL_MIN)
        ttl = ST_DNS_TTL_MIN;
    if (r->out->n_addrs == ST_DNS_MAX_ADDRS)
        r->out->left_out++;
    else
        r->out->addrs[r->out->n_addrs++] = (struct st_dns_addr){addr, ttl, hint};
}

static bool add_addrs(struct reading *r, struct st_cursor c, bool six, uint32_t ttl, bool hint)
{
    if (c.left == 0)
        return false;
    while (c.left) {
        const uint8_t *bytes = st_take(&c, six ? 16 : 4);

        if (!bytes)
            return false;
        add_addr(r, six ? st_addr_from6(bytes) : st_addr_from4(bytes), ttl, hint);
    }
    return true;
}

/* ---- aliases ---- */

/* The alias of r->owner, if it has one. false: a record is wrong, or there are two that differ. */
static bool find_alias(struct reading *r, struct st_dns_name *target, bool *found)
{
    size_t at = r->of->records;
    struct st_dns_record record;
    uint32_t ttl = r->ttl;

    *found = false;
    for (unsigned i = 0; i < r->of->n_answer; i++) {
        struct st_dns_name name;
        size_t data;

        if (!st_dns_record_read(r->message, r->n, &at, &record))
            return refused(r, "a record that can't be read");
        if (record.type != ST_DNS_CNAME || record.class != ST_DNS_IN ||
            !st_dns_name_equal(&record.owner, &r->owner))
            continue;
        data = record.data;
        if (!st_dns_name_read(r->message, r->n, &data, ST_DNS_POINTERS, &name) || data != at)
            return refused(r, "an alias that is no name");
        if (*found && !st_dns_name_equal(&name, target))
            return refused(r, "two aliases for one name");
        *found = true;
        *target = name;
        ttl = least(ttl, ttl_of(&record));
    }
    r->ttl = ttl;
    return true;
}

static bool follow_aliases(struct reading *r)
{
    struct st_dns_name target;
    bool found;

    for (;;) {
        if (!find_alias(r, &target, &found))
            return false;
        if (!found)
            return true;
        if (r->out->n_chain == ST_DNS_MAX_CHAIN)
            return refused(r, "aliases without an end");
        r->out->chain[r->out->n_chain++] = target;
        r->owner = target;
    }
}

/* ---- HTTPS and SVCB ---- */

static bool read_param(struct reading *r, uint16_t key, struct st_cursor value, uint32_t ttl)
{
    if (key == KEY_ECH)
        r->out->ech = true;
    if (key == KEY_IPV4HINT || key == KEY_IPV6HINT)
        return add_addrs(r, value, key == KEY_IPV6HINT, ttl, true);
    return true;
}

static void add_target(struct reading *r, const struct st_dns_name *target)
{
    if (strcmp(target->text, ".") == 0) /* the owner itself */
        return;
    if (r->out->n_targets == ST_DNS_MAX_TARGETS)
        r->out->left_out++;
    else
        r->out->targets[r->out->n_targets++] = *target;
}

/* RFC 9460, 2.2: priority, target, and parameters in the order of their keys; with priority 0 it is an alias,
 * and its parameters mean nothing. */
static bool read_service(struct reading *r, const struct st_dns_record *record)
{
    struct st_cursor c = st_cursor(r->message + record->data, record->len);
    uint16_t priority = st_take16(&c);
    size_t at = record->data + 2, end = record->data + record->len;
    struct st_dns_name target;
    int last = -1;

    if (c.bad || !st_dns_name_read(r->message, end, &at, ST_DNS_NO_POINTERS, &target))
        return false;
    add_target(r, &target);
    c = st_cursor(r->message + at, end - at);
    while (c.left) {
        uint16_t key = st_take16(&c), len = st_take16(&c);
        struct st_cursor value = st_take_run(&c, len);

        if (c.bad || key <= last)
            return false;
        last = key;
        if (priority > 0 && !read_param(r, key, value, ttl_of(record)))
            return false;
    }
    return true;
}

/* ---- the answer ---- */

static bool asked_for(const struct reading *r, uint16_t type)
{
    return type == r->of->qtype || r->of->qtype == ST_DNS_ANY;
}

static bool read_record(struct reading *r, const struct st_dns_record *record)
{
    struct st_cursor data = st_cursor(r->message + record->data, record->len);

    switch (record->type) {
    case ST_DNS_A: return record->len == 4 && add_addrs(r, data, false, ttl_of(record), false);
    case ST_DNS_AAAA: return record->len == 16 && add_addrs(r, data, true, ttl_of(record), false);
    case ST_DNS_HTTPS:
    case ST_DNS_SVCB: return read_service(r, record);
    default: return true;
    }
}

static bool read_answers(struct reading *r)
{
    size_t at = r->of->records;
    struct st_dns_record record;

    for (unsigned i = 0; i < r->of->n_answer; i++) {
        if (!st_dns_record_read(r->message, r->n, &at, &record))
            return refused(r, "a record that can't be read");
        if (record.class != ST_DNS_IN || !asked_for(r, record.type) ||
            !st_dns_name_equal(&record.owner, &r->owner))
            continue;
        if (!read_record(r, &record))
            return refused(r, "a record whose data are not of its type");
    }
    return true;
}

static void nothing(struct st_dns_answers *out)
{
    out->n_addrs = out->n_chain = out->n_targets = out->left_out = 0;
    out->ech = false;
}

bool st_dns_answers_read(const uint8_t *message, size_t n, struct st_dns_message *of,
                         struct st_dns_answers *out)
{
    struct reading r = {.message = message, .n = n, .of = of, .out = out, .ttl = ST_DNS_TTL_MAX};

    nothing(out);
    if (!of->response || of->rcode != ST_DNS_NOERROR || of->qclass != ST_DNS_IN)
        return true;
    r.owner = of->name;
    if (follow_aliases(&r) && read_answers(&r))
        return true;
    nothing(out);
    return false;
}
