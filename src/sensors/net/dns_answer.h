/* dns_answer: which addresses a response gives to the name that was asked for, and to no other: aliases are
 * followed from the question on, in whatever order the records stand; what belongs to another name, or stands
 * outside of the answer section, is not looked at. */
#pragma once

#include "model/addr.h"
#include "sensors/net/dns.h"

#define ST_DNS_MAX_ADDRS 256
#define ST_DNS_MAX_CHAIN 16   /* aliases one behind the other */
#define ST_DNS_MAX_TARGETS 16 /* of HTTPS and SVCB records */

/* Seconds. A program uses an address for a while after it was told; nothing stays for ever. */
#define ST_DNS_TTL_MIN 60
#define ST_DNS_TTL_MAX 86400

struct st_dns_addr {
    struct st_addr addr;
    uint32_t ttl; /* the least on the way to it, between MIN and MAX */
    bool hint;    /* of an HTTPS or SVCB record */
};

/* 40 KB: to be kept by who asks, and used again. */
struct st_dns_answers {
    size_t n_addrs, n_chain, n_targets;
    size_t left_out; /* addresses and targets for which there was no room */
    bool ech;        /* the service offers keys to encrypt its ClientHello */
    struct st_dns_addr addrs[ST_DNS_MAX_ADDRS];
    struct st_dns_name chain[ST_DNS_MAX_CHAIN];     /* what the name is an alias of, in turn */
    struct st_dns_name targets[ST_DNS_MAX_TARGETS]; /* where HTTPS and SVCB records point; not "." */
};

/* of must have come from st_dns_read() of the same bytes. A response with an error, or of another class than
 * the Internet's, has no answers. false: a record is not what it should be, and nothing of it may be used;
 * the reason is in of->why. */
bool st_dns_answers_read(const uint8_t *message, size_t n, struct st_dns_message *of,
                         struct st_dns_answers *out);
