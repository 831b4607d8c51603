/* sha256_text: SHA-256 of a text in parts, of one or of two texts at once.
 *
 * For records, where the hash is the most of the work. The rounds of one hash wait for one another, so that a
 * processor with instructions for SHA-256 idles half the time; two that have nothing to do with each other
 * share it, and take little longer than one. Where there are no such instructions, or a text is long, nettle
 * does it. */
#pragma once

#include "base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_SHA256_PARTS 3

struct st_sha256_text {
    struct {
        const char *p;
        size_t n;
    } parts[ST_SHA256_PARTS];
};

/* Has this processor the instructions? Ask once and keep the answer: under a hypervisor the question is slow.
 */
bool st_sha256_instructions(void);

void st_sha256_one(bool instructions, const struct st_sha256_text *text, unsigned char out[ST_SHA256_SIZE]);
void st_sha256_two(bool instructions, const struct st_sha256_text texts[2],
                   unsigned char out[2][ST_SHA256_SIZE]);
