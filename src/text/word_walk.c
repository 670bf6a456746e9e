/* SPDX-License-Identifier: MIT */
/* src/text/word_walk.c - see word_walk.h. */
#include "text/word_walk.h"

#include <endian.h>
#include <string.h>

/* What a byte may mean: 0 part of a word, else one of these. */
enum { BLANK = 1, RETURN, BREAK, NEL_LEAD, SEPARATOR_LEAD };

static const unsigned char CLASS[256] = {
    [' '] = BLANK,  ['\r'] = RETURN, ['\v'] = BREAK,    ['\f'] = BREAK,          [0x1C] = BREAK,
    [0x1D] = BREAK, [0x1E] = BREAK,  [0xC2] = NEL_LEAD, [0xE2] = SEPARATOR_LEAD,
};

static inline const unsigned char *skip_plain(const unsigned char *p, const unsigned char *end);
static size_t break_length(const unsigned char *p, const unsigned char *end);

rela_word_walk rela_words(const char *line, size_t len)
{
    return (rela_word_walk){ line, line + len, true };
}

bool rela_words_next(rela_word_walk *walk, rela_word *w)
{
    const unsigned char *p = (const unsigned char *)walk->at;
    const unsigned char *end = (const unsigned char *)walk->end;
    const unsigned char *start = p;
    w->verbatim = walk->fresh;
    for (; p < end && (*p == ' ' || *p == '\r'); p++)
        w->verbatim |= *p == '\r';
    w->gap = (rela_span){ (const char *)start, (size_t)(p - start) };
    w->verbatim |= p == end;
    walk->fresh = false;
    start = p;
    for (;; p++) {
        p = skip_plain(p, end);
        if (p == end || CLASS[*p] <= RETURN)
            break;
        const size_t n = break_length(p, end);
        if (n) {
            p += n;
            walk->fresh = true;
            break;
        }
    }
    walk->at = (const char *)p;
    w->word = (rela_span){ (const char *)start, (size_t)(p - start) };
    return p > start;
}

/* The first byte that may end a word. Eight bytes at a time and without a branch per byte:
 * word lengths defeat branch prediction. */
static inline const unsigned char *skip_plain(const unsigned char *p, const unsigned char *end)
{
    static const uint64_t ONES = UINT64_C(0x0101010101010101), TOPS = UINT64_C(0x8080808080808080);
    uint64_t w = 0;
    while ((size_t)(end - p) >= sizeof w) {
        memcpy(&w, p, sizeof w);
        w = le64toh(w);
        const uint64_t nel = w ^ ONES * 0xC2, separator = w ^ ONES * 0xE2;
        /* The lowest byte of x below n is the first whose top bit is set by x - n, but not in x. */
        const uint64_t found =
            (((w - ONES * 0x21) & ~w) | ((nel - ONES) & ~nel) | ((separator - ONES) & ~separator)) &
            TOPS;
        if (!found) {
            p += sizeof w;
            continue;
        }
        p += (unsigned)__builtin_ctzll(found) / 8;
        if (CLASS[*p])
            return p;
        p++; /* a control character inside a word */
    }
    while (p < end && CLASS[*p] == 0)
        p++;
    return p;
}

/* Bytes of the line break at p, 0 if there is none. */
static size_t break_length(const unsigned char *p, const unsigned char *end)
{
    switch (CLASS[*p]) {
    case BREAK:
        return 1;
    case NEL_LEAD:
        return end - p >= 2 && p[1] == 0x85 ? 2 : 0;
    case SEPARATOR_LEAD:
        return end - p >= 3 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9) ? 3 : 0;
    default:
        return 0;
    }
}
