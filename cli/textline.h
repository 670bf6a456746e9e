/* SPDX-License-Identifier: MIT */
/* cli/textline.h - runs text functions over the lines of the operands.
 *
 * Invalid UTF-8 is replaced by U+FFFD before the line reaches the command, and reported once at
 * the end. */
#ifndef RELA_CLI_TEXTLINE_H
#define RELA_CLI_TEXTLINE_H

#include "cli.h"

/* Appends the result for one line, which is valid UTF-8. */
typedef rela_status (*rela_text_apply)(const void *object, rela_buffer *out, const char *text,
                                       size_t len, rela_error *err);

/* Runs apply(object, ...) over all lines of the operands, on all threads. */
rela_status rela_cli_run_text(rela_cli *cli, rela_text_apply apply, const void *object,
                              const char *label, const char *output, rela_error *err);

/* Processes one line, which is valid UTF-8. number counts over all files. */
typedef rela_status (*rela_text_take)(void *ctx, const char *text, size_t len, uint64_t number,
                                      int thread, rela_error *err);

/* Runs take(ctx, ...) over all lines of the operands, on all threads, and writes nothing. */
rela_status rela_cli_scan_text(rela_cli *cli, rela_text_take take, void *ctx, const char *label,
                               rela_error *err);

#endif
