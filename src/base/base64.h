/* SPDX-License-Identifier: MIT */
/* src/base/base64.h - bytes as text (RFC 4648, with padding). */
#ifndef RELA_BASE_BASE64_H
#define RELA_BASE_BASE64_H

#include "base/error.h"

#include <stddef.h>

rela_status rela_base64_append(rela_buffer *out, const void *bytes, size_t n, rela_error *err);

/* Appends the bytes of a text of n characters; RELA_FORMAT if it is none. */
rela_status rela_base64_decode(rela_buffer *out, const char *text, size_t n, rela_error *err);

#endif
