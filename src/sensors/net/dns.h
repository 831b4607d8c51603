/* dns: one DNS message: header, its one question, whether the rest is in order. Answers are dns_answer.h.
 *
 * A message that is not exactly what it says it is, to its last byte, is refused: what we read otherwise than
 * the other side does would be a way around us, and what nobody reads a way out. */
#pragma once

#include "sensors/net/dns_name.h"

#define ST_DNS_HEADER 12
#define ST_DNS_MAX_RECORDS 1024 /* in one message; more is refused */

enum st_dns_type {
    ST_DNS_A = 1,
    ST_DNS_CNAME = 5,
    ST_DNS_AAAA = 28,
    ST_DNS_OPT = 41,
    ST_DNS_SVCB = 64,
    ST_DNS_HTTPS = 65,
    ST_DNS_ANY = 255
};

#define ST_DNS_IN 1
#define ST_DNS_NOERROR 0
#define ST_DNS_REFUSED 5

struct st_dns_message {
    uint16_t id;
    bool response, truncated, edns;
    uint8_t opcode; /* 0: a query */
    uint16_t rcode; /* with EDNS' upper bits */
    struct st_dns_name name;
    uint16_t qtype, qclass;
    size_t records;    /* where they begin, behind the question */
    uint16_t n_answer; /* of those */
    const char *why;   /* of a failure, in words */
};

/* A query asks one question and brings nothing with it but EDNS; a response has one question too. Any other
 * message is false, with the reason in out->why. */
bool st_dns_read(const uint8_t *message, size_t n, struct st_dns_message *out);

/* One record. The bytes of its data are [data, data + len) of the message. */
struct st_dns_record {
    struct st_dns_name owner;
    uint16_t type, class;
    uint32_t ttl;
    size_t data, len;
};

/* The record at *at, which moves behind it. */
bool st_dns_record_read(const uint8_t *message, size_t n, size_t *at, struct st_dns_record *out);

/* REFUSED, for this query: its id and question as it wrote them, nothing else. Returns the length; 0: it is
 * no query (too short, or itself a response), or there is no room. A question that can't be read is left out.
 */
size_t st_dns_refuse(const uint8_t *query, size_t n, uint8_t *out, size_t room);

/* Over TCP each message comes after its length, in two bytes. */
enum st_dns_frame { ST_DNS_FRAME_MORE, ST_DNS_FRAME_WHOLE, ST_DNS_FRAME_BAD };

/* WHOLE: the message is the *len bytes from bytes + 2 on; behind it the next frame begins. */
enum st_dns_frame st_dns_frame(const uint8_t *bytes, size_t n, size_t *len);
