/* SPDX-License-Identifier: MIT */
/* cli/shading.h - the attention of one pair as a picture of characters. */
#ifndef RELA_CLI_TERMINAL_HEATMAP_H
#define RELA_CLI_TERMINAL_HEATMAP_H

#include "base/str.h"
#include "rela/analyse.h"

/* Appends a table: source words stand upright above their columns, a row per target word. Shades
 * tell the share of the row; a target word that attends to nothing is marked as such. */
rela_status rela_cli_heatmap(rela_buffer *out, const rela_aligned *pair, rela_error *err);

#endif
