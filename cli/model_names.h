/* SPDX-License-Identifier: MIT */
/* cli/model_names.h - models by name: "demo" is demo.rela where models are kept. */
#ifndef RELA_CLI_MODEL_NAMES_H
#define RELA_CLI_MODEL_NAMES_H

#include "cli.h"

/* Replaces the contents of out by the file that a name stands for: itself if there is such a file
 * or it looks like the name of one; otherwise NAME.rela in the directories of RELA_MODELS (with
 * colons between them), in rela/ of XDG_DATA_HOME (~/.local/share), or in ../share/rela of the
 * program. RELA_IO if none has it. */
rela_status rela_cli_find_model(rela_buffer *out, const char *name, rela_error *err);

#endif
