/* SPDX-License-Identifier: MIT */
/* src/session/sentences.c - see sentences.h. */
#include "session/sentences.h"

#include "base/mem.h"
#include "text/glyphs.h"

#include <math.h>
#include <string.h>

enum { FIRST_WIDE = 0x2E80 }; /* East Asian characters follow */

static rela_status add(rela_sentences *s, const char *text, size_t len, rela_error *err);
static rela_status join_rank(rela_translation *out, rela_arena *arena, const rela_translated *parts,
                             size_t n, size_t rank, rela_error *err);
static bool wants_blank(rela_span before, rela_span after);

rela_status rela_sentences_find(rela_sentences *s, const rela_splitter *splitter, const char *text,
                                size_t len, size_t most_bytes, rela_error *err)
{
    const size_t end = len < most_bytes ? len : most_bytes;
    rela_sentence x;
    rela_status st = RELA_OK;
    s->n = 0;
    for (size_t at = 0; st == RELA_OK && rela_split_next(&x, &at, splitter, text, end);)
        st = add(s, text + x.begin, x.end - x.begin, err);
    if (st == RELA_OK && s->n <= 1) {
        s->n = 0;
        return add(s, text, len, err);
    }
    if (st == RELA_OK && end < len)
        s->lens[s->n - 1] = len - (size_t)(s->texts[s->n - 1] - text);
    return st;
}

void rela_sentences_free(rela_sentences *s)
{
    rela_mem_free(s->texts);
    rela_mem_free(s->lens);
}

static rela_status add(rela_sentences *s, const char *text, size_t len, rela_error *err)
{
    const char **texts = rela_mem_grow(s->texts, &s->cap_texts, s->n + 1, sizeof *texts);
    s->texts = texts ? texts : s->texts;
    size_t *lens = rela_mem_grow(s->lens, &s->cap_lens, s->n + 1, sizeof *lens);
    s->lens = lens ? lens : s->lens;
    if (!texts || !lens)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", s->n + 1);
    texts[s->n] = text;
    lens[s->n++] = len;
    return RELA_OK;
}

/* ---- results ---- */

/* The translations of rank k of all sentences form translation k of the text. */
rela_status rela_sentences_join(rela_translated *out, rela_arena *arena,
                                const rela_translated *parts, size_t n, rela_error *err)
{
    const rela_translated *last = &parts[n - 1];
    *out = (rela_translated){ .n_best = SIZE_MAX,
                              .src = parts[0].src,
                              .src_words = parts[0].src_words,
                              .n_src = (size_t)(last->src - parts[0].src) + last->n_src,
                              .sentences = parts,
                              .n_sentences = n };
    for (size_t k = 0; k < n; k++) {
        out->n_best = parts[k].n_best < out->n_best ? parts[k].n_best : out->n_best;
        out->not_finite = out->not_finite || parts[k].not_finite;
    }
    out->n_best = out->not_finite ? 1 : out->n_best;
    out->best = rela_arena_alloc(arena, out->n_best * sizeof *out->best);
    if (!out->best)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    out->best[0] =
        (rela_translation){ .text = { "", 0 }, .score = (double)NAN, .logp = (double)NAN };
    rela_status st = RELA_OK;
    for (size_t rank = 0; rank < out->n_best && !out->not_finite && st == RELA_OK; rank++)
        st = join_rank(&out->best[rank], arena, parts, n, rank, err);
    return st;
}

static rela_status join_rank(rela_translation *out, rela_arena *arena, const rela_translated *parts,
                             size_t n, size_t rank, rela_error *err)
{
    size_t n_ids = 0, len = 0;
    for (size_t k = 0; k < n; k++) {
        n_ids += parts[k].best[rank].n;
        len += parts[k].best[rank].text.len + 1;
    }
    int32_t *ids = rela_arena_alloc(arena, n_ids * sizeof *ids);
    real *logps = rela_arena_alloc(arena, n_ids * sizeof *logps);
    char *text = rela_arena_alloc(arena, len + 1);
    if (!ids || !logps || !text)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    *out = (rela_translation){ .text = { text, 0 }, .ids = ids, .logps = logps };
    for (size_t k = 0; k < n; k++) {
        const rela_translation *t = &parts[k].best[rank];
        if (wants_blank(out->text, t->text))
            text[out->text.len++] = ' ';
        memcpy(text + out->text.len, t->text.text, t->text.len);
        out->text.len += t->text.len;
        for (size_t m = 0; m < t->n; m++, out->n++) {
            ids[out->n] = t->ids[m];
            logps[out->n] = t->logps[m];
        }
        out->score += t->score;
        out->logp += t->logp;
    }
    text[out->text.len] = '\0';
    return RELA_OK;
}

/* East Asian end marks and brackets are as wide as if a blank followed. */
static bool wants_blank(rela_span before, rela_span after)
{
    const rela_glyph g = rela_glyph_before(before.text, 0, before.len);
    return before.len && after.len &&
           !(g.code >= FIRST_WIDE && (g.kind & (RELA_GLYPH_WIDE | RELA_GLYPH_CLOSE)));
}
