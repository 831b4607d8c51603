/* sha256: see sha256.h. */
#include "base/sha256.h"

#include <string.h>

void st_sha256(const void *bytes, size_t n, unsigned char out[ST_SHA256_SIZE])
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, n, bytes);
    sha256_digest(&ctx, ST_SHA256_SIZE, out);
}

/* Sixteen bytes at a time, in whatever registers the machine has for that. */
typedef unsigned char sixteen __attribute__((vector_size(16)));

static sixteen digits_of(sixteen nibbles)
{
    return nibbles + '0' + (sixteen)((nibbles > 9) & ('a' - '0' - 10));
}

static void hex_sixteen(const unsigned char *bytes, char *out)
{
    sixteen in, high, low, text[2];

    memcpy(&in, bytes, sizeof(in));
    high = in >> 4;
    low = in & 15;
    text[0] =
        digits_of(__builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    text[1] = digits_of(
        __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
    memcpy(out, text, sizeof(text));
}

void st_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (; n >= 16; n -= 16, bytes += 16, out += 32)
        hex_sixteen(bytes, out);
    for (; n; n--, bytes++) {
        *out++ = digits[*bytes >> 4];
        *out++ = digits[*bytes & 15];
    }
    *out = '\0';
}
