/* quic: see quic.h. */
#include "sensors/net/quic.h"

#include "sensors/net/cursor.h"

#define FIRST_MIN 1200 /* RFC 9000, 14.1: a client fills its first datagrams up to this */
#define V1 0x00000001u
#define V2 0x6b3343cfu
#define MAX_ID 20

static bool is_draft(uint32_t version)
{
    return version >> 8 == 0xff0000;
}

/* To be answered by a list of versions. */
static bool is_grease(uint32_t version)
{
    return (version & 0x0f0f0f0f) == 0x0a0a0a0a;
}

bool st_quic_is_first(const uint8_t *payload, size_t n)
{
    struct st_cursor c = st_cursor(payload, n);
    uint8_t first = st_take8(&c), initial, len;
    uint32_t version = st_take32(&c);

    if (n < FIRST_MIN || (first & 0xc0) != 0xc0) /* a long header, and the bit that is always set */
        return false;
    if (is_grease(version))
        return true;
    if (version != V1 && version != V2 && !is_draft(version))
        return false;
    initial = version == V2 ? 1 : 0;
    if ((first >> 4 & 3) != initial)
        return false;
    len = st_take8(&c); /* of the destination's id, then the source's */
    if (len < 8 || len > MAX_ID || !st_take(&c, len))
        return false;
    len = st_take8(&c);
    return len <= MAX_ID && st_take(&c, len) != NULL;
}
