/* SPDX-License-Identifier: MIT */
/* cli/model_names.h - finds models by name: "demo" is demo.rela in one of the model directories. */
#ifndef RELA_CLI_MODEL_NAMES_H
#define RELA_CLI_MODEL_NAMES_H

#include "cli.h"

/* Replaces the contents of out by the path that a name stands for: the name itself if such a file
 * exists or if it looks like a file name; for the directory of a run the model to use there
 * (rela_model_find); otherwise NAME.rela in the colon-separated directories of
 * RELA_MODELS, in rela/ of XDG_DATA_HOME (~/.local/share), or in ../share/rela next to the program.
 * RELA_IO if it is in none of them. */
rela_status rela_cli_find_model(rela_buffer *out, const char *name, rela_error *err);

#endif
