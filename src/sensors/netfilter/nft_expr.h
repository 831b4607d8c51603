/* nft_expr: what expressions of a rule are made of, for the files that make them (nft_rule.c: questions;
 * nft_deed.c: what is done). */
#pragma once

#include "base/mem.h"
#include "sensors/netfilter/nft_rule.h"

#include <stdio.h> /* before libnftnl, which forgets it */

#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <linux/netfilter/nf_tables.h>
#include <stdlib.h>

/* What a step has done; nothing where it is a question. */
void st_nft_act(struct nftnl_rule *r, const struct st_step *s);

/* Registers: keys of several parts stand in neighbouring ones, 4 bytes each. */
#define REG NFT_REG32_00
#define REG_AT(n) (NFT_REG32_00 + (n))

static inline struct nftnl_expr *put(struct nftnl_rule *r, const char *name)
{
    struct nftnl_expr *e = nftnl_expr_alloc(name);

    if (!e) /* out of memory: base/mem.h */
        abort();
    nftnl_rule_add_expr(r, e);
    return e;
}

static inline void meta(struct nftnl_rule *r, uint32_t key, uint32_t reg)
{
    struct nftnl_expr *e = put(r, "meta");

    nftnl_expr_set_u32(e, NFTNL_EXPR_META_KEY, key);
    nftnl_expr_set_u32(e, NFTNL_EXPR_META_DREG, reg);
}

static inline void ct(struct nftnl_rule *r, uint32_t key)
{
    struct nftnl_expr *e = put(r, "ct");

    nftnl_expr_set_u32(e, NFTNL_EXPR_CT_KEY, key);
    nftnl_expr_set_u32(e, NFTNL_EXPR_CT_DREG, REG);
}

static inline void payload(struct nftnl_rule *r, uint32_t base, uint32_t offset, uint32_t len, uint32_t reg)
{
    struct nftnl_expr *e = put(r, "payload");

    nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_BASE, base);
    nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
    nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_LEN, len);
    nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_DREG, reg);
}

/* Keeps these bits, and turns those of flip. */
static inline void bitwise(struct nftnl_rule *r, uint32_t reg, const void *keep, const void *flip,
                           uint32_t len)
{
    struct nftnl_expr *e = put(r, "bitwise");

    nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_SREG, reg);
    nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_DREG, reg);
    nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_LEN, len);
    nftnl_expr_set(e, NFTNL_EXPR_BITWISE_MASK, keep, len);
    nftnl_expr_set(e, NFTNL_EXPR_BITWISE_XOR, flip, len);
}

static inline void mask(struct nftnl_rule *r, uint32_t reg, const void *bits, uint32_t len)
{
    static const uint8_t zero[16];

    bitwise(r, reg, bits, zero, len);
}

/* Of a mark that is loaded, only these bits; 0: all of it. */
static inline void only(struct nftnl_rule *r, uint32_t of)
{
    if (of)
        mask(r, REG, &of, sizeof(of));
}

static inline void fill(struct nftnl_rule *r, uint32_t reg, const void *data, uint32_t len)
{
    struct nftnl_expr *e = put(r, "immediate");

    nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, reg);
    nftnl_expr_set(e, NFTNL_EXPR_IMM_DATA, data, len);
}
