/* SPDX-License-Identifier: MIT */
/* cli/terminal_heatmap.c - see terminal_heatmap.h. */
#include "terminal_heatmap.h"

#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

enum { LABEL_MAX = 24, HEADER_MAX = 16, CELL = 2, COLUMNS_LEAST = 8 };

static const char END_LABEL[] = "<eos>";

/* Source words from first up to end; the one after the last is the end of the sentence. */
typedef struct block {
    size_t first, end;
} block;

/* What a terminal shows as one character: a code point and the marks that combine with it. */
typedef struct glyph {
    const char *text;
    size_t len, width; /* bytes; columns: 1 or 2 */
} glyph;

static rela_status header(rela_buffer *out, const rela_aligned *p, block b, size_t label,
                          rela_error *err);
static rela_status row(rela_buffer *out, const rela_aligned *p, block b, size_t t, size_t label,
                       rela_error *err);
static const char *source_word(const rela_aligned *p, size_t s);
static bool next_glyph(glyph *g, const char **at);
static size_t glyphs(const char *word);
static size_t columns(const char *word);
static rela_status spaces(rela_buffer *out, size_t n, rela_error *err);

rela_status rela_cli_heatmap(rela_buffer *out, const rela_aligned *p, size_t width, rela_error *err)
{
    if (!p->weights)
        return rela_buffer_printf(out, err, "line %llu has an empty side or is too long\n",
                                  (unsigned long long)p->line + 1);
    size_t label = 4;
    for (size_t t = 0; t < p->n_tgt; t++) {
        const size_t n = columns(p->tgt_words[t]);
        label = n > label ? n : label;
    }
    label = label < LABEL_MAX ? label : LABEL_MAX;
    size_t at_once = p->n_src + 1;
    if (width > 0) { /* the label, a blank, the cells, the mark of an empty row */
        const size_t room = width > label + 2 ? (width - label - 2) / CELL : 0;
        at_once = room > COLUMNS_LEAST ? room : COLUMNS_LEAST;
    }
    rela_status st = RELA_OK;
    for (block b = { 0, 0 }; b.end <= p->n_src && st == RELA_OK;) {
        b.first = b.end;
        b.end = b.first + at_once <= p->n_src ? b.first + at_once : p->n_src + 1;
        st = b.first > 0 ? rela_buffer_append_char(out, '\n', err) : RELA_OK;
        st = st ? st : header(out, p, b, label, err);
        for (size_t t = 0; t < p->n_tgt && st == RELA_OK; t++)
            st = row(out, p, b, t, label, err);
    }
    if (st == RELA_OK)
        st = rela_buffer_append_text(out,
                                     "\nshare of the row:  \xC2\xB7 above 0  \xE2\x96\x91 5 %  "
                                     "\xE2\x96\x92 25 %  \xE2\x96\x93 50 %  "
                                     "\xE2\x96\x88 75 %\n\xE2\x88\x85 attends to nothing\nlinks: ",
                                     err);
    if (st == RELA_OK)
        st = rela_buffer_append(out, p->links, p->links_len, err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

/* Vertical words, aligned at the bottom. */
static rela_status header(rela_buffer *out, const rela_aligned *p, block b, size_t label,
                          rela_error *err)
{
    size_t height = sizeof END_LABEL - 1;
    rela_status st = RELA_OK;
    for (size_t s = b.first; s < b.end; s++) {
        const size_t n = glyphs(source_word(p, s));
        height = n > height ? n : height;
    }
    height = height < HEADER_MAX ? height : HEADER_MAX;
    for (size_t line = 0; line < height && st == RELA_OK; line++) {
        st = spaces(out, label + 1, err);
        for (size_t s = b.first; s < b.end && st == RELA_OK; s++) {
            const char *word = source_word(p, s);
            const size_t n = glyphs(word), shown = n < height ? n : height;
            glyph g = { "", 0, 0 };
            for (size_t i = 0; i + height < line + shown + 1; i++)
                (void)next_glyph(&g, &word);
            st = rela_buffer_append(out, g.text, g.len, err);
            st = st ? st : spaces(out, CELL - g.width, err);
        }
        if (st == RELA_OK)
            st = rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

static rela_status row(rela_buffer *out, const rela_aligned *p, block b, size_t t, size_t label,
                       rela_error *err)
{
    static const char *const SHADES[] = { "\xC2\xB7 ", "\xE2\x96\x91 ", "\xE2\x96\x92 ",
                                          "\xE2\x96\x93 ", "\xE2\x96\x88 " };
    static const double LEAST[] = { 0, 0.05, 0.25, 0.5, 0.75 };
    const float *w = p->weights + t * (p->n_src + 1);
    double sum = 0;
    for (size_t s = 0; s <= p->n_src; s++)
        sum += (double)w[s];
    const char *word = p->tgt_words[t], *at = word;
    size_t used = 0;
    for (glyph g; next_glyph(&g, &at) && used + g.width <= label;)
        used += g.width;
    rela_status st = spaces(out, label - used, err);
    at = word;
    for (glyph g; used > 0 && st == RELA_OK && next_glyph(&g, &at); used -= g.width)
        st = rela_buffer_append(out, g.text, g.len, err);
    if (st == RELA_OK)
        st = rela_buffer_append_char(out, ' ', err);
    for (size_t s = b.first; s < b.end && st == RELA_OK; s++) {
        size_t shade = 0;
        while (sum > 0 && shade < 4 && (double)w[s] >= LEAST[shade + 1] * sum)
            shade++;
        const char *cell = w[s] > 0 ? SHADES[shade] : "  ";
        st = rela_buffer_append_text(out, sum > 0 ? cell : "- ", err);
    }
    if (st == RELA_OK && !(sum > 0))
        st = rela_buffer_append_text(out, "\xE2\x88\x85", err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static const char *source_word(const rela_aligned *p, size_t s)
{
    return s < p->n_src ? p->src_words[s] : END_LABEL;
}

/* Takes the next one off a word; false at its end. */
static bool next_glyph(glyph *g, const char **at)
{
    const char *start = *at, *end = start + strlen(start);
    if (start == end)
        return false;
    uint32_t code = 0;
    size_t len = rela_utf8_next(&code, start, (size_t)(end - start));
    if (len == 0 || rela_utf8_hidden(code)) {
        *g = (glyph){ "?", 1, 1 };
        *at += len ? len : 1;
        return true;
    }
    *g = (glyph){ start, len, utf8proc_charwidth((utf8proc_int32_t)code) == 2 ? 2 : 1 };
    for (*at += len; *at < end; *at += len) { /* marks */
        len = rela_utf8_next(&code, *at, (size_t)(end - *at));
        if (len == 0 || rela_utf8_hidden(code) || utf8proc_charwidth((utf8proc_int32_t)code) != 0)
            break;
        g->len += len;
    }
    return true;
}

static size_t glyphs(const char *word)
{
    glyph g;
    size_t n = 0;
    while (next_glyph(&g, &word))
        n++;
    return n;
}

static size_t columns(const char *word)
{
    size_t n = 0;
    for (glyph g; next_glyph(&g, &word);)
        n += g.width;
    return n;
}

static rela_status spaces(rela_buffer *out, size_t n, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_append_char(out, ' ', err);
    return st;
}
