/* dns_suspect: does a query look like data on their way out? By what one query shows, and by what was asked
 * under the same registered suffix for a while (dns_tally.h). Pure: the same in gives the same out.
 *
 * These are suspicions, for an anomaly in the trace, and no proof: who sends little and slowly is not seen.
 */
#pragma once

#include "model/str.h"

#include <stdbool.h>
#include <stdint.h>

enum st_dns_suspicion {
    ST_DNS_LONG = 1,    /* a label or a name longer than those of hosts */
    ST_DNS_BYTES = 2,   /* bytes that no host has in its name */
    ST_DNS_TYPE = 4,    /* a type of record that clients do not ask for, or a rare one too often */
    ST_DNS_RANDOM = 8,  /* many names without sense under one suffix */
    ST_DNS_MANY = 16,   /* many names under one suffix */
    ST_DNS_OFTEN = 32,  /* many queries under one suffix */
    ST_DNS_VOLUME = 64, /* many bytes in the names under one suffix */
    ST_DNS_SUSPICIONS = 127
};

/* What a query shows by itself. */
struct st_dns_look {
    struct st_str suffix; /* the part that somebody registered, as well as can be told without a list */
    unsigned longest;     /* label, in bytes */
    unsigned below;       /* bytes of the labels before the suffix */
    unsigned entropy;     /* of those, in thousandths of a bit a byte */
    bool escaped;         /* bytes that no host has */
    bool rare, odd;       /* the type: seldom asked for; never, by what is not a tunnel */
};

/* name as st_dns_name has it. */
void st_dns_look(struct st_str name, uint16_t qtype, struct st_dns_look *out);

/* Is the part before the suffix text without sense? */
bool st_dns_look_random(const struct st_dns_look *look);

/* What was asked under one suffix in one window of time, this query among it. */
struct st_dns_counts {
    uint32_t queries, rare;
    uint32_t names, random_names, bytes; /* of names that differ */
};

/* A set of enum st_dns_suspicion; 0: nothing. */
unsigned st_dns_suspect(const struct st_dns_look *look, const struct st_dns_counts *counts);

/* In words, of one of them. */
const char *st_dns_suspicion_text(enum st_dns_suspicion one);
