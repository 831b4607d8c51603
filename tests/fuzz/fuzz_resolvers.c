/* Any bytes as a resolv.conf: what is read stands in the text as an address, each once; written out it reads
 * the same, and what follows behind a line break takes nothing away. */
#include "sensors/net/resolvers.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_each_once(const struct st_resolvers *r)
{
    demand(r->n <= ST_RESOLVERS_MAX && (r->left_out == 0 || r->n == ST_RESOLVERS_MAX));
    for (size_t i = 0; i < r->n; i++) {
        demand(r->addrs[i].family == 4 || r->addrs[i].family == 6);
        for (size_t j = 0; j < i; j++)
            demand(!st_addr_equal(&r->addrs[i], &r->addrs[j]));
    }
}

static void check_written_out(const struct st_resolvers *r)
{
    char text[ST_RESOLVERS_MAX * (ST_ADDR_TEXT_SIZE + 16)];
    size_t n = 0;
    struct st_resolvers again;

    for (size_t i = 0; i < r->n; i++) {
        char addr[ST_ADDR_TEXT_SIZE];

        st_addr_format(&r->addrs[i], addr);
        n += (size_t)snprintf(text + n, sizeof(text) - n, "nameserver %s\n", addr);
    }
    demand(st_resolvers_read((struct st_str){text, n}, &again));
    demand(again.n == r->n && again.unread == 0 && again.left_out == 0);
    for (size_t i = 0; i < r->n; i++)
        demand(st_addr_equal(&r->addrs[i], &again.addrs[i]));
}

static void check_with_more(const uint8_t *data, size_t size, const struct st_resolvers *r)
{
    static const char more[] = "\nsearch example.com\nnameserver x\n";
    char *text = malloc(size + sizeof(more));
    struct st_resolvers longer;

    demand(text != NULL);
    if (size)
        memcpy(text, data, size);
    memcpy(text + size, more, sizeof(more));
    if (st_resolvers_read((struct st_str){text, size + sizeof(more) - 1}, &longer))
        demand(longer.n == r->n && longer.unread == r->unread + 1);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_resolvers r;

    if (!st_resolvers_read((struct st_str){(const char *)data, size}, &r)) {
        demand(size > ST_RESOLVERS_TEXT_MAX && r.n == 0);
        return 0;
    }
    check_each_once(&r);
    check_written_out(&r);
    check_with_more(data, size, &r);
    return 0;
}
