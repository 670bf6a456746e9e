/* SPDX-License-Identifier: MIT */
/* src/text/script.c - see script.h. Goes by Unicode blocks, not by the script property of each
 * character: this is exact enough to detect a wrong language. */
#include "text/script.h"

#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

/* clang-format off */
#define SCRIPTS(X)                                                                     \
    X(LATIN, "latin") X(GREEK, "greek") X(CYRILLIC, "cyrillic") X(ARMENIAN, "armenian") \
    X(HEBREW, "hebrew") X(ARABIC, "arabic") X(DEVANAGARI, "devanagari")                 \
    X(BENGALI, "bengali") X(GURMUKHI, "gurmukhi") X(GUJARATI, "gujarati")               \
    X(TAMIL, "tamil") X(TELUGU, "telugu") X(KANNADA, "kannada")                         \
    X(MALAYALAM, "malayalam") X(SINHALA, "sinhala") X(THAI, "thai") X(LAO, "lao")       \
    X(TIBETAN, "tibetan") X(MYANMAR, "myanmar") X(GEORGIAN, "georgian")                 \
    X(HANGUL, "hangul") X(ETHIOPIC, "ethiopic") X(KHMER, "khmer")                       \
    X(MONGOLIAN, "mongolian") X(KANA, "kana") X(HAN, "han")
/* clang-format on */

enum {
#define X(id, name) id,
    SCRIPTS(X)
#undef X
        N_SCRIPTS
};

static const char *const NAMES[] = {
#define X(id, name) name,
    SCRIPTS(X)
#undef X
};

typedef struct range {
    uint32_t first, last;
    int script;
} range;

/* Sorted, for binary search. */
static const range RANGES[] = {
    { 0x41, 0x5A, LATIN },        { 0x61, 0x7A, LATIN },        { 0xAA, 0xAA, LATIN },
    { 0xBA, 0xBA, LATIN },        { 0xC0, 0xD6, LATIN },        { 0xD8, 0xF6, LATIN },
    { 0xF8, 0x2AF, LATIN },       { 0x370, 0x3FF, GREEK },      { 0x400, 0x52F, CYRILLIC },
    { 0x531, 0x58F, ARMENIAN },   { 0x591, 0x5FF, HEBREW },     { 0x620, 0x65F, ARABIC },
    { 0x66E, 0x6EF, ARABIC },     { 0x6FA, 0x6FF, ARABIC },     { 0x750, 0x77F, ARABIC },
    { 0x8A0, 0x8FF, ARABIC },     { 0x900, 0x963, DEVANAGARI }, { 0x971, 0x97F, DEVANAGARI },
    { 0x980, 0x9FF, BENGALI },    { 0xA00, 0xA7F, GURMUKHI },   { 0xA80, 0xAFF, GUJARATI },
    { 0xB80, 0xBFF, TAMIL },      { 0xC00, 0xC7F, TELUGU },     { 0xC80, 0xCFF, KANNADA },
    { 0xD00, 0xD7F, MALAYALAM },  { 0xD80, 0xDFF, SINHALA },    { 0xE01, 0xE3A, THAI },
    { 0xE40, 0xE4E, THAI },       { 0xE80, 0xEFF, LAO },        { 0xF00, 0xFFF, TIBETAN },
    { 0x1000, 0x109F, MYANMAR },  { 0x10A0, 0x10FF, GEORGIAN }, { 0x1100, 0x11FF, HANGUL },
    { 0x1200, 0x139F, ETHIOPIC }, { 0x1780, 0x17FF, KHMER },    { 0x1800, 0x18AF, MONGOLIAN },
    { 0x1C80, 0x1C8F, CYRILLIC }, { 0x1C90, 0x1CBF, GEORGIAN }, { 0x1E00, 0x1EFF, LATIN },
    { 0x1F00, 0x1FFF, GREEK },    { 0x2C60, 0x2C7F, LATIN },    { 0x2D00, 0x2D2F, GEORGIAN },
    { 0x2D80, 0x2DDF, ETHIOPIC }, { 0x2DE0, 0x2DFF, CYRILLIC }, { 0x2E80, 0x2FDF, HAN },
    { 0x3005, 0x3007, HAN },      { 0x3041, 0x30FF, KANA },     { 0x3130, 0x318F, HANGUL },
    { 0x31F0, 0x31FF, KANA },     { 0x3400, 0x4DBF, HAN },      { 0x4E00, 0x9FFF, HAN },
    { 0xA640, 0xA69F, CYRILLIC }, { 0xA720, 0xA7FF, LATIN },    { 0xA8E0, 0xA8FF, DEVANAGARI },
    { 0xA960, 0xA97F, HANGUL },   { 0xAC00, 0xD7FF, HANGUL },   { 0xF900, 0xFAFF, HAN },
    { 0xFB00, 0xFB06, LATIN },    { 0xFB1D, 0xFB4F, HEBREW },   { 0xFB50, 0xFDFF, ARABIC },
    { 0xFE70, 0xFEFC, ARABIC },   { 0xFF21, 0xFF3A, LATIN },    { 0xFF41, 0xFF5A, LATIN },
    { 0xFF66, 0xFF9F, KANA },     { 0xFFA0, 0xFFDC, HANGUL },   { 0x1B000, 0x1B16F, KANA },
    { 0x20000, 0x3FFFF, HAN },
};
enum { N_RANGES = sizeof RANGES / sizeof RANGES[0] };

static int script_of(uint32_t code)
{
    size_t low = 0, high = N_RANGES;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (code > RANGES[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < N_RANGES && code >= RANGES[low].first ? RANGES[low].script : -1;
}

void rela_scripts_count(rela_script_counts *c, const char *text, size_t len)
{
    uint64_t latin = 0; /* ASCII letters, by far the most frequent */
    for (size_t at = 0; at < len;) {
        uint32_t code = (unsigned char)text[at];
        if (code < 0x80) {
            latin += (code | 0x20) - 'a' < 26;
            at++;
            continue;
        }
        const size_t n = rela_utf8_next(&code, text + at, len - at);
        const int script = n ? script_of(code) : -1;
        at += n ? n : 1;
        if (script < 0)
            continue;
        c->letters[script]++;
        c->all++;
    }
    c->letters[LATIN] += latin;
    c->all += latin;
}

uint32_t rela_scripts_of(const rela_script_counts *c, double least)
{
    uint32_t set = 0;
    for (size_t i = 0; i < N_SCRIPTS; i++)
        if (c->all && (double)c->letters[i] >= least * (double)c->all)
            set |= UINT32_C(1) << i;
    return set ? set : UINT32_MAX;
}

double rela_scripts_share(const rela_script_counts *c, uint32_t set)
{
    uint64_t inside = 0;
    for (size_t i = 0; i < N_SCRIPTS; i++)
        inside += set >> i & 1 ? c->letters[i] : 0;
    return c->all ? (double)inside / (double)c->all : 1;
}

rela_status rela_scripts_parse(uint32_t *set, const char *names, rela_error *err)
{
    *set = 0;
    for (const char *at = names; *at;) {
        const size_t len = strcspn(at, ",");
        size_t i = 0;
        while (i < N_SCRIPTS && (strlen(NAMES[i]) != len || memcmp(NAMES[i], at, len) != 0))
            i++;
        if (i == N_SCRIPTS)
            return rela_fail(err, RELA_ARG,
                             "unknown script '%.*s'; expected names like latin, cyrillic, arabic, "
                             "han, kana, hangul",
                             (int)len, at);
        *set |= UINT32_C(1) << i;
        at += len + (at[len] == ',');
    }
    return *set ? RELA_OK : rela_fail(err, RELA_ARG, "no script is named");
}

const char *rela_script_name(size_t i)
{
    return i < N_SCRIPTS ? NAMES[i] : NULL;
}
