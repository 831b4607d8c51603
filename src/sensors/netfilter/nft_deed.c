/* nft_deed: what a rule does. See nft_rule.h. */
#include "sensors/netfilter/nft_expr.h"

#include <linux/netfilter.h>
#include <linux/netfilter/xt_NFQUEUE.h>
#include <string.h>

static void remember(struct nftnl_rule *r, const struct st_step *s)
{
    struct nftnl_expr *e = put(r, "dynset");

    nftnl_expr_set_u32(e, NFTNL_EXPR_DYNSET_SREG_KEY, REG);
    nftnl_expr_set_str(e, NFTNL_EXPR_DYNSET_SET_NAME, s->name);
    nftnl_expr_set_u32(e, NFTNL_EXPR_DYNSET_OP, s->is == ST_RENEW ? NFT_DYNSET_OP_UPDATE : NFT_DYNSET_OP_ADD);
    nftnl_expr_set_u64(e, NFTNL_EXPR_DYNSET_TIMEOUT, s->value);
}

static void immediate(struct nftnl_rule *r, uint32_t value)
{
    fill(r, REG, &value, sizeof(value));
}

/* From the register. */
static void store_meta(struct nftnl_rule *r, uint32_t key)
{
    struct nftnl_expr *e = put(r, "meta");

    nftnl_expr_set_u32(e, NFTNL_EXPR_META_KEY, key);
    nftnl_expr_set_u32(e, NFTNL_EXPR_META_SREG, REG);
}

static void set_meta(struct nftnl_rule *r, uint32_t key, uint32_t value)
{
    immediate(r, value);
    store_meta(r, key);
}

static void store_ct(struct nftnl_rule *r, uint32_t key)
{
    struct nftnl_expr *e = put(r, "ct");

    nftnl_expr_set_u32(e, NFTNL_EXPR_CT_KEY, key);
    nftnl_expr_set_u32(e, NFTNL_EXPR_CT_SREG, REG);
}

static void set_ct(struct nftnl_rule *r, uint32_t key, uint32_t value)
{
    immediate(r, value);
    store_ct(r, key);
}

/* What is in the register gets this value in these bits, and keeps all others. */
static void replace(struct nftnl_rule *r, uint32_t of, uint32_t value)
{
    uint32_t others = ~of;

    bitwise(r, REG, &others, &value, sizeof(others));
}

static void set_mark(struct nftnl_rule *r, uint32_t value, uint32_t of)
{
    if (!of) {
        set_meta(r, NFT_META_MARK, value);
        return;
    }
    meta(r, NFT_META_MARK, REG);
    replace(r, of, value);
    store_meta(r, NFT_META_MARK);
}

static void set_ct_mark(struct nftnl_rule *r, uint32_t value, uint32_t of)
{
    if (!of) {
        set_ct(r, NFT_CT_MARK, value);
        return;
    }
    ct(r, NFT_CT_MARK);
    replace(r, of, value);
    store_ct(r, NFT_CT_MARK);
}

static void copy_mark(struct nftnl_rule *r)
{
    meta(r, NFT_META_MARK, REG);
    store_ct(r, NFT_CT_MARK);
}

static void verdict(struct nftnl_rule *r, uint32_t code, const char *chain)
{
    struct nftnl_expr *e = put(r, "immediate");

    nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
    nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_VERDICT, code);
    if (chain)
        nftnl_expr_set_str(e, NFTNL_EXPR_IMM_CHAIN, chain);
}

static void queue(struct nftnl_rule *r, uint32_t number, bool bypass)
{
    struct nftnl_expr *e = put(r, "queue");

    nftnl_expr_set_u16(e, NFTNL_EXPR_QUEUE_NUM, (uint16_t)number);
    nftnl_expr_set_u16(e, NFTNL_EXPR_QUEUE_TOTAL, 1);
    nftnl_expr_set_u16(e, NFTNL_EXPR_QUEUE_FLAGS, bypass ? NFT_QUEUE_FLAG_BYPASS : 0);
}

static void queue_xt(struct nftnl_rule *r, uint32_t number, bool bypass)
{
    struct nftnl_expr *e = put(r, "target");
    /* The kernel wants it as long as its alignment makes it; libnftnl keeps and frees it. */
    size_t size = (sizeof(struct xt_NFQ_info_v3) + 7) / 8 * 8;
    struct xt_NFQ_info_v3 *info = st_xcalloc(1, size);

    info->queuenum = (uint16_t)number;
    info->queues_total = 1;
    info->flags = bypass ? NFQ_FLAG_BYPASS : 0;
    nftnl_expr_set_str(e, NFTNL_EXPR_TG_NAME, "NFQUEUE");
    nftnl_expr_set_u32(e, NFTNL_EXPR_TG_REV, 3);
    nftnl_expr_set(e, NFTNL_EXPR_TG_INFO, info, (uint32_t)size);
}

static void reject(struct nftnl_rule *r, uint32_t type, uint8_t code)
{
    struct nftnl_expr *e = put(r, "reject");

    nftnl_expr_set_u32(e, NFTNL_EXPR_REJECT_TYPE, type);
    nftnl_expr_set_u8(e, NFTNL_EXPR_REJECT_CODE, code);
}

static void log_frame(struct nftnl_rule *r, uint32_t group, uint32_t bytes)
{
    struct nftnl_expr *e = put(r, "log");

    nftnl_expr_set_u16(e, NFTNL_EXPR_LOG_GROUP, (uint16_t)group);
    nftnl_expr_set_u32(e, NFTNL_EXPR_LOG_SNAPLEN, bytes);
}

void st_nft_act(struct nftnl_rule *r, const struct st_step *s)
{
    switch ((int)s->is) {
    case ST_SET_MARK: set_mark(r, s->value, s->mask); break;
    case ST_SET_PRIORITY: set_meta(r, NFT_META_PRIORITY, s->value); break;
    case ST_SET_CT_MARK: set_ct_mark(r, s->value, s->mask); break;
    case ST_SET_CT_EVENTS: set_ct(r, NFT_CT_EVENTMASK, s->value); break;
    case ST_SET_CT_FROM_MARK: copy_mark(r); break;
    case ST_NOT_TRACKED: put(r, "notrack"); break;
    case ST_REMEMBER:
    case ST_RENEW: remember(r, s); break;
    case ST_COUNT: put(r, "counter"); break;
    case ST_LOG: log_frame(r, s->value, s->mask); break;
    case ST_ACCEPT: verdict(r, NF_ACCEPT, NULL); break;
    case ST_DROP: verdict(r, NF_DROP, NULL); break;
    case ST_GOTO: verdict(r, (uint32_t)NFT_GOTO, s->name); break;
    case ST_QUEUE: queue(r, s->value, s->mask); break;
    case ST_QUEUE_XT: queue_xt(r, s->value, s->mask); break;
    case ST_RESET: reject(r, NFT_REJECT_TCP_RST, 0); break;
    case ST_UNREACHABLE: reject(r, NFT_REJECT_ICMPX_UNREACH, NFT_REJECT_ICMPX_PORT_UNREACH); break;
    }
}
