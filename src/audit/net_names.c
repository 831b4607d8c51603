/* net_names: see net_names.h. */
#include "audit/net_names.h"

#include "audit/put.h"

#include <netinet/in.h>

struct word {
    uint16_t number;
    const char *name;
};

static const struct word protocols[] = {
    {IPPROTO_ICMP, "icmp"},     {IPPROTO_IGMP, "igmp"}, {IPPROTO_TCP, "tcp"},         {IPPROTO_UDP, "udp"},
    {IPPROTO_DCCP, "dccp"},     {IPPROTO_GRE, "gre"},   {IPPROTO_ESP, "esp"},         {IPPROTO_AH, "ah"},
    {IPPROTO_ICMPV6, "icmpv6"}, {IPPROTO_SCTP, "sctp"}, {IPPROTO_UDPLITE, "udplite"},
};

static const struct word qtypes[] = {
    {1, "A"},       {2, "NS"},    {5, "CNAME"}, {6, "SOA"},    {12, "PTR"}, {13, "HINFO"}, {15, "MX"},
    {16, "TXT"},    {28, "AAAA"}, {33, "SRV"},  {35, "NAPTR"}, {43, "DS"},  {46, "RRSIG"}, {47, "NSEC"},
    {48, "DNSKEY"}, {52, "TLSA"}, {64, "SVCB"}, {65, "HTTPS"}, {99, "SPF"}, {255, "ANY"},  {257, "CAA"},
};

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

static char *put_name(char *p, const struct word *table, size_t n, unsigned number, const char *prefix)
{
    const char *name = NULL;

    for (size_t i = 0; i < n && !name; i++)
        if (table[i].number == number)
            name = table[i].name;
    *p++ = '"';
    if (name)
        p = st_put(p, name, strlen(name));
    else
        p = st_put_u64(st_put(p, prefix, strlen(prefix)), number);
    *p++ = '"';
    return p;
}

/* prefix + digits, without leading zeros, at most max. */
static int by_number(struct st_str name, const char *prefix, int max)
{
    size_t skip = strlen(prefix);
    int number = 0;

    if (name.len <= skip || name.len > skip + 5 || memcmp(name.p, prefix, skip) != 0)
        return -1;
    if (name.p[skip] == '0' && name.len > skip + 1)
        return -1;
    for (size_t i = skip; i < name.len; i++) {
        if (name.p[i] < '0' || name.p[i] > '9')
            return -1;
        number = number * 10 + (name.p[i] - '0');
    }
    return number <= max ? number : -1;
}

static int by_name(struct st_str name, const struct word *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(table[i].name) == name.len && memcmp(table[i].name, name.p, name.len) == 0)
            return table[i].number;
    return -1;
}

char *st_put_protocol(char *p, uint8_t protocol)
{
    return put_name(p, protocols, N_OF(protocols), protocol, "");
}

char *st_put_qtype(char *p, uint16_t qtype)
{
    return put_name(p, qtypes, N_OF(qtypes), qtype, "TYPE");
}

int st_protocol_by_name(struct st_str name)
{
    int number = by_name(name, protocols, N_OF(protocols));

    return number >= 0 ? number : by_number(name, "", UINT8_MAX);
}

int st_qtype_by_name(struct st_str name)
{
    int number = by_name(name, qtypes, N_OF(qtypes));

    return number >= 0 ? number : by_number(name, "TYPE", UINT16_MAX);
}
