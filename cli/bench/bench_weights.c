/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_weights.c - scores to attention weights, forward and backward, without matrix
 * products, and the norm of the kind: the operations counted in the paper's Table 4. One thread. */
#include "base/mem.h"
#include "base/rng.h"
#include "bench/bench_job.h"

#include <math.h>
#include <string.h>

enum { SCORES = 1 << 17 /* of all rows together */, ROWS_LEAST = 16, PASSES = 3 };
enum { FORWARD, BACK, NORM };

typedef struct state {
    rela_bench_job *j;
    real *s, *w, *dw, *ds, *scratch; /* (rows, padded); ds and scratch one row */
    real *z, *y, *gain;              /* (rows, d), (rows, d), (2d) gain and gate */
    size_t most;                     /* longest row */
    void *block;
    double *seconds; /* (case, pass, round) for one row */
    /* of the current turn */
    const rela_attn_kind *kind;
    real numbers[RELA_ATTN_NUMBERS_MAX];
    size_t rows, n, padded;
    int pass;
    real *learned, *dlearned; /* arrays of the kind, for one head */
} state;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status report(const state *s, rela_error *err);

const rela_bench_part rela_bench_part_weights = { .flag = RELA_BENCH_ATTENTION,
                                                  .turns = turns,
                                                  .run = run };

static size_t turns(const rela_bench_job *j)
{
    return j->n_kinds * j->n_lengths;
}

static size_t rows_of(size_t length)
{
    const size_t rows = SCORES / length;
    return rows < ROWS_LEAST ? ROWS_LEAST : rows;
}

static size_t padded_of(const rela_bench_job *j, size_t length)
{
    return rela_round_up(length, j->k->lanes);
}

static void plan(state *s, rela_plan *p)
{
    const rela_bench_job *j = s->j;
    const size_t d = j->config.d;
    size_t scores = 0, rows = 0, learned = 0, at[RELA_ATTN_PARAMS_MAX];
    for (size_t i = 0; i < j->n_kinds; i++) {
        rela_attn_numbers_start(s->numbers, j->kinds[i]);
        const rela_attn_shape shape = { j->kinds[i], s->numbers, 1, d / j->config.heads };
        const size_t n = rela_attn_params_at(at, &shape);
        learned = n > learned ? n : learned;
    }
    for (size_t i = 0; i < j->n_lengths; i++) {
        const size_t n = padded_of(j, j->lengths[i]), m = rows_of(j->lengths[i]);
        scores = n * m > scores ? n * m : scores;
        rows = m > rows ? m : rows;
        s->most = n > s->most ? n : s->most;
    }
    s->s = rela_plan_reals(p, scores);
    s->w = rela_plan_reals(p, scores);
    s->dw = rela_plan_reals(p, scores);
    s->ds = rela_plan_reals(p, s->most);
    s->scratch = rela_plan_reals(p, 4 * s->most);
    s->z = rela_plan_reals(p, rows * d);
    s->y = rela_plan_reals(p, rows * d);
    s->gain = rela_plan_reals(p, 2 * d);
    s->learned = rela_plan_reals(p, learned);
    s->dlearned = rela_plan_reals(p, learned);
    if (!p->base)
        return;
    rela_rng r = rela_rng_start(j->o.seed, 0);
    for (size_t i = 0; i < scores; i++)
        s->dw[i] = (real)rela_rng_normal(&r);
    for (size_t i = 0; i < rows * d; i++)
        s->z[i] = (real)rela_rng_normal(&r);
    for (size_t i = 0; i < 2 * d; i++)
        s->gain[i] = (real)rela_rng_normal(&r);
    memset(s->dlearned, 0, learned * sizeof *s->dlearned);
}

static rela_status run(rela_bench_job *j, rela_error *err)
{
    state *s = rela_mem_zalloc(sizeof *s);
    rela_plan p = { NULL, 0 };
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for rows of scores");
    s->j = j;
    plan(s, &p);
    s->seconds = rela_mem_array(turns(j) * PASSES * j->rounds, sizeof *s->seconds);
    rela_status st = rela_bench_block(&s->block, &p, err);
    if (st == RELA_OK && !s->seconds)
        st = rela_fail(err, RELA_NOMEM, "no memory for rows of scores");
    if (st == RELA_OK) {
        plan(s, &p);
        st = rela_bench_rounds(j, turns(j), turn, s, err);
    }
    st = st ? st : report(s, err);
    rela_mem_free(s->block);
    rela_mem_free(s->seconds);
    rela_mem_free(s);
    return st;
}

static void work(void *ctx)
{
    state *s = ctx;
    const rela_bench_job *j = s->j;
    const rela_attn_norm *norm = s->kind->norm;
    const rela_attn_shape shape = { s->kind, s->numbers, 1, j->config.d / j->config.heads };
    rela_attn_row row = { .k = j->k, .numbers = s->numbers, .scratch = s->scratch };
    size_t learned_at[RELA_ATTN_PARAMS_MAX];
    (void)rela_attn_params_at(learned_at, &shape);
    for (size_t i = 0; i < rela_attn_params_n(s->kind); i++) {
        row.params[i] = s->learned + learned_at[i];
        row.dparams[i] = s->dlearned + learned_at[i];
    }
    if (s->pass == NORM)
        j->k->gated_norm(s->y, s->z, s->gain, norm->gated ? s->gain + j->config.d : NULL, s->rows,
                         j->config.d, 1, (real)j->config.attn_eps, norm->center);
    for (size_t i = 0; i < s->rows && s->pass != NORM; i++) {
        const size_t at = i * s->padded;
        if (s->pass == FORWARD)
            s->kind->weigh(&row, s->w + at, s->s + at, s->n);
        else
            s->kind->weigh_back(&row, s->ds, s->dw + at, s->w + at, s->s + at, s->n);
    }
}

/* Rows are as long as in attn.c: padded to whole vectors if the kind allows it. */
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    const rela_bench_job *j = s->j;
    const size_t length = j->lengths[i % j->n_lengths];
    (void)err;
    s->kind = j->kinds[i / j->n_lengths];
    rela_attn_numbers_start(s->numbers, s->kind);
    s->rows = rows_of(length);
    s->padded = padded_of(j, length);
    const bool pads = s->kind->flags & (ATTN_PADDED | ATTN_POINTWISE);
    s->n = pads ? s->padded : length;
    const rela_attn_shape shape = { s->kind, s->numbers, 1, j->config.d / j->config.heads };
    size_t at[RELA_ATTN_PARAMS_MAX];
    (void)rela_bench_learned(s->learned, at, &shape);
    rela_rng r = rela_rng_start(j->o.seed, 1);
    for (size_t k = 0; k < s->rows * s->padded; k++) {
        const real x = (real)rela_rng_normal(&r);
        s->s[k] = k % s->padded < length                   ? x
                  : (s->kind->flags & ATTN_POINTWISE) != 0 ? 0
                                                           : RELA_ATTN_PAD;
    }
    for (s->pass = 0; s->pass < PASSES; s->pass++) {
        const bool has = s->pass == NORM ? s->kind->norm != NULL : s->kind->weigh != NULL;
        s->seconds[(i * PASSES + (size_t)s->pass) * j->rounds + round] =
            has ? rela_bench_time(work, s, j->o.seconds / PASSES, 1) / (double)s->rows
                : (double)NAN;
    }
    return RELA_OK;
}

static rela_status report(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "kind", "kind", RELA_BENCH_TEXT, 0 },
        { "length", "T", RELA_BENCH_NUMBER, 0 },
        { "forward_ns", "forward ns", RELA_BENCH_SPREAD, 0 },
        { "back_ns", "back ns", RELA_BENCH_SPREAD, 0 },
        { "norm_ns", "norm ns", RELA_BENCH_SPREAD, 0 },
    };
    rela_bench_job *j = s->j;
    rela_bench_table *table = rela_bench_table_new(
        j, "weights",
        "a row of T scores to weights and back, and the norm of one token, without products; one "
        "thread",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < turns(j) && st == RELA_OK; i++) {
        const size_t kind = i / j->n_lengths, length = i % j->n_lengths;
        rela_bench_cell row[2 + PASSES] = { rela_bench_text(j->kinds[kind]->name),
                                            rela_bench_number(j->lengths[length]) };
        for (size_t pass = 0; pass < PASSES; pass++) {
            double ns[RELA_BENCH_ROUNDS_MAX];
            for (size_t r = 0; r < j->rounds; r++)
                ns[r] = 1e9 * s->seconds[(i * PASSES + pass) * j->rounds + r];
            row[2 + pass] = rela_bench_value(rela_bench_spread_of(ns, j->rounds));
        }
        j->r.weigh[kind][length] = row[2].value.median * 1e-9;
        j->r.norm[kind] = row[4].value.median * 1e-9;
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}
