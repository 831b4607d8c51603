/* http_filter: filters and cursors of http_find.h, from a query. */
#include "desk/http_find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int read_list(const struct st_query *q, const char *name, struct st_find_list *out,
                     struct st_error *err)
{
    const char *at = st_query_get(q, name);

    *out = (struct st_find_list){0};
    while (at && *at) {
        size_t len = strcspn(at, ",");

        if (out->n == ST_FIND_WORDS)
            return st_fail(err, EINVAL, "%s is a list of at most %d words", name, ST_FIND_WORDS);
        if (len)
            out->words[out->n++] = (struct st_str){.p = at, .len = len};
        at += len + (at[len] == ',');
    }
    return 0;
}

static const char *text_of(const struct st_query *q, const char *name)
{
    const char *text = st_query_get(q, name);

    return text && *text ? text : NULL;
}

static int read_blocked(const struct st_query *q, int *out, struct st_error *err)
{
    const char *text = text_of(q, "blocked");

    *out = !text ? -1 : strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (text && !*out && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return st_fail(err, EINVAL, "blocked is true or false");
    return 0;
}

int st_find_parse(const struct st_query *q, int64_t now_us, struct st_find *out, struct st_error *err)
{
    const char *cursor = text_of(q, "cursor");

    *out = (struct st_find){.analysis_id = text_of(q, "analysis_id"),
                            .container = text_of(q, "container"),
                            .text = text_of(q, "q"),
                            .after = cursor != NULL};
    if (read_list(q, "severity", &out->severity, err) < 0 || read_list(q, "kind", &out->kind, err) < 0 ||
        read_list(q, "verdict", &out->verdict, err) < 0 || read_blocked(q, &out->blocked, err) < 0 ||
        st_query_time(q, "since", now_us, INT64_MIN, &out->since, err) < 0 ||
        st_query_time(q, "until", now_us, INT64_MAX, &out->until, err) < 0)
        return -err->errnum;
    if (cursor && !st_cursor_read(cursor, &out->cursor))
        return st_fail(err, EINVAL, "cursor is what another page gave as next");
    return 0;
}

void st_cursor_write(const struct st_event_at *at, char out[ST_CURSOR_SIZE])
{
    snprintf(out, ST_CURSOR_SIZE, "%016" PRIx64 "%016" PRIx64, (uint64_t)at->ts, (uint64_t)at->id);
}

static bool read_hex(const char *text, int64_t *out)
{
    uint64_t n = 0;

    for (int i = 0; i < 16; i++) {
        const char *digits = "0123456789abcdef", *at = text[i] ? strchr(digits, text[i]) : NULL;

        if (!at)
            return false;
        n = n << 4 | (uint64_t)(at - digits);
    }
    *out = (int64_t)n;
    return true;
}

bool st_cursor_read(const char *text, struct st_event_at *out)
{
    return strlen(text) == ST_CURSOR_SIZE - 1 && read_hex(text, &out->ts) && read_hex(text + 16, &out->id);
}
