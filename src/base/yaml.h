/* SPDX-License-Identifier: MIT */
/* src/base/yaml.h - text as YAML scalars. */
#ifndef RELA_BASE_YAML_H
#define RELA_BASE_YAML_H

#include "base/error.h"

/* Appends a double-quoted scalar on one line that every YAML parser reads back to the same bytes.
 * RELA_ARG for invalid UTF-8, which YAML cannot represent. */
rela_status rela_yaml_quote(rela_buffer *out, const char *text, size_t len, rela_error *err);

#endif
