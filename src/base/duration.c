/* duration: see duration.h. */
#include "base/duration.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

#define N_UNITS (sizeof(units) / sizeof(units[0]))
#define LIMIT_MS ((int64_t)36525 * 86400000)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool st_duration_parse(const char *text, int64_t *ms)
{
    const char *s = text;
    int64_t total = 0;
    size_t next_unit = 0;

    if (strcmp(text, "0") == 0) {
        *ms = 0;
        return true;
    }
    do {
        int64_t n = 0;
        size_t len, u;

        if (!is_digit(*s))
            return false;
        for (; is_digit(*s); s++) {
            n = n * 10 + (*s - '0');
            if (n > LIMIT_MS)
                return false;
        }
        len = strspn(s, "dhms");
        for (u = next_unit; u < N_UNITS; u++)
            if (strlen(units[u].name) == len && memcmp(units[u].name, s, len) == 0)
                break;
        if (u == N_UNITS || n > LIMIT_MS / units[u].ms)
            return false;
        total += n * units[u].ms;
        if (total > LIMIT_MS)
            return false;
        next_unit = u + 1;
        s += len;
    } while (*s);
    *ms = total;
    return true;
}

void st_duration_format(int64_t ms, char out[ST_DURATION_SIZE])
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t u = 0; u < N_UNITS; u++) {
        if (ms < units[u].ms)
            continue;
        used += (size_t)snprintf(out + used, ST_DURATION_SIZE - used, "%lld%s", (long long)(ms / units[u].ms),
                                 units[u].name);
        ms %= units[u].ms;
    }
    if (!used)
        memcpy(out, "0", 2);
}
