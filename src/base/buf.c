/* buf: see buf.h. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void st_buf_reserve(struct st_buf *b, size_t more)
{
    size_t need, cap = b->cap ? b->cap : 128;

    if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need))
        abort();
    if (need <= b->cap)
        return;
    while (cap < need)
        if (__builtin_mul_overflow(cap, 2, &cap))
            abort();
    b->data = st_xrealloc(b->data, cap);
    b->cap = cap;
}

void st_buf_fit(struct st_buf *b)
{
    if (b->cap <= b->len + 1)
        return;
    b->cap = b->len + 1;
    b->data = st_xrealloc(b->data, b->cap);
}

void st_buf_add(struct st_buf *b, const void *bytes, size_t n)
{
    st_buf_reserve(b, n);
    if (n)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void st_buf_adds(struct st_buf *b, const char *s)
{
    st_buf_add(b, s, strlen(s));
}

void st_buf_addc(struct st_buf *b, char c)
{
    st_buf_add(b, &c, 1);
}

void st_buf_addu(struct st_buf *b, unsigned long long n)
{
    char digits[24];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    st_buf_add(b, digits + at, sizeof(digits) - at);
}

void st_buf_addf(struct st_buf *b, const char *fmt, ...)
{
    va_list args, again;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        abort();
    st_buf_reserve(b, (size_t)n);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    va_end(again);
    b->len += (size_t)n;
}

const char *st_buf_cstr(const struct st_buf *b)
{
    return b->data ? b->data : "";
}

void st_buf_clear(struct st_buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

void st_buf_free(struct st_buf *b)
{
    free(b->data);
    *b = (struct st_buf)ST_BUF_INIT;
}
