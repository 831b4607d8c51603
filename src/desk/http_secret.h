/* http_secret: random words that open doors, and how they are compared: in a time that tells nothing. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_SECRET_BITS 256
#define ST_SECRET_LEN 43 /* base64url without padding */
#define ST_SECRET_SIZE (ST_SECRET_LEN + 1)

void st_secret_make(char out[ST_SECRET_SIZE]);

/* Is what somebody gave the secret? NULL is nobody's. */
bool st_secret_is(const char *secret, const char *given, size_t len);

/* The token in a file; made where there is none (0600). One that others may read is refused. */
int st_secret_file(const char *path, char out[ST_SECRET_SIZE], struct st_error *err);
