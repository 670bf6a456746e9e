/* SPDX-License-Identifier: MIT */
/* src/session/support.c - see support.h. */
#include "session/support.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* docs/viewer.md says what these numbers do on the built-in corpus. */
static const double LEAST_PROBABILITY = 0.05;
/* Shares of the attention to a source word that went to improbable target words: it may be missing;
 * and it is missing rather than another word made up. */
static const double VAIN_SHARE = 0.45, CLEAR_SHARE = 0.65;
static const double HARDLY_ANY = 0.1;   /* of the mean attention to a source word */
static const double INFORMATIVE = 0.75; /* a head with more null rows says nothing about a word */

static void doubt_rows(rela_support *s);
static void doubt_blanks(rela_support *s);

static size_t n_heads(const rela_support *s)
{
    return s->pair.layers * s->pair.heads;
}

void rela_support_free(rela_support *s)
{
    rela_mem_free(s->look);
    rela_mem_free(s->most);
    rela_mem_free(s->top);
    rela_mem_free(s->null);
    *s = (rela_support){ .n = 0 };
}

rela_status rela_support_start(rela_support *s, const rela_support_pair *pair, rela_error *err)
{
    const size_t rows = pair->layers * pair->heads * pair->n_q + 1;
    const size_t cells = pair->n_q * pair->src.n_words + 1;
    s->pair = *pair;
    s->n = 0;
    s->null_rate = 0;
    double *look = rela_mem_grow(s->look, &s->caps[0], cells, sizeof *look);
    s->look = look ? look : s->look;
    double *most = rela_mem_grow(s->most, &s->caps[1], rows, sizeof *most);
    s->most = most ? most : s->most;
    uint32_t *top = rela_mem_grow(s->top, &s->caps[2], rows, sizeof *top);
    s->top = top ? top : s->top;
    bool *null = rela_mem_grow(s->null, &s->caps[3], rows, sizeof *null);
    s->null = null ? null : s->null;
    if (!look || !most || !top || !null)
        return rela_fail(err, RELA_NOMEM, "no memory to look for words without support");
    memset(s->look, 0, cells * sizeof *s->look);
    return RELA_OK;
}

void rela_support_add(rela_support *s, size_t layer, size_t head, const real *w)
{
    const rela_support_pair *p = &s->pair;
    const size_t first = (layer * p->heads + head) * p->n_q;
    for (size_t q = 0; q < p->n_q; q++) {
        const real *row = w + q * p->n_k;
        double sum = 0, share = 0;
        for (size_t k = 0; k < p->n_k; k++)
            sum += fabs((double)row[k]);
        s->null[first + q] = sum == 0;
        s->top[first + q] = RELA_NO_LINK;
        s->most[first + q] = 0;
        for (size_t k = 0; k < p->src.n_pieces && sum > 0; k++) {
            const uint32_t word = p->src.word_of[k];
            share = k && p->src.word_of[k - 1] == word ? share : 0;
            share += fabs((double)row[k]) / sum;
            s->look[q * p->src.n_words + word] += fabs((double)row[k]) / sum;
            if (share > s->most[first + q]) {
                s->most[first + q] = share;
                s->top[first + q] = word;
            }
        }
    }
}

void rela_support_find(rela_support *s)
{
    const size_t rows = n_heads(s) * s->pair.n_q;
    size_t null = 0;
    for (size_t i = 0; i < rows; i++)
        null += s->null[i];
    s->null_rate = rows ? (double)null / (double)rows : 0;
    s->n = 0;
    if (s->pair.logps)
        doubt_rows(s);
    else
        doubt_blanks(s);
}

/* ---- with probabilities ---- */

/* The source word that all heads together look at most in a row. */
static uint32_t wanted_word(const rela_support *s, size_t q)
{
    const double *row = s->look + q * s->pair.src.n_words;
    uint32_t best = RELA_NO_LINK;
    double most = 0;
    for (size_t k = 0; k < s->pair.src.n_words; k++)
        if (row[k] > most) {
            most = row[k];
            best = (uint32_t)k;
        }
    return best;
}

/* The share of the attention to a source word that went to rows whose token the model found
 * improbable. */
static double share_in_vain(const rela_support *s, uint32_t word)
{
    double vain = 0, all = 0;
    for (size_t q = 0; q < s->pair.n_q; q++) {
        const double look = s->look[q * s->pair.src.n_words + word];
        vain += (1 - exp(s->pair.logps[q])) * look;
        all += look;
    }
    return all > 0 ? vain / all : 0;
}

/* Lists the heads for which member says so, strongest first. */
static void name_heads(rela_doubt *d, const rela_support *s, size_t q, uint32_t word)
{
    double strength[RELA_SUPPORT_HEADS] = { 0 };
    for (size_t h = 0; h < n_heads(s); h++) {
        const size_t at = h * s->pair.n_q + q;
        if (s->top[at] != word || (word == RELA_NO_LINK && !s->null[at]))
            continue;
        const double x = word == RELA_NO_LINK ? 1 : s->most[at];
        size_t place = d->n_heads;
        while (place > 0 && strength[place - 1] < x)
            place--;
        if (place == RELA_SUPPORT_HEADS) {
            d->more_heads++;
            continue;
        }
        const size_t last = d->n_heads < RELA_SUPPORT_HEADS ? d->n_heads : RELA_SUPPORT_HEADS - 1;
        for (size_t i = last; i > place; i--) {
            strength[i] = strength[i - 1];
            d->by[i] = d->by[i - 1];
        }
        strength[place] = x;
        d->by[place] = (rela_support_head){ h / s->pair.heads, h % s->pair.heads };
        if (d->n_heads == RELA_SUPPORT_HEADS)
            d->more_heads++;
        else
            d->n_heads++;
    }
}

/* A word of several doubtful tokens, and a source word, are named once; the least probable first.
 */
static void add_doubt(rela_support *s, const rela_doubt *d)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->doubts[i].tgt == d->tgt || (d->missing && s->doubts[i].src == d->src)) {
            if (d->probability < s->doubts[i].probability)
                s->doubts[i] = *d;
            return;
        }
    size_t place = s->n;
    while (place > 0 && s->doubts[place - 1].probability > d->probability)
        place--;
    if (place == RELA_SUPPORT_DOUBTS)
        return;
    const size_t last = s->n < RELA_SUPPORT_DOUBTS ? s->n++ : RELA_SUPPORT_DOUBTS - 1;
    for (size_t i = last; i > place; i--)
        s->doubts[i] = s->doubts[i - 1];
    s->doubts[place] = *d;
}

static void doubt_rows(rela_support *s)
{
    const rela_support_pair *p = &s->pair;
    for (size_t q = 0; q < p->n_q; q++) {
        const double probability = exp(p->logps[q]);
        if (!(probability < LEAST_PROBABILITY))
            continue;
        rela_doubt d = { .src = wanted_word(s, q),
                         .tgt = q < p->tgt.n_pieces ? p->tgt.word_of[q] : (uint32_t)RELA_NO_LINK,
                         .probability = probability };
        const double share = d.src == RELA_NO_LINK ? 0 : share_in_vain(s, d.src);
        d.missing = share > VAIN_SHARE;
        d.either = d.missing && share <= CLEAR_SHARE && d.tgt != RELA_NO_LINK;
        if (d.tgt == RELA_NO_LINK && !d.missing)
            continue; /* an early end without a word that was left out */
        name_heads(&d, s, q, d.src);
        add_doubt(s, &d);
    }
}

/* ---- without probabilities ---- */

static void doubt_target(rela_support *s, uint32_t word)
{
    const rela_support_pair *p = &s->pair;
    size_t informative = 0, silent = 0, first = 0;
    while (p->tgt.word_of[first] != word)
        first++;
    for (size_t h = 0; h < n_heads(s); h++) {
        const bool *null = s->null + h * p->n_q;
        size_t all = 0, own = 0, pieces = 0;
        for (size_t q = 0; q < p->n_q; q++)
            all += null[q];
        for (size_t q = first; q < p->tgt.n_pieces && p->tgt.word_of[q] == word; q++, pieces++)
            own += null[q];
        if ((double)all > INFORMATIVE * (double)p->n_q)
            continue;
        informative++;
        silent += own == pieces;
    }
    if (informative == 0 || silent < informative)
        return;
    rela_doubt d = { .src = RELA_NO_LINK, .tgt = word, .probability = 1 };
    name_heads(&d, s, first, RELA_NO_LINK);
    add_doubt(s, &d);
}

static void doubt_blanks(rela_support *s)
{
    const size_t n = s->pair.src.n_words;
    double sum = 0;
    for (size_t i = 0; i < s->pair.n_q * n; i++)
        sum += s->look[i];
    for (uint32_t word = 0; word < n; word++) {
        double mass = 0;
        for (size_t q = 0; q < s->pair.n_q; q++)
            mass += s->look[q * n + word];
        const rela_doubt d = {
            .src = word, .tgt = RELA_NO_LINK, .missing = true, .probability = 1
        };
        if (mass <= HARDLY_ANY * sum / (double)n && s->n < RELA_SUPPORT_DOUBTS)
            s->doubts[s->n++] = d;
    }
    for (uint32_t word = 0; word < s->pair.tgt.n_words; word++)
        doubt_target(s, word);
}

/* ---- words for people ---- */

static rela_status say_heads(rela_buffer *out, const rela_doubt *d, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "head%s", rela_plural(d->n_heads));
    for (size_t i = 0; i < d->n_heads && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%zu.%zu", i == 0 ? " " : ", ", d->by[i].layer + 1,
                                d->by[i].head + 1);
    if (st == RELA_OK && d->more_heads)
        st = rela_buffer_printf(out, err, " and %zu more", d->more_heads);
    return st;
}

static rela_status say_word(rela_buffer *out, const rela_span *words, uint32_t word,
                            rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "“", err);
    st = st ? st : rela_buffer_append(out, words[word].text, words[word].len, err);
    return st ? st : rela_buffer_append_text(out, "”", err);
}

/* The doubt without the word it is about. */
static rela_status say_reason(rela_buffer *out, const rela_support *s, const rela_doubt *d,
                              const rela_span *src, const rela_span *tgt, rela_error *err)
{
    if (!s->pair.logps && d->missing)
        return rela_buffer_append_text(out, "hardly any head looks at it", err);
    if (d->src == RELA_NO_LINK) {
        rela_status st = say_heads(out, d, err);
        return st ? st
                  : rela_buffer_printf(out, err, " look%s at nothing there",
                                       d->n_heads + d->more_heads == 1 ? "s" : "");
    }
    rela_status st = say_heads(out, d, err);
    const char *what = d->missing && !d->either ? "it where " : "";
    st = st ? st : rela_buffer_printf(out, err, " looked at %s", what);
    if (st == RELA_OK && (!d->missing || d->either))
        st = say_word(out, src, d->src, err);
    else if (st == RELA_OK && d->tgt != RELA_NO_LINK)
        st = say_word(out, tgt, d->tgt, err);
    else if (st == RELA_OK)
        st = rela_buffer_append_text(out, "the target ends", err);
    const char *there = !d->missing || d->either ? " there"
                        : d->tgt != RELA_NO_LINK ? " stands"
                                                 : "";
    return st ? st
              : rela_buffer_printf(out, err, "%s, to which the model gave a probability of %.2g",
                                   there, d->probability);
}

rela_status rela_support_say(rela_buffer *out, const rela_support *s, const rela_span *src,
                             const rela_span *tgt, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        const rela_doubt *d = &s->doubts[i];
        st = rela_buffer_append_text(out, i ? "; " : "", err);
        st = st ? st : say_word(out, d->missing ? src : tgt, d->missing ? d->src : d->tgt, err);
        if (st == RELA_OK && d->either) {
            st = rela_buffer_append_text(out, " may be missing, or ", err);
            st = st ? st : say_word(out, tgt, d->tgt, err);
            st = st ? st : rela_buffer_append_text(out, " made up: ", err);
        } else if (st == RELA_OK) {
            st = rela_buffer_append_text(
                out, d->missing ? " may be missing: " : " may be made up: ", err);
        }
        st = st ? st : say_reason(out, s, d, src, tgt, err);
    }
    return st == RELA_OK && s->n ? rela_buffer_append_char(out, '.', err) : st;
}
