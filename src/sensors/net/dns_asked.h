/* dns_asked: the DNS queries that were let by and not answered yet. An answer that none of them fits was not
 * asked for. Bounded: where there is no room the oldest goes, and is counted if its time was not over. An
 * empty one costs next to nothing. */
#pragma once

#include "sensors/net/flow_tuple.h"

#define ST_DNS_ASKED_MS 30000 /* so long may an answer take */

struct st_dns_ask {
    /* From the client to the server, as the client has it: where the server's port is translated on the way
     * (a resolver on loopback), a query is seen behind that and an answer before it. */
    struct st_flow_tuple flow;
    uint16_t id, qtype;
    struct st_str name; /* as st_dns_name has it; copied */
    bool teaches;       /* addresses of the answer may be learned */
    bool forwarded;     /* another's question, passed on: in its own right it justifies no other */
};

struct st_dns_asked;

struct st_dns_asked *st_dns_asked_new(size_t max_queries);
void st_dns_asked_free(struct st_dns_asked *asked);
size_t st_dns_asked_count(const struct st_dns_asked *asked);

/* now_ms never goes back. A question that is asked again is there as often as it was asked. */
void st_dns_asked_put(struct st_dns_asked *asked, const struct st_dns_ask *ask, int64_t now_ms);

/* The query that this answer fits, which is taken out, the last of several: its flow the other way round, the
 * same id, the same question. false: there is none that is young enough. */
struct st_dns_taken {
    bool teaches, forwarded;
    int64_t asked_ms;
};
bool st_dns_asked_take(struct st_dns_asked *asked, const struct st_flow_tuple *answer, uint16_t id,
                       struct st_str name, uint16_t qtype, int64_t now_ms, struct st_dns_taken *out);

/* Is there, on whatever flow, a query for the same that was not forwarded? */
bool st_dns_asked_same_question(const struct st_dns_asked *asked, struct st_str name, uint16_t qtype,
                                int64_t now_ms);

/* Lets go what is over, oldest first. Every put does so too. */
void st_dns_asked_expire(struct st_dns_asked *asked, int64_t now_ms);

/* Queries that went before their time, for want of room. */
uint64_t st_dns_asked_forgotten(const struct st_dns_asked *asked);
