/* host: names of hosts in the one form in which they are compared: lower case, without a final dot, every
 * label in A-label form (`bücher.example` is `xn--bcher-kva.example`). */
#pragma once

#include "model/str.h"

#include <stdbool.h>

#define ST_HOST_MAX 253
#define ST_HOST_SIZE (ST_HOST_MAX + 1)

/* Length of the name in out (NUL-terminated), or 0: empty, an empty label, a label over 63 or a name over 253
 * bytes, a byte that no name has, text that is neither ASCII nor something we can turn into an A-label
 * (letters that are not in composed form). */
size_t st_host_canonical(struct st_str text, char out[ST_HOST_SIZE]);
