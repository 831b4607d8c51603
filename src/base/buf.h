/* buf: a growable run of bytes, always followed by a NUL that does not count. */
#pragma once

#include <stddef.h>

struct st_buf {
    char *data; /* NULL until first used; st_buf_cstr() never is */
    size_t len;
    size_t cap;
};

#define ST_BUF_INIT                                                                                          \
    {                                                                                                        \
        0                                                                                                    \
    }

void st_buf_reserve(struct st_buf *b, size_t more);
void st_buf_add(struct st_buf *b, const void *bytes, size_t n);
void st_buf_adds(struct st_buf *b, const char *s);
void st_buf_addc(struct st_buf *b, char c);
void st_buf_addu(struct st_buf *b, unsigned long long n);
void st_buf_addf(struct st_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *st_buf_cstr(const struct st_buf *b);
/* It is as long as it will be: room that it does not need is given back. */
void st_buf_fit(struct st_buf *b);
void st_buf_clear(struct st_buf *b);
void st_buf_free(struct st_buf *b);

#define st_auto_buf __attribute__((cleanup(st_buf_free))) struct st_buf
