/* names: which names an address was given by DNS answers, and until when. Bounded: so many addresses, 16
 * names of each, on average 4. Where there is no room the address that was asked for or learned longest ago
 * goes, with its names; those that were still good are counted. An empty one costs next to nothing. */
#pragma once

#include "model/addr.h"
#include "model/str.h"

#define ST_NAMES_PER_ADDR 16

struct st_names;

struct st_names *st_names_new(size_t max_addrs);
void st_names_free(struct st_names *n);

/* For ttl_s from now on; never less than was said before. name is canonical (dns_name.h, host.h). false: it
 * is empty, or longer than any, and nothing is learned. */
bool st_names_learn(struct st_names *n, const struct st_addr *addr, struct st_str name, uint32_t ttl_s,
                    int64_t now_ms);

/* Up to max of the names that are still good, the one learned last before others; NUL-terminated, valid until
 * the next st_names_learn() or st_names_expire(). Returns how many. */
size_t st_names_of(struct st_names *n, const struct st_addr *addr, int64_t now_ms, struct st_str *out,
                   size_t max);

/* Until when the address has this name; now_ms or less: it has not. */
int64_t st_names_until(struct st_names *n, const struct st_addr *addr, struct st_str name);

/* Lets go what is over; for a caller who has a quiet moment. Nothing depends on it but memory. */
void st_names_expire(struct st_names *n, int64_t now_ms);

size_t st_names_addrs(const struct st_names *n);

/* Names that were lost before their time. */
uint64_t st_names_forgotten(const struct st_names *n);
