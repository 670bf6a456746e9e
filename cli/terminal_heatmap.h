/* SPDX-License-Identifier: MIT */
/* cli/terminal_heatmap.h - the attention of one pair as a heatmap of block characters. */
#ifndef RELA_CLI_TERMINAL_HEATMAP_H
#define RELA_CLI_TERMINAL_HEATMAP_H

#include "base/str.h"
#include "rela/analyse.h"

/* Appends a table with one row per target word; source words run vertically above their columns.
 * Shades show the share of the row; a target word that attends to nothing is marked.
 * A table wider than width columns continues below, with the same rows; width 0: any width. */
rela_status rela_cli_heatmap(rela_buffer *out, const rela_aligned *pair, size_t width,
                             rela_error *err);

#endif
