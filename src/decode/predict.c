/* SPDX-License-Identifier: MIT */
/* src/decode/predict.c - runs the nets for one step and prepares what strategies choose from.
 *
 * The usual case, one net and a search for the best, never has all logits of a row: the vocabulary
 * is taken in slices that stay in the cache, and of each slice only its sum of exponentials and the
 * few values that enter the list of the best are kept. Averaging nets and sampling need all. */
#include "decode/searcher.h"

#include <math.h>
#include <string.h>

static void run_net(rela_searcher *s, size_t net);
static void by_slices(rela_searcher *s);
static void look_at(rela_searcher *s, size_t row, real *z, size_t first, size_t n);
static void in_full(rela_searcher *s);
static void average(rela_searcher *s);
static void forbid(const rela_searcher *s, size_t row, real *logits);

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
    const rela_decoder_rows rows = { .n = s->rows.n,
                                     .token = s->rows.token,
                                     .position = s->rows.position,
                                     .sentence = s->rows.sentence,
                                     .history = s->rows.history,
                                     .ld = s->ld_history,
                                     .tap = s->n_heads && net == 0 ? &tap : NULL };
    (void)rela_decoder_step(s->decoders[net], &rows);
}

static void by_slices(rela_searcher *s)
{
    const size_t v = s->vocabulary, n = s->rows.n;
    for (size_t row = 0; row < n; row++) {
        s->sums[row] = (rela_exp_sum){ .sum = 0 };
        s->n_best[row] = 0;
    }
    for (size_t first = 0; first < v; first += RELA_SLICE) {
        const size_t size = v - first < RELA_SLICE ? v - first : RELA_SLICE;
        rela_decoder_logits(s->decoders[0], s->logits, RELA_SLICE, first, size);
        for (size_t row = 0; row < n; row++)
            look_at(s, row, s->logits + row * RELA_SLICE, first, size);
    }
    for (size_t row = 0; row < n; row++)
        s->lse[row] = (double)s->sums[row].base + log(s->sums[row].sum);
}

/* One slice of one row. */
static void look_at(rela_searcher *s, size_t row, real *z, size_t first, size_t n)
{
    const real most = s->k->exp_sum(&s->sums[row], z, n);
    const rela_source *source = s->sentences[s->rows.sentence[row]].source;
    if (s->rows.position[row] < source->n_prefix) {
        const size_t token = (size_t)source->prefix[s->rows.position[row]];
        if (token >= first && token < first + n)
            s->forced[row] = (double)z[token - first];
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
    const size_t v = s->vocabulary;
    rela_decoder_logits(s->decoders[0], s->logits, v, 0, v);
    if (s->n_nets > 1)
        average(s);
    for (size_t row = 0; row < s->rows.n; row++) {
        real *z = s->logits + row * v;
        rela_exp_sum sum = { .sum = 0 };
        if (s->n_nets == 1) {
            (void)s->k->exp_sum(&sum, z, v);
            s->lse[row] = (double)sum.base + log(sum.sum);
        }
        const rela_source *source = s->sentences[s->rows.sentence[row]].source;
        const size_t position = s->rows.position[row];
        if (position < source->n_prefix) {
            s->forced[row] = (double)z[source->prefix[position]];
            continue;
        }
        forbid(s, row, z);
        s->n_best[row] = (uint32_t)s->k->top(s->best_at + row * s->list, s->best + row * s->list, 0,
                                             s->list, z, v, 0);
    }
}

/* Logits become the logarithms of the mean probabilities. */
static void average(rela_searcher *s)
{
    const size_t v = s->vocabulary, n = s->rows.n;
    for (size_t i = 0; i < n; i++)
        s->k->softmax(s->logits + i * v, s->logits + i * v, v);
    for (size_t net = 1; net < s->n_nets; net++) {
        run_net(s, net);
        rela_decoder_logits(s->decoders[net], s->other, v, 0, v);
        for (size_t i = 0; i < n; i++)
            s->k->softmax(s->other + i * v, s->other + i * v, v);
        s->k->axpy(s->logits, 1, s->other, n * v);
    }
    for (size_t i = 0; i < n * v; i++)
        s->logits[i] = (real)log((double)s->logits[i]);
    for (size_t i = 0; i < n; i++)
        s->lse[i] = log((double)s->n_nets);
}

/* Symbols that may not follow become impossible; all of them are in the first slice. */
static void forbid(const rela_searcher *s, size_t row, real *logits)
{
    logits[RELA_PAD] = (real)-INFINITY;
    if (s->options->forbid_unk)
        logits[RELA_UNK] = (real)-INFINITY;
    if (s->rows.position[row] < s->sentences[s->rows.sentence[row]].least)
        logits[RELA_EOS] = (real)-INFINITY;
}
