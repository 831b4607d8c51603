/* nft_rule: rules of nftables as rows of steps. A row is read from left to right: as long as each step that
 * asks something is true, the next is taken. */
#pragma once

#include "sensors/netfilter/nft_batch.h"

enum st_step_is {
    ST_STEP_END,
    /* about the packet */
    ST_NFPROTO,     /* value */
    ST_NFPROTO_IN,  /* set */
    ST_L4,          /* value: IPPROTO_* */
    ST_L4_IN,       /* set */
    ST_OIF,         /* value: index */
    ST_OIF_NOT,     /* value */
    ST_IIF,         /* value */
    ST_MARK,        /* value; mask: its bits alone, 0: all of it */
    ST_MARK_ANY,    /* other than 0 */
    ST_PRIORITY,    /* value */
    ST_LENGTH,      /* value: of all of it, in this hook */
    ST_DADDR6_TOP,  /* value, mask: the first two bytes of the destination */
    ST_HOP_LIMIT,   /* value: of IPv6 */
    ST_ICMP6_IN,    /* set: types */
    ST_OPEN4,       /* set: destination . protocol . port */
    ST_OPEN6,       /* set */
    ST_NO_DATA4,    /* set: length . TCP's own header */
    ST_NO_DATA6,    /* set */
    ST_ARP_FRAME,   /* Ethernet, IPv4 */
    ST_GROUP,       /* value: level; id: of the control group there that made its socket, or holds who did */
    ST_PROTOCOL_IN, /* set: what the kernel takes the frame for */
    ST_ETHERTYPE,   /* value: what the frame says: 802.1Q where it has a tag */
    ST_IP4_HEAD,    /* value: version and length of its header */
    ST_IP6_NEXT_IN, /* set: protocols, right behind the header */
    ST_DST_PORT,    /* value */
    ST_TCP_BEGINS,  /* SYN without ACK */
    ST_BARE4,       /* set: destination . protocol, right behind the header */
    ST_BARE6,       /* set */
    ST_ANSWER4,     /* set: destination . protocol . port . own port */
    ST_ANSWER6,     /* set */
    ST_CALLER4,     /* the same key of a packet that comes the other way, for what is done with it */
    ST_CALLER6,
    ST_QUERY4, /* set, value: length of a message to port 53, each piece of which is in the set */
    ST_QUERY6,
    /* about its flow */
    ST_CT_MARK,      /* value; mask as above */
    ST_CT_MARK_IN,   /* set; mask */
    ST_CT_STATE,     /* value: NF_CT_STATE_BIT()s, one of which holds */
    ST_CT_DIRECTION, /* value */
    ST_CT_DST4_IN,   /* set: destination of the flow as its beginner wrote it */
    ST_CT_DST6_IN,   /* set */
    ST_CT_DST_PORT,  /* value, likewise */
    /* what is done */
    ST_SET_MARK,         /* value; mask: its bits alone, 0: all of it */
    ST_SET_PRIORITY,     /* value */
    ST_SET_CT_MARK,      /* value; mask */
    ST_SET_CT_FROM_MARK, /* the flow's mark is the packet's */
    ST_SET_CT_EVENTS,    /* value: bits of IPCT_*: what is told of the flow */
    ST_NOT_TRACKED,      /* it is of no flow */
    ST_REMEMBER,         /* set, value: ms: the last key is in it, if it was not, for so long */
    ST_RENEW,            /* the same, and again for so long if it was */
    ST_COUNT,
    ST_LOG, /* value: group; mask: how many bytes */
    /* the end of it */
    ST_ACCEPT,
    ST_DROP,
    ST_GOTO,        /* set: a chain */
    ST_QUEUE,       /* value: number; mask: bypass. By the native expression */
    ST_QUEUE_XT,    /* the same by the target of iptables, for kernels that have no other */
    ST_RESET,       /* TCP only */
    ST_UNREACHABLE, /* ICMP */
};

struct st_step {
    enum st_step_is is;
    uint32_t value, mask;
    const char *name; /* of a set or a chain */
    uint64_t id;
};

/* Messages of ST_QUERY4 and 6 are looked up in pieces; a key is destination . id . length and number of the
 * piece . piece,
 * each of which fills registers of 4 bytes. */
#define ST_QUERY_PIECE 40
#define ST_QUERY_NUMBER(len, piece) ((uint32_t)(len) << 8 | (uint32_t)(piece))

/* Steps up to ST_STEP_END. */
void st_nft_rule_add(struct st_nft_batch *b, const struct st_nft_place *at, const char *chain,
                     const struct st_step *steps, uint8_t need);
