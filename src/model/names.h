/* names: enumerations as the words of formats.md, both ways. Private to this layer. */
#pragma once

#include "model/str.h"

#include <stddef.h>

static inline int st_names_find(const char *const *names, size_t n, struct st_str name)
{
    for (size_t i = 0; i < n; i++)
        if (name.p && strlen(names[i]) == name.len && memcmp(names[i], name.p, name.len) == 0)
            return (int)i;
    return -1;
}

/* Both directions for one table of names. */
#define ST_NAMES(stem, type, ...)                                                                            \
    static const char *const stem##_names[] = {__VA_ARGS__};                                                 \
    const char *st_##stem##_name(type value)                                                                 \
    {                                                                                                        \
        size_t n = sizeof(stem##_names) / sizeof(stem##_names[0]);                                           \
        return (size_t)value < n ? stem##_names[value] : "?";                                                \
    }                                                                                                        \
    int st_##stem##_by_name(struct st_str name)                                                              \
    {                                                                                                        \
        return st_names_find(stem##_names, sizeof(stem##_names) / sizeof(stem##_names[0]), name);            \
    }
