/* Any names, of any types, at any times: numbers stay within what a name can have, counts only ever grow
 * within a window, and what one query shows does not depend on what came before it. */
#include "sensors/net/dns_tally.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BY_ITSELF (ST_DNS_LONG | ST_DNS_BYTES)
#define BY_COUNT (ST_DNS_RANDOM | ST_DNS_MANY | ST_DNS_OFTEN | ST_DNS_VOLUME)

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_look(struct st_str name, uint16_t type, unsigned is)
{
    struct st_dns_look look;
    struct st_dns_counts none = {0};

    st_dns_look(name, type, &look);
    demand(look.suffix.p + look.suffix.len == name.p + name.len && look.suffix.len <= name.len);
    demand(look.below <= name.len && look.longest <= name.len && look.entropy <= 8000);
    demand(!(look.rare && look.odd));
    demand((st_dns_suspect(&look, &none) & BY_ITSELF) == (is & BY_ITSELF));
    demand(!(st_dns_suspect(&look, &none) & BY_COUNT));
}

/* A query is: its length, its type, how much later, the name; the same one twice must look no better. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_dns_tally *tally = st_dns_tally_new(3, 7);
    int64_t now = 0;

    for (size_t at = 0; at + 4 <= size;) {
        uint16_t type = (uint16_t)(data[at + 1] << 8 | data[at + 2]);
        struct st_str name = {(const char *)data + at + 4, data[at]};
        unsigned first, again;

        now += (int64_t)data[at + 3] * data[at + 3] * 10;
        if (name.len > size - at - 4)
            name.len = size - at - 4;
        at += 4 + name.len;
        first = st_dns_tally_ask(tally, name, type, now);
        again = st_dns_tally_ask(tally, name, type, now);
        demand((first & again) == first && !(again & ~(unsigned)ST_DNS_SUSPICIONS));
        check_look(name, type, first);
    }
    st_dns_tally_free(tally);
    return 0;
}
