/* SPDX-License-Identifier: MIT */
/* src/base/base64.c - see base64.h. */
#include "base/base64.h"

#include "base/str.h"

#include <stdint.h>
#include <string.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

rela_status rela_base64_append(rela_buffer *out, const void *bytes, size_t n, rela_error *err)
{
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

rela_status rela_base64_decode(rela_buffer *out, const char *text, size_t n, rela_error *err)
{
    uint32_t bits = 0;
    size_t held = 0, end = n;
    while (end > 0 && n - end < 2 && text[end - 1] == '=')
        end--;
    const rela_status st = rela_buffer_reserve(out, n / 4 * 3 + 3, err);
    if (st != RELA_OK)
        return st;
    for (size_t i = 0; i < end; i++) {
        const char *digit = text[i] ? strchr(DIGITS, text[i]) : NULL;
        if (!digit)
            return rela_fail(err, RELA_FORMAT, "character %zu is not of base64", i + 1);
        bits = bits << 6 | (uint32_t)(digit - DIGITS);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out->data[out->len++] = (char)(bits >> held & 255);
        }
    }
    out->data[out->len] = '\0';
    return n % 4 == 0 ? RELA_OK
                      : rela_fail(err, RELA_FORMAT,
                                  "%zu characters of base64; expected a multiple of 4", n);
}
