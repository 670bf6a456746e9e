/* SPDX-License-Identifier: MIT */
/* src/base/base64.c - see base64.h. */
#include "base/base64.h"

#include "base/str.h"

#include <stdint.h>

rela_status rela_base64_append(rela_buffer *out, const void *bytes, size_t n, rela_error *err)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;
    const rela_status st = rela_buffer_reserve(out, (n + 2) / 3 * 4, err);
    if (st != RELA_OK)
        return st;
    char *to = out->data + out->len;
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t three = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                               (left > 2 ? p[i + 2] : 0);
        *to++ = DIGITS[three >> 18];
        *to++ = DIGITS[three >> 12 & 63];
        *to++ = left > 1 ? DIGITS[three >> 6 & 63] : '=';
        *to++ = left > 2 ? DIGITS[three & 63] : '=';
    }
    *to = '\0';
    out->len = (size_t)(to - out->data);
    return RELA_OK;
}
