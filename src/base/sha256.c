/* sha256: see sha256.h. */
#include "base/sha256.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

void st_sha256(const void *bytes, size_t n, unsigned char out[ST_SHA256_SIZE])
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, n, bytes);
    sha256_digest(&ctx, ST_SHA256_SIZE, out);
}

/* Four bytes as eight digits: nibbles apart, then each the character that it is. */
static uint64_t eight_digits(const unsigned char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t n = (uint64_t)p[0] | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 32 | (uint64_t)p[3] << 48;

    n = (n >> 4 | n << 8) & (ones * 15);
    return n + ones * '0' + ((n + ones * 6) >> 4 & ones) * ('a' - '0' - 10);
}

void st_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (; n >= 4; n -= 4, bytes += 4, out += 8) {
        uint64_t text = htole64(eight_digits(bytes));

        memcpy(out, &text, 8);
    }
    for (; n; n--, bytes++) {
        *out++ = digits[*bytes >> 4];
        *out++ = digits[*bytes & 15];
    }
    *out = '\0';
}
