/* decompress: gzip and zstd, as processes. Private to src/cli. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ST_MAGIC_SIZE 4

struct st_decompress;

bool st_is_compressed(const unsigned char *head, size_t n);

/* Unpacks what comes from fd (borrowed), of which head was read already. */
int st_decompress_start(int fd, const unsigned char *head, size_t n, struct st_decompress **out,
                        struct st_error *err);
ssize_t st_decompress_read(struct st_decompress *d, void *out, size_t n, struct st_error *err);
void st_decompress_freep(struct st_decompress **d);
