/* SPDX-License-Identifier: MIT */
/* src/text/glyphs.c - see glyphs.h. */
#include "text/glyphs.h"

#include "base/utf8.h"
#include "text/moses_chars.h"

#include <utf8proc.h>

/* Short names for the table. */
enum {
    STOP = RELA_GLYPH_STOP,
    DOTS = RELA_GLYPH_DOTS,
    MARK = RELA_GLYPH_MARK,
    WIDE = RELA_GLYPH_WIDE,
    OPEN = RELA_GLYPH_OPEN,
    CLOSE = RELA_GLYPH_CLOSE,
    DASH = RELA_GLYPH_DASH,
    JOINT = RELA_GLYPH_JOINT,
    EMOJI = RELA_GLYPH_EMOJI,
    BREAK = RELA_GLYPH_BREAK
};

typedef struct range {
    uint32_t first, last;
    unsigned kind;
} range;

/* clang-format off */
/* Kinds that do not follow from the general category. End marks are those with the property
 * Sentence_Terminal in scripts of modern use. Sorted, for binary search. */
static const range KINDS[] = {
    { '!', '!', MARK }, { '"', '"', CLOSE }, { '%', '&', JOINT }, { '\'', '\'', CLOSE },
    { '*', '*', CLOSE }, { '+', '-', JOINT }, { '.', '.', STOP }, { '/', '/', JOINT },
    { ':', ';', JOINT }, { '=', '=', JOINT }, { '?', '?', MARK }, { '^', '^', JOINT },
    { '_', '`', CLOSE }, { '|', '|', JOINT }, { '~', '~', JOINT },
    { 0xA1, 0xA1, OPEN }, { 0xB2, 0xB3, CLOSE }, { 0xB7, 0xB7, DASH }, { 0xB9, 0xB9, CLOSE },
    { 0xBF, 0xBF, OPEN }, { 0x37E, 0x37E, MARK }, { 0x589, 0x589, MARK }, { 0x60C, 0x60C, JOINT },
    { 0x61B, 0x61B, JOINT }, { 0x61F, 0x61F, MARK }, { 0x6D4, 0x6D4, MARK }, { 0x700, 0x702, MARK },
    { 0x7F9, 0x7F9, MARK }, { 0x964, 0x965, MARK }, { 0x104A, 0x104B, MARK }, { 0x1362, 0x1362, MARK },
    { 0x1367, 0x1368, MARK }, { 0x166E, 0x166E, MARK }, { 0x17D4, 0x17D5, MARK },
    { 0x1803, 0x1803, MARK }, { 0x1809, 0x1809, MARK }, { 0x2022, 0x2023, DASH },
    { 0x2026, 0x2026, DOTS }, { 0x2028, 0x2029, BREAK }, { 0x203C, 0x203D, MARK },
    { 0x2043, 0x2043, DASH }, { 0x2047, 0x2049, MARK }, { 0x204C, 0x204D, DASH },
    { 0x2070, 0x2079, CLOSE }, { 0x25A0, 0x25FF, DASH }, { 0x2600, 0x27BF, EMOJI },
    { 0x2E2E, 0x2E2E, MARK }, { 0x3001, 0x3001, JOINT }, { 0x3002, 0x3002, WIDE },
    { 0xA4FF, 0xA4FF, MARK }, { 0xA60E, 0xA60F, MARK }, { 0xA6F3, 0xA6F3, MARK },
    { 0xA8CE, 0xA8CF, MARK }, { 0xFE0F, 0xFE0F, EMOJI }, { 0xFF01, 0xFF01, WIDE },
    { 0xFF0C, 0xFF0C, JOINT }, { 0xFF0E, 0xFF0E, WIDE }, { 0xFF1A, 0xFF1B, JOINT },
    { 0xFF1F, 0xFF1F, WIDE }, { 0xFF61, 0xFF61, WIDE }, { 0xFF64, 0xFF64, JOINT },
    { 0x1F000, 0x1FAFF, EMOJI },
};
/* clang-format on */

enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static unsigned kind_of(uint32_t code);
static unsigned kind_by_category(uint32_t code);

rela_glyph rela_glyph_at(const char *text, size_t len, size_t at)
{
    rela_glyph g = { 0xFFFD, 0, 0 };
    if (at >= len)
        return g;
    g.n = rela_utf8_next(&g.code, text + at, len - at);
    g.kind = g.n ? kind_of(g.code) : RELA_GLYPH_OTHER;
    g.code = g.n ? g.code : 0xFFFD;
    g.n = g.n ? g.n : 1;
    return g;
}

rela_glyph rela_glyph_before(const char *text, size_t begin, size_t at)
{
    size_t i = at;
    while (i > begin && at - i < 3 && ((unsigned char)text[i - 1] & 0xC0) == 0x80)
        i--;
    i -= i > begin;
    const rela_glyph g = rela_glyph_at(text, at, i);
    return i + g.n == at ? g : (rela_glyph){ 0xFFFD, 1, RELA_GLYPH_OTHER };
}

static unsigned kind_of(uint32_t code)
{
    size_t low = 0, high = N_KINDS;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code > KINDS[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < N_KINDS && code >= KINDS[low].first)
        return KINDS[low].kind;
    if (code < RELA_TEXT_TABLE && (rela_text_classes()[code] & RELA_TEXT_SPACE))
        return RELA_GLYPH_BLANK;
    return kind_by_category(code);
}

static unsigned kind_by_category(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return RELA_GLYPH_CAPITAL;
    case UTF8PROC_CATEGORY_LL: /* some have no capitals that begin a sentence */
        return rela_text_class(code, 0) & RELA_TEXT_LOWER ? RELA_GLYPH_SMALL : RELA_GLYPH_LETTER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
        return RELA_GLYPH_LETTER;
    case UTF8PROC_CATEGORY_ND:
        return RELA_GLYPH_DIGIT;
    case UTF8PROC_CATEGORY_ZS:
        return RELA_GLYPH_BLANK;
    case UTF8PROC_CATEGORY_PS:
        return OPEN;
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
        return CLOSE;
    case UTF8PROC_CATEGORY_PD:
        return DASH;
    default:
        return RELA_GLYPH_OTHER;
    }
}
