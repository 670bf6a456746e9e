/* SPDX-License-Identifier: MIT */
/* src/base/utf8.c - see utf8.h. */
#include "base/utf8.h"

#include "base/str.h"

#include <string.h>

/* Ranges of characters that are invisible or change how others are displayed: controls (C0, C1),
 * format characters including bidirectional and zero-width ones, line separators, what Unicode
 * calls default-ignorable, and noncharacters. The last two code points of each plane, also
 * noncharacters, are checked separately. */
static const struct {
    uint32_t first, last;
} HIDDEN[] = {
    { 0x0000, 0x001F },   { 0x007F, 0x009F },   { 0x00AD, 0x00AD },   { 0x034F, 0x034F },
    { 0x0600, 0x0605 },   { 0x061C, 0x061C },   { 0x06DD, 0x06DD },   { 0x070F, 0x070F },
    { 0x0890, 0x0891 },   { 0x08E2, 0x08E2 },   { 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },
    { 0x180B, 0x180F },   { 0x200B, 0x200F },   { 0x2028, 0x202E },   { 0x2060, 0x206F },
    { 0x3164, 0x3164 },   { 0xFDD0, 0xFDEF },   { 0xFE00, 0xFE0F },   { 0xFEFF, 0xFEFF },
    { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFFB },   { 0x110BD, 0x110BD }, { 0x110CD, 0x110CD },
    { 0x13430, 0x1343F }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
};

static size_t bad_run(const char *s, size_t len);

size_t rela_utf8_valid(const char *s, size_t len)
{
    size_t i = 0;
    while (i < len) {
        uint64_t word = 0;
        if (len - i >= sizeof word) { /* eight ASCII bytes at once */
            memcpy(&word, s + i, sizeof word);
            if ((word & 0x8080808080808080u) == 0) {
                i += sizeof word;
                continue;
            }
        }
        uint32_t code = 0;
        const size_t n = rela_utf8_next(&code, s + i, len - i);
        if (n == 0)
            return i;
        i += n;
    }
    return len;
}

size_t rela_utf8_next(uint32_t *code, const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    if (u[0] < 0x80) {
        *code = u[0];
        return 1;
    }
    /* Smallest and largest second byte exclude overlong forms, surrogates and > U+10FFFF. */
    unsigned lo = 0x80, hi = 0xBF;
    size_t n = 0;
    uint32_t c = 0;
    if (u[0] >= 0xC2 && u[0] <= 0xDF) {
        n = 2;
        c = u[0] & 0x1Fu;
    } else if (u[0] >= 0xE0 && u[0] <= 0xEF) {
        n = 3;
        c = u[0] & 0x0Fu;
        lo = u[0] == 0xE0 ? 0xA0 : lo;
        hi = u[0] == 0xED ? 0x9F : hi;
    } else if (u[0] >= 0xF0 && u[0] <= 0xF4) {
        n = 4;
        c = u[0] & 0x07u;
        lo = u[0] == 0xF0 ? 0x90 : lo;
        hi = u[0] == 0xF4 ? 0x8F : hi;
    }
    if (n == 0 || len < n || u[1] < lo || u[1] > hi)
        return 0;
    c = c << 6 | (u[1] & 0x3Fu);
    for (size_t i = 2; i < n; i++) {
        if ((u[i] & 0xC0u) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3Fu);
    }
    *code = c;
    return n;
}

size_t rela_utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

rela_status rela_utf8_repair(rela_buffer *out, size_t *n_bad, const char *s, size_t len,
                             rela_error *err)
{
    size_t i = 0;
    *n_bad = 0;
    while (i < len) {
        const size_t good = rela_utf8_valid(s + i, len - i);
        rela_status st = rela_buffer_append(out, s + i, good, err);
        i += good;
        if (st == RELA_OK && i < len) {
            st = rela_buffer_append(out, "\xEF\xBF\xBD", 3, err);
            i += bad_run(s + i, len - i);
            ++*n_bad;
        }
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

size_t rela_utf8_count(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += (s[i] & 0xC0) != 0x80;
    return n;
}

size_t rela_utf8_prefix(const char *s, size_t len, size_t n)
{
    size_t i = 0;
    for (; i < len; i++)
        if ((s[i] & 0xC0) != 0x80 && n-- == 0)
            break;
    return i;
}

size_t rela_utf8_whole(const char *s, size_t len)
{
    for (size_t back = 1; back < 4 && back <= len; back++) {
        const unsigned char c = (unsigned char)s[len - back];
        if ((c & 0xC0u) == 0x80)
            continue;
        const size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        return want > back ? len - back : len;
    }
    return len;
}

void rela_utf8_make_printable(char *s)
{
    char *to = s;
    size_t left = strlen(s);
    while (left > 0) {
        uint32_t code = 0;
        size_t n = rela_utf8_next(&code, s, left);
        const bool bad = n == 0 || rela_utf8_hidden(code);
        n = n ? n : 1;
        if (bad)
            *to++ = '?';
        for (size_t i = 0; i < n && !bad; i++)
            *to++ = s[i];
        s += n;
        left -= n;
    }
    *to = '\0';
}

rela_status rela_utf8_append_printable(rela_buffer *out, const char *s, size_t len, rela_error *err)
{
    rela_status st = RELA_OK;
    while (len > 0 && st == RELA_OK) {
        uint32_t code = 0;
        size_t n = rela_utf8_next(&code, s, len);
        st = n == 0 || rela_utf8_hidden(code) ? rela_buffer_append_char(out, '?', err)
                                              : rela_buffer_append(out, s, n, err);
        n = n ? n : 1;
        s += n;
        len -= n;
    }
    return st;
}

bool rela_utf8_hidden(uint32_t code)
{
    if (code >= ' ' && code <= '~')
        return false;
    for (size_t i = 0; i < sizeof HIDDEN / sizeof HIDDEN[0] && code >= HIDDEN[i].first; i++)
        if (code <= HIDDEN[i].last)
            return true;
    return (code & 0xFFFE) == 0xFFFE;
}

/* Length of the invalid sequence at s: the longest prefix of a valid character, at least one byte,
 * as the Unicode standard recommends for replacement. */
static size_t bad_run(const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t want = u[0] >= 0xF0 && u[0] <= 0xF4 ? 4 : u[0] >= 0xE0 && u[0] <= 0xEF ? 3 : 1;
    if (want == 1 || len < 2)
        return 1;
    const unsigned lo = u[0] == 0xE0 ? 0xA0 : u[0] == 0xF0 ? 0x90 : 0x80;
    const unsigned hi = u[0] == 0xED ? 0x9F : u[0] == 0xF4 ? 0x8F : 0xBF;
    if (u[1] < lo || u[1] > hi)
        return 1;
    if (want == 4 && len >= 3 && (u[2] & 0xC0u) == 0x80)
        return 3;
    return 2;
}
