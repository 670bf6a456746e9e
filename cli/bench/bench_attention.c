/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_attention.c - attention as in the layers of a model (nn/attn/attn.h and the norm
 * of the kind), forward and backward, for every kind and length, on one thread.
 *
 * Queries, keys and values are normally distributed, so half of the scores are negative. Kinds that
 * can have null rows get a second case with 90 % negative scores: one component of each query is a
 * constant and that of each key its negative, which lowers all scores. A second table shows the
 * time saved by skipping zeros, for several shares of zeros. */
#include "bench/bench_attention.h"
#include "base/mem.h"
#include "base/rng.h"
#include "kern/flush_to_zero.h"

#include <math.h>
#include <string.h>

enum { ROWS = 512 };                    /* tokens of a micro-batch */
static const double FLOPS_MOST = 2.1e9; /* of a forward pass; long sentences get fewer heads */
/* Quantiles of the normal distribution at 50, 60, 65, 70, 75, 80, 90 and 95 %. */
static const double BOUNDS[RELA_BENCH_SHARES] = { 0,       0.25335, 0.38532, 0.52440,
                                                  0.67449, 0.84162, 1.28155, 1.64485 };

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status run_length(rela_bench_job *j, size_t which, rela_bench_table *const tables[2],
                              rela_error *err);
static void add_cases(rela_bench_attention *s);
static rela_status prepare(rela_bench_attention *s, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);

const rela_bench_part rela_bench_part_attention = { .flag = RELA_BENCH_ATTENTION,
                                                    .turns = turns,
                                                    .run = run };

static bool shifts(const rela_attn_kind *kind)
{
    return (kind->flags & ATTN_NULLABLE) != 0;
}

/* The kind for the second table: the last rectified one; n_kinds: none. */
static size_t rectified(const rela_bench_job *j)
{
    for (size_t i = j->n_kinds; i-- > 0;)
        if (j->kinds[i]->flags & ATTN_RECTIFIED)
            return i;
    return j->n_kinds;
}

static size_t cases_of(const rela_bench_job *j)
{
    size_t n = rectified(j) < j->n_kinds ? 2 * RELA_BENCH_SHARES : 0;
    for (size_t i = 0; i < j->n_kinds; i++)
        n += shifts(j->kinds[i]) ? 2 : 1;
    return n;
}

static size_t turns(const rela_bench_job *j)
{
    return cases_of(j) * j->n_lengths;
}

static rela_status run(rela_bench_job *j, rela_error *err)
{
    rela_bench_table *const plain = rela_bench_attention_table(j);
    rela_bench_table *const zeros = rectified(j) == j->n_kinds ? NULL : rela_bench_zeros_table(j);
    rela_bench_table *const tables[] = { plain, zeros };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_lengths && st == RELA_OK; i++)
        st = run_length(j, i, tables, err);
    return st;
}

static rela_status run_length(rela_bench_job *j, size_t which, rela_bench_table *const tables[2],
                              rela_error *err)
{
    const rela_config *c = &j->config;
    rela_bench_attention *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for attention");
    s->j = j;
    s->length = j->lengths[which];
    s->d_head = c->d / c->heads;
    const double each = 4.0 * (double)s->length * (double)s->length * (double)s->d_head;
    const size_t most = (size_t)fmax(1, floor(FLOPS_MOST / each));
    s->heads = most < c->heads ? most : c->heads;
    s->d = s->heads * s->d_head;
    s->n = s->length < ROWS ? ROWS / s->length : 1;
    s->rows = s->n * s->length;
    add_cases(s);
    rela_status st = prepare(s, err);
    const uint64_t mode = rela_flush_to_zero();
    if (st == RELA_OK)
        st = rela_bench_rounds(j, s->n_cases, turn, s, err);
    rela_flush_to_zero_end(mode);
    if (st == RELA_OK)
        st = rela_bench_attention_report(s, which, tables[0], err);
    if (st == RELA_OK && tables[1])
        st = rela_bench_zeros_report(s, tables[1], err);
    for (int i = 0; i < 2; i++)
        rela_mem_free(s->seconds[i]);
    rela_mem_free(s->block);
    rela_mem_free(s->scratch_block);
    rela_mem_free(s);
    return st;
}

static void add_case(rela_bench_attention *s, size_t kind, int share, rela_attn_path path)
{
    s->cases[s->n_cases].kind = kind;
    s->cases[s->n_cases].share = share;
    s->cases[s->n_cases++].path = path;
}

static void add_cases(rela_bench_attention *s)
{
    const rela_bench_job *j = s->j;
    const size_t sparse = rectified(j);
    for (size_t i = 0; i < j->n_kinds; i++) {
        add_case(s, i, RELA_BENCH_CENTRED, RELA_ATTN_AUTO);
        if (shifts(j->kinds[i]))
            add_case(s, i, RELA_BENCH_SHIFTED, RELA_ATTN_AUTO);
    }
    s->n_plain = s->n_cases;
    for (int share = 0; sparse < j->n_kinds && share < RELA_BENCH_SHARES; share++) {
        add_case(s, sparse, share, RELA_ATTN_DENSE);
        add_case(s, sparse, share, RELA_ATTN_AUTO);
    }
}

/* ---- memory and numbers ---- */

static void plan(rela_bench_attention *s, rela_plan *p)
{
    const size_t numbers = s->rows * s->d;
    s->at = rela_plan_take(p, s->n + 1, sizeof *s->at);
    for (int i = 0; i < RELA_BENCH_SHARES; i++)
        s->in[i] = rela_plan_reals(p, 3 * numbers);
    s->z = rela_plan_reals(p, numbers);
    s->y = rela_plan_reals(p, numbers);
    s->dy = rela_plan_reals(p, numbers);
    s->dz = rela_plan_reals(p, numbers);
    s->din = rela_plan_reals(p, 3 * numbers);
    s->norm = rela_plan_reals(p, 4 * s->d);
    s->learned = rela_plan_reals(p, s->n_learned);
    s->dlearned = rela_plan_reals(p, s->n_learned);
    s->made = rela_plan_reals(p, s->n_made);
    s->kept = rela_plan_take(p, s->kept_words, sizeof *s->kept);
}

/* Random inputs, with scores of all shares of zeros. */
static void fill(rela_bench_attention *s)
{
    rela_rng r = rela_rng_start(s->j->o.seed, s->length);
    for (size_t i = 0; i < s->rows * 3 * s->d; i++) {
        const size_t column = i % (3 * s->d);
        const real x = (real)rela_rng_normal(&r);
        for (int share = 0; share < RELA_BENCH_SHARES; share++) {
            const real move = (real)sqrt(BOUNDS[share] * sqrt((double)s->d_head - 1));
            const bool moved =
                share != RELA_BENCH_CENTRED && column < 2 * s->d && column % s->d_head == 0;
            s->in[share][i] = moved ? (column < s->d ? move : -move) : x;
        }
    }
    for (size_t i = 0; i < s->rows * s->d; i++)
        s->dy[i] = (real)rela_rng_normal(&r);
    for (size_t i = 0; i <= s->n; i++)
        s->at[i] = (uint32_t)(i * s->length);
    for (size_t i = 0; i < 4 * s->d; i++)
        s->norm[i] = i < s->d ? 1 : i < 2 * s->d ? (real)(0.1 * rela_rng_normal(&r)) : 0;
}

static rela_status prepare(rela_bench_attention *s, rela_error *err)
{
    const rela_bench_job *j = s->j;
    rela_plan p = { NULL, 0 }, largest = { NULL, 0 };
    for (size_t i = 0; i < j->n_kinds; i++) {
        rela_plan one = { NULL, 0 };
        size_t at[RELA_ATTN_PARAMS_MAX];
        rela_attn_numbers_start(s->numbers, j->kinds[i]);
        const rela_attn_shape shape = { j->kinds[i], s->numbers, s->heads, s->d_head };
        const size_t kept = rela_attn_kept_words(&shape, s->rows, s->rows, s->length);
        const size_t learned = rela_bench_learned(NULL, at, &shape);
        s->kept_words = kept > s->kept_words ? kept : s->kept_words;
        const size_t made = shape.kind->made ? shape.kind->made->size(&shape) : 0;
        s->n_made = made > s->n_made ? made : s->n_made;
        s->n_learned = learned > s->n_learned ? learned : s->n_learned;
        rela_attn_scratch_plan(&s->scratch, &one, &shape, s->length);
        largest = one.used > largest.used ? one : largest;
    }
    plan(s, &p);
    for (int i = 0; i < 2; i++)
        s->seconds[i] = rela_mem_array(s->n_cases * j->rounds, sizeof *s->seconds[i]);
    rela_status st = s->seconds[0] && s->seconds[1]
                         ? RELA_OK
                         : rela_fail(err, RELA_NOMEM, "no memory for attention");
    st = st ? st : rela_bench_block(&s->block, &p, err);
    st = st ? st : rela_bench_block(&s->scratch_block, &largest, err);
    if (st != RELA_OK)
        return st;
    plan(s, &p);
    s->scratch_plan = largest;
    fill(s);
    return RELA_OK;
}

/* ---- one turn ---- */

static void norm_of(rela_bench_attention *s)
{
    const rela_attn_norm *norm = s->with_norm ? s->attn.kind->norm : NULL;
    const real *gate = norm && norm->gated ? s->norm + s->d : NULL;
    if (norm)
        s->j->k->gated_norm(s->y, s->z, s->norm, gate, s->rows, s->d, 1,
                            (real)s->j->config.attn_eps, norm->center);
}

static rela_attn_in in_of(const rela_bench_attention *s)
{
    return (rela_attn_in){ .q = s->qkv,
                           .k = s->qkv + s->d,
                           .v = s->qkv + 2 * s->d,
                           .ldq = 3 * s->d,
                           .ldk = 3 * s->d,
                           .ldv = 3 * s->d };
}

static void forward(void *ctx)
{
    rela_bench_attention *s = ctx;
    const rela_attn_rows rows = { s->n, s->at, s->at, 0 };
    const rela_attn_in in = in_of(s);
    rela_attn_forward(&s->attn, &s->scratch, s->z, &in, &rows);
    norm_of(s);
}

static void back(void *ctx)
{
    rela_bench_attention *s = ctx;
    const rela_attn_norm *norm = s->with_norm ? s->attn.kind->norm : NULL;
    const bool gated = norm && norm->gated;
    const rela_attn_rows rows = { s->n, s->at, s->at, 0 };
    const rela_attn_in in = in_of(s);
    rela_attn_grad grad = { s->din, s->din + s->d, s->din + 2 * s->d, { NULL }, s->z };
    for (size_t i = 0; i < rela_attn_params_n(s->attn.kind); i++)
        grad.dparams[i] = s->dlearned + (s->attn.params[i] - s->learned);
    if (norm)
        s->j->k->gated_norm_back(s->dz, s->norm + 2 * s->d, gated ? s->norm + 3 * s->d : NULL,
                                 s->dy, s->z, s->norm, gated ? s->norm + s->d : NULL, s->rows, s->d,
                                 1, (real)s->j->config.attn_eps, norm->center);
    rela_attn_back(&s->attn, &s->scratch, &grad, norm ? s->dz : s->dy, &in, &rows);
}

static double count_zeros(rela_bench_attention *s)
{
    rela_bench_zeros z = { 0, 0 };
    const rela_attn_tap tap = { rela_bench_see_zeros, &z };
    s->attn.tap = &tap;
    forward(s);
    s->attn.tap = NULL;
    return z.zeros / z.weights;
}

static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    rela_bench_attention *s = ctx;
    const rela_bench_job *j = s->j;
    const rela_attn_kind *kind = j->kinds[s->cases[i].kind];
    (void)err;
    rela_attn_numbers_start(s->numbers, kind);
    const rela_attn_shape shape = { kind, s->numbers, s->heads, s->d_head };
    size_t at[RELA_ATTN_PARAMS_MAX];
    (void)rela_bench_learned(s->learned, at, &shape);
    memset(s->dlearned, 0, s->n_learned * sizeof *s->dlearned);
    s->attn = (rela_attn){ .k = j->k,
                           .kind = kind,
                           .numbers = s->numbers,
                           .heads = s->heads,
                           .d_head = s->d_head,
                           .path = s->cases[i].path,
                           .made = s->made };
    if (kind->made)
        kind->made->make(s->made, &shape, 0, 0);
    for (size_t k = 0; k < rela_attn_params_n(kind); k++)
        s->attn.params[k] = s->learned + at[k];
    s->qkv = s->in[s->cases[i].share];
    s->with_norm = i < s->n_plain;
    rela_plan p = s->scratch_plan;
    rela_attn_scratch_plan(&s->scratch, &p, &shape, s->length);
    if (round == 0)
        s->cases[i].zeros = count_zeros(s);
    const size_t words = rela_attn_kept_words(&shape, s->rows, s->rows, s->length);
    s->attn.kept = words ? s->kept : NULL;
    s->seconds[0][i * j->rounds + round] = rela_bench_time(forward, s, j->o.seconds, 1);
    s->seconds[1][i * j->rounds + round] = rela_bench_time(back, s, j->o.seconds, 1);
    return RELA_OK;
}
