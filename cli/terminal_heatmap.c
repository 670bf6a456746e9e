/* SPDX-License-Identifier: MIT */
/* cli/terminal_heatmap.c - see terminal_heatmap.h. */
#include "terminal_heatmap.h"

#include "base/utf8.h"

#include <string.h>

enum { LABEL_MAX = 24, HEADER_MAX = 16 };

static const char END_LABEL[] = "<eos>";

static rela_status header(rela_buffer *out, const rela_aligned *p, size_t label, rela_error *err);
static rela_status row(rela_buffer *out, const rela_aligned *p, size_t t, size_t label,
                       rela_error *err);
static size_t characters(const char *word);
static rela_status repeat(rela_buffer *out, const char *what, size_t n, rela_error *err);
static rela_status append_char_at(rela_buffer *out, const char *word, size_t at, rela_error *err);

rela_status rela_cli_heatmap(rela_buffer *out, const rela_aligned *p, rela_error *err)
{
    if (!p->weights)
        return rela_buffer_printf(out, err, "line %llu has an empty side or is too long\n",
                                  (unsigned long long)p->line + 1);
    size_t label = 4;
    for (size_t t = 0; t < p->n_tgt; t++) {
        const size_t n = characters(p->tgt_words[t]);
        label = n > label ? n : label;
    }
    label = label < LABEL_MAX ? label : LABEL_MAX;
    rela_status st = header(out, p, label, err);
    for (size_t t = 0; t < p->n_tgt && st == RELA_OK; t++)
        st = row(out, p, t, label, err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out,
                                     "\nshare of the row:  \xC2\xB7 above 0  \xE2\x96\x91 5 %  "
                                     "\xE2\x96\x92 25 %  \xE2\x96\x93 50 %  "
                                     "\xE2\x96\x88 75 %   \xE2\x88\x85 attends to nothing\nlinks: ",
                                     err);
    if (st == RELA_OK)
        st = rela_buffer_append(out, p->links, p->links_len, err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

/* Vertical words, aligned at the bottom. */
static rela_status header(rela_buffer *out, const rela_aligned *p, size_t label, rela_error *err)
{
    size_t height = sizeof END_LABEL - 1;
    rela_status st = RELA_OK;
    for (size_t s = 0; s < p->n_src; s++) {
        const size_t n = characters(p->src_words[s]);
        height = n > height ? n : height;
    }
    height = height < HEADER_MAX ? height : HEADER_MAX;
    for (size_t line = 0; line < height && st == RELA_OK; line++) {
        st = repeat(out, " ", label + 1, err);
        for (size_t s = 0; s <= p->n_src && st == RELA_OK; s++) {
            const char *word = s < p->n_src ? p->src_words[s] : END_LABEL;
            const size_t n = characters(word), shown = n < height ? n : height;
            if (line + shown < height)
                st = rela_buffer_append_text(out, "  ", err);
            else
                st = append_char_at(out, word, line + shown - height, err);
        }
        if (st == RELA_OK)
            st = rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

static rela_status row(rela_buffer *out, const rela_aligned *p, size_t t, size_t label,
                       rela_error *err)
{
    static const char *const SHADES[] = { "\xC2\xB7 ", "\xE2\x96\x91 ", "\xE2\x96\x92 ",
                                          "\xE2\x96\x93 ", "\xE2\x96\x88 " };
    static const double LEAST[] = { 0, 0.05, 0.25, 0.5, 0.75 };
    const float *w = p->weights + t * (p->n_src + 1);
    const size_t n = characters(p->tgt_words[t]), shown = n < label ? n : label;
    double sum = 0;
    for (size_t s = 0; s <= p->n_src; s++)
        sum += (double)w[s];
    rela_status st = repeat(out, " ", label - shown, err);
    const char *at = p->tgt_words[t], *end = at + strlen(at);
    for (size_t i = 0; i < shown && st == RELA_OK; i++) {
        uint32_t code = 0;
        const size_t len = rela_utf8_next(&code, at, (size_t)(end - at));
        st = rela_buffer_append(out, len ? at : "?", len ? len : 1, err);
        at += len ? len : 1;
    }
    if (st == RELA_OK)
        st = rela_buffer_append_char(out, ' ', err);
    for (size_t s = 0; s <= p->n_src && st == RELA_OK; s++) {
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

static size_t characters(const char *word)
{
    size_t n = 0;
    const size_t len = strlen(word);
    for (size_t at = 0; at < len; n++) {
        uint32_t code = 0;
        const size_t step = rela_utf8_next(&code, word + at, len - at);
        at += step ? step : 1;
    }
    return n;
}

static rela_status repeat(rela_buffer *out, const char *what, size_t n, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_append_text(out, what, err);
    return st;
}

/* Appends character `at` of a word and a space: columns are two wide. */
static rela_status append_char_at(rela_buffer *out, const char *word, size_t at, rela_error *err)
{
    const char *end = word + strlen(word);
    uint32_t code = 0;
    size_t len = rela_utf8_next(&code, word, (size_t)(end - word));
    for (; at > 0; at--) {
        word += len ? len : 1;
        len = rela_utf8_next(&code, word, (size_t)(end - word));
    }
    const rela_status st = rela_buffer_append(out, len ? word : "?", len ? len : 1, err);
    return st == RELA_OK ? rela_buffer_append_char(out, ' ', err) : st;
}
