/* dns_tally: what was asked under each registered suffix in the last minutes, in bounded memory: a suffix is
 * a hash, the names under it are bits. Where there are more suffixes than room, the one that was silent
 * longest is forgotten, and counted. */
#pragma once

#include "sensors/net/dns_suspect.h"

#define ST_DNS_WINDOW_MS 300000

struct st_dns_tally;

/* The seed is a secret: who knew it could choose names that count as one. */
struct st_dns_tally *st_dns_tally_new(size_t max_suffixes, uint64_t seed);
void st_dns_tally_free(struct st_dns_tally *t);

/* Counts a query that is let by, and says how it looks (st_dns_suspect). now_ms never goes back. */
unsigned st_dns_tally_ask(struct st_dns_tally *t, struct st_str name, uint16_t qtype, int64_t now_ms);

/* Suffixes whose counts were lost before their window was over. */
uint64_t st_dns_tally_forgotten(const struct st_dns_tally *t);
