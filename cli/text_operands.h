/* SPDX-License-Identifier: MIT */
/* cli/text_operands.h - texts named without options, after the model: MODEL SRC TGT. */
#ifndef RELA_CLI_TEXT_OPERANDS_H
#define RELA_CLI_TEXT_OPERANDS_H

#include "cli.h"

/* Takes the last two operands, if there are as many, as source and target text. RELA_ARG if an
 * option names a text as well, or if the source text is a model. */
rela_status rela_cli_take_texts(rela_cli *cli, const char **src, const char **tgt, rela_error *err);

#endif
