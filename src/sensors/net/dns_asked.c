/* dns_asked: see dns_asked.h. Each query stands in two tables: by all that an answer must fit, and by its
 * question, for which forwarded ones do not count. */
#include "sensors/net/dns_asked.h"

#include "base/mem.h"
#include "base/table.h"

#include <stdlib.h>

struct query {
    struct st_table_link link, question; /* question: not of a forwarded one */
    struct st_flow_tuple flow;
    int64_t asked_ms;
    uint16_t id, qtype;
    bool teaches, forwarded;
    size_t len;
    char name[];
};

struct st_dns_asked {
    struct st_hash_key key;
    struct st_table queries, questions;
    size_t max;
    uint64_t forgotten;
};

struct st_dns_asked *st_dns_asked_new(size_t max_queries)
{
    struct st_dns_asked *asked = st_xcalloc(1, sizeof(*asked));

    asked->key = st_hash_key_random();
    asked->max = max_queries;
    return asked;
}

static struct query *query_of(struct st_table_link *link)
{
    return st_table_entry(link, struct query, link);
}

static void drop(struct st_dns_asked *asked, struct query *q)
{
    st_table_remove(&asked->queries, &q->link);
    if (!q->forwarded)
        st_table_remove(&asked->questions, &q->question);
    free(q);
}

void st_dns_asked_free(struct st_dns_asked *asked)
{
    if (!asked)
        return;
    while (asked->queries.oldest)
        drop(asked, query_of(asked->queries.oldest));
    free(asked);
}

size_t st_dns_asked_count(const struct st_dns_asked *asked)
{
    return asked->queries.n;
}

uint64_t st_dns_asked_forgotten(const struct st_dns_asked *asked)
{
    return asked->forgotten;
}

static bool is_over(const struct query *q, int64_t now_ms)
{
    return now_ms - q->asked_ms > ST_DNS_ASKED_MS;
}

void st_dns_asked_expire(struct st_dns_asked *asked, int64_t now_ms)
{
    while (asked->queries.oldest && is_over(query_of(asked->queries.oldest), now_ms))
        drop(asked, query_of(asked->queries.oldest));
}

static uint64_t question_hash(const struct st_dns_asked *asked, struct st_str name, uint16_t qtype)
{
    return st_keyed_hash(&asked->key, name.p, name.len) ^ qtype;
}

static uint64_t answer_hash(const struct st_dns_asked *asked, const struct st_flow_tuple *flow, uint16_t id,
                            uint64_t question)
{
    uint64_t parts[3] = {st_flow_tuple_hash(&asked->key, flow), question, id};

    return st_keyed_hash(&asked->key, parts, sizeof(parts));
}

static bool same_question(const struct query *q, struct st_str name, uint16_t qtype)
{
    return q->qtype == qtype && q->len == name.len && memcmp(q->name, name.p, name.len) == 0;
}

void st_dns_asked_put(struct st_dns_asked *asked, const struct st_dns_ask *ask, int64_t now_ms)
{
    uint64_t question = question_hash(asked, ask->name, ask->qtype);
    struct query *q;

    st_dns_asked_expire(asked, now_ms);
    if (asked->max == 0) {
        asked->forgotten++;
        return;
    }
    if (asked->queries.n >= asked->max) {
        drop(asked, query_of(asked->queries.oldest));
        asked->forgotten++;
    }
    q = st_xcalloc(1, sizeof(*q) + ask->name.len + 1);
    q->flow = ask->flow;
    q->asked_ms = now_ms;
    q->id = ask->id;
    q->qtype = ask->qtype;
    q->teaches = ask->teaches;
    q->forwarded = ask->forwarded;
    q->len = ask->name.len;
    memcpy(q->name, ask->name.p, q->len);
    st_table_add(&asked->queries, &q->link, answer_hash(asked, &q->flow, q->id, question));
    if (!q->forwarded)
        st_table_add(&asked->questions, &q->question, question);
}

bool st_dns_asked_take(struct st_dns_asked *asked, const struct st_flow_tuple *answer, uint16_t id,
                       struct st_str name, uint16_t qtype, int64_t now_ms, struct st_dns_taken *out)
{
    struct st_flow_tuple flow = st_flow_tuple_reversed(answer);
    uint64_t hash = answer_hash(asked, &flow, id, question_hash(asked, name, qtype));

    for (struct st_table_link *link = st_table_find(&asked->queries, hash); link;
         link = st_table_find_next(link)) {
        struct query *q = query_of(link);

        if (q->id != id || is_over(q, now_ms) || !same_question(q, name, qtype) ||
            !st_flow_tuple_equal(&q->flow, &flow))
            continue;
        *out = (struct st_dns_taken){q->teaches, q->forwarded, q->asked_ms};
        drop(asked, q);
        return true;
    }
    return false;
}

bool st_dns_asked_same_question(const struct st_dns_asked *asked, struct st_str name, uint16_t qtype,
                                int64_t now_ms)
{
    struct st_table_link *link = st_table_find(&asked->questions, question_hash(asked, name, qtype));

    for (; link; link = st_table_find_next(link)) {
        const struct query *q = st_table_entry(link, struct query, question);

        if (same_question(q, name, qtype))
            return !is_over(q, now_ms); /* the last of them stands first */
    }
    return false;
}
