/* base64: see base64.h. */
#include "base/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t st_base64_encode(const void *bytes, size_t n, char *out)
{
    const unsigned char *in = bytes;
    char *p = out;

    for (; n >= 3; n -= 3, in += 3) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

        *p++ = alphabet[v >> 18];
        *p++ = alphabet[v >> 12 & 63];
        *p++ = alphabet[v >> 6 & 63];
        *p++ = alphabet[v & 63];
    }
    if (n) {
        uint32_t v = (uint32_t)in[0] << 16 | (n == 2 ? (uint32_t)in[1] << 8 : 0);

        *p++ = alphabet[v >> 18];
        *p++ = alphabet[v >> 12 & 63];
        *p++ = n == 2 ? alphabet[v >> 6 & 63] : '=';
        *p++ = '=';
    }
    return (size_t)(p - out);
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ssize_t st_base64_decode(const char *text, size_t len, void *out, size_t room)
{
    unsigned char *p = out;
    size_t pad = 0, size;

    if (len % 4)
        return -1;
    while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
        pad++;
    size = len / 4 * 3 - pad;
    if (size > room)
        return -1;
    for (size_t i = 0; i < len; i += 4) {
        size_t give = i + 4 < len ? 3 : 3 - pad;
        uint32_t v = 0;

        for (size_t k = 0; k < 4; k++) {
            int d = k <= give ? digit(text[i + k]) : 0;

            if (d < 0)
                return -1;
            v = v << 6 | (uint32_t)d;
        }
        if (v & ((1u << (8 * (3 - give))) - 1)) /* unused bits: another text for the same bytes */
            return -1;
        for (size_t k = 0; k < give; k++)
            *p++ = (unsigned char)(v >> (16 - 8 * k));
    }
    return (ssize_t)size;
}
