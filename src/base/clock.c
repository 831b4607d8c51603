/* clock: see clock.h. */
#include "base/clock.h"

#include "base/idle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

int64_t st_now_wall_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

ST_IDLE_CODE int64_t st_now_mono_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Days since 1970-01-01 to a civil date; eras of 400 years beginning on 1 March. */
static void civil_from_days(int64_t days, int *year, unsigned *month, unsigned *day)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    unsigned doe = (unsigned)(z - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned shifted = (5 * doy + 2) / 153;

    *day = doy - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = (int)(yoe + era * 400) + (*month <= 2);
}

static int64_t days_from_civil(int year, unsigned month, unsigned day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = y / 400;
    unsigned yoe = (unsigned)(y - era * 400), shifted = month > 2 ? month - 3 : month + 9;
    unsigned doy = (153 * shifted + 2) / 5 + day - 1, doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    return era * 146097 + (int64_t)doe - 719468;
}

static char *put_digits(char *out, unsigned value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + width;
}

void st_format_rfc3339(int64_t wall_us, char out[ST_RFC3339_SIZE])
{
    int64_t secs = wall_us / 1000000, micros = wall_us % 1000000;
    int64_t days, rest;
    unsigned month, day;
    char *p = out;
    int year;

    if (micros < 0) {
        micros += 1000000;
        secs--;
    }
    days = secs / 86400;
    rest = secs % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    civil_from_days(days, &year, &month, &day);
    p = put_digits(p, (unsigned)(year < 0 ? 0 : year % 10000), 4);
    *p++ = '-';
    p = put_digits(p, month, 2);
    *p++ = '-';
    p = put_digits(p, day, 2);
    *p++ = 'T';
    p = put_digits(p, (unsigned)(rest / 3600), 2);
    *p++ = ':';
    p = put_digits(p, (unsigned)(rest / 60 % 60), 2);
    *p++ = ':';
    p = put_digits(p, (unsigned)(rest % 60), 2);
    *p++ = '.';
    p = put_digits(p, (unsigned)micros, 6);
    *p++ = 'Z';
    *p = '\0';
}

/* Exactly n digits at *p, a value from low to high; moves on. */
static bool take_digits(const char **p, const char *end, int n, unsigned low, unsigned high, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < n; i++, ++*p) {
        if (*p >= end || **p < '0' || **p > '9')
            return false;
        *out = *out * 10 + (unsigned)(**p - '0');
    }
    return *out >= low && *out <= high;
}

static bool take_char(const char **p, const char *end, const char *any)
{
    if (*p >= end || !**p || !strchr(any, **p))
        return false;
    ++*p;
    return true;
}

/* `.` and digits, of which the first six count. */
static bool take_fraction(const char **p, const char *end, int64_t *micros)
{
    int64_t unit = 100000;
    unsigned digit;

    if (!take_char(p, end, "."))
        return true;
    if (!take_digits(p, end, 1, 0, 9, &digit))
        return false;
    do {
        *micros += digit * unit;
        unit /= 10;
    } while (*p < end && **p >= '0' && **p <= '9' && take_digits(p, end, 1, 0, 9, &digit));
    return true;
}

/* `Z`, or hours and minutes from UTC, in seconds. */
static bool take_zone(const char **p, const char *end, int64_t *seconds)
{
    unsigned hours, minutes;
    bool west = *p < end && **p == '-';

    *seconds = 0;
    if (take_char(p, end, "Zz"))
        return true;
    if (!take_char(p, end, "+-") || !take_digits(p, end, 2, 0, 23, &hours) || !take_char(p, end, ":") ||
        !take_digits(p, end, 2, 0, 59, &minutes))
        return false;
    *seconds = (int64_t)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

bool st_parse_rfc3339(const char *text, size_t len, int64_t *wall_us)
{
    const char *p = text, *end = text + len;
    unsigned year, month, day, hour, minute, second, checked_month, checked_day;
    int64_t micros = 0, zone, days;
    int checked_year;

    if (!take_digits(&p, end, 4, 1, 9999, &year) || !take_char(&p, end, "-") ||
        !take_digits(&p, end, 2, 1, 12, &month) || !take_char(&p, end, "-") ||
        !take_digits(&p, end, 2, 1, 31, &day) || !take_char(&p, end, "Tt ") ||
        !take_digits(&p, end, 2, 0, 23, &hour) || !take_char(&p, end, ":") ||
        !take_digits(&p, end, 2, 0, 59, &minute) || !take_char(&p, end, ":") ||
        !take_digits(&p, end, 2, 0, 60, &second) || !take_fraction(&p, end, &micros) ||
        !take_zone(&p, end, &zone) || p != end)
        return false;
    days = days_from_civil((int)year, month, day);
    civil_from_days(days, &checked_year, &checked_month, &checked_day);
    if (checked_day != day) /* 30 February */
        return false;
    *wall_us = ((days * 86400 + hour * 3600 + minute * 60 + second) - zone) * 1000000 + micros;
    return true;
}

void st_ulid(int64_t wall_us, char out[ST_ULID_SIZE])
{
    static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint64_t ms = (uint64_t)(wall_us / 1000);
    unsigned char random[16];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        abort();
    for (int i = 9; i >= 0; i--) {
        out[i] = alphabet[ms & 31];
        ms >>= 5;
    }
    for (int i = 0; i < 16; i++)
        out[10 + i] = alphabet[random[i] & 31];
    out[26] = '\0';
}
