/* sha256: the one hash of the project, by nettle (SHA-NI where the CPU has it, no start-up cost). */
#pragma once

#include <nettle/sha2.h>
#include <stddef.h>

#define ST_SHA256_SIZE 32
#define ST_SHA256_HEX (2 * ST_SHA256_SIZE)

void st_sha256(const void *bytes, size_t n, unsigned char out[ST_SHA256_SIZE]);

/* Lower-case hex, NUL-terminated. */
void st_hex(const unsigned char *bytes, size_t n, char *out);
