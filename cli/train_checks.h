/* SPDX-License-Identifier: MIT */
/* cli/train_checks.h - checks the settings of rela train against each other before it starts. */
#ifndef RELA_CLI_TRAIN_CHECKS_H
#define RELA_CLI_TRAIN_CHECKS_H

#include "cli.h"

#include "rela/train.h"

enum { RELA_CLI_DATE_SIZE = 32 };

/* RELA_ARG for what is missing or contradicts itself. The library checks this too, but its messages
 * cannot name options. */
rela_status rela_cli_train_check_files(const rela_train_options *o, rela_error *err);

/* Warns about numbers typed without effect or with a surprising one, and refuses contradictions.
 * Settings that come from a configuration are left alone: that of a run is complete. */
rela_status rela_cli_train_check_settings(rela_cli *cli, const rela_train_options *o,
                                          rela_error *err);

/* All settings that the options of rela train amount to, as --show-config prints them; the files
 * need not exist. options: of the command. Defined by cmd_train.c. */
rela_status rela_cli_train_settings(rela_buffer *out, rela_cli *cli, const void *options,
                                    rela_error *err);

/* Sets seconds from --max-time, like 1h30m; text NULL: not given. */
rela_status rela_cli_train_time(int64_t *seconds, const char *text, rela_error *err);

/* The date for the model card: if none is given, that of SOURCE_DATE_EPOCH, else none, so that the
 * same call gives the same bytes. room keeps it. */
rela_status rela_cli_train_date(rela_train_options *o, const rela_cli *cli,
                                char room[RELA_CLI_DATE_SIZE], rela_error *err);

#endif
