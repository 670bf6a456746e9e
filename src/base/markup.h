/* SPDX-License-Identifier: MIT */
/* src/base/markup.h - text inside HTML, SVG and other XML. */
#ifndef RELA_BASE_MARKUP_H
#define RELA_BASE_MARKUP_H

#include "base/str.h"

/* Appends UTF-8 text, escaped for use between tags and in attributes. Control characters, which XML
 * does not allow, become U+FFFD. */
rela_status rela_markup_append(rela_buffer *out, const char *text, rela_error *err);

#endif
