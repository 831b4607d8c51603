/* parse_net: destinations (hosts, addresses, ports) and the names of syscalls. */
#include "policy/parse.h"

#include "base/suggest.h"
#include "policy/pattern.h"

#include <netinet/in.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PORTS 256
#define MAX_SYSCALL 1024 /* numbers that are asked for when a name is to be suggested */

struct dest_ctx {
    struct st_destination dest;
    unsigned n_ports;
    struct st_port_range ports[MAX_PORTS];
    bool by_host, by_cidr;
};

/* ---- ports ---- */

static bool port_number(const char *s, size_t n, uint16_t *out)
{
    unsigned value = 0;

    if (n == 0 || n > 5)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        value = value * 10 + (unsigned)(s[i] - '0');
    }
    *out = (uint16_t)value;
    return value >= 1 && value <= 65535;
}

bool st_parse_port_item(struct reader *r, const struct st_yaml_node *node, struct st_port_range *out)
{
    const char *text = node->type == ST_YAML_SCALAR ? node->value : "", *dash = strchr(text, '-');
    size_t first = dash ? (size_t)(dash - text) : strlen(text);
    bool ok = port_number(text, first, &out->low);

    out->high = out->low;
    if (ok && dash)
        ok = port_number(dash + 1, strlen(dash + 1), &out->high);
    if (!ok) {
        complain(r, node, "write a number from 1 to 65535, or a range such as 8000-8010",
                 "`%.40s` is not a port", text);
        return false;
    }
    if (out->high < out->low) {
        complain(r, node, "write the smaller port first", "the range `%.40s` is empty", text);
        return false;
    }
    return true;
}

static void add_port(struct reader *r, const struct st_yaml_node *node, struct dest_ctx *c)
{
    if (c->n_ports == MAX_PORTS)
        complain(r, node, "write ranges", "more than %d ports in one destination", MAX_PORTS);
    else if (st_parse_port_item(r, node, &c->ports[c->n_ports]))
        c->n_ports++;
}

static void take_port(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    add_port(r, node, ctx);
}

static void take_ports(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    if (node->type == ST_YAML_SCALAR && !st_yaml_is_null(node)) {
        add_port(r, node, ctx);
        return;
    }
    if (!st_is_list(r, node))
        return;
    st_yaml_each (item, node)
        add_port(r, item, ctx);
}

/* ---- hosts and addresses ---- */

static void take_address(struct reader *r, const struct st_yaml_node *node, const char *text,
                         struct st_destination *dest)
{
    struct st_addr masked;
    char addr[ST_ADDR_TEXT_SIZE], right[120];

    switch (st_cidr_parse(st_str(text), &dest->addr, &dest->bits)) {
    case ST_CIDR_OK: break;
    case ST_CIDR_NO_ADDRESS:
        complain(r, node,
                 "write an address and a prefix such as 10.0.0.0/8 or 2001:db8::/32; a name goes to `host`",
                 "`%.80s` is not an address", text);
        return;
    case ST_CIDR_NO_PREFIX:
        complain(r, node, "write the number of bits, such as /8", "`%.80s` has no prefix length", text);
        return;
    case ST_CIDR_RANGE:
        complain(r, node, "an IPv4 prefix has 0 to 32 bits, an IPv6 prefix 0 to 128",
                 "`%.80s`: the prefix length is out of range", text);
        return;
    }
    masked = dest->addr;
    if (st_addr_mask(&masked, dest->bits)) {
        st_addr_format(&masked, addr);
        snprintf(right, sizeof(right), "%s/%u is the network, or leave the prefix out for the one address",
                 addr, dest->bits);
        complain(r, node, right, "`%.80s` has bits set beyond its prefix", text);
    }
}

static void take_host(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct dest_ctx *c = ctx;
    struct pattern_fault fault;
    struct st_addr addr;
    const char *text;

    c->by_host = true;
    if (!st_take_string(r, node, &text))
        return;
    if (st_addr_parse(st_str(text), &addr)) {
        c->dest.addr = addr;
        c->dest.bits = addr.family == 4 ? 32 : 128;
        return;
    }
    if (!st_host_pattern_parse(r->arena, text, &c->dest.host, &fault))
        complain(r, node, fault.right, "host `%.200s`: %s", text, fault.what);
}

static void take_cidr(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct dest_ctx *c = ctx;
    const char *text;

    c->by_cidr = true;
    if (st_take_string(r, node, &text))
        take_address(r, node, text, &c->dest);
}

static void take_protocol(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const char *const words[] = {"tcp", "udp", "icmp", "icmpv6", "sctp"};
    static const uint8_t numbers[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_SCTP};
    int word;

    if (st_take_word(r, node, words, N_OF(words), &word))
        ((struct dest_ctx *)ctx)->dest.protocol = numbers[word];
}

static const struct key dest_keys[] = {
    {"host", take_host}, {"cidr", take_cidr},   {"ip", take_cidr},
    {"port", take_port}, {"ports", take_ports}, {"protocol", take_protocol},
};

static void parse_destination(struct reader *r, const struct st_yaml_node *node, struct st_destination *out)
{
    struct dest_ctx c = {0};

    if (node->type == ST_YAML_SCALAR) {
        complain(r, node, "write { host: example.com, port: 443 }", "a destination is a mapping");
        return;
    }
    st_read_keys(r, node, dest_keys, N_OF(dest_keys), &c, "a destination");
    if (c.by_host && c.by_cidr)
        complain(r, node, "write two destinations", "a destination has `host` or `cidr`, not both");
    if (node->count && !c.by_host && !c.by_cidr && !c.n_ports && !c.dest.protocol)
        return; /* nothing but errors in it */
    if (!node->count)
        complain(r, node, "write { host: … } or { cidr: … }", "an empty destination");
    c.dest.ports = st_arena_dup(r->arena, c.ports, c.n_ports * sizeof(c.ports[0]));
    c.dest.n_ports = c.n_ports;
    *out = c.dest;
}

void st_parse_destinations(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    struct st_destination *list;
    size_t n = 0;

    if (!st_is_list(r, node))
        return;
    list = st_arena_zalloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node)
        parse_destination(r, item, &list[n++]);
    rule->dests = list;
    rule->n_dests = n;
}

/* ---- syscalls ---- */

bool st_policy_syscall_known(const char *name)
{
    return seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR;
}

void st_policy_syscall_near(const char *name, char near[ST_SYSCALL_NAME_SIZE])
{
    struct st_suggestion best = {0};

    near[0] = '\0';
    for (int nr = 0; nr < MAX_SYSCALL; nr++) {
        char *known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
        unsigned before = best.word ? best.distance : 99;

        if (!known)
            continue;
        st_suggest_offer(&best, name, known);
        if (best.word && best.distance < before)
            snprintf(near, ST_SYSCALL_NAME_SIZE, "%s", known);
        if (best.word)
            best.word = near;
        free(known);
    }
}

static void unknown_syscall(struct reader *r, const struct st_yaml_node *node)
{
    char near[ST_SYSCALL_NAME_SIZE] = "", right[96];

    /* To look through all of them costs too much for errors that are only counted. */
    if (r->diags->n < ST_DIAG_MAX)
        st_policy_syscall_near(node->value, near);
    snprintf(right, sizeof(right), near[0] ? "did you mean `%s`?" : "syscalls(2) lists them%s", near);
    complain(r, node, right, "there is no syscall `%.60s`", node->value);
}

void st_parse_syscalls(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    const char **list;
    size_t n = 0;

    if (!st_is_list(r, node))
        return;
    list = st_arena_alloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node) {
        if (!st_take_string(r, item, &list[n]))
            continue;
        if (!st_policy_syscall_known(list[n]))
            unknown_syscall(r, item);
        n++;
    }
    rule->names = list;
    rule->n_names = n;
}
