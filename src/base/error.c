/* SPDX-License-Identifier: MIT */
/* src/base/error.c - see error.h. */
#define RELA_ERROR_DEFINITIONS
#include "base/error.h"

#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { CONTEXT_MIN = 40 }; /* bytes of context that are kept, however long the reason is */

static void fill(rela_error *err, rela_status status, const char *format, va_list args);
static rela_status join(rela_error *err, rela_status status, const char *context,
                        const char *reason);

const char *rela_status_text(rela_status status)
{
    switch (status) {
#define RELA_X(name, value, text)                                                                  \
    case RELA_##name:                                                                              \
        return text;
        RELA_STATUS_MAP(RELA_X)
#undef RELA_X
    }
    return "unknown status";
}

rela_status rela_fail(rela_error *err, rela_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, status, format, args);
    va_end(args);
    return status;
}

rela_status rela_fail_in(rela_error *err, rela_status status, const char *context)
{
    if (!err)
        return status;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    return join(err, status, context, old);
}

rela_status rela_fail_errno(rela_error *err, int error_number, const char *format, ...)
{
    const rela_status status = error_number == EPIPE    ? RELA_CLOSED
                               : error_number == ENOMEM ? RELA_NOMEM
                                                        : RELA_IO;
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    fill(err, status, format, args);
    va_end(args);
    char old[sizeof err->message], reason[128] = "";
    memcpy(old, err->message, sizeof old);
    /* The GNU variant of strerror_r may return a static text instead of using the buffer. */
    return join(err, status, old, strerror_r(error_number, reason, sizeof reason));
}

static void fill(rela_error *err, rela_status status, const char *format, va_list args)
{
    if (!err)
        return;
    err->status = status;
    rela_format(err->message, sizeof err->message, format, args);
    rela_utf8_make_printable(err->message);
}

/* "context: reason". An over-long context (a path) is truncated to keep the reason. */
static rela_status join(rela_error *err, rela_status status, const char *context,
                        const char *reason)
{
    static const char DOTS[] = "...";
    const size_t room = sizeof err->message - 1, rest = strlen(": ") + strlen(reason);
    size_t len = strlen(context);
    if (len <= CONTEXT_MIN || len + rest <= room)
        return rela_fail(err, status, "%s: %s", context, reason);
    len = CONTEXT_MIN + rest < room ? room - rest - strlen(DOTS) : CONTEXT_MIN;
    len = rela_utf8_whole(context, len);
    return rela_fail(err, status, "%.*s%s: %s", (int)len, context, DOTS, reason);
}
