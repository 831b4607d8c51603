#include "sensors/netfilter/fence.h"

#include "sensors/netfilter/fence_private.h"
#include "sensors/netfilter/nft_rule.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#ifndef NFT_TABLE_F_PERSIST
#define NFT_TABLE_F_PERSIST 0x4
#endif

#define ROOM (128 * 1024)
#define QUERY_MS 5000
#define PIECES ((ST_FENCE_QUERY_MAX + ST_QUERY_PIECE - 1) / ST_QUERY_PIECE)

/* ---- installing ---- */

static int try_install(struct st_fence *f, bool replace, struct st_error *err)
{
    st_auto_free char *room = st_xmalloc(ROOM);
    const struct st_nft_place at = st_fence_place(f);
    struct st_nft_batch b;
    int rc;

    st_nft_begin(&b, room, ROOM);
    if (replace)
        st_nft_table_delete(&b, &at, 0);
    st_nft_table_add(&b, &at, f->owner ? NFT_TABLE_F_OWNER | NFT_TABLE_F_PERSIST : 0, 0);
    st_fence_build(&b, f);
    rc = st_nft_commit(&b, f->fd, NULL, err);
    return rc;
}

void st_fence_adopt(struct st_fence *f, int fd, uint64_t ns)
{
    *f = (struct st_fence){.fd = fd, .owner = true};
    snprintf(f->table, sizeof(f->table), "sandtrace_%llu", (unsigned long long)ns);
}

int st_fence_install(struct st_fence *f, int fd, uint64_t ns, bool dead_man, struct st_error *err)
{
    struct st_error attempt = {0};
    bool replace = false;
    int rc;

    st_fence_adopt(f, fd, ns);
    f->dead_man = dead_man;
    rc = try_install(f, replace, &attempt);
    if (rc == -EEXIST) {
        replace = true;
        rc = try_install(f, replace, &attempt);
    }
    if (rc == -EOPNOTSUPP || rc == -EINVAL) { /* no owners that stay: as a plain table */
        f->owner = false;
        rc = try_install(f, replace, &attempt);
    }
    if (rc == -EEXIST && !replace)
        rc = try_install(f, true, &attempt);
    return rc < 0 ? st_fail(err, -rc, "fence of the network: %s", attempt.msg) : 0;
}

int st_fence_guard(struct st_fence *f, const char *device, int index, struct st_error *err)
{
    st_auto_free char *room = st_xmalloc(ROOM);
    struct st_error attempt = {0};
    struct st_nft_batch b;
    int rc;

    if (strnlen(device, IF_NAMESIZE) >= IF_NAMESIZE)
        return st_fail(err, EINVAL, "fence of a device: its name is too long");
    st_nft_begin(&b, room, ROOM);
    st_fence_build_guard(&b, f, device, index);
    rc = st_nft_commit(&b, f->fd, NULL, &attempt);
    return rc < 0 ? st_fail(err, -rc, "fence of %s: %s", device, attempt.msg) : 0;
}

/* ---- what is open ---- */

/* An element that is there keeps its old time unless it goes first; one that is not can't go: added, or
 * there, it goes and comes anew. -ENOENT: it ran out between the two. */
static int put_anew(struct st_fence *f, const char *set, const struct st_nft_keys *keys, struct st_error *err)
{
    st_auto_free char *room = st_xmalloc(ROOM);
    const struct st_nft_place at = st_fence_place(f);
    struct st_error attempt = {0};
    int rc = -ENOENT;

    for (int i = 0; i < 3 && rc == -ENOENT; i++) {
        struct st_nft_batch b;

        st_nft_begin(&b, room, ROOM);
        st_nft_keys_put(&b, &at, set, keys, ST_NFT_ADD);
        st_nft_keys_put(&b, &at, set, keys, ST_NFT_DELETE);
        st_nft_keys_put(&b, &at, set, keys, ST_NFT_ADD);
        rc = st_nft_commit(&b, f->fd, NULL, &attempt);
    }
    return rc < 0 ? st_fail(err, -rc, "open the fence: %s", attempt.msg) : 0;
}

/* Each part of a key fills registers of 4 bytes. */
static size_t put_port(uint8_t *key, size_t at, uint16_t port)
{
    key[at] = (uint8_t)(port >> 8);
    key[at + 1] = (uint8_t)port;
    return at + 4;
}

static size_t put_peer(uint8_t *key, const struct st_addr *addr, uint8_t protocol)
{
    size_t len = addr->family == 4 ? 4 : 16;

    memcpy(key, addr->bytes, len);
    key[len] = protocol;
    return len + 4;
}

int st_fence_open(struct st_fence *f, const struct st_addr *to, uint8_t protocol, uint16_t port,
                  struct st_error *err)
{
    bool ports = st_fence_has_ports(protocol), four = to->family == 4;
    uint8_t key[32] = {0};
    size_t n = put_peer(key, to, protocol);
    const char *set =
        ports ? (four ? ST_FENCE_OUT4 : ST_FENCE_OUT6) : (four ? ST_FENCE_BARE4 : ST_FENCE_BARE6);

    if (ports)
        n = put_port(key, n, port);
    return put_anew(f, set, &(struct st_nft_keys){key, 1, (uint32_t)n, ST_FENCE_DAY_MS}, err);
}

int st_fence_accept(struct st_fence *f, const struct st_addr *from, uint8_t protocol, uint16_t port,
                    uint16_t own_port, struct st_error *err)
{
    uint8_t key[32] = {0};
    size_t n = put_peer(key, from, protocol);

    if (!st_fence_has_ports(protocol))
        return st_fail(err, EOPNOTSUPP, "open the fence: only flows with ports can come in");
    n = put_port(key, n, port);
    n = put_port(key, n, own_port);
    return put_anew(f, from->family == 4 ? ST_FENCE_IN4 : ST_FENCE_IN6,
                    &(struct st_nft_keys){key, 1, (uint32_t)n, ST_FENCE_DAY_MS}, err);
}

static int flush(struct st_fence *f, const char *const *sets, size_t n, const char *what,
                 struct st_error *err)
{
    st_auto_free char *room = st_xmalloc(ROOM);
    const struct st_nft_place at = st_fence_place(f);
    struct st_nft_batch b;

    st_nft_begin(&b, room, ROOM);
    for (size_t i = 0; i < n; i++)
        st_nft_set_flush(&b, &at, sets[i]);
    return st_nft_commit(&b, f->fd, NULL, err) < 0 ? st_wrap(err, "%s", what) : 0;
}

int st_fence_close_all(struct st_fence *f, struct st_error *err)
{
    static const char *const all[] = {ST_FENCE_OUT4, ST_FENCE_OUT6, ST_FENCE_BARE4,  ST_FENCE_BARE6,
                                      ST_FENCE_IN4,  ST_FENCE_IN6,  ST_FENCE_QUERY4, ST_FENCE_QUERY6};

    memset(f->queries, 0, sizeof(f->queries));
    return flush(f, all, sizeof(all) / sizeof(all[0]), "close the fence", err);
}

/* ---- messages to resolvers ---- */

size_t st_fence_query_key(const struct st_fence_query *query, size_t piece, uint8_t key[ST_FENCE_KEY_MAX],
                          size_t *n)
{
    size_t addr = query->to.family == 4 ? 4 : 16, at = piece * ST_QUERY_PIECE;
    uint32_t number = ST_QUERY_NUMBER(query->len, piece);

    memset(key, 0, ST_FENCE_KEY_MAX);
    memcpy(key, query->to.bytes, addr);
    memcpy(key + addr, query->bytes, 2); /* its id */
    memcpy(key + addr + 4, &number, sizeof(number));
    if (at < query->len)
        memcpy(key + addr + 8, query->bytes + at,
               query->len - at < ST_QUERY_PIECE ? query->len - at : ST_QUERY_PIECE);
    *n = addr + 8 + ST_QUERY_PIECE;
    return ((size_t)query->len + ST_QUERY_PIECE - 1) / ST_QUERY_PIECE;
}

static void put_query(struct st_nft_batch *b, const struct st_fence *f, const struct st_fence_query *query,
                      bool add)
{
    const struct st_nft_place at = st_fence_place(f);
    const char *set = query->to.family == 4 ? ST_FENCE_QUERY4 : ST_FENCE_QUERY6;
    uint8_t keys[PIECES * ST_FENCE_KEY_MAX], key[ST_FENCE_KEY_MAX];
    struct st_nft_keys all = {keys, 0, 0, QUERY_MS};
    size_t pieces, len;

    do {
        pieces = st_fence_query_key(query, all.n, key, &len);
        memcpy(keys + all.n++ * len, key, len);
    } while (all.n < pieces);
    all.len = (uint32_t)len;
    st_nft_keys_put(b, &at, set, &all, ST_NFT_ADD);
    st_nft_keys_put(b, &at, set, &all, ST_NFT_DELETE);
    if (add)
        st_nft_keys_put(b, &at, set, &all, ST_NFT_ADD);
}

/* Pieces of two messages with one id could be put together to a third: the older one goes. So does what has
 * the place of the new one. */
static struct st_fence_query *make_place(struct st_nft_batch *b, struct st_fence *f,
                                         const struct st_fence_query *query)
{
    struct st_fence_query *place = &f->queries[f->next_query];

    for (size_t i = 0; i < ST_FENCE_QUERIES; i++) {
        struct st_fence_query *q = &f->queries[i];

        if (!q->len ||
            (q != place && (!st_addr_equal(&q->to, &query->to) || memcmp(q->bytes, query->bytes, 2) != 0)))
            continue;
        put_query(b, f, q, false);
        q->len = 0;
    }
    f->next_query = (f->next_query + 1) % ST_FENCE_QUERIES;
    return place;
}

int st_fence_query(struct st_fence *f, const struct st_fence_query *query, struct st_error *err)
{
    bool six = query->to.family != 4;
    struct st_error attempt = {0};
    struct st_fence_query *place, before[ST_FENCE_QUERIES];
    int rc = -ENOENT;

    if (query->len < 12 || query->len > ST_FENCE_QUERY_MAX)
        return st_fail(err, EMSGSIZE, "a message to a resolver of %d bytes", query->len);
    memcpy(before, f->queries, sizeof(before));
    for (int i = 0; i < 3 && rc == -ENOENT; i++) {
        st_auto_free char *room = st_xmalloc(ROOM);
        struct st_nft_batch b;

        memcpy(f->queries, before, sizeof(before)); /* nothing of a batch that failed was done */
        st_nft_begin(&b, room, ROOM);
        place = make_place(&b, f, query);
        if (!f->lengths[six][query->len])
            st_fence_build_query(&b, f, six, query->len);
        put_query(&b, f, query, true);
        *place = *query;
        rc = st_nft_commit(&b, f->fd, NULL, &attempt);
    }
    if (rc < 0)
        return st_fail(err, -rc, "open the fence: %s", attempt.msg);
    f->lengths[six][query->len] = true;
    return 0;
}

/* ---- the switch, and the end ---- */

int st_fence_renew(struct st_fence *f, struct st_error *err)
{
    const char *half = f->odd ? ST_FENCE_ALIVE_B : ST_FENCE_ALIVE_A;
    st_auto_free char *room = st_xmalloc(ROOM);
    const struct st_nft_place at = st_fence_place(f);
    struct st_nft_batch b;

    st_nft_begin(&b, room, ROOM);
    st_nft_set_flush(&b, &at, half);
    st_fence_build_alive(&b, f, half);
    if (st_nft_commit(&b, f->fd, NULL, err) < 0)
        return st_wrap(err, "renew the dead man's switch");
    f->odd = !f->odd;
    return 0;
}

int st_fence_cut(struct st_fence *f, struct st_error *err)
{
    static const char *const both[] = {ST_FENCE_ALIVE_A, ST_FENCE_ALIVE_B};

    return flush(f, both, 2, "cut the network", err);
}

int st_fence_remove(struct st_fence *f, struct st_error *err)
{
    st_auto_free char *room = st_xmalloc(ROOM);
    const struct st_nft_place at = st_fence_place(f);
    struct st_nft_batch b;

    st_nft_begin(&b, room, ROOM);
    st_nft_table_delete(&b, &at, 0);
    return st_nft_commit(&b, f->fd, NULL, err) < 0 ? st_wrap(err, "remove the fence") : 0;
}
