/* SPDX-License-Identifier: MIT */
/* src/base/log.h - one-line messages to the caller's sink; the library itself never prints. */
#ifndef RELA_BASE_LOG_H
#define RELA_BASE_LOG_H

#include "base/error.h"

typedef enum rela_log_level { RELA_LOG_DEBUG, RELA_LOG_INFO, RELA_LOG_WARNING } rela_log_level;

typedef struct rela_log {
    void (*write)(void *ctx, rela_log_level level, const char *line); /* line has no LF */
    void *ctx;
    rela_log_level least; /* messages below it are dropped */
} rela_log;

/* log may be NULL or have no write function: silent. Messages are cut at 1,000 bytes; control and
 * format characters are shown as '?'. */
void rela_log_line(const rela_log *log, rela_log_level level, const char *format, ...)
    RELA_PRINTF(3, 4);

/* Adapts a notice callback of the public interface to rela_log: write is rela_notice_write, ctx a
 * rela_notice. */
typedef struct rela_notice {
    void (*write)(void *ctx, const char *line); /* NULL: silent */
    void *ctx;
} rela_notice;

void rela_notice_write(void *notice, rela_log_level level, const char *line);

#endif
