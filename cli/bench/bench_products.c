/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_products.c - matrix products in the shapes of the model, on one thread: those of
 * decoding with packed weights, in fp32 and int8, against oneDNN, and the three of training. */
#include "base/mem.h"
#include "bench/bench_job.h"
#include "kern/gemm.h"

#include <stdint.h>

enum { N_MATRICES = 5, FORMS = 3, MICRO_BATCH = 512 /* rows of a micro-batch */ };

/* A weight (n, k) and how many of them a model has. All copies are used in turn, so that weights
 * come from the same cache level or memory as in a model. */
typedef struct matrix {
    size_t n, k, copies;
} matrix;

/* Buffers are 64-byte aligned and sized for the largest product. */
typedef struct state {
    rela_bench_job *j;
    const size_t *rows; /* numbers of rows of the activations */
    size_t n_rows;
    bool training;
    matrix m; /* of the current turn */
    size_t n; /* rows of the activations in it */
    int form;
    real *w, *packed, *a, *c; /* plain weights, packed weights, activations, result */
    real *da, *dw;            /* gradients */
    int8_t *bytes, *q;
    real *scale, *row_scale;
    int32_t *sums;
    void *block;
    double *seconds; /* (case, form, round) for one product */
} state;

static const size_t DECODING[] = { 1, 4, 32, 128 };
static const size_t TRAINING[] = { MICRO_BATCH };

static size_t decoding_turns(const rela_bench_job *j);
static size_t training_turns(const rela_bench_job *j);
static rela_status run_decoding(rela_bench_job *j, rela_error *err);
static rela_status run_training(rela_bench_job *j, rela_error *err);
static rela_status run(state *s, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static void prepare(state *s);
static void work(void *ctx);
static rela_status report_decoding(const state *s, rela_error *err);
static rela_status report_training(const state *s, rela_error *err);

const rela_bench_part rela_bench_part_products = { .flag = RELA_BENCH_TRANSLATE,
                                                   .turns = decoding_turns,
                                                   .run = run_decoding };
const rela_bench_part rela_bench_part_gradients = { .flag = RELA_BENCH_TRAIN,
                                                    .turns = training_turns,
                                                    .run = run_training };

static matrix matrix_at(const rela_config *c, size_t i)
{
    const rela_bench_macs m = rela_bench_macs_of(c);
    const size_t layers = (size_t)m.self_layers, cross = (size_t)m.cross_layers;
    const matrix all[N_MATRICES] = { { 3 * c->d, c->d, layers },
                                     { c->d, c->d, layers + 3 * cross },
                                     { c->ffn, c->d, layers },
                                     { c->d, c->ffn, layers },
                                     { c->vocab_tgt, c->d, 1 } };
    return all[i];
}

static size_t decoding_turns(const rela_bench_job *j)
{
    (void)j;
    return N_MATRICES * sizeof DECODING / sizeof DECODING[0];
}

static size_t training_turns(const rela_bench_job *j)
{
    (void)j;
    return N_MATRICES * sizeof TRAINING / sizeof TRAINING[0];
}

static rela_status run_decoding(rela_bench_job *j, rela_error *err)
{
    state s = { .j = j, .rows = DECODING, .n_rows = sizeof DECODING / sizeof DECODING[0] };
    return run(&s, err);
}

static rela_status run_training(rela_bench_job *j, rela_error *err)
{
    state s = {
        .j = j, .rows = TRAINING, .n_rows = sizeof TRAINING / sizeof TRAINING[0], .training = true
    };
    return run(&s, err);
}

static void plan(state *s, rela_plan *p)
{
    const rela_config *c = &s->j->config;
    const size_t most = s->rows[s->n_rows - 1];
    size_t wide = 0, deep = 0, size = 0, plain = 0, bytes = 0;
    for (size_t i = 0; i < N_MATRICES; i++) {
        const matrix m = matrix_at(c, i);
        const size_t packed = rela_round_up(m.n, s->j->k->panel) * m.k * m.copies;
        wide = m.n > wide ? m.n : wide;
        deep = m.k > deep ? m.k : deep;
        size = packed > size ? packed : size;
        plain = m.n * m.k * m.copies > plain ? m.n * m.k * m.copies : plain;
        bytes = rela_bytes_size(m.n, m.k) * m.copies > bytes ? rela_bytes_size(m.n, m.k) * m.copies
                                                             : bytes;
    }
    s->w = rela_plan_reals(p, plain);
    s->a = rela_plan_reals(p, most * deep);
    s->c = rela_plan_reals(p, most * wide);
    if (s->training) {
        s->da = rela_plan_reals(p, most * deep);
        s->dw = rela_plan_reals(p, plain);
        return;
    }
    s->packed = rela_plan_reals(p, size);
    s->bytes = rela_plan_take(p, bytes, 1);
    s->q = rela_plan_take(p, most * ((deep + 3) / 4 * 4), 1);
    s->scale = rela_plan_reals(p, rela_byte_rows(wide));
    s->row_scale = rela_plan_reals(p, most);
    s->sums = rela_plan_take(p, rela_byte_rows(wide), sizeof *s->sums);
}

static rela_status run(state *s, rela_error *err)
{
    const size_t turns = N_MATRICES * s->n_rows;
    rela_plan p = { NULL, 0 };
    plan(s, &p);
    s->seconds = rela_mem_array(turns * FORMS * s->j->rounds, sizeof *s->seconds);
    rela_status st = rela_bench_block(&s->block, &p, err);
    if (st == RELA_OK && !s->seconds)
        st = rela_fail(err, RELA_NOMEM, "no memory for products");
    if (st == RELA_OK) {
        plan(s, &p);
        st = rela_bench_rounds(s->j, turns, turn, s, err);
    }
    if (st == RELA_OK)
        st = s->training ? report_training(s, err) : report_decoding(s, err);
    rela_mem_free(s->block);
    rela_mem_free(s->seconds);
    return st;
}

static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    (void)err;
    s->m = matrix_at(&s->j->config, i / s->n_rows);
    s->n = s->rows[i % s->n_rows];
    prepare(s);
    for (s->form = 0; s->form < FORMS; s->form++) {
        const double took = rela_bench_time(work, s, s->j->o.seconds / FORMS, 1);
        s->seconds[(i * FORMS + (size_t)s->form) * s->j->rounds + round] =
            took / (double)s->m.copies;
    }
    return RELA_OK;
}

static void fill(real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)((i * 7919) % 1009) / 1009 - (real)0.5;
}

static void prepare(state *s)
{
    const rela_kern *k = s->j->k;
    const matrix *m = &s->m;
    fill(s->w, m->n * m->k * m->copies);
    fill(s->a, s->n * m->k);
    fill(s->c, s->n * m->n);
    for (size_t i = 0; i < m->copies && !s->training; i++) {
        const real *w = s->w + i * m->n * m->k;
        k->pack(s->packed + i * rela_round_up(m->n, k->panel) * m->k, w, m->k, m->n, m->k);
        k->pack_bytes(s->bytes + i * rela_bytes_size(m->n, m->k), s->scale, s->sums, w, m->k, m->n,
                      m->k);
    }
}

/* One product with one copy. For int8 it includes the quantisation of the activations. */
static void decode_one(state *s, size_t copy)
{
    const rela_kern *k = s->j->k;
    const matrix *m = &s->m;
    const size_t ldq = (m->k + 3) / 4 * 4;
    const rela_bytes bytes = { s->bytes + copy * rela_bytes_size(m->n, m->k), s->scale, s->sums };
    switch (s->form) {
    case 0:
        k->packed(s->c, m->n, s->a, m->k, s->packed + copy * rela_round_up(m->n, k->panel) * m->k,
                  NULL, s->n, m->n, m->k, false);
        break;
    case 1:
        k->bytes(s->q, ldq, s->row_scale, s->a, m->k, s->n, m->k);
        k->packed_bytes(s->c, m->n, s->q, ldq, s->row_scale, &bytes, NULL, s->n, m->n, m->k, false);
        break;
    default:
        rela_gemm_nt(s->c, m->n, s->a, m->k, s->w + copy * m->n * m->k, m->k, s->n, m->n, m->k,
                     false);
    }
}

/* Forms: forward, gradient of the input, gradient of the weight. */
static void train_one(state *s, size_t copy)
{
    const matrix *m = &s->m;
    const real *w = s->w + copy * m->n * m->k;
    switch (s->form) {
    case 0:
        rela_gemm_nt(s->c, m->n, s->a, m->k, w, m->k, s->n, m->n, m->k, false);
        break;
    case 1:
        rela_gemm_nn(s->da, m->k, s->c, m->n, w, m->k, s->n, m->k, m->n, false);
        break;
    default:
        rela_gemm_tn(s->dw + copy * m->n * m->k, m->k, s->c, m->n, s->a, m->k, m->n, m->k, s->n,
                     false);
    }
}

static void work(void *ctx)
{
    state *s = ctx;
    for (size_t i = 0; i < s->m.copies; i++)
        if (s->training)
            train_one(s, i);
        else
            decode_one(s, i);
}

/* ---- tables ---- */

static rela_bench_spread rate_of(const state *s, size_t i, size_t form)
{
    const matrix m = matrix_at(&s->j->config, i / s->n_rows);
    const double flops = 2.0 * (double)(s->rows[i % s->n_rows] * m.n) * (double)m.k;
    return rela_bench_quotients(flops * 1e-9, NULL, s->seconds + (i * FORMS + form) * s->j->rounds,
                                s->j->rounds);
}

static rela_status report_decoding(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "rows", "rows", RELA_BENCH_NUMBER, 0 },
        { "n", "n", RELA_BENCH_NUMBER, 0 },
        { "k", "k", RELA_BENCH_NUMBER, 0 },
        { "packed_gflops", "packed GFLOP/s", RELA_BENCH_SPREAD, 1 },
        { "packed_share", "of peak", RELA_BENCH_NUMBER, 2 },
        { "int8_gops", "int8 Gop/s", RELA_BENCH_SPREAD, 1 },
        { "onednn_gflops", "oneDNN GFLOP/s", RELA_BENCH_SPREAD, 1 },
        { "packed_over_onednn", "packed/oneDNN", RELA_BENCH_NUMBER, 2 },
    };
    rela_bench_table *table = rela_bench_table_new(
        s->j, "products", "products of decoding, one thread; rows = hypotheses, weights (n, k)",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < N_MATRICES * s->n_rows && st == RELA_OK; i++) {
        const matrix m = matrix_at(&s->j->config, i / s->n_rows);
        const rela_bench_spread packed = rate_of(s, i, 0), library = rate_of(s, i, 2);
        const rela_bench_cell row[] = {
            rela_bench_number((double)s->rows[i % s->n_rows]),
            rela_bench_number((double)m.n),
            rela_bench_number((double)m.k),
            rela_bench_value(packed),
            rela_bench_number(packed.median / s->j->peak.multiply_adds[0]),
            rela_bench_value(rate_of(s, i, 1)),
            rela_bench_value(library),
            rela_bench_number(packed.median / library.median),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}

static rela_status report_training(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "rows", "rows", RELA_BENCH_NUMBER, 0 },
        { "n", "n", RELA_BENCH_NUMBER, 0 },
        { "k", "k", RELA_BENCH_NUMBER, 0 },
        { "forward_gflops", "forward GFLOP/s", RELA_BENCH_SPREAD, 1 },
        { "forward_share", "of peak", RELA_BENCH_NUMBER, 2 },
        { "input_gflops", "d input GFLOP/s", RELA_BENCH_SPREAD, 1 },
        { "input_share", "of peak", RELA_BENCH_NUMBER, 2 },
        { "weight_gflops", "d weight GFLOP/s", RELA_BENCH_SPREAD, 1 },
        { "weight_share", "of peak", RELA_BENCH_NUMBER, 2 },
    };
    rela_bench_table *table = rela_bench_table_new(
        s->j, "gradients", "matrix products of a micro-batch, one thread (oneDNN); weights (n, k)",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    const double peak = s->j->peak.multiply_adds[0];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < N_MATRICES * s->n_rows && st == RELA_OK; i++) {
        const matrix m = matrix_at(&s->j->config, i / s->n_rows);
        const rela_bench_spread f = rate_of(s, i, 0), x = rate_of(s, i, 1), w = rate_of(s, i, 2);
        const rela_bench_cell row[] = {
            rela_bench_number((double)s->rows[i % s->n_rows]),
            rela_bench_number((double)m.n),
            rela_bench_number((double)m.k),
            rela_bench_value(f),
            rela_bench_number(f.median / peak),
            rela_bench_value(x),
            rela_bench_number(x.median / peak),
            rela_bench_value(w),
            rela_bench_number(w.median / peak),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}
