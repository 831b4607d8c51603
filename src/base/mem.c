/* mem: see mem.h. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *or_abort(void *p)
{
    if (!p)
        abort();
    return p;
}

void *st_xmalloc(size_t size)
{
    return or_abort(malloc(size ? size : 1));
}

void *st_xcalloc(size_t n, size_t size)
{
    return or_abort(calloc(n ? n : 1, size ? size : 1));
}

void *st_xrealloc(void *p, size_t size)
{
    return or_abort(realloc(p, size ? size : 1));
}

static size_t product(size_t n, size_t size)
{
    size_t all;

    if (__builtin_mul_overflow(n, size, &all) || all == 0)
        abort();
    return all;
}

void *st_xpages(size_t n, size_t size)
{
    void *p = mmap(NULL, product(n, size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        abort();
    return p;
}

void st_free_pages(void *p, size_t n, size_t size)
{
    if (p)
        munmap(p, product(n, size));
}

char *st_xstrdup(const char *s)
{
    return or_abort(strdup(s));
}

char *st_xstrndup(const char *s, size_t n)
{
    return or_abort(strndup(s, n));
}

char *st_xasprintf(const char *fmt, ...)
{
    char *out = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&out, fmt, args) < 0)
        abort();
    va_end(args);
    return or_abort(out);
}
