/* error: the one way in which a function says that, and why, it failed.
 *
 * Contract (docs/errors.md): success returns 0 or more and leaves *err alone. Failure returns a
 * negative errno value and fills *err; each outer layer prepends what it was trying to do. Libraries
 * never print and never exit. The message lives in the struct: reporting an error can't fail. */
#pragma once

#include <stdarg.h>

#define ST_ERROR_MAX 2048

struct st_error {
    int errnum; /* positive errno value; 0: no error yet */
    char msg[ST_ERROR_MAX];
};

/* Set the message. Returns -errnum. err may be NULL. */
int st_fail(struct st_error *err, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As st_fail with the present errno; ": strerror" is appended. */
int st_fail_errno(struct st_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prepend "context: " to an error that is already set. Returns -err->errnum. */
int st_wrap(struct st_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The analyzer sees one file at a time: tell it the half of the contract that callers build on. */
#ifdef __clang_analyzer__
#define st_fail(...) (st_fail(__VA_ARGS__), -1)
#define st_fail_errno(...) (st_fail_errno(__VA_ARGS__), -1)
#define st_wrap(...) (st_wrap(__VA_ARGS__), -1)
#endif
