/* SPDX-License-Identifier: MIT */
/* src/metric/python_chars.c - see python_chars.h. */
#include "metric/python_chars.h"

#include "base/utf8.h"
#include "rela/metric.h"

#include <utf8proc.h>

enum {
    CAPITAL_SIGMA = 0x3A3,
    SMALL_SIGMA = 0x3C3,
    FINAL_SIGMA = 0x3C2,
    CAPITAL_I_DOT = 0x130,
    GROWTH_MAX = 2 /* bytes out per byte in, at most, in lower case */
};

typedef struct range {
    uint32_t first, last;
} range;

/* Cased letters that the general category does not show: Other_Uppercase and Other_Lowercase
 * (ordinals, Roman numerals, circled and squared letters). */
static const range CASED[] = {
    { 0xAA, 0xAA },       { 0xBA, 0xBA },       { 0x2160, 0x217F },   { 0x24B6, 0x24E9 },
    { 0x1F130, 0x1F149 }, { 0x1F150, 0x1F169 }, { 0x1F170, 0x1F189 },
};

/* Word-internal punctuation, which does not separate a sigma from its word. */
static const range INNER[] = {
    { 0x27, 0x27 },     { 0x2E, 0x2E },     { 0x3A, 0x3A },     { 0xB7, 0xB7 },
    { 0x387, 0x387 },   { 0x55F, 0x55F },   { 0x5F4, 0x5F4 },   { 0x2018, 0x2019 },
    { 0x2024, 0x2024 }, { 0x2027, 0x2027 }, { 0xFE13, 0xFE13 }, { 0xFE52, 0xFE52 },
    { 0xFE55, 0xFE55 }, { 0xFF07, 0xFF07 }, { 0xFF0E, 0xFF0E }, { 0xFF1A, 0xFF1A },
};

static bool in_ranges(const range *r, size_t n, uint32_t code);
static bool is_plain(char c);
static const char *step_back(const char *s, const char *at);
static bool is_cased(uint32_t code);
static bool is_ignorable(uint32_t code);
static uint32_t lower_sigma(const char *s, size_t len, size_t at);

bool rela_char_is_blank(uint32_t code)
{
    if (code < 0x80)
        return code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1C && code <= 0x1F);
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

uint32_t rela_char_class(uint32_t code)
{
    if (rela_char_is_blank(code))
        return RELA_CHAR_BLANK;
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)code);
    if (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO)
        return RELA_CHAR_NUMBER;
    if (c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO)
        return RELA_CHAR_PUNCTUATION;
    return c >= UTF8PROC_CATEGORY_SM && c <= UTF8PROC_CATEGORY_SO ? RELA_CHAR_SYMBOL : 0;
}

/* Only four lead bytes can start a multi-byte blank, so most text is never decoded. Continuation
 * bytes are not blanks. */
size_t rela_blank_size(const char *s, size_t len)
{
    const unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return rela_char_is_blank(c);
    if (c != 0xC2 && c != 0xE1 && c != 0xE2 && c != 0xE3)
        return 0;
    uint32_t code = 0;
    const size_t n = rela_utf8_next(&code, s, len);
    return n > 0 && rela_char_is_blank(code) ? n : 0;
}

bool rela_next_token(rela_span *token, const char **at, const char *end)
{
    const char *p = *at;
    size_t n = 0;
    while (p < end && !is_plain(*p) && (n = rela_blank_size(p, (size_t)(end - p))) > 0)
        p += n;
    const char *start = p;
    while (p < end && (is_plain(*p) || rela_blank_size(p, (size_t)(end - p)) == 0))
        p++;
    *at = p;
    *token = (rela_span){ start, (size_t)(p - start) };
    return p > start;
}

size_t rela_segment_end(const char *s, size_t len)
{
    while (len > 0) {
        const char *last = step_back(s, s + len);
        const size_t n = (size_t)(s + len - last);
        if (rela_blank_size(last, n) != n)
            break;
        len -= n;
    }
    return len;
}

rela_status rela_lower(rela_buffer *out, const char *s, size_t len, rela_error *err)
{
    if (len > SIZE_MAX / GROWTH_MAX)
        return rela_fail(err, RELA_NOMEM, "no memory for a text of %zu bytes", len);
    const rela_status st = rela_buffer_reserve(out, len * GROWTH_MAX, err);
    if (st != RELA_OK)
        return st;
    char *to = out->data + out->len;
    for (size_t i = 0; i < len;) {
        uint32_t code = 0;
        if ((unsigned char)s[i] < 0x80) {
            *to++ = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + ('a' - 'A')) : s[i];
            i++;
            continue;
        }
        const size_t n = rela_utf8_next(&code, s + i, len - i);
        if (code == CAPITAL_SIGMA)
            code = lower_sigma(s, len, i);
        else if (code != CAPITAL_I_DOT)
            code = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
        to += rela_utf8_put(to, code == CAPITAL_I_DOT ? 'i' : code);
        if (code == CAPITAL_I_DOT)
            to += rela_utf8_put(to, 0x307); /* combining dot above */
        i += n ? n : 1;
    }
    out->len = (size_t)(to - out->data);
    *to = '\0';
    return RELA_OK;
}

static bool in_ranges(const range *r, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (code >= r[i].first && code <= r[i].last)
            return true;
    return false;
}

/* Printable ASCII, which is most text: needs no further test. */
static bool is_plain(char c)
{
    return c > ' ' && c < 0x7F; /* signed or not, bytes from 0x80 on fail one test or the other */
}

/* The start of the character before at; s < at. */
static const char *step_back(const char *s, const char *at)
{
    do
        at--;
    while (at > s && (*at & 0xC0) == 0x80);
    return at;
}

static bool is_cased(uint32_t code)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)code);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT ||
           in_ranges(CASED, sizeof CASED / sizeof CASED[0], code);
}

static bool is_ignorable(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        return in_ranges(INNER, sizeof INNER / sizeof INNER[0], code);
    }
}

/* The final form after a cased letter and not before one, ignoring marks and the like (the
 * condition Final_Sigma of the Unicode standard, section 3.13). */
static uint32_t lower_sigma(const char *s, size_t len, size_t at)
{
    uint32_t code = 0;
    bool found = false;
    for (const char *p = s + at; p > s && !found;) {
        const char *before = step_back(s, p);
        (void)rela_utf8_next(&code, before, (size_t)(p - before));
        found = !is_ignorable(code);
        p = before;
    }
    if (!found || !is_cased(code))
        return SMALL_SIGMA;
    for (size_t i = at + 2; i < len;) { /* a sigma is two bytes */
        const size_t n = rela_utf8_next(&code, s + i, len - i);
        if (!is_ignorable(code))
            return is_cased(code) ? SMALL_SIGMA : FINAL_SIGMA;
        i += n ? n : 1;
    }
    return FINAL_SIGMA;
}
