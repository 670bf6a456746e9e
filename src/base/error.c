/* SPDX-License-Identifier: MIT */
/* src/base/error.c - see error.h. */
#include "base/error.h"

#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(rela_error *err, rela_status status, const char *format, va_list args);
static void make_printable(char *s);

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
    return rela_fail(err, status, "%s: %s", context, old);
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
    char reason[128] = "";
    /* The GNU variant of strerror_r may return a static text instead of using the buffer. */
    const char *text = strerror_r(error_number, reason, sizeof reason);
    size_t used = strlen(err->message);
    (void)snprintf(err->message + used, sizeof err->message - used, ": %s", text);
    return status;
}

static void fill(rela_error *err, rela_status status, const char *format, va_list args)
{
    if (!err)
        return;
    err->status = status;
    rela_format(err->message, sizeof err->message, format, args);
    make_printable(err->message);
}

static void make_printable(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}
