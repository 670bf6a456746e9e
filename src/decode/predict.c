/* SPDX-License-Identifier: MIT */
/* src/decode/predict.c - runs the nets for one step and prepares what strategies choose from.
 *
 * In the usual case, one net with greedy or beam search, all logits of a row never exist at once:
 * the vocabulary is processed in slices that stay in the cache, and of each slice only the sum of
 * exponentials and the few values that enter the list of the best are kept. Ensembles and sampling
 * need all logits. */
#include "decode/searcher.h"

#include <math.h>
#include <string.h>

static void run_net(rela_searcher *s, size_t net);
static void by_slices(rela_searcher *s);
static void look_at(rela_searcher *s, size_t row, real *z, size_t first, size_t n);
static void in_full(rela_searcher *s);
static void average(rela_searcher *s);
static size_t demanded(const rela_searcher *s, size_t row);
static void name_best(rela_searcher *s, size_t row);
static void forbid(const rela_searcher *s, size_t row, real *z);

static const rela_sentence *sentence_of(const rela_searcher *s, size_t row)
{
    return &s->sentences[s->rows.sentence[row]];
}

void rela_searcher_predict(rela_searcher *s)
{
    run_net(s, 0);
    if (s->whole)
        in_full(s);
    else
        by_slices(s);
}

/* Keeps the weights of the chosen heads. */
static void record(void *ctx, const rela_attn_view *v)
{
    rela_searcher *s = ctx;
    if (v->stack != s->stack)
        return;
    const uint32_t number = (uint32_t)(v->layer * s->nets[0]->net->config.heads + v->head);
    size_t at = number;
    if (s->options->heads) {
        at = 0;
        while (at < s->n_heads && s->options->heads[at] != number)
            at++;
        if (at == s->n_heads)
            return;
    }
    real *to = s->records + ((s->n_records + v->sentence) * s->n_heads + at) * s->ld_record;
    memcpy(to, v->w, v->n * sizeof *v->w);
}

static void run_net(rela_searcher *s, size_t net)
{
    const rela_attn_tap tap = { record, s };
    const rela_step_rows rows = { .n = s->rows.n,
                                  .token = s->rows.token,
                                  .position = s->rows.position,
                                  .sentence = s->rows.sentence,
                                  .history = s->rows.history,
                                  .ld = s->ld_history };
    (void)rela_generator_step(s->decoders[net], &rows, s->n_heads && net == 0 ? &tap : NULL);
}

/* End of the rows from begin on that are predicted together because they have the same symbols: all
 * rows without lists, otherwise those of one sentence. */
static size_t group_end(const rela_searcher *s, size_t begin)
{
    size_t end = s->chosen ? begin + 1 : s->rows.n;
    while (end < s->rows.n && s->rows.sentence[end] == s->rows.sentence[begin])
        end++;
    return end;
}

/* Logits of such rows for the symbols [first, first + n) of their list. */
static void logits(const rela_searcher *s, size_t net, real *to, size_t ld, size_t begin,
                   size_t end, size_t first, size_t n)
{
    if (s->chosen)
        rela_generator_logits_chosen(s->decoders[net], to, ld, s->rows.sentence[begin], begin,
                                     end - begin, first, n);
    else
        rela_generator_logits(s->decoders[net], to, ld, first, n);
}

static void by_slices(rela_searcher *s)
{
    for (size_t row = 0; row < s->rows.n; row++) {
        s->sums[row] = (rela_exp_sum){ .sum = 0 };
        s->n_best[row] = 0;
    }
    for (size_t begin = 0, end = 0; begin < s->rows.n; begin = end) {
        end = group_end(s, begin);
        const size_t v = sentence_of(s, begin)->n_words;
        for (size_t first = 0; first < v; first += RELA_SLICE) {
            const size_t size = v - first < RELA_SLICE ? v - first : RELA_SLICE;
            logits(s, 0, s->logits, RELA_SLICE, begin, end, first, size);
            for (size_t row = begin; row < end; row++)
                look_at(s, row, s->logits + (row - begin) * RELA_SLICE, first, size);
        }
    }
    for (size_t row = 0; row < s->rows.n; row++) {
        s->lse[row] = (double)s->sums[row].base + log(s->sums[row].sum);
        name_best(s, row);
    }
}

/* One slice of one row. */
static void look_at(rela_searcher *s, size_t row, real *z, size_t first, size_t n)
{
    const real most = s->k->exp_sum(&s->sums[row], z, n);
    const rela_source *source = sentence_of(s, row)->source;
    if (s->rows.position[row] < source->n_prefix) {
        const size_t at = demanded(s, row);
        if (at >= first && at < first + n)
            s->forced[row] = (double)z[at - first];
        return;
    }
    if (first == 0)
        forbid(s, row, z);
    const size_t have = s->n_best[row], at = row * s->list;
    if (have < s->list || most > s->best[at + have - 1])
        s->n_best[row] =
            (uint32_t)s->k->top(s->best_at + at, s->best + at, have, s->list, z, n, first);
}

static void in_full(rela_searcher *s)
{
    const size_t ld = s->most_words;
    for (size_t begin = 0, end = 0; begin < s->rows.n; begin = end) {
        end = group_end(s, begin);
        logits(s, 0, s->logits + begin * ld, ld, begin, end, 0, sentence_of(s, begin)->n_words);
    }
    if (s->n_nets > 1)
        average(s);
    for (size_t row = 0; row < s->rows.n; row++) {
        const rela_sentence *x = sentence_of(s, row);
        real *z = s->logits + row * ld;
        rela_exp_sum sum = { .sum = 0 };
        if (s->n_nets == 1) {
            (void)s->k->exp_sum(&sum, z, x->n_words);
            s->lse[row] = (double)sum.base + log(sum.sum);
        }
        if (s->rows.position[row] < x->source->n_prefix) {
            s->forced[row] = (double)z[demanded(s, row)];
            continue;
        }
        forbid(s, row, z);
        s->n_best[row] = (uint32_t)s->k->top(s->best_at + row * s->list, s->best + row * s->list, 0,
                                             s->list, z, x->n_words, 0);
        name_best(s, row);
    }
}

/* Replaces logits such that logit - lse is the logarithm of the mean probability. */
static void average(rela_searcher *s)
{
    const size_t ld = s->most_words, n = s->rows.n;
    for (size_t i = 0; i < n; i++)
        s->k->softmax(s->logits + i * ld, s->logits + i * ld, sentence_of(s, i)->n_words);
    for (size_t net = 1; net < s->n_nets; net++) {
        run_net(s, net);
        for (size_t begin = 0, end = 0; begin < n; begin = end) {
            end = group_end(s, begin);
            logits(s, net, s->other + begin * ld, ld, begin, end, 0,
                   sentence_of(s, begin)->n_words);
        }
        for (size_t i = 0; i < n; i++) {
            const size_t v = sentence_of(s, i)->n_words;
            s->k->softmax(s->other + i * ld, s->other + i * ld, v);
            s->k->axpy(s->logits + i * ld, 1, s->other + i * ld, v);
        }
    }
    for (size_t i = 0; i < n; i++) { /* one NaN makes the whole row NaN */
        s->lse[i] = log((double)s->n_nets) + 0 * (double)s->logits[i * ld];
        for (size_t k = 0; k < sentence_of(s, i)->n_words; k++)
            s->logits[i * ld + k] = (real)log((double)s->logits[i * ld + k]);
    }
}

/* Place of the symbol that the prefix requires, among those of its sentence. */
static size_t demanded(const rela_searcher *s, size_t row)
{
    const rela_sentence *x = sentence_of(s, row);
    const uint32_t token = (uint32_t)x->source->prefix[s->rows.position[row]];
    size_t low = 0, high = x->n_words;
    while (x->words && high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (x->words[middle] <= token)
            low = middle;
        else
            high = middle;
    }
    return x->words ? low : token;
}

/* Turns places in the list of the sentence into symbols. */
static void name_best(rela_searcher *s, size_t row)
{
    const rela_sentence *x = sentence_of(s, row);
    uint32_t *at = s->best_at + row * s->list;
    for (size_t i = 0; x->words && i < s->n_best[row]; i++)
        at[i] = x->words[at[i]];
}

/* Sets forbidden symbols to -INFINITY; they are the first of every list, so all are in the first
 * slice. */
static void forbid(const rela_searcher *s, size_t row, real *z)
{
    z[RELA_PAD] = (real)-INFINITY;
    if (s->options->forbid_unk)
        z[RELA_UNK] = (real)-INFINITY;
    if (s->rows.position[row] < sentence_of(s, row)->least)
        z[RELA_EOS] = (real)-INFINITY;
}
