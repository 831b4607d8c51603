/* names: see names.h. */
#include "sensors/net/names.h"

#include "base/keyed_hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "sensors/net/dns_name.h"

#include <stdlib.h>

#define NAMES_ON_AVERAGE 4
#define SWEEP_MS 1000 /* a full table is not swept for each new address */

struct name {
    struct name *next; /* learned before */
    int64_t until_ms;
    size_t len;
    char text[];
};

struct owner {
    struct st_table_link link;
    struct st_addr addr;
    struct name *names;
};

struct st_names {
    struct st_hash_key key;
    struct st_table owners;
    size_t max_addrs, n_names;
    int64_t swept_ms;
    uint64_t forgotten;
};

struct st_names *st_names_new(size_t max_addrs)
{
    struct st_names *n = st_xcalloc(1, sizeof(*n));

    n->key = st_hash_key_random();
    n->max_addrs = max_addrs;
    n->swept_ms = INT64_MIN / 2;
    return n;
}

static void drop_name(struct st_names *n, struct name **at, int64_t now_ms)
{
    struct name *name = *at;

    n->forgotten += name->until_ms > now_ms;
    n->n_names--;
    *at = name->next;
    free(name);
}

static void drop_owner(struct st_names *n, struct st_table_link *link, int64_t now_ms)
{
    struct owner *o = st_table_entry(link, struct owner, link);

    while (o->names)
        drop_name(n, &o->names, now_ms);
    st_table_remove(&n->owners, link);
    free(o);
}

void st_names_free(struct st_names *n)
{
    if (!n)
        return;
    while (n->owners.oldest)
        drop_owner(n, n->owners.oldest, INT64_MAX);
    free(n);
}

size_t st_names_addrs(const struct st_names *n)
{
    return n->owners.n;
}

uint64_t st_names_forgotten(const struct st_names *n)
{
    return n->forgotten;
}

void st_names_expire(struct st_names *n, int64_t now_ms)
{
    struct st_table_link *newer;

    for (struct st_table_link *link = n->owners.oldest; link; link = newer) {
        struct owner *o = st_table_entry(link, struct owner, link);

        newer = link->newer;
        for (struct name **at = &o->names; *at;)
            if ((*at)->until_ms <= now_ms)
                drop_name(n, at, now_ms);
            else
                at = &(*at)->next;
        if (!o->names)
            drop_owner(n, link, now_ms);
    }
    n->swept_ms = now_ms;
}

static uint64_t hash_of(const struct st_names *n, const struct st_addr *addr)
{
    uint8_t bytes[17] = {addr->family};

    memcpy(bytes + 1, addr->bytes, 16);
    return st_keyed_hash(&n->key, bytes, sizeof(bytes));
}

static struct owner *find_owner(struct st_names *n, const struct st_addr *addr)
{
    struct st_table_link *link = st_table_find(&n->owners, hash_of(n, addr));

    for (; link; link = st_table_find_next(link)) {
        struct owner *o = st_table_entry(link, struct owner, link);

        if (st_addr_equal(&o->addr, addr)) {
            st_table_touch(&n->owners, link);
            return o;
        }
    }
    return NULL;
}

static bool is_full(const struct st_names *n, bool new_owner)
{
    return n->owners.n + new_owner > n->max_addrs || n->n_names >= n->max_addrs * NAMES_ON_AVERAGE;
}

/* For one more name, and for one more address where that is new. What is over goes first. */
static void make_room(struct st_names *n, bool new_owner, int64_t now_ms)
{
    if (is_full(n, new_owner) && now_ms - n->swept_ms >= SWEEP_MS)
        st_names_expire(n, now_ms);
    while (n->owners.n && is_full(n, new_owner))
        drop_owner(n, n->owners.oldest, now_ms);
}

/* Out of its place in the list; NULL: it is not there. */
static struct name *take_name(struct owner *o, struct st_str text)
{
    for (struct name **at = &o->names; *at; at = &(*at)->next) {
        struct name *name = *at;

        if (name->len != text.len || memcmp(name->text, text.p, text.len) != 0)
            continue;
        *at = name->next;
        return name;
    }
    return NULL;
}

/* Of as many names as an address may have, one goes: one that is over, else the one learned first. */
static void thin_out(struct st_names *n, struct owner *o, int64_t now_ms)
{
    struct name **spare = NULL;
    size_t count = 0;

    for (struct name **at = &o->names; *at; at = &(*at)->next, count++)
        if (!spare || (*spare)->until_ms > now_ms)
            spare = at;
    if (count >= ST_NAMES_PER_ADDR)
        drop_name(n, spare, now_ms);
}

static struct owner *add_owner(struct st_names *n, const struct st_addr *addr)
{
    struct owner *o = st_xcalloc(1, sizeof(*o));

    o->addr = *addr;
    st_table_add(&n->owners, &o->link, hash_of(n, addr));
    return o;
}

static struct name *new_name(struct st_names *n, struct st_str text)
{
    struct name *name = st_xmalloc(sizeof(*name) + text.len + 1);

    *name = (struct name){.until_ms = INT64_MIN, .len = text.len};
    memcpy(name->text, text.p, text.len);
    name->text[text.len] = '\0';
    n->n_names++;
    return name;
}

bool st_names_learn(struct st_names *n, const struct st_addr *addr, struct st_str text, uint32_t ttl_s,
                    int64_t now_ms)
{
    struct owner *o = find_owner(n, addr);
    int64_t until_ms = now_ms + (int64_t)ttl_s * 1000;
    struct name *name;

    if (!text.p || text.len == 0 || text.len >= ST_DNS_NAME_SIZE)
        return false;
    name = o ? take_name(o, text) : NULL;
    if (!name) {
        if (o)
            thin_out(n, o, now_ms);
        make_room(n, !o, now_ms);
        o = find_owner(n, addr); /* which may have gone with its last name */
        if (!o)
            o = add_owner(n, addr);
        name = new_name(n, text);
    }
    if (name->until_ms < until_ms)
        name->until_ms = until_ms;
    name->next = o->names;
    o->names = name;
    return true;
}

int64_t st_names_until(struct st_names *n, const struct st_addr *addr, struct st_str text)
{
    const struct owner *o = find_owner(n, addr);

    for (const struct name *name = o ? o->names : NULL; name; name = name->next)
        if (name->len == text.len && memcmp(name->text, text.p, text.len) == 0)
            return name->until_ms;
    return INT64_MIN;
}

size_t st_names_of(struct st_names *n, const struct st_addr *addr, int64_t now_ms, struct st_str *out,
                   size_t max)
{
    struct owner *o = find_owner(n, addr);
    size_t count = 0;

    for (struct name *name = o ? o->names : NULL; name && count < max; name = name->next)
        if (name->until_ms > now_ms)
            out[count++] = (struct st_str){name->text, name->len};
    return count;
}
