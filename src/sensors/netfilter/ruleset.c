#include "sensors/netfilter/ruleset.h"

#include "sensors/netfilter/ruleset_private.h"

#include "base/cleanup.h"
#include "base/idle.h"
#include "base/mem.h"
#include "base/sha256.h"

#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#ifndef NFT_TABLE_F_PERSIST
#define NFT_TABLE_F_PERSIST 0x4
#endif

#define WHOLE_ROOM (128 * 1024)
#define SMALL_ROOM (4 * ST_NFT_ROOM)

struct small {
    struct st_nft_batch b;
    _Alignas(struct nlmsghdr) char room[SMALL_ROOM];
};

/* ---- whose ---- */

/* As it is called, where that is no longer than a table's name may be. */
void st_ruleset_name(const char *container, char out[ST_RULESET_NAME])
{
    unsigned char hash[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];
    bool fits = strlen(container) + sizeof(ST_RULESET_TABLE "-") <= ST_RULESET_NAME;

    st_sha256(container, strlen(container), hash);
    st_hex(hash, sizeof(hash), hex);
    snprintf(out, ST_RULESET_NAME, ST_RULESET_TABLE "-%s", fits ? container : hex);
}

/* ---- installing ---- */

/* What an earlier run left. */
struct leftover {
    bool inet, netdev;
};

static int try_install(struct st_ruleset *r, const struct st_ruleset_order *order,
                       const struct leftover *leftover, uint8_t *need, struct st_error *err)
{
    const struct st_nft_place inet = st_ruleset_inet(r), netdev = st_ruleset_netdev(r);
    st_auto_free char *room = st_xmalloc(WHOLE_ROOM);
    uint32_t flags = r->owner ? NFT_TABLE_F_OWNER | NFT_TABLE_F_PERSIST : 0;
    struct st_nft_batch b;

    st_nft_begin(&b, room, WHOLE_ROOM);
    if (leftover->inet)
        st_nft_table_delete(&b, &inet, ST_NEED_NOTHING);
    if (leftover->netdev)
        st_nft_table_delete(&b, &netdev, ST_NEED_NOTHING);
    st_nft_table_add(&b, &inet, flags, ST_NEED_TABLE);
    if (r->egress)
        st_nft_table_add(&b, &netdev, flags, ST_NEED_NETDEV);
    if (r->group.level)
        st_ruleset_build_group(&b, r, order);
    else
        st_ruleset_build(&b, r, order);
    return st_nft_commit(&b, r->fd, need, err);
}

/* Does without what was refused, or replaces what was in the way. false: nothing to be done. */
static bool give_way(struct st_ruleset *r, struct leftover *leftover, uint8_t need, int errnum)
{
    bool *what = NULL, *in_the_way = NULL;

    if (need == ST_NEED_TABLE) {
        what = &r->owner;
        in_the_way = &leftover->inet;
    } else if (need == ST_NEED_NETDEV) {
        what = &r->egress;
        in_the_way = &leftover->netdev;
    } else if (need == ST_NEED_QUEUE) {
        what = &r->native_queue;
    } else if (need == ST_NEED_BEGUN) {
        what = &r->begun;
    }
    if (errnum == EEXIST && in_the_way && !*in_the_way)
        return *in_the_way = true;
    if (!what || !*what || errnum == EPERM || errnum == EEXIST)
        return false;
    *what = false;
    return true;
}

void st_ruleset_adopt(struct st_ruleset *r, int fd, const struct st_ruleset_order *order)
{
    *r = (struct st_ruleset){.fd = fd,
                             .queue = order->queue,
                             .group = order->group,
                             .enforce = order->enforce,
                             .dead_man = order->dead_man,
                             .stamp = order->stamp,
                             .seal = order->seal,
                             .owner = true,
                             .native_queue = true,
                             .egress = !order->group.level,
                             .begun = !order->group.level,
                             .log = true};
    snprintf(r->table, sizeof(r->table), "%s", order->table ? order->table : ST_RULESET_TABLE);
}

int st_ruleset_install(struct st_ruleset *r, int fd, const struct st_ruleset_order *order,
                       struct st_error *err)
{
    struct leftover leftover = {0};
    struct st_error attempt = {0};
    uint8_t need;
    int rc;

    if (order->stamp == 0 || order->n_resolvers > ST_RULESET_RESOLVERS)
        return st_fail(err, EINVAL, "rules of the network: no stamp, or more than %d resolvers",
                       ST_RULESET_RESOLVERS);
    st_ruleset_adopt(r, fd, order);
    if (order->like) {
        r->owner = order->like->owner;
        r->native_queue = order->like->native_queue;
        r->egress = order->like->egress && !order->group.level;
        r->begun = order->like->begun && !order->group.level;
    }
    do
        rc = try_install(r, order, &leftover, &need, &attempt);
    while (rc < 0 && give_way(r, &leftover, need, -rc));
    if (rc < 0 && need == ST_NEED_GROUP)
        return st_fail(err, EPROTONOSUPPORT,
                       "this kernel can't tell packets by control group (nft: socket cgroupv2): %s",
                       attempt.msg);
    return rc < 0 ? st_fail(err, -rc, "rules of the network: %s", attempt.msg) : 0;
}

/* ---- what changes while they are in place ---- */

static int commit(struct st_ruleset *r, struct small *s, const char *what, struct st_error *err)
{
    if (st_nft_commit(&s->b, r->fd, NULL, err) < 0)
        return st_wrap(err, "%s", what);
    return 0;
}

int st_ruleset_add_resolvers(struct st_ruleset *r, const struct st_ruleset_order *order, struct st_error *err)
{
    struct small s;

    if (order->n_resolvers > ST_RULESET_RESOLVERS)
        return st_fail(err, EINVAL, "rules of the network: more than %d resolvers", ST_RULESET_RESOLVERS);
    if (order->n_resolvers == 0)
        return 0;
    st_nft_begin(&s.b, s.room, sizeof(s.room));
    st_ruleset_build_resolvers(&s.b, r, order);
    return commit(r, &s, "tell who the resolvers are", err);
}

/* sets: of IPv4, of IPv6. */
static int open_in(struct st_ruleset *r, const char *const sets[2], const struct st_addr *addr,
                   uint8_t protocol, uint16_t port, uint64_t timeout_ms, struct st_error *err)
{
    size_t len = addr->family == 4 ? 4 : 16;
    uint8_t key[24] = {0};
    const struct st_nft_keys keys = {key, 1, (uint32_t)len + 8, timeout_ms};
    const char *set = sets[addr->family != 4];
    const struct st_nft_place at = st_ruleset_inet(r);
    struct st_error attempt = {0};
    int rc = -ENOENT;

    memcpy(key, addr->bytes, len);
    key[len] = protocol;
    key[len + 4] = (uint8_t)(port >> 8);
    key[len + 5] = (uint8_t)port;
    /* An element that is there keeps its old time unless it goes first; one that is not can't go: added, or
     * there, it goes and comes anew. To fail would cost milliseconds: the kernel waits for all its processors
     * before it undoes a batch. It does where the element runs out between the first two. */
    for (int i = 0; i < 3 && rc == -ENOENT; i++) {
        struct small s;

        st_nft_begin(&s.b, s.room, sizeof(s.room));
        st_nft_keys_put(&s.b, &at, set, &keys, ST_NFT_ADD);
        st_nft_keys_put(&s.b, &at, set, &keys, ST_NFT_DELETE);
        st_nft_keys_put(&s.b, &at, set, &keys, ST_NFT_ADD);
        rc = commit(r, &s, "open a destination", &attempt);
    }
    return rc < 0 ? st_fail(err, -rc, "%s", attempt.msg) : 0;
}

int st_ruleset_open(struct st_ruleset *r, const struct st_addr *addr, uint8_t protocol, uint16_t port,
                    uint64_t timeout_ms, struct st_error *err)
{
    static const char *const sets[] = {ST_SET_OPEN4, ST_SET_OPEN6};

    return open_in(r, sets, addr, protocol, port, timeout_ms, err);
}

int st_ruleset_open_name(struct st_ruleset *r, const struct st_addr *addr, uint16_t port, uint64_t timeout_ms,
                         struct st_error *err)
{
    static const char *const sets[] = {ST_SET_NAMED4, ST_SET_NAMED6};

    return open_in(r, sets, addr, IPPROTO_TCP, port, timeout_ms, err);
}

int st_ruleset_close_all(struct st_ruleset *r, struct st_error *err)
{
    const struct st_nft_place at = st_ruleset_inet(r);
    struct small s;

    if (r->group.level)
        return 0;
    st_nft_begin(&s.b, s.room, sizeof(s.room));
    st_nft_set_flush(&s.b, &at, ST_SET_OPEN4);
    st_nft_set_flush(&s.b, &at, ST_SET_OPEN6);
    st_nft_set_flush(&s.b, &at, ST_SET_NAMED4);
    st_nft_set_flush(&s.b, &at, ST_SET_NAMED6);
    return commit(r, &s, "close what is open", err);
}

static int build_renewal(struct st_ruleset *r, const char *half, struct st_nft_kept *out,
                         struct st_error *err)
{
    const struct st_nft_place at = st_ruleset_inet(r);
    struct small s;

    st_nft_begin(&s.b, s.room, sizeof(s.room));
    st_nft_set_flush(&s.b, &at, half);
    st_ruleset_build_alive(&s.b, r, half);
    return st_nft_keep(&s.b, out) ? 0 : st_fail(err, EMSGSIZE, "renew the dead man's switch: no room");
}

/* All that a monitor does while its container is idle: both halves are built at once, so that later nothing
 * is needed but to send. */
ST_IDLE_CODE int st_ruleset_renew(struct st_ruleset *r, struct st_error *err)
{
    if (!r->renewals[0].len && (build_renewal(r, ST_SET_ALIVE_A, &r->renewals[0], err) < 0 ||
                                build_renewal(r, ST_SET_ALIVE_B, &r->renewals[1], err) < 0))
        return -err->errnum;
    if (st_nft_repeat(&r->renewals[r->odd], r->fd, err) < 0)
        return st_wrap(err, "renew the dead man's switch");
    r->odd = !r->odd;
    return 0;
}

int st_ruleset_cut(struct st_ruleset *r, struct st_error *err)
{
    const struct st_nft_place at = st_ruleset_inet(r);
    struct st_error attempt = {0};
    int rc = -ENODATA;

    /* Who else reads from the socket may have our answer. */
    for (int i = 0; i < 3 && rc == -ENODATA; i++) {
        struct small s;

        st_nft_begin(&s.b, s.room, sizeof(s.room));
        st_nft_set_flush(&s.b, &at, ST_SET_ALIVE_A);
        st_nft_set_flush(&s.b, &at, ST_SET_ALIVE_B);
        rc = commit(r, &s, "cut the network", &attempt);
    }
    return rc < 0 ? st_fail(err, -rc, "%s", attempt.msg) : 0;
}

/* ---- devices ---- */

static int try_guard(struct st_ruleset *r, const char *device, uint8_t *need, struct st_error *err)
{
    st_auto_free char *room = st_xmalloc(WHOLE_ROOM);
    struct st_nft_batch b;

    st_nft_begin(&b, room, WHOLE_ROOM);
    st_ruleset_build_guard(&b, r, device);
    return st_nft_commit(&b, r->fd, need, err);
}

int st_ruleset_guard(struct st_ruleset *r, const char *device, struct st_error *err)
{
    struct st_error attempt = {0};
    uint8_t need;
    int rc;

    if (!r->egress)
        return st_fail(err, EOPNOTSUPP, "guard of %s: the kernel has no hook for it", device);
    if (strnlen(device, IF_NAMESIZE) >= IF_NAMESIZE)
        return st_fail(err, EINVAL, "guard of a device: its name is too long");
    rc = try_guard(r, device, &need, &attempt);
    if (rc < 0 && need == ST_NEED_LOG) {
        r->log = false;
        rc = try_guard(r, device, &need, &attempt);
    }
    return rc < 0 ? st_fail(err, -rc, "guard of %s: %s", device, attempt.msg) : 0;
}

static int remove_table(struct st_ruleset *r, const struct st_nft_place *at, struct st_error *err)
{
    struct st_error attempt = {0};
    struct small s;
    int rc;

    st_nft_begin(&s.b, s.room, sizeof(s.room));
    st_nft_table_delete(&s.b, at, ST_NEED_NOTHING);
    rc = commit(r, &s, "remove the rules", &attempt);
    return rc < 0 && rc != -ENOENT && rc != -EOPNOTSUPP && rc != -EAFNOSUPPORT
               ? st_fail(err, -rc, "%s", attempt.msg)
               : 0;
}

int st_ruleset_remove(struct st_ruleset *r, struct st_error *err)
{
    const struct st_nft_place inet = st_ruleset_inet(r), netdev = st_ruleset_netdev(r);
    int rc = remove_table(r, &inet, err), second = r->group.level ? 0 : remove_table(r, &netdev, err);

    return rc < 0 ? rc : second;
}
