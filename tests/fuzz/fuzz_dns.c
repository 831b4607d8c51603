/* Any bytes as a DNS message, with the C library's reader beside ours: what we accept it reads the same way,
 * only addresses that it sees too come out, and a refusal is an answer to the same question. */
#include "sensors/net/dns_answer.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_name(const struct st_dns_name *name)
{
    demand(name->len > 0 && name->len < ST_DNS_NAME_SIZE && name->text[name->len] == '\0');
    for (size_t i = 0; i < name->len; i++)
        demand(strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.\\", name->text[i]) && name->text[i]);
}

/* Does the C library see this address in the answer section? */
static bool seen(ns_msg *parsed, const struct st_addr *addr)
{
    for (int i = 0; i < ns_msg_count(*parsed, ns_s_an); i++) {
        ns_rr rr;
        struct st_addr other = {0};

        demand(ns_parserr(parsed, ns_s_an, i, &rr) == 0);
        if (ns_rr_type(rr) == ns_t_a && ns_rr_rdlen(rr) == 4)
            other = st_addr_from4(ns_rr_rdata(rr));
        else if (ns_rr_type(rr) == ns_t_aaaa && ns_rr_rdlen(rr) == 16)
            other = st_addr_from6(ns_rr_rdata(rr));
        if (memcmp(&other, addr, sizeof(other)) == 0)
            return true;
    }
    return false;
}

static void check_question(ns_msg *parsed, const struct st_dns_message *m)
{
    ns_rr rr;

    demand(ns_msg_id(*parsed) == m->id);
    demand(ns_parserr(parsed, ns_s_qd, 0, &rr) == 0);
    demand(ns_rr_type(rr) == m->qtype && (uint16_t)ns_rr_class(rr) == m->qclass);
    if (!strchr(m->name.text, '\\') && !strchr(ns_rr_name(rr), '\\') && m->name.len > 1)
        demand(strcasecmp(ns_rr_name(rr), m->name.text) == 0);
}

static void check_answers(const uint8_t *data, size_t size, ns_msg *parsed, struct st_dns_message *m)
{
    static struct st_dns_answers answers;

    if (!st_dns_answers_read(data, size, m, &answers)) {
        demand(m->why && answers.n_addrs == 0 && answers.n_targets == 0);
        return;
    }
    demand(answers.n_addrs <= ST_DNS_MAX_ADDRS && answers.n_chain <= ST_DNS_MAX_CHAIN);
    for (size_t i = 0; i < answers.n_addrs; i++) {
        demand(answers.addrs[i].ttl >= ST_DNS_TTL_MIN && answers.addrs[i].ttl <= ST_DNS_TTL_MAX);
        demand(answers.addrs[i].hint || seen(parsed, &answers.addrs[i].addr));
    }
    for (size_t i = 0; i < answers.n_chain; i++)
        check_name(&answers.chain[i]);
    for (size_t i = 0; i < answers.n_targets; i++)
        check_name(&answers.targets[i]);
}

static void check_refusal(const uint8_t *data, size_t size, const struct st_dns_message *m)
{
    uint8_t out[512];
    struct st_dns_message again;
    size_t n = st_dns_refuse(data, size, out, sizeof(out));

    demand(n > ST_DNS_HEADER && st_dns_read(out, n, &again));
    demand(again.response && again.rcode == ST_DNS_REFUSED && !again.edns && again.id == m->id);
    demand(again.qtype == m->qtype && again.qclass == m->qclass && st_dns_name_equal(&again.name, &m->name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_dns_message m;
    ns_msg parsed;
    uint8_t out[512];
    size_t len;

    if (st_dns_frame(data, size, &len) == ST_DNS_FRAME_WHOLE)
        demand(len + 2 <= size && len >= ST_DNS_HEADER);
    len = st_dns_refuse(data, size, out, sizeof(out));
    demand(len <= size);
    if (!st_dns_read(data, size, &m)) {
        demand(m.why != NULL);
        return 0;
    }
    check_name(&m.name);
    demand(ns_initparse(data, (int)size, &parsed) == 0);
    check_question(&parsed, &m);
    if (m.response)
        check_answers(data, size, &parsed, &m);
    else
        check_refusal(data, size, &m);
    return 0;
}
