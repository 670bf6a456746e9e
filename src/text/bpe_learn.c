/* SPDX-License-Identifier: MIT */
/* src/text/bpe_learn.c - learning merges as subword-nmt 0.3 does; see rela/subword.h.
 *
 * Words are arrays of symbol ids. A symbol is identified by its text, so two merges that make the
 * same text give the same id. Each merge visits the words recorded for its pair. Frequencies are
 * updated step by step as in subword-nmt, because its bookkeeping is inexact in a few rare cases
 * (bpe_learn.h) and the result must be the same. */
#include "text/bpe_learn.h"

#include "base/mem.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "text/counts.h"

#include "rela/subword.h"

#include <string.h>

enum { N_SYMBOLS = 10000, MIN_FREQUENCY = 2, PRUNE_EVERY = 100, PROGRESS_EVERY = 8 };

/* Limit on the sum over all words of count times length, so that no 64-bit sum overflows. */
static const uint64_t MASS_MAX = UINT64_C(1) << 56;

static rela_status split_words(rela_learner *l, const rela_word_counts *counts, rela_error *err);
static rela_status split_word(rela_learner *l, rela_span text, rela_error *err);
static rela_status count_pairs(rela_learner *l, rela_error *err);
static uint64_t count_characters(const rela_learner *l, uint64_t *n_inner, uint64_t *n_final);
static rela_status learn(rela_buffer *out, rela_learner *l, const rela_bpe_learn_options *o,
                         rela_bpe_learn_report *report, rela_error *err);
static bool merge(rela_learner *l, uint32_t best);
static bool merge_in_word(rela_learner *l, uint32_t number);
static bool inspect(const rela_learner *l, rela_learn_word *w, bool *special);
static void replace(rela_learner *l, rela_learn_word *w);
static bool update(rela_learner *l, uint32_t number, size_t n_old);
static bool update_pair(rela_learner *l, uint32_t number, uint32_t left, uint32_t right, int sign);
static rela_status write_pair(rela_buffer *out, const rela_learner *l, const rela_symbol_pair *pair,
                              rela_error *err);
static void learner_stop(rela_learner *l);

void rela_bpe_learn_options_init(rela_bpe_learn_options *o, size_t size)
{
    const rela_bpe_learn_options defaults = { .struct_size = size,
                                              .n_symbols = N_SYMBOLS,
                                              .min_frequency = MIN_FREQUENCY };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_bpe_learn(rela_buffer *out, rela_bpe_learn_report *report,
                           const rela_word_counts *counts, const rela_bpe_learn_options *o,
                           rela_error *err)
{
    rela_bpe_learn_options own;
    rela_bpe_learn_report found = { .n_merges = 0 };
    rela_learner l = { .n_words = 0 };
    rela_bpe_learn_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_bpe_learn_options", err);
    if (st == RELA_OK && report)
        st = rela_sized_check(report, sizeof *report, "rela_bpe_learn_report", err);
    if (st != RELA_OK)
        return st;
    if (own.min_frequency < 1 || own.n_symbols > RELA_BPE_MERGES_MAX)
        return rela_fail(err, RELA_ARG,
                         "bad number; expected at most %d symbols and a frequency of 1 or more",
                         RELA_BPE_MERGES_MAX);
    l.symbols = rela_map_create(0);
    l.pairs = l.symbols ? rela_bpe_pairs_create(l.symbols) : NULL;
    if (!l.pairs)
        st = rela_fail(err, RELA_NOMEM, "no memory to learn subwords");
    if (st == RELA_OK)
        st = split_words(&l, counts, err);
    if (st == RELA_OK)
        st = count_pairs(&l, err);
    if (st == RELA_OK)
        st = learn(out, &l, &own, &found, err);
    rela_sized_give(report, &found, sizeof found);
    learner_stop(&l);
    return st;
}

/* Splits every word into characters; the last one carries the end mark. */
static rela_status split_words(rela_learner *l, const rela_word_counts *counts, rela_error *err)
{
    const rela_map *map = rela_word_counts_map(counts);
    const size_t n = rela_map_size(map);
    uint64_t mass = 0;
    size_t n_units = 0;
    for (size_t i = 0; i < n; i++) {
        const rela_span text = rela_map_key(map, (uint32_t)i);
        uint64_t part = 0;
        n_units += rela_utf8_count(text.text, text.len);
        if (__builtin_mul_overflow(rela_word_counts_of(counts, (uint32_t)i), text.len, &part) ||
            __builtin_add_overflow(mass, part, &mass) || mass > MASS_MAX)
            return rela_fail(err, RELA_FORMAT, "the counts are too large to learn from");
    }
    l->words = rela_mem_array(n, sizeof *l->words);
    l->units = rela_mem_array(n_units, sizeof *l->units);
    if (!l->words || !l->units)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu different words", n);
    size_t at = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        l->words[i] =
            (rela_learn_word){ .units = at,
                               .freq = (int64_t)rela_word_counts_of(counts, (uint32_t)i) };
        l->n_words = i + 1;
        const rela_status st = split_word(l, rela_map_key(map, (uint32_t)i), err);
        if (st != RELA_OK)
            return st;
        at += l->words[i].n;
        longest = l->words[i].n > longest ? l->words[i].n : longest;
    }
    l->old = rela_mem_array(longest, sizeof *l->old);
    return l->old ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a long word");
}

static rela_status split_word(rela_learner *l, rela_span text, rela_error *err)
{
    rela_learn_word *w = &l->words[l->n_words - 1];
    for (size_t i = 0; i < text.len;) {
        char symbol[4 + RELA_END_MARK_LEN];
        uint32_t code = 0;
        size_t n = rela_utf8_next(&code, text.text + i, text.len - i);
        memcpy(symbol, text.text + i, n);
        i += n;
        w->blank |= rela_bpe_is_space(code);
        if (i == text.len) {
            memcpy(symbol + n, RELA_END_MARK, RELA_END_MARK_LEN);
            n += RELA_END_MARK_LEN;
        }
        const uint32_t id = rela_map_add(l->symbols, symbol, n);
        if (id == RELA_MAP_NONE)
            return rela_fail(err, RELA_NOMEM, "no memory for more symbols");
        l->units[w->units + w->n++] = id;
    }
    return RELA_OK;
}

static rela_status count_pairs(rela_learner *l, rela_error *err)
{
    bool good = true;
    for (size_t i = 0; i < l->n_words && good; i++) {
        const rela_learn_word *w = &l->words[i];
        for (size_t k = 0; k + 1 < w->n && good; k++)
            good =
                update_pair(l, (uint32_t)i, l->units[w->units + k], l->units[w->units + k + 1], 1);
    }
    good = good && rela_bpe_pairs_start(l->pairs);
    return good ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory to count pairs of symbols");
}

/* Only correct before the first merge, when every symbol is a character. */
static uint64_t count_characters(const rela_learner *l, uint64_t *n_inner, uint64_t *n_final)
{
    const size_t n = rela_map_size(l->symbols);
    *n_final = 0;
    for (size_t i = 0; i < n; i++)
        *n_final += rela_map_key(l->symbols, (uint32_t)i).len > RELA_END_MARK_LEN;
    *n_inner = n - *n_final;
    return n;
}

static rela_status learn(rela_buffer *out, rela_learner *l, const rela_bpe_learn_options *o,
                         rela_bpe_learn_report *report, rela_error *err)
{
    const uint64_t n_characters = count_characters(l, &report->n_inner, &report->n_final);
    uint64_t n = o->n_symbols;
    if (o->total_symbols)
        n = n > n_characters ? n - n_characters : 0;
    rela_status st = rela_buffer_append_text(out, "#version: 0.2\n", err);
    for (uint64_t i = 0; i < n && st == RELA_OK; i++) {
        uint32_t best = RELA_PAIR_NONE;
        if (!rela_bpe_pairs_best(l->pairs, i, &best))
            return rela_fail(err, RELA_NOMEM, "no memory to choose merge %llu",
                             (unsigned long long)i + 1);
        report->exhausted = best == RELA_PAIR_NONE ||
                            rela_bpe_pairs_at(l->pairs, best)->reduced < (int64_t)o->min_frequency;
        if (report->exhausted)
            break;
        st = write_pair(out, l, rela_bpe_pairs_at(l->pairs, best), err);
        if (st == RELA_OK &&
            (!merge(l, best) || !rela_bpe_pairs_settle(l->pairs, i % PRUNE_EVERY == 0)))
            st = rela_fail(err, RELA_NOMEM, "no memory for merge %llu", (unsigned long long)i + 1);
        report->n_merges = i + 1;
        if (st == RELA_OK && o->progress && i % PROGRESS_EVERY == 0 &&
            o->progress(o->progress_ctx, i, n))
            st = rela_fail(err, RELA_CANCEL, "stopped at merge %llu", (unsigned long long)i + 1);
    }
    return st;
}

static rela_status write_pair(rela_buffer *out, const rela_learner *l, const rela_symbol_pair *pair,
                              rela_error *err)
{
    const rela_span left = rela_map_key(l->symbols, pair->left);
    const rela_span right = rela_map_key(l->symbols, pair->right);
    rela_status st = rela_buffer_append(out, left.text, left.len, err);
    if (st == RELA_OK)
        st = rela_buffer_append_char(out, ' ', err);
    if (st == RELA_OK)
        st = rela_buffer_append(out, right.text, right.len, err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

/* Replaces the pair in all words and updates the frequencies. False when out of memory. */
static bool merge(rela_learner *l, uint32_t best)
{
    rela_symbol_pair *pair = rela_bpe_pairs_at(l->pairs, best);
    l->pair = best;
    l->left = pair->left;
    l->right = pair->right;
    l->merged_before = pair->merged++;
    l->joint = rela_learner_join(l, l->left, l->right);
    size_t n = 0;
    const uint32_t *words = rela_bpe_pairs_take(l->pairs, best, &n);
    if (l->joint == RELA_MAP_NONE || !words)
        return false;
    l->round++;
    for (size_t i = 0; i < n; i++) {
        rela_learn_word *w = &l->words[words[i]];
        if (w->round == l->round) /* was recorded twice */
            continue;
        w->round = l->round;
        if (!merge_in_word(l, words[i]))
            return false;
    }
    return rela_bpe_pairs_clear(l->pairs, best);
}

static bool merge_in_word(rela_learner *l, uint32_t number)
{
    rela_learn_word *w = &l->words[number];
    const size_t n_old = w->n;
    bool special = false;
    if (!w->overlaps) {
        if (!inspect(l, w, &special))
            return true;
        if (special && !rela_overlap_start(l, number))
            return false;
    } else if (rela_overlap_get(l, number) < 1) {
        return true;
    }
    memcpy(l->old, l->units + w->units, n_old * sizeof *l->old);
    if (w->blank) {
        if (!rela_overlap_replace(l, w))
            return false;
    } else {
        replace(l, w);
    }
    return update(l, number, n_old);
}

/* Whether the word contains the pair. *special: subword-nmt's counts for the word go wrong here,
 * see bpe_learn.h. */
static bool inspect(const rela_learner *l, rela_learn_word *w, bool *special)
{
    const uint32_t *u = l->units + w->units;
    const uint32_t left = l->left, right = l->right, joint = l->joint;
    bool found = false, seen = w->blank;
    for (size_t i = 0; i < w->n; i++) {
        if (u[i] == joint)
            seen = true;
        if (u[i] != left || i + 1 >= w->n || u[i + 1] != right)
            continue;
        found = true;
        if (left == right && i + 2 < w->n && u[i + 2] == right)
            seen = true;
    }
    *special = seen;
    return found;
}

/* Joins the pair from left to right, in place. */
static void replace(rela_learner *l, rela_learn_word *w)
{
    uint32_t *u = l->units + w->units;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; n++) {
        const bool joins = u[i] == l->left && i + 1 < w->n && u[i + 1] == l->right;
        u[n] = joins ? l->joint : u[i];
        i += joins ? 2 : 1;
    }
    w->n = n;
}

/* The steps of update_pair_statistics in subword-nmt for one word. */
static bool update(rela_learner *l, uint32_t number, size_t n_old)
{
    const rela_learn_word *w = &l->words[number];
    const uint32_t *u = l->old;
    bool good = true;
    for (size_t i = 0; i + 1 < n_old && good;) {
        if (u[i] != l->left || u[i + 1] != l->right) {
            i++;
            continue;
        }
        if (i > 0)
            good = update_pair(l, number, u[i - 1], u[i], -1);
        /* In "a b a b" the pair (b, a) is subtracted once, by the second match. */
        if (i + 2 < n_old && (u[i + 2] != l->left || i + 3 >= n_old || u[i + 3] != l->right))
            good = good && update_pair(l, number, u[i + 1], u[i + 2], -1);
        i += 2;
    }
    u = l->units + w->units;
    for (size_t i = 0; i < w->n && good; i++) {
        if (u[i] != l->joint)
            continue;
        if (i > 0)
            good = update_pair(l, number, u[i - 1], u[i], 1);
        if (i + 1 < w->n && u[i + 1] != l->joint)
            good = good && update_pair(l, number, u[i], u[i + 1], 1);
    }
    return good;
}

static bool update_pair(rela_learner *l, uint32_t number, uint32_t left, uint32_t right, int sign)
{
    const rela_learn_word *w = &l->words[number];
    const uint32_t pair = rela_bpe_pairs_add(l->pairs, left, right);
    if (pair == RELA_PAIR_NONE || !rela_bpe_pairs_change(l->pairs, pair, sign * w->freq))
        return false;
    if (sign > 0 && !rela_bpe_pairs_remember(l->pairs, pair, number))
        return false;
    return !w->overlaps || rela_overlap_change(l, pair, number, sign);
}

uint32_t rela_learner_join(rela_learner *l, uint32_t left, uint32_t right)
{
    const rela_span a = rela_map_key(l->symbols, left), b = rela_map_key(l->symbols, right);
    rela_buffer_clear(&l->text);
    if (rela_buffer_append(&l->text, a.text, a.len, NULL) != RELA_OK ||
        rela_buffer_append(&l->text, b.text, b.len, NULL) != RELA_OK)
        return RELA_MAP_NONE;
    return rela_map_add(l->symbols, l->text.data, l->text.len);
}

static void learner_stop(rela_learner *l)
{
    rela_overlap_stop(l);
    rela_bpe_pairs_destroy(l->pairs);
    rela_map_destroy(l->symbols);
    rela_buffer_free(&l->text);
    rela_mem_free(l->old);
    rela_mem_free(l->units);
    rela_mem_free(l->words);
}
