/* base64: the standard alphabet with padding (RFC 4648, 4); strict both ways. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Length of the text for n bytes, without a NUL. */
#define ST_BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* Writes exactly ST_BASE64_LEN(n) characters, no NUL; returns that length. */
size_t st_base64_encode(const void *bytes, size_t n, char *out);

/* Decodes len characters into out, of which room bytes may be used. Returns the number of bytes, or -1
 * where the text is not the one canonical form (length, alphabet, padding, unused bits) or too long. */
ssize_t st_base64_decode(const char *text, size_t len, void *out, size_t room);
