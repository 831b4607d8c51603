/* nft_batch: messages to nftables that the kernel carries out together or not at all. Each may say what it
 * needs of the kernel, so that who is refused knows what to do without. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;

#define ST_NFT_MESSAGES 160
#define ST_NFT_ROOM 4096 /* for one message */

struct st_nft_batch {
    char *room;
    size_t size, used;
    uint32_t first, next;           /* sequence numbers */
    uint8_t needs[ST_NFT_MESSAGES]; /* by number */
    struct nlmsghdr *latest;
    bool full;
};

/* Borrows room, which is aligned as nlmsghdr is. */
void st_nft_begin(struct st_nft_batch *b, void *room, size_t size);

/* A message, with room for ST_NFT_ROOM bytes, which is part of the batch when st_nft_add() is called. */
struct nlmsghdr *st_nft_message(struct st_nft_batch *b, uint16_t type, uint8_t family, uint16_t flags,
                                uint8_t need);
void st_nft_add(struct st_nft_batch *b, struct nlmsghdr *h);

/* *need, where not NULL, is what the message that was refused said; 0 where none was. */
int st_nft_commit(struct st_nft_batch *b, int fd, uint8_t *need, struct st_error *err);

/* A batch that is sent again and again, and built once. */
#define ST_NFT_KEPT 1024

struct st_nft_kept {
    size_t len; /* 0: none */
    uint32_t first, last;
    _Alignas(uint64_t) char bytes[ST_NFT_KEPT];
};

/* Instead of st_nft_commit(). false: it has no room. */
bool st_nft_keep(struct st_nft_batch *b, struct st_nft_kept *out);
int st_nft_repeat(struct st_nft_kept *k, int fd, struct st_error *err);

/* ---- what most messages are about ---- */

struct st_nft_place {
    uint8_t family; /* NFPROTO_* */
    const char *table;
};

void st_nft_table_add(struct st_nft_batch *b, const struct st_nft_place *at, uint32_t flags, uint8_t need);
void st_nft_table_delete(struct st_nft_batch *b, const struct st_nft_place *at, uint8_t need);

/* hook < 0: a chain that others go to. type "filter". device: of netdev chains, else NULL. */
struct st_nft_chain {
    const char *name, *device;
    int hook, priority;
    bool drop; /* what it does at its end */
};

void st_nft_chain_add(struct st_nft_batch *b, const struct st_nft_place *at, const struct st_nft_chain *chain,
                      uint8_t need);
void st_nft_chain_flush(struct st_nft_batch *b, const struct st_nft_place *at, const char *chain);

struct st_nft_set {
    const char *name;
    uint32_t type; /* as the program nft names it */
    uint32_t len;  /* of a key */
    bool timeout;  /* elements may have one */
    uint32_t max;  /* 0: any number */
};

void st_nft_set_add(struct st_nft_batch *b, const struct st_nft_place *at, const struct st_nft_set *set,
                    uint32_t id);

/* n keys of len bytes each, one behind the other. timeout_ms 0: for ever. */
struct st_nft_keys {
    const void *keys;
    size_t n;
    uint32_t len;
    uint64_t timeout_ms;
};

enum st_nft_elements { ST_NFT_ADD, ST_NFT_DELETE };

void st_nft_keys_put(struct st_nft_batch *b, const struct st_nft_place *at, const char *set,
                     const struct st_nft_keys *keys, enum st_nft_elements what);
void st_nft_set_flush(struct st_nft_batch *b, const struct st_nft_place *at, const char *set);
