#include "sensors/netfilter/nft_batch.h"

#include "base/idle.h"
#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/nfsock.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdlib.h>
#include <string.h>

static void *there(void *object)
{
    if (!object) /* out of memory: base/mem.h */
        abort();
    return object;
}

void st_nft_begin(struct st_nft_batch *b, void *room, size_t size)
{
    *b = (struct st_nft_batch){.room = room, .size = size, .first = st_nfsock_seq()};
    b->next = b->first;
    b->used = nftnl_batch_begin(b->room, b->next++)->nlmsg_len;
}

struct nlmsghdr *st_nft_message(struct st_nft_batch *b, uint16_t type, uint8_t family, uint16_t flags,
                                uint8_t need)
{
    /* One too many is written over the first: nothing of it will be sent. */
    if (b->size - b->used < 2 * (size_t)ST_NFT_ROOM || b->next - b->first >= ST_NFT_MESSAGES) {
        b->full = true;
        b->used = 0;
        b->next = b->first;
    }
    b->needs[b->next - b->first] = need;
    return nftnl_nlmsg_build_hdr(b->room + b->used, type, family, flags, b->next++);
}

void st_nft_add(struct st_nft_batch *b, struct nlmsghdr *h)
{
    b->used += MNL_ALIGN(h->nlmsg_len);
    b->latest = h;
}

static bool end(struct st_nft_batch *b)
{
    if (b->full || !b->latest)
        return false;
    b->latest->nlmsg_flags |= NLM_F_ACK;
    b->used += nftnl_batch_end(b->room + b->used, b->next)->nlmsg_len;
    return true;
}

int st_nft_commit(struct st_nft_batch *b, int fd, uint8_t *need, struct st_error *err)
{
    struct st_nfsock_refusal refusal = {0};
    int rc;

    if (need)
        *need = 0;
    if (!end(b))
        return st_fail(err, EMSGSIZE, "rules: no room for all of them");
    rc = st_nfsock_batch(fd, b->room, b->used, b->first, b->latest->nlmsg_seq, &refusal, err);
    if (need && refusal.errnum)
        *need = b->needs[refusal.seq - b->first];
    return rc;
}

bool st_nft_keep(struct st_nft_batch *b, struct st_nft_kept *out)
{
    out->len = 0;
    if (!end(b) || b->used > sizeof(out->bytes))
        return false;
    memcpy(out->bytes, b->room, b->used);
    out->len = b->used;
    out->first = b->first;
    out->last = b->latest->nlmsg_seq;
    return true;
}

/* Numbered anew: an answer is known by its number. */
ST_IDLE_CODE int st_nft_repeat(struct st_nft_kept *k, int fd, struct st_error *err)
{
    uint32_t first = st_nfsock_seq();
    size_t at = 0, begin = 0;

    while (st_nlmsg_next(k->bytes, k->len, &at)) {
        struct nlmsghdr *h = (struct nlmsghdr *)(void *)(k->bytes + begin);

        h->nlmsg_seq += first - k->first;
        begin = at;
    }
    k->last += first - k->first;
    k->first = first;
    return st_nfsock_batch(fd, k->bytes, k->len, k->first, k->last, NULL, err);
}

/* ---- tables and chains ---- */

static void table(struct st_nft_batch *b, uint16_t type, const struct st_nft_place *at, uint32_t tflags,
                  uint16_t flags, uint8_t need)
{
    struct nlmsghdr *h = st_nft_message(b, type, at->family, flags, need);
    struct nftnl_table *t = there(nftnl_table_alloc());

    nftnl_table_set_str(t, NFTNL_TABLE_NAME, at->table);
    if (tflags)
        nftnl_table_set_u32(t, NFTNL_TABLE_FLAGS, tflags);
    nftnl_table_nlmsg_build_payload(h, t);
    nftnl_table_free(t);
    st_nft_add(b, h);
}

void st_nft_table_add(struct st_nft_batch *b, const struct st_nft_place *at, uint32_t flags, uint8_t need)
{
    table(b, NFT_MSG_NEWTABLE, at, flags, NLM_F_CREATE | NLM_F_EXCL, need);
}

void st_nft_table_delete(struct st_nft_batch *b, const struct st_nft_place *at, uint8_t need)
{
    table(b, NFT_MSG_DELTABLE, at, 0, 0, need);
}

void st_nft_chain_add(struct st_nft_batch *b, const struct st_nft_place *at, const struct st_nft_chain *chain,
                      uint8_t need)
{
    struct nlmsghdr *h = st_nft_message(b, NFT_MSG_NEWCHAIN, at->family, NLM_F_CREATE, need);
    struct nftnl_chain *c = there(nftnl_chain_alloc());

    nftnl_chain_set_str(c, NFTNL_CHAIN_TABLE, at->table);
    nftnl_chain_set_str(c, NFTNL_CHAIN_NAME, chain->name);
    if (chain->hook >= 0) {
        nftnl_chain_set_str(c, NFTNL_CHAIN_TYPE, "filter");
        nftnl_chain_set_u32(c, NFTNL_CHAIN_HOOKNUM, (uint32_t)chain->hook);
        nftnl_chain_set_s32(c, NFTNL_CHAIN_PRIO, chain->priority);
        nftnl_chain_set_u32(c, NFTNL_CHAIN_POLICY, chain->drop ? NF_DROP : NF_ACCEPT);
        if (chain->device)
            nftnl_chain_set_str(c, NFTNL_CHAIN_DEV, chain->device);
    }
    nftnl_chain_nlmsg_build_payload(h, c);
    nftnl_chain_free(c);
    st_nft_add(b, h);
}

void st_nft_chain_flush(struct st_nft_batch *b, const struct st_nft_place *at, const char *chain)
{
    struct nlmsghdr *h = st_nft_message(b, NFT_MSG_DELRULE, at->family, 0, 0);
    struct nftnl_rule *r = there(nftnl_rule_alloc());

    nftnl_rule_set_str(r, NFTNL_RULE_TABLE, at->table);
    nftnl_rule_set_str(r, NFTNL_RULE_CHAIN, chain);
    nftnl_rule_nlmsg_build_payload(h, r);
    nftnl_rule_free(r);
    st_nft_add(b, h);
}

/* ---- sets ---- */

static struct nftnl_set *named_set(const struct st_nft_place *at, const char *name)
{
    struct nftnl_set *s = there(nftnl_set_alloc());

    nftnl_set_set_str(s, NFTNL_SET_TABLE, at->table);
    nftnl_set_set_str(s, NFTNL_SET_NAME, name);
    return s;
}

void st_nft_set_add(struct st_nft_batch *b, const struct st_nft_place *at, const struct st_nft_set *set,
                    uint32_t id)
{
    struct nlmsghdr *h = st_nft_message(b, NFT_MSG_NEWSET, at->family, NLM_F_CREATE, 0);
    struct nftnl_set *s = named_set(at, set->name);

    nftnl_set_set_u32(s, NFTNL_SET_FAMILY, at->family);
    nftnl_set_set_u32(s, NFTNL_SET_ID, id);
    nftnl_set_set_u32(s, NFTNL_SET_KEY_TYPE, set->type);
    nftnl_set_set_u32(s, NFTNL_SET_KEY_LEN, set->len);
    if (set->timeout)
        nftnl_set_set_u32(s, NFTNL_SET_FLAGS, NFT_SET_TIMEOUT);
    if (set->max)
        nftnl_set_set_u32(s, NFTNL_SET_DESC_SIZE, set->max);
    nftnl_set_nlmsg_build_payload(h, s);
    nftnl_set_free(s);
    st_nft_add(b, h);
}

void st_nft_keys_put(struct st_nft_batch *b, const struct st_nft_place *at, const char *set,
                     const struct st_nft_keys *keys, enum st_nft_elements what)
{
    struct nftnl_set *s;
    struct nlmsghdr *h;

    if (keys->n == 0)
        return;
    h = st_nft_message(b, what == ST_NFT_DELETE ? NFT_MSG_DELSETELEM : NFT_MSG_NEWSETELEM, at->family,
                       what == ST_NFT_DELETE ? 0 : NLM_F_CREATE, 0);
    s = named_set(at, set);
    for (size_t i = 0; i < keys->n; i++) {
        struct nftnl_set_elem *e = there(nftnl_set_elem_alloc());

        nftnl_set_elem_set(e, NFTNL_SET_ELEM_KEY, (const char *)keys->keys + i * keys->len, keys->len);
        if (keys->timeout_ms && what != ST_NFT_DELETE)
            nftnl_set_elem_set_u64(e, NFTNL_SET_ELEM_TIMEOUT, keys->timeout_ms);
        nftnl_set_elem_add(s, e);
    }
    nftnl_set_elems_nlmsg_build_payload(h, s);
    nftnl_set_free(s);
    st_nft_add(b, h);
}

void st_nft_set_flush(struct st_nft_batch *b, const struct st_nft_place *at, const char *set)
{
    struct nlmsghdr *h = st_nft_message(b, NFT_MSG_DELSETELEM, at->family, 0, 0);

    /* Without a list of elements: all of them. */
    mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_TABLE, at->table);
    mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_SET, set);
    st_nft_add(b, h);
}
