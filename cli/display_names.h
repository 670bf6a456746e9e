/* SPDX-License-Identifier: MIT */
/* cli/display_names.h - names of models for people, from their paths. */
#ifndef RELA_CLI_DISPLAY_NAMES_H
#define RELA_CLI_DISPLAY_NAMES_H

#include <stddef.h>

enum { RELA_CLI_DISPLAY_NAME = 64 }; /* bytes of a name */

/* "runs/rela-g/model.rela" is rela-g, "big.rela" is big; models with the same name get longer ones.
 * At most RELA_CLI_MODELS_MAX paths. */
void rela_cli_display_names(char names[][RELA_CLI_DISPLAY_NAME], const char *const *paths,
                            size_t n);

#endif
