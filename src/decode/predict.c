/* SPDX-License-Identifier: MIT */
/* src/decode/predict.c - runs the nets for one step and prepares what strategies choose from.
 *
 * In the usual case, one net with greedy or beam search, all logits of a row never exist at once:
 * the vocabulary is processed in parts that stay in the cache, and of each part only the sum of
 * exponentials and the few values that enter the list of the best are kept. Ensembles and sampling
 * need all logits of a row together; beside other rows they are put together from the parts. */
#include "decode/engine_state.h"

#include <math.h>
#include <string.h>

static void run_net(rela_engine *e, size_t net);
static void number_whole(rela_engine *e);
static void compute(rela_engine *e, size_t begin, size_t end);
static void by_parts(rela_engine *e, size_t begin, size_t end);
static void look_at(rela_engine *e, size_t row, real *z, size_t first, size_t n);
static void look_at_whole(rela_engine *e, size_t row);
static void average(rela_engine *e);
static size_t demanded(const rela_engine *e, size_t row);
static void name_best(rela_engine *e, size_t row);
static void forbid(const rela_engine *e, size_t row, real *z);

/* End of the rows from begin on that are predicted together because they have the same symbols:
 * those of one sentence with a list, or of neighbours without lists. */
static size_t group_end(const rela_engine *e, size_t begin)
{
    const rela_live *x = rela_live_of(e, begin);
    size_t end = begin + x->n;
    while (!x->listed && end < e->rows.n && !rela_live_of(e, end)->listed)
        end += rela_live_of(e, end)->n;
    return end;
}

void rela_engine_predict(rela_engine *e)
{
    run_net(e, 0);
    number_whole(e);
    for (size_t row = 0; row < e->rows.n; row++) {
        e->sums[row] = (rela_exp_sum){ .sum = 0 };
        e->n_best[row] = 0;
    }
    for (size_t begin = 0, end = 0; begin < e->rows.n; begin = end) {
        end = group_end(e, begin);
        compute(e, begin, end);
    }
    if (e->n_nets > 1)
        average(e);
    for (size_t row = 0; row < e->rows.n; row++) {
        if (rela_live_of(e, row)->whole)
            look_at_whole(e, row);
        else
            e->lse[row] = (double)e->sums[row].base + log(e->sums[row].sum);
        name_best(e, row);
    }
}

/* Keeps the weights of the chosen heads. */
static void record(void *ctx, const rela_attn_view *v)
{
    const rela_engine *e = ctx;
    const rela_live *x = rela_live_of(e, v->sentence);
    if (x->n_heads == 0 || v->stack != x->stack)
        return;
    const uint32_t number = (uint32_t)(v->layer * e->nets[0]->net->config.heads + v->head);
    size_t at = number;
    if (x->options->heads) {
        at = 0;
        while (at < x->n_heads && x->options->heads[at] != number)
            at++;
        if (at == x->n_heads)
            return;
    }
    const size_t row = x->n_records + v->sentence - x->first;
    memcpy(x->records + (row * x->n_heads + at) * x->ld_record, v->w, v->n * sizeof *v->w);
}

static void run_net(rela_engine *e, size_t net)
{
    const rela_attn_tap tap = { record, e };
    const rela_step_rows rows = { .n = e->rows.n,
                                  .token = e->rows.token,
                                  .position = e->rows.position,
                                  .place = e->rows.place,
                                  .history = e->rows.history,
                                  .ld = e->size.steps };
    bool watched = false;
    for (size_t row = 0; row < e->rows.n && net == 0 && !watched; row += rela_live_of(e, row)->n)
        watched = rela_live_of(e, row)->n_heads > 0;
    (void)rela_generator_step(e->decoders[net], &rows, watched ? &tap : NULL);
}

static void number_whole(rela_engine *e)
{
    uint32_t n = 0;
    for (size_t row = 0; row < e->rows.n; row++)
        e->whole_at[row] = rela_live_of(e, row)->whole ? n++ : 0;
}

/* Where the logits of a row are that are needed together. */
static real *whole_row(const rela_engine *e, real *of, size_t row)
{
    return of + e->whole_at[row] * e->most_words;
}

/* Logits of rows [begin, end), a group, for the symbols [first, first + n) of their list. */
static void logits(const rela_engine *e, size_t net, real *to, size_t ld, const size_t group[2],
                   size_t first, size_t n)
{
    const size_t rows[2] = { group[0], group[1] - group[0] };
    if (rela_live_of(e, group[0])->listed)
        rela_generator_logits_chosen(e->decoders[net], to, ld, e->rows.place[group[0]], rows, first,
                                     n);
    else
        rela_generator_logits(e->decoders[net], to, ld, rows, first, n);
}

static void compute(rela_engine *e, size_t begin, size_t end)
{
    bool whole = true;
    for (size_t row = begin; row < end && whole; row += rela_live_of(e, row)->n)
        whole = rela_live_of(e, row)->whole;
    if (whole)
        logits(e, 0, whole_row(e, e->whole, begin), e->most_words, (size_t[2]){ begin, end }, 0,
               rela_live_of(e, begin)->n_words);
    else
        by_parts(e, begin, end);
}

static void by_parts(rela_engine *e, size_t begin, size_t end)
{
    const size_t v = rela_live_of(e, begin)->n_words;
    for (size_t first = 0; first < v; first += RELA_LOGITS_PART) {
        const size_t n = v - first < RELA_LOGITS_PART ? v - first : RELA_LOGITS_PART;
        logits(e, 0, e->logits, RELA_LOGITS_PART, (size_t[2]){ begin, end }, first, n);
        for (size_t row = begin; row < end; row++) {
            real *z = e->logits + (row - begin) * RELA_LOGITS_PART;
            if (rela_live_of(e, row)->whole)
                memcpy(whole_row(e, e->whole, row) + first, z, n * sizeof *z);
            else
                look_at(e, row, z, first, n);
        }
    }
}

/* A part of one row. */
static void look_at(rela_engine *e, size_t row, real *z, size_t first, size_t n)
{
    const real most = e->k->exp_sum(&e->sums[row], z, n);
    const rela_live *x = rela_live_of(e, row);
    if (e->rows.position[row] < x->source.n_prefix) {
        const size_t at = demanded(e, row);
        if (at >= first && at < first + n)
            e->forced[row] = (double)z[at - first];
        return;
    }
    if (first == 0)
        forbid(e, row, z);
    const size_t have = e->n_best[row], at = row * e->list;
    if (have < x->list || most > e->best[at + have - 1])
        e->n_best[row] =
            (uint32_t)e->k->top(e->best_at + at, e->best + at, have, x->list, z, n, first);
}

static void look_at_whole(rela_engine *e, size_t row)
{
    const rela_live *x = rela_live_of(e, row);
    const size_t at = row * e->list;
    real *z = whole_row(e, e->whole, row);
    if (e->n_nets == 1) {
        rela_exp_sum sum = { .sum = 0 };
        (void)e->k->exp_sum(&sum, z, x->n_words);
        e->lse[row] = (double)sum.base + log(sum.sum);
    }
    if (e->rows.position[row] < x->source.n_prefix) {
        e->forced[row] = (double)z[demanded(e, row)];
        return;
    }
    forbid(e, row, z);
    e->n_best[row] =
        (uint32_t)e->k->top(e->best_at + at, e->best + at, 0, x->list, z, x->n_words, 0);
}

/* Replaces logits such that logit - lse is the logarithm of the mean probability. */
static void average(rela_engine *e)
{
    const size_t n = e->rows.n;
    for (size_t row = 0; row < n; row++) {
        real *z = whole_row(e, e->whole, row);
        e->k->softmax(z, z, rela_live_of(e, row)->n_words);
    }
    for (size_t net = 1; net < e->n_nets; net++) {
        run_net(e, net);
        for (size_t begin = 0, end = 0; begin < n; begin = end) {
            end = group_end(e, begin);
            logits(e, net, whole_row(e, e->other, begin), e->most_words, (size_t[2]){ begin, end },
                   0, rela_live_of(e, begin)->n_words);
        }
        for (size_t row = 0; row < n; row++) {
            const size_t v = rela_live_of(e, row)->n_words;
            real *z = whole_row(e, e->other, row);
            e->k->softmax(z, z, v);
            e->k->axpy(whole_row(e, e->whole, row), 1, z, v);
        }
    }
    for (size_t row = 0; row < n; row++) { /* one NaN makes the whole row NaN */
        real *z = whole_row(e, e->whole, row);
        e->lse[row] = log((double)e->n_nets) + 0 * (double)z[0];
        for (size_t k = 0; k < rela_live_of(e, row)->n_words; k++)
            z[k] = (real)log((double)z[k]);
    }
}

/* Place of the symbol that the prefix requires, among those of its sentence. */
static size_t demanded(const rela_engine *e, size_t row)
{
    const rela_live *x = rela_live_of(e, row);
    const uint32_t token = (uint32_t)x->source.prefix[e->rows.position[row]];
    size_t low = 0, high = x->n_words;
    while (x->listed && high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (x->words[middle] <= token)
            low = middle;
        else
            high = middle;
    }
    return x->listed ? low : token;
}

/* Turns places in the list of the sentence into symbols. */
static void name_best(rela_engine *e, size_t row)
{
    const rela_live *x = rela_live_of(e, row);
    uint32_t *at = e->best_at + row * e->list;
    for (size_t i = 0; x->listed && i < e->n_best[row]; i++)
        at[i] = x->words[at[i]];
}

/* Sets forbidden symbols to -INFINITY; they are the first of every list, so all are in the first
 * part. */
static void forbid(const rela_engine *e, size_t row, real *z)
{
    const rela_live *x = rela_live_of(e, row);
    z[RELA_PAD] = (real)-INFINITY;
    if (x->options->forbid_unk)
        z[RELA_UNK] = (real)-INFINITY;
    if (e->rows.position[row] < x->least)
        z[RELA_EOS] = (real)-INFINITY;
}
