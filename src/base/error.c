/* error: see error.h for the contract. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang_analyzer__
#undef st_fail
#undef st_fail_errno
#undef st_wrap
#endif

__attribute__((format(printf, 3, 0))) static void set_message(struct st_error *err, int errnum,
                                                              const char *fmt, va_list args)
{
    err->errnum = errnum > 0 ? errnum : EINVAL;
    vsnprintf(err->msg, sizeof(err->msg), fmt, args);
}

static void append(struct st_error *err, const char *text)
{
    size_t used = strlen(err->msg);

    snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", text);
}

int st_fail(struct st_error *err, int errnum, const char *fmt, ...)
{
    va_list args;

    if (err) {
        va_start(args, fmt);
        set_message(err, errnum, fmt, args);
        va_end(args);
    }
    return errnum > 0 ? -errnum : -EINVAL;
}

int st_fail_errno(struct st_error *err, const char *fmt, ...)
{
    int errnum = errno > 0 ? errno : EINVAL;
    va_list args;

    if (err) {
        va_start(args, fmt);
        set_message(err, errnum, fmt, args);
        va_end(args);
        append(err, strerror(errnum));
    }
    return -errnum;
}

int st_wrap(struct st_error *err, const char *fmt, ...)
{
    char inner[ST_ERROR_MAX];
    va_list args;

    if (!err)
        return -EINVAL;
    memcpy(inner, err->msg, sizeof(inner));
    va_start(args, fmt);
    set_message(err, err->errnum, fmt, args);
    va_end(args);
    append(err, inner);
    return -err->errnum;
}
