/* Any bytes as a UDP payload: a first packet of QUIC is long, has a long header, and stays one with more
 * behind it. */
#include "sensors/net/quic.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t filled[66000];

    if (st_quic_is_first(data, size))
        demand(size >= 1200 && data[0] >= 0xc0);
    if (size > sizeof(filled) - 1200)
        return 0;
    memset(filled, 0, sizeof(filled));
    if (size)
        memcpy(filled, data, size);
    if (st_quic_is_first(data, size))
        demand(st_quic_is_first(filled, size + 1200));
    return 0;
}
