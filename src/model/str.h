/* str: borrowed bytes of known length, which need not be text (a path in Linux is not). */
#pragma once

#include <stddef.h>
#include <string.h>

struct st_str {
    const char *p; /* NULL: not known, which is not the same as empty */
    size_t len;
};

#define ST_STR_LIT(s) ((struct st_str){.p = (s), .len = sizeof(s) - 1})

static inline struct st_str st_str(const char *s)
{
    return (struct st_str){.p = s, .len = s ? strlen(s) : 0};
}
