/* SPDX-License-Identifier: MIT */
/* src/base/yaml.h - texts as YAML scalars. */
#ifndef RELA_BASE_YAML_H
#define RELA_BASE_YAML_H

#include "base/error.h"

/* Appends a double-quoted scalar on one line that every reader turns into the same bytes again.
 * RELA_ARG for what is not UTF-8: YAML has no way to write it. */
rela_status rela_yaml_quote(rela_buffer *out, const char *text, size_t len, rela_error *err);

#endif
