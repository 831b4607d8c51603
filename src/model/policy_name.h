/* policy_name: what may stand where a policy is named. The name becomes a file name, and it comes from
 * annotations and environment variables that others write: letters, digits, `.`, `_`, `-`, beginning with a
 * letter or digit, without `..`. */
#pragma once

#include "model/str.h"

#include <stdbool.h>

#define ST_POLICY_NAME_MAX 64
#define ST_POLICY_NAME_HINT                                                                                  \
    "a policy name has 1 to 64 letters, digits, '.', '_' or '-', begins with a letter or digit and has no "  \
    "'..'"

static inline bool st_policy_name_ok(struct st_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!alnum && (i == 0 || !strchr("._-", c) || c == '\0'))
            return false;
        if (c == '.' && name.p[i - 1] == '.')
            return false;
    }
    return name.len >= 1 && name.len <= ST_POLICY_NAME_MAX;
}
