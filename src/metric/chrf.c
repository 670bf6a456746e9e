/* SPDX-License-Identifier: MIT */
/* src/metric/chrf.c - chrF (Popovic 2015) and chrF++ (2017): counts per segment, and the score of
 * their sum. */
#include "base/utf8.h"
#include "metric/metric_shared.h"
#include "metric/python_chars.h"

#include <string.h>

/* Stands for an undefined precision or recall in the smoothing of chrF++.py. */
static const double EPSILON = 1e-16;

static rela_status split(rela_symbols *chars, rela_symbols *words, rela_tally *t, const char *text,
                         size_t len, rela_error *err);
static rela_status push_words(rela_symbols *words, rela_tally *t, rela_span token, rela_error *err);
static rela_status push_word(rela_symbols *words, rela_tally *t, const char *bytes, size_t len,
                             rela_error *err);
static rela_status count_reference(uint32_t *stats, rela_tally *t, rela_error *err);
static void fill(uint32_t *stats, size_t order, size_t hyp, size_t ref, const uint32_t *match);
static bool is_punctuation(char c);

rela_status rela_chrf_count(uint32_t *stats, rela_tally *t, const rela_segment *s, rela_error *err)
{
    const size_t k = t->m->n_stats;
    uint32_t row[RELA_STATS_MAX] = { 0 };
    uint64_t sums[RELA_STATS_MAX] = { 0 };
    double best = -1;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_refs && st == RELA_OK; i++) {
        if (!s->refs[i])
            continue;
        st = rela_ngrams_clear(t->grams, s->ref_lens[i] * (size_t)t->m->chrf.char_order, err);
        if (st == RELA_OK) /* again for every reference, because a clear forgets the words */
            st = split(&t->hyp_chars, &t->hyp, t, s->hyp, s->hyp_len, err);
        if (st == RELA_OK)
            st = split(&t->ref_chars, &t->ref, t, s->refs[i], s->ref_lens[i], err);
        if (st == RELA_OK)
            st = count_reference(row, t, err);
        if (st != RELA_OK)
            break;
        for (size_t j = 0; j < k; j++)
            sums[j] = row[j];
        const double score = rela_chrf_compute(&t->m->chrf, sums);
        if (score > best) {
            best = score;
            memcpy(stats, row, k * sizeof *stats);
        }
    }
    if (st == RELA_OK && best < 0)
        st = rela_fail(err, RELA_ARG, "a segment has no reference");
    return st;
}

double rela_chrf_compute(const rela_chrf_options *o, const uint64_t *sums)
{
    const size_t order = (size_t)(o->char_order + o->word_order);
    const double factor = o->beta * o->beta;
    double smoothed = 0, precision = 0, recall = 0;
    int effective = 0;
    for (size_t i = 0; i < order; i++) {
        const double hyp = (double)sums[3 * i], ref = (double)sums[3 * i + 1];
        const double match = (double)sums[3 * i + 2];
        const double p = hyp > 0 ? match / hyp : EPSILON;
        const double r = ref > 0 ? match / ref : EPSILON;
        const double denominator = factor * p + r;
        smoothed += denominator > 0 ? (1 + factor) * p * r / denominator : EPSILON;
        if (hyp > 0 && ref > 0) {
            precision += p;
            recall += r;
            effective++;
        }
    }
    if (o->eps_smoothing)
        return 100 * smoothed / (double)order;
    if (effective == 0 || precision + recall == 0)
        return 0;
    precision /= effective;
    recall /= effective;
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

static rela_status split(rela_symbols *chars, rela_symbols *words, rela_tally *t, const char *text,
                         size_t len, rela_error *err)
{
    const rela_chrf_options *o = &t->m->chrf;
    rela_span s;
    rela_status st = rela_tally_text(&s, t, text, len, o->lowercase, err);
    chars->n = 0;
    words->n = 0;
    for (size_t i = 0, used = 1; st == RELA_OK && i < s.len; i += used) {
        uint32_t code = 0;
        used = rela_utf8_next(&code, s.text + i, s.len - i);
        if (o->whitespace || !rela_char_is_blank(code))
            st = rela_symbols_push(chars, code, err);
    }
    const char *at = s.text;
    rela_span token;
    while (st == RELA_OK && o->word_order > 0 && rela_next_token(&token, &at, s.text + s.len))
        st = push_words(words, t, token, err);
    return st;
}

/* Splits off one punctuation mark, at the end if there is one, else at the beginning: "(so)" is
 * "(so" and ")", as in the original program. */
static rela_status push_words(rela_symbols *words, rela_tally *t, rela_span token, rela_error *err)
{
    const char *s = token.text;
    const size_t len = token.len;
    size_t cut = 0;
    if (rela_utf8_count(s, len) > 1)
        cut = is_punctuation(s[len - 1]) ? len - 1 : is_punctuation(s[0]) ? 1 : 0;
    const rela_status st = cut ? push_word(words, t, s, cut, err) : RELA_OK;
    return st == RELA_OK ? push_word(words, t, s + cut, len - cut, err) : st;
}

static rela_status push_word(rela_symbols *words, rela_tally *t, const char *bytes, size_t len,
                             rela_error *err)
{
    uint32_t symbol = 0;
    const rela_status st = rela_ngrams_word(&symbol, t->grams, bytes, len, err);
    return st == RELA_OK ? rela_symbols_push(words, symbol, err) : st;
}

static rela_status count_reference(uint32_t *stats, rela_tally *t, rela_error *err)
{
    const size_t n_chars = (size_t)t->m->chrf.char_order, n_words = (size_t)t->m->chrf.word_order;
    uint32_t match[RELA_CHRF_ORDER_MAX];
    rela_status st = rela_ngrams_learn(t->grams, RELA_NGRAM_CHARS, t->ref_chars.items,
                                       t->ref_chars.n, n_chars, 0, err);
    if (st == RELA_OK)
        st = rela_ngrams_match(match, t->grams, RELA_NGRAM_CHARS, t->hyp_chars.items,
                               t->hyp_chars.n, n_chars, err);
    if (st != RELA_OK)
        return st;
    fill(stats, n_chars, t->hyp_chars.n, t->ref_chars.n, match);
    if (n_words == 0)
        return RELA_OK;
    st = rela_ngrams_learn(t->grams, RELA_NGRAM_WORDS, t->ref.items, t->ref.n, n_words, 0, err);
    if (st == RELA_OK)
        st = rela_ngrams_match(match, t->grams, RELA_NGRAM_WORDS, t->hyp.items, t->hyp.n, n_words,
                               err);
    if (st == RELA_OK)
        fill(stats + 3 * n_chars, n_words, t->hyp.n, t->ref.n, match);
    return st;
}

/* Where the reference has no n-gram of an order, those of the hypothesis do not count. */
static void fill(uint32_t *stats, size_t order, size_t hyp, size_t ref, const uint32_t *match)
{
    for (size_t i = 0; i < order; i++) {
        const size_t n_ref = ref > i ? ref - i : 0;
        stats[3 * i] = n_ref && hyp > i ? (uint32_t)(hyp - i) : 0;
        stats[3 * i + 1] = (uint32_t)n_ref;
        stats[3 * i + 2] = match[i];
    }
}

static bool is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}
