/* wire_host: the name of a host as a client wrote it into a handshake or a request: plain ASCII, for what a
 * server makes of any other byte can't be known. One form of all names: model/host.h. */
#pragma once

#include "model/host.h"

#include <stdint.h>

/* Length of the canonical name in out; 0: it is none. */
static inline size_t st_wire_host(const uint8_t *bytes, size_t n, char out[ST_HOST_SIZE])
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] >= 0x80)
            return 0;
    return n ? st_host_canonical((struct st_str){(const char *)bytes, n}, out) : 0;
}
