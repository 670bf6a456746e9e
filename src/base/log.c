/* SPDX-License-Identifier: MIT */
/* src/base/log.c - see log.h. */
#include "base/log.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdarg.h>

enum { LINE_MAX_BYTES = 1000 };

void rela_log_line(const rela_log *log, rela_log_level level, const char *format, ...)
{
    if (!log || !log->write || level < log->least)
        return;
    char line[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    rela_format(line, sizeof line, format, args);
    va_end(args);
    rela_utf8_make_printable(line);
    log->write(log->ctx, level, line);
}

void rela_notice_write(void *notice, rela_log_level level, const char *line)
{
    const rela_notice *n = notice;
    (void)level;
    if (n->write)
        n->write(n->ctx, line);
}
