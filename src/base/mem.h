/* mem: allocation that either succeeds or ends the process.
 *
 * Every input is bounded before memory is asked for, so that failure here means that the machine is
 * out of memory. abort() then is the fail-closed answer: in the worker the warden sees the death and
 * freezes the container, in the shim and the hook the container does not start. */
#pragma once

#include <stddef.h>

void *st_xmalloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *st_xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *st_xrealloc(void *p, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
/* A table that may stay empty for ever: zeroed pages of its own, which cost nothing until they are used,
 * whatever hole there is elsewhere. */
void *st_xpages(size_t n, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void st_free_pages(void *p, size_t n, size_t size);
char *st_xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *st_xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *st_xasprintf(const char *fmt, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
