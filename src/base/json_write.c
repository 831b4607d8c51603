/* json_write: see json_write.h. */
#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

size_t st_utf8_len(const unsigned char *s, size_t n)
{
    unsigned char c = s[0];
    size_t len;
    uint32_t code;

    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf)
        len = 2, code = c & 0x1f;
    else if ((c & 0xf0) == 0xe0)
        len = 3, code = c & 0x0f;
    else if (c >= 0xf0 && c <= 0xf4)
        len = 4, code = c & 0x07;
    else
        return 0;
    if (n < len)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    if ((len == 3 && code < 0x800) || (len == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return len;
}

bool st_utf8_valid(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;

    while (n) {
        size_t len = st_utf8_len(p, n);

        if (!len)
            return false;
        p += len;
        n -= len;
    }
    return true;
}

static void quote_special(struct st_buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char longform[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

    switch (c) {
    case '"': st_buf_add(out, "\\\"", 2); return;
    case '\\': st_buf_add(out, "\\\\", 2); return;
    case '\b': st_buf_add(out, "\\b", 2); return;
    case '\f': st_buf_add(out, "\\f", 2); return;
    case '\n': st_buf_add(out, "\\n", 2); return;
    case '\r': st_buf_add(out, "\\r", 2); return;
    case '\t': st_buf_add(out, "\\t", 2); return;
    default: st_buf_add(out, longform, sizeof(longform)); return;
    }
}

void st_json_quote(struct st_buf *out, const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t plain = 0, i = 0;

    st_buf_addc(out, '"');
    while (i < n) {
        size_t len = st_utf8_len(p + i, n - i);

        if (len && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') {
            i += len;
            continue;
        }
        st_buf_add(out, s + plain, i - plain);
        if (len)
            quote_special(out, p[i]);
        else
            st_buf_add(out, "\xef\xbf\xbd", 3);
        plain = ++i;
    }
    st_buf_add(out, s + plain, n - plain);
    st_buf_addc(out, '"');
}

void st_jw_init(struct st_jw *w, struct st_buf *out)
{
    *w = (struct st_jw){.out = out};
}

static void separate(struct st_jw *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth) {
        if (w->filled[w->depth - 1])
            st_buf_addc(w->out, ',');
        w->filled[w->depth - 1] = true;
    }
}

static void open_container(struct st_jw *w, char bracket)
{
    separate(w);
    if (w->depth == ST_JW_DEPTH)
        abort();
    w->last_key[w->depth] = NULL;
    w->filled[w->depth] = false;
    w->depth++;
    st_buf_addc(w->out, bracket);
}

void st_jw_object(struct st_jw *w)
{
    open_container(w, '{');
}

void st_jw_array(struct st_jw *w)
{
    open_container(w, '[');
}

void st_jw_end(struct st_jw *w, char bracket)
{
    if (w->depth == 0 || w->after_key)
        abort();
    w->depth--;
    st_buf_addc(w->out, bracket);
}

void st_jw_key(struct st_jw *w, const char *key)
{
    const char *last;

    if (w->depth == 0 || w->after_key)
        abort();
    last = w->last_key[w->depth - 1];
    if (last && strcmp(last, key) >= 0)
        abort();
    w->last_key[w->depth - 1] = key;
    separate(w);
    st_json_quote(w->out, key, strlen(key));
    st_buf_addc(w->out, ':');
    w->after_key = true;
}

void st_jw_strn(struct st_jw *w, const char *s, size_t n)
{
    separate(w);
    st_json_quote(w->out, s, n);
}

void st_jw_str(struct st_jw *w, const char *s)
{
    st_jw_strn(w, s, strlen(s));
}

void st_jw_int(struct st_jw *w, int64_t n)
{
    separate(w);
    if (n > ST_JSON_INT_MAX - 1)
        n = ST_JSON_INT_MAX - 1;
    if (n < -(ST_JSON_INT_MAX - 1))
        n = -(ST_JSON_INT_MAX - 1);
    if (n < 0)
        st_buf_addc(w->out, '-');
    st_buf_addu(w->out, (unsigned long long)(n < 0 ? -n : n));
}

void st_jw_bool(struct st_jw *w, bool value)
{
    separate(w);
    st_buf_adds(w->out, value ? "true" : "false");
}

void st_jw_null(struct st_jw *w)
{
    separate(w);
    st_buf_adds(w->out, "null");
}

void st_jw_raw(struct st_jw *w, const char *canonical, size_t n)
{
    separate(w);
    st_buf_add(w->out, canonical, n);
}

void st_jw_kstr(struct st_jw *w, const char *key, const char *s)
{
    if (!s)
        return;
    st_jw_key(w, key);
    st_jw_str(w, s);
}

void st_jw_kint(struct st_jw *w, const char *key, int64_t n)
{
    st_jw_key(w, key);
    st_jw_int(w, n);
}

void st_jw_kbool(struct st_jw *w, const char *key, bool value)
{
    st_jw_key(w, key);
    st_jw_bool(w, value);
}

void st_jw_kstrs(struct st_jw *w, const char *key, const char *const *list, size_t n)
{
    st_jw_key(w, key);
    st_jw_array(w);
    for (size_t i = 0; i < n && list[i]; i++)
        st_jw_str(w, list[i]);
    st_jw_end(w, ']');
}
