/* SPDX-License-Identifier: MIT */
/* src/nn/loss.c - see loss.h. */
#include "nn/loss.h"

/* Arguments and sums of one call. */
typedef struct job {
    const rela_loss *o;
    real *dx, *dtable;
    const real *x, *table;
    const int32_t *gold;
    const real *weight;
    rela_loss_sums sums;
} job;

static void run_plain(job *j, size_t rows);
static void run_pairs(job *j);
static void run_long_pairs(job *j, size_t first, size_t second);
static void logits_of(const job *j, real *z, size_t at, size_t m);
static void gradients_of(const job *j, const real *z, size_t at, size_t m);
static void add_loss(job *j, real *z, real *paired, size_t row);

rela_loss_sums rela_loss_run(const rela_loss *o, real *dx, real *dtable, const real *x,
                             const real *table, const int32_t *gold, const real *weight,
                             size_t rows)
{
    job j = { o, dx, dtable, x, table, gold, weight, { 0, 0, 0 } };
    if (o->n_pairs)
        run_pairs(&j);
    else
        run_plain(&j, rows);
    return j.sums;
}

static void run_plain(job *j, size_t rows)
{
    const rela_loss *o = j->o;
    for (size_t at = 0; at < rows; at += RELA_LOSS_CHUNK) {
        const size_t m = rows - at < RELA_LOSS_CHUNK ? rows - at : RELA_LOSS_CHUNK;
        logits_of(j, o->logits, at, m);
        for (size_t t = 0; t < m; t++)
            add_loss(j, o->logits + t * o->vocabulary, NULL, at + t);
        gradients_of(j, o->logits, at, m);
    }
}

/* Chunks are as many whole pairs as there is room for. */
static void run_pairs(job *j)
{
    const rela_loss *o = j->o;
    const uint32_t *begin = o->pairs;
    const size_t v = o->vocabulary;
    for (size_t i = 0, end = 0; i < o->n_pairs; i = end) {
        const size_t at = begin[i];
        while (end < o->n_pairs && begin[end + 2] - at <= RELA_LOSS_CHUNK)
            end += 2;
        if (end == i) {
            run_long_pairs(j, at, begin[i + 1]);
            end = i + 2;
            continue;
        }
        logits_of(j, o->logits, at, begin[end] - at);
        for (; i < end; i += 2) {
            const size_t apart = begin[i + 1] - begin[i];
            for (size_t row = begin[i]; row < begin[i + 1]; row++) {
                real *z = o->logits + (row - at) * v;
                add_loss(j, z, z + apart * v, row);
            }
        }
        gradients_of(j, o->logits, at, begin[end] - at);
    }
}

/* A pair that is longer than a chunk: half a chunk of each of the two at a time. */
static void run_long_pairs(job *j, size_t first, size_t second)
{
    const rela_loss *o = j->o;
    const size_t n = second - first, v = o->vocabulary, most = RELA_LOSS_CHUNK / 2;
    real *z = o->logits, *paired = z + most * v;
    for (size_t at = 0; at < n; at += most) {
        const size_t m = n - at < most ? n - at : most;
        logits_of(j, z, first + at, m);
        logits_of(j, paired, second + at, m);
        for (size_t t = 0; t < m; t++)
            add_loss(j, z + t * v, paired + t * v, first + at + t);
        gradients_of(j, z, first + at, m);
        gradients_of(j, paired, second + at, m);
    }
}

static void logits_of(const job *j, real *z, size_t at, size_t m)
{
    const size_t d = j->o->d, v = j->o->vocabulary;
    rela_gemm_nt(z, v, j->x + at * d, d, j->table, d, m, v, d, false);
}

/* z: gradients of the logits of rows [at, at + m). */
static void gradients_of(const job *j, const real *z, size_t at, size_t m)
{
    const size_t d = j->o->d, v = j->o->vocabulary;
    if (j->dx)
        rela_gemm_nn(j->dx + at * d, d, z, v, j->table, d, m, d, v, false);
    if (j->dtable)
        rela_gemm_tn(j->dtable, d, z, v, j->x + at * d, d, v, d, m, true);
}

/* z: the logits of a row, replaced by their gradients; paired: those of the same row in the other
 * sentence of the pair, or NULL. */
static void add_loss(job *j, real *z, real *paired, size_t row)
{
    const rela_loss *o = j->o;
    const real scale = j->weight ? j->weight[row] : 1;
    const rela_r_drop_pairs pair = { o->smooth, scale, o->kl_weight };
    const size_t gold = (size_t)j->gold[row], v = o->vocabulary;
    double nll = 0;
    const double loss = paired ? o->k->loss_pairs(z, paired, v, gold, &pair, &nll)
                               : o->k->loss_row(z, v, gold, o->smooth, scale, &nll);
    if (o->row_nll)
        o->row_nll[row] = (real)nll;
    j->sums.loss += loss * (double)scale;
    j->sums.nll += nll;
    j->sums.n++;
}
