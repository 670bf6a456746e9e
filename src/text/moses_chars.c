/* SPDX-License-Identifier: MIT */
/* src/text/moses_chars.c - see moses_chars.h. */
#include "text/moses_chars.h"

#include "base/utf8.h"

#include <pthread.h>
#include <string.h>
#include <utf8proc.h>

enum {
    DOTTED_CAPITAL_I = 0x130,
    CAPITAL_SIGMA = 0x3A3,
    FINAL_SIGMA = 0x3C2,
    COMBINING_DOT = 0x307
};

typedef struct range {
    uint32_t first, last;
} range;

/* clang-format off */
/* Lower case, but not of category Ll: ordinal signs, small modifiers, small numerals. */
static const range MORE_LOWER[] = {
    { 0xAA, 0xAA }, { 0xBA, 0xBA }, { 0x2B0, 0x2B8 }, { 0x2C0, 0x2C1 }, { 0x2E0, 0x2E4 },
    { 0x345, 0x345 }, { 0x37A, 0x37A }, { 0x1D2C, 0x1D6A }, { 0x1D78, 0x1D78 },
    { 0x1D9B, 0x1DBF }, { 0x2071, 0x2071 }, { 0x207F, 0x207F }, { 0x2090, 0x209C },
    { 0x2170, 0x217F }, { 0x24D0, 0x24E9 }, { 0x2C7C, 0x2C7D },
};

/* Lower-case by category since Unicode 11, but Georgian writes no capitals in a sentence. */
static const range GEORGIAN[] = { { 0x10D0, 0x10FF } };

/* Combining marks that go with letters of any script. Moses splits them off, so text should be
 * composed first (normalise --form nfc). All other marks belong to the spelling of one script. */
static const range GENERAL_MARKS[] = {
    { 0x300, 0x344 }, { 0x346, 0x36F }, { 0x483, 0x487 }, { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DE6 },
    { 0x1DF5, 0x1DFF }, { 0x20D0, 0x20FF }, { 0x302A, 0x302F }, { 0x3099, 0x309A },
    { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xE0100, 0xE01EF },
};

static const range CIRCLED_LETTERS[] = { { 0x24B6, 0x24E9 } };

/* Characters for a syllable or a word: outside their languages, each is a token of its own. */
static const range IDEOGRAPHS[] = {
    { 0x3005, 0x3005 }, { 0x3007, 0x3007 }, { 0x3021, 0x3029 }, { 0x3038, 0x303B },
    { 0x3400, 0x4DBF }, { 0x4E00, 0x9FFF }, { 0xF900, 0xFAFF }, { 0x20000, 0x3FFFF },
};
static const range HANGUL[] = { { 0xAC00, 0xD7A3 } };

/* What a language of these scripts keeps inside words besides letters, punctuation included. */
static const range KEPT_BY_ALL[] = {
    { 0x3001, 0x3003 }, { 0x3008, 0x3011 }, { 0x3013, 0x301F }, { 0x3030, 0x3030 },
    { 0x3037, 0x3037 }, { 0x30FB, 0x30FB }, { 0xFE45, 0xFE46 }, { 0xFF61, 0xFF65 },
};
static const range KEPT_BY_HAN[] = {
    { 0x2E80, 0x2FD5 }, { 0x3006, 0x3006 }, { 0x302A, 0x302D }, { 0x303C, 0x303F },
    { 0x3190, 0x319F }, { 0x31C0, 0x31E3 }, { 0x3220, 0x3247 }, { 0x3280, 0x32B0 },
    { 0x32C0, 0x32CB }, { 0x3358, 0x3370 }, { 0x337B, 0x337F }, { 0x33E0, 0x33FE },
    { 0x1F250, 0x1F251 },
};
static const range KEPT_BY_KANA[] = {
    { 0x3099, 0x309C }, { 0x30A0, 0x30A0 }, { 0x32D0, 0x32FE }, { 0x3300, 0x3357 },
    { 0x1F200, 0x1F200 },
};
static const range KEPT_BY_HANGUL[] = {
    { 0x302E, 0x302F }, { 0x3200, 0x321E }, { 0x3260, 0x327E },
};

/* Blocks of East Asian scripts. */
static const range CJK[] = {
    { 0x1100, 0x11FF }, { 0x2E80, 0xA4CF }, { 0xA840, 0xA87F }, { 0xAC00, 0xD7AF },
    { 0xF900, 0xFAFF }, { 0xFE30, 0xFE4F }, { 0xFF65, 0xFFDC }, { 0x17000, 0x18AFF },
    { 0x1B000, 0x1B12F }, { 0x1B170, 0x1B2FF }, { 0x20000, 0x2FFFF },
};
/* clang-format on */

#define WITHIN(code, ranges) within(code, ranges, sizeof(ranges) / sizeof *(ranges))

static uint8_t table[RELA_TEXT_TABLE];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static bool within(uint32_t code, const range *ranges, size_t n);
static void make_table(void);
static uint8_t classify(uint32_t code);
static bool kept(uint32_t code, unsigned scripts);
static rela_status put(rela_buffer *out, uint32_t code, rela_error *err);
static bool ends_word(rela_span s, size_t before, size_t after);
static bool is_space(uint32_t code);
static size_t last_char(uint32_t *code, const char *s, size_t len);

const uint8_t *rela_text_classes(void)
{
    pthread_once(&table_once, make_table);
    return table;
}

uint8_t rela_text_class(uint32_t code, unsigned scripts)
{
    if (code < RELA_TEXT_TABLE)
        return rela_text_classes()[code];
    const uint8_t class = classify(code);
    const bool han = WITHIN(code, IDEOGRAPHS), hangul = WITHIN(code, HANGUL);
    if ((han && (scripts & RELA_SCRIPT_HAN)) || (hangul && (scripts & RELA_SCRIPT_HANGUL)))
        return class | RELA_TEXT_ALPHA | RELA_TEXT_WORD;
    if (han || hangul)
        return 0;
    return scripts && kept(code, scripts) ? class | RELA_TEXT_ALPHA | RELA_TEXT_WORD : class;
}

bool rela_text_is_cjk(uint32_t code)
{
    return WITHIN(code, CJK);
}

bool rela_text_is_cased(uint32_t code)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)code);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT;
}

bool rela_text_word(rela_span *word, const char **at, const char *end)
{
    const char *start = NULL, *p = *at;
    while (p < end) {
        uint32_t code = 0;
        const size_t n = rela_utf8_next(&code, p, (size_t)(end - p));
        const bool space = is_space(code);
        if (space && start)
            break;
        if (!space && !start)
            start = p;
        p += n;
    }
    *at = p;
    *word = (rela_span){ start ? start : p, start ? (size_t)(p - start) : 0 };
    return start != NULL;
}

rela_span rela_text_trim(rela_span s)
{
    uint32_t code = 0;
    while (s.len) {
        const size_t n = rela_utf8_next(&code, s.text, s.len);
        if (!is_space(code))
            break;
        s.text += n;
        s.len -= n;
    }
    while (s.len) {
        const size_t n = last_char(&code, s.text, s.len);
        if (!is_space(code))
            break;
        s.len -= n;
    }
    return s;
}

rela_status rela_text_lower(rela_buffer *out, rela_span s, rela_error *err)
{
    rela_status st = rela_buffer_reserve(out, s.len, err);
    for (size_t i = 0, n = 0; st == RELA_OK && i < s.len; i += n) {
        uint32_t code = 0;
        n = rela_utf8_next(&code, s.text + i, s.len - i);
        if (code == DOTTED_CAPITAL_I) { /* the dot stays visible */
            st = put(out, 'i', err);
            code = COMBINING_DOT;
        } else if (code == CAPITAL_SIGMA && ends_word(s, i, i + n)) {
            code = FINAL_SIGMA;
        } else if (code < 0x80) {
            code += code >= 'A' && code <= 'Z' ? 'a' - 'A' : 0;
        } else {
            code = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
        }
        if (st == RELA_OK)
            st = put(out, code, err);
    }
    return st;
}

rela_status rela_text_capitalise(rela_buffer *out, rela_span s, rela_error *err)
{
    if (s.len == 0)
        return RELA_OK;
    uint32_t code = 0;
    const size_t n = rela_utf8_next(&code, s.text, s.len);
    /* The sharp s has a capital of its own only in all-capitals writing. */
    if (code != 0xDF)
        code = (uint32_t)utf8proc_totitle((utf8proc_int32_t)code);
    const rela_status st = put(out, code, err);
    return st == RELA_OK ? rela_buffer_append(out, s.text + n, s.len - n, err) : st;
}

rela_status rela_text_repair(rela_span *s, rela_buffer *room, rela_error *err)
{
    if (rela_utf8_valid(s->text, s->len) == s->len)
        return RELA_OK;
    size_t n_bad = 0;
    const rela_status st = rela_utf8_repair(room, &n_bad, s->text, s->len, err);
    *s = (rela_span){ room->data, room->len };
    return st;
}

void rela_text_cut(rela_buffer *out, size_t start)
{
    out->len = start;
    if (out->data)
        out->data[start] = '\0';
}

static bool within(uint32_t code, const range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (code <= ranges[i].last)
            return code >= ranges[i].first;
    return false;
}

static void make_table(void)
{
    for (uint32_t code = 0; code < RELA_TEXT_TABLE; code++)
        table[code] = classify(code);
}

static uint8_t classify(uint32_t code)
{
    if (code < 0x20)
        return (code >= '\t' && code <= '\r') || code >= 0x1C ? RELA_TEXT_SPACE : RELA_TEXT_JUNK;
    if (code == 0x85)
        return RELA_TEXT_SPACE;
    if (code < 0x80 && strchr(".'`,-", (int)code))
        return RELA_TEXT_INNER;
    if (WITHIN(code, CIRCLED_LETTERS))
        return RELA_TEXT_ALPHA | RELA_TEXT_WORD | (WITHIN(code, MORE_LOWER) ? RELA_TEXT_LOWER : 0);
    const uint8_t lower = WITHIN(code, MORE_LOWER) ? RELA_TEXT_LOWER : 0;
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return RELA_TEXT_SPACE;
    case UTF8PROC_CATEGORY_LL:
        return RELA_TEXT_ALPHA | RELA_TEXT_WORD | (WITHIN(code, GEORGIAN) ? 0 : RELA_TEXT_LOWER);
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return RELA_TEXT_ALPHA | RELA_TEXT_WORD | lower;
    case UTF8PROC_CATEGORY_NL:
        return RELA_TEXT_ALPHA | RELA_TEXT_WORD | RELA_TEXT_NUMBER | lower;
    case UTF8PROC_CATEGORY_ND:
        return RELA_TEXT_WORD | RELA_TEXT_NUMBER | RELA_TEXT_DIGIT;
    case UTF8PROC_CATEGORY_NO:
        return RELA_TEXT_NUMBER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
        return WITHIN(code, GENERAL_MARKS) ? 0 : RELA_TEXT_ALPHA | RELA_TEXT_WORD | lower;
    default:
        return 0;
    }
}

static bool kept(uint32_t code, unsigned scripts)
{
    return WITHIN(code, KEPT_BY_ALL) ||
           ((scripts & RELA_SCRIPT_HAN) && WITHIN(code, KEPT_BY_HAN)) ||
           ((scripts & RELA_SCRIPT_KANA) && WITHIN(code, KEPT_BY_KANA)) ||
           ((scripts & RELA_SCRIPT_HANGUL) && WITHIN(code, KEPT_BY_HANGUL));
}

static rela_status put(rela_buffer *out, uint32_t code, rela_error *err)
{
    char bytes[4];
    const size_t n = rela_utf8_put(bytes, code);
    return rela_buffer_append(out, bytes, n, err);
}

/* Whether the text between the two offsets follows a cased letter and precedes none. */
static bool ends_word(rela_span s, size_t before, size_t after)
{
    uint32_t code = 0;
    if (after < s.len && rela_utf8_next(&code, s.text + after, s.len - after) &&
        rela_text_is_cased(code))
        return false;
    return before > 0 && last_char(&code, s.text, before) && rela_text_is_cased(code);
}

static bool is_space(uint32_t code)
{
    return code < RELA_TEXT_TABLE ? (rela_text_classes()[code] & RELA_TEXT_SPACE) != 0
                                  : code == 0x3000;
}

/* The character that ends s (len >= 1): its length in bytes. */
static size_t last_char(uint32_t *code, const char *s, size_t len)
{
    size_t i = len - 1;
    while (i > 0 && ((unsigned char)s[i] & 0xC0) == 0x80)
        i--;
    return rela_utf8_next(code, s + i, len - i);
}
