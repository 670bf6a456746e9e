/* SPDX-License-Identifier: MIT */
/* src/base/encoding.c - see encoding.h. */
#include "base/encoding.h"

#include "base/utf8.h"

#include <string.h>

/* What a text consists of. */
typedef struct census {
    size_t nul[2];          /* at even and odd places */
    size_t controls;        /* C0 without tab, line ends and the like, and C1 */
    size_t bad, characters; /* bytes that are not UTF-8; characters of several bytes that are */
} census;

static census count(const char *text, size_t len);
static bool is_utf16(const census *c, const char *text, size_t len);

const char *rela_encoding_guess(const char *text, size_t len)
{
    enum { CONTROLS_SHARE = 20 }; /* one byte in 20; random bytes have five */
    const census c = count(text, len);
    if (is_utf16(&c, text, len))
        return "UTF-16";
    const bool damaged = c.characters >= c.bad; /* UTF-8, but for some bytes */
    return c.nul[0] + c.nul[1] || damaged || c.controls > len / CONTROLS_SHARE ? NULL : "LATIN1";
}

bool rela_encoding_check(const rela_log *log, const char *name, const char *text, size_t len,
                         uint64_t first)
{
    if (!len)
        return false;
    const char *nul = memchr(text, '\0', len);
    const size_t valid = rela_utf8_valid(text, len);
    const size_t good = nul && (size_t)(nul - text) < valid ? (size_t)(nul - text) : valid;
    if (good == len)
        return false;
    uint64_t line = first;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + good - at))) != NULL; at++)
        line++;
    const char *guess = rela_encoding_guess(text, len);
    if (guess || good == valid)
        rela_encoding_warn(log, name, line, guess);
    else
        rela_log_line(log, RELA_LOG_WARNING, "%s: line %llu contains a NUL byte (reported once)",
                      name, (unsigned long long)line);
    return true;
}

void rela_encoding_warn(const rela_log *log, const char *name, uint64_t line, const char *guess)
{
    if (guess)
        rela_log_line(log, RELA_LOG_WARNING,
                      "%s: line %llu is not UTF-8; if it is %s: iconv -f %s -t UTF-8 "
                      "(reported once)",
                      name, (unsigned long long)line, guess, guess);
    else
        rela_log_line(log, RELA_LOG_WARNING, "%s: line %llu is not UTF-8 (reported once)", name,
                      (unsigned long long)line);
}

static census count(const char *text, size_t len)
{
    census c = { { 0, 0 }, 0, 0, 0 };
    for (size_t i = 0; i < len;) {
        const unsigned char u = (unsigned char)text[i];
        uint32_t code = 0;
        const size_t n = rela_utf8_next(&code, text + i, len - i);
        if (u == 0)
            c.nul[i % 2]++;
        c.bad += n == 0;
        c.characters += n > 1;
        c.controls += u < '\t' || (u > '\r' && u < ' ') || (n == 0 && u < 0xA0);
        i += n ? n : 1;
    }
    return c;
}

/* By its mark, or because every other byte is NUL, as in Latin script. */
static bool is_utf16(const census *c, const char *text, size_t len)
{
    const unsigned char *u = (const unsigned char *)text;
    if (len >= 2 && ((u[0] == 0xFF && u[1] == 0xFE) || (u[0] == 0xFE && u[1] == 0xFF)))
        return true;
    const size_t more = c->nul[c->nul[1] > c->nul[0]], less = c->nul[c->nul[1] <= c->nul[0]];
    return more > len / 4 && less <= more / 8; /* of len / 2 places */
}
