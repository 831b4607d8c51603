/* http_query: see http_query.h. */
#include "desk/http_query.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A character that does not print has no business in a filter: every name in a trace that holds one can be
 * found by its other words. */
ssize_t st_percent_decode(char *at, size_t len, bool plus_is_space)
{
    size_t out = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];

        if (c == '+' && plus_is_space) {
            c = ' ';
        } else if (c == '%') {
            int high = i + 2 < len ? hex(at[i + 1]) : -1, low = i + 2 < len ? hex(at[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -1;
            c = (unsigned char)(high * 16 + low);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f)
            return -1;
        at[out++] = (char)c;
    }
    at[out] = '\0';
    return st_utf8_valid(at, out) ? (ssize_t)out : -1;
}

static int take_part(struct st_query *q, char *part, size_t len, struct st_error *err)
{
    char *equals = memchr(part, '=', len);
    size_t name_len = equals ? (size_t)(equals - part) : len;
    char *value = equals ? equals + 1 : part + len;
    size_t value_len = equals ? len - name_len - 1 : 0;

    if (q->n == ST_QUERY_PARTS)
        return st_fail(err, EINVAL, "more than %d parts in the query", ST_QUERY_PARTS);
    /* The value first: the name's NUL stands where the equals sign did. */
    if (st_percent_decode(value, value_len, true) < 0 || st_percent_decode(part, name_len, true) <= 0)
        return st_fail(err, EINVAL,
                       "the query is not valid text (percent-encoded UTF-8 without control characters)");
    if (st_query_get(q, part))
        return st_fail(err, EINVAL, "%.64s stands in the query twice", part);
    q->parts[q->n].name = part;
    q->parts[q->n++].value = value;
    return 0;
}

int st_query_parse(const char *text, size_t len, struct st_query *out, struct st_error *err)
{
    int rc = 0;

    *out = (struct st_query){0};
    if (len > ST_QUERY_MAX)
        return st_fail(err, EINVAL, "a query of more than %d bytes", ST_QUERY_MAX);
    if (len == 0)
        return 0;
    out->text = st_xstrndup(text, len);
    if (strlen(out->text) != len)
        rc = st_fail(err, EINVAL, "the query is not valid text");
    for (size_t from = 0; rc == 0 && from <= len;) {
        char *end = memchr(out->text + from, '&', len - from);
        size_t part = end ? (size_t)(end - out->text) - from : len - from;

        if (end)
            *end = '\0';
        if (part)
            rc = take_part(out, out->text + from, part, err);
        from += part + 1;
    }
    if (rc < 0)
        st_query_free(out);
    return rc;
}

void st_query_free(struct st_query *q)
{
    free(q->text);
    *q = (struct st_query){0};
}

const char *st_query_get(const struct st_query *q, const char *name)
{
    for (size_t i = 0; i < q->n; i++)
        if (strcmp(q->parts[i].name, name) == 0)
            return q->parts[i].value;
    return NULL;
}

int st_query_int(const struct st_query *q, const char *name, int64_t min, int64_t max, int64_t without,
                 int64_t *out, struct st_error *err)
{
    const char *text = st_query_get(q, name);
    char *end = NULL;

    *out = without;
    if (!text)
        return 0;
    errno = 0;
    *out = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    if (!end || *end || errno || *out < min || *out > max)
        return st_fail(err, EINVAL, "%s is a number from %lld to %lld", name, (long long)min, (long long)max);
    return 0;
}

int st_query_only(const struct st_query *q, const char *const *known, struct st_error *err)
{
    for (size_t i = 0; i < q->n; i++) {
        const char *const *k = known;

        while (*k && strcmp(*k, q->parts[i].name) != 0)
            k++;
        if (!*k)
            return st_fail(err, EINVAL, "there is no filter %.64s here", q->parts[i].name);
    }
    return 0;
}

int st_query_time(const struct st_query *q, const char *name, int64_t now_us, int64_t without, int64_t *out,
                  struct st_error *err)
{
    const char *text = st_query_get(q, name);
    int64_t ms;

    *out = without;
    if (!text || !*text)
        return 0;
    if (*text == '-' && st_duration_parse(text + 1, &ms)) {
        *out = now_us - ms * 1000;
        return 0;
    }
    if (st_parse_rfc3339(text, strlen(text), out))
        return 0;
    return st_fail(err, EINVAL,
                   "%s is a time such as 2026-11-18T07:00:00Z, or -15m for a quarter of an hour ago", name);
}

const char *st_cookie_find(const char *header, const char *name, size_t *len)
{
    size_t name_len = strlen(name);

    *len = 0;
    for (const char *at = header; at && *at;) {
        const char *end = strchr(at, ';');
        size_t part;

        at += strspn(at, " \t");
        part = end && end > at ? (size_t)(end - at) : strlen(at);
        if (end && end <= at)
            part = 0;
        if (part > name_len && at[name_len] == '=' && strncmp(at, name, name_len) == 0) {
            *len = part - name_len - 1;
            return at + name_len + 1;
        }
        at = end ? end + 1 : NULL;
    }
    return NULL;
}
