/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_attention.c - attention as layers of a model compute it (nn/attn/attn.h and the
 * norm of the kind), forward and backward, for every kind and length, on one thread.
 *
 * Queries, keys and values are normally distributed, so half of the scores are negative. A second
 * case, for kinds whose rows may be empty, has nine negative ones out of ten: one number of each
 * query is a constant, and that of each key minus it, which moves all scores down. A table of its
 * own shows what it saves to leave out zeros, for several shares of them. */
#include "base/mem.h"
#include "base/rng.h"
#include "bench/bench_job.h"
#include "kern/flush_to_zero.h"
#include "nn/attn/attn.h"

#include <math.h>

enum { ROWS = 512 /* tokens of a micro-batch */, N_SHARES = 8, CENTRED = 0, SHIFTED = 6 };
enum { CASES_MAX = 2 * RELA_BENCH_KINDS_MAX + 2 * N_SHARES };
static const double FLOPS_MOST = 2.1e9; /* of a forward pass: fewer heads for long sentences */
/* Below them lie 50, 60, 65, 70, 75, 80, 90 and 95 % of a normal distribution. */
static const double BOUNDS[N_SHARES] = { 0,       0.25335, 0.38532, 0.52440,
                                         0.67449, 0.84162, 1.28155, 1.64485 };

/* All sentences of one length: heads side by side in rows as the layers have them. */
typedef struct state {
    rela_bench_job *j;
    size_t length, heads, d_head, d, n, rows;
    uint32_t *at;       /* (n + 1) */
    real *in[N_SHARES]; /* (rows, 3d) queries, keys, values; the scores of later ones lie lower */
    real *z, *y, *dy, *dz;
    real *din;     /* (rows, 3d) */
    real *learned; /* gain, gate (d each), numbers of the heads; then their gradients */
    uint64_t *kept;
    size_t kept_words;
    real numbers[RELA_ATTN_NUMBERS_MAX];
    rela_attn_scratch scratch;
    void *block, *scratch_block;
    rela_plan scratch_plan;
    /* cases */
    struct {
        size_t kind;
        int share;
        rela_attn_path path;
        double zeros;
    } cases[CASES_MAX];
    size_t n_plain; /* of the first table; after them those of the second: dense, as chosen, ... */
    size_t n_cases;
    double *seconds[2]; /* forward and backward: (case, round) */
    /* of this turn */
    rela_attn attn;
    const real *qkv;
    bool with_norm;
} state;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status run_length(rela_bench_job *j, size_t which, rela_bench_table *const tables[2],
                              rela_error *err);
static void add_cases(state *s);
static rela_status prepare(state *s, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status report(state *s, size_t which, rela_bench_table *table, rela_error *err);
static rela_status report_zeros(state *s, rela_bench_table *table, rela_error *err);

const rela_bench_part rela_bench_part_attention = { .flag = RELA_BENCH_ATTENTION,
                                                    .turns = turns,
                                                    .run = run };

/* clang-format off */
static const rela_bench_column COLUMNS[] = {
    { "kind", "kind", RELA_BENCH_TEXT, 0 },
    { "length", "T", RELA_BENCH_NUMBER, 0 },
    { "scores", "scores", RELA_BENCH_TEXT, 0 },
    { "zeros", "zeros %", RELA_BENCH_NUMBER, 1 },
    { "sentences", "sentences", RELA_BENCH_NUMBER, 0 },
    { "heads", "heads", RELA_BENCH_NUMBER, 0 },
    { "forward_ns", "forward ns", RELA_BENCH_SPREAD, 2 },
    { "forward_share", "of peak", RELA_BENCH_NUMBER, 2 },
    { "back_ns", "back ns", RELA_BENCH_SPREAD, 2 },
    { "back_share", "of peak", RELA_BENCH_NUMBER, 2 },
    { "forward_speed", "forward/softmax", RELA_BENCH_NUMBER, 2 },
    { "back_speed", "back/softmax", RELA_BENCH_NUMBER, 2 },
    { "speed", "both/softmax", RELA_BENCH_NUMBER, 2 },
};
static const rela_bench_column ZERO_COLUMNS[] = {
    { "kind", "kind", RELA_BENCH_TEXT, 0 },
    { "length", "T", RELA_BENCH_NUMBER, 0 },
    { "zeros", "zeros %", RELA_BENCH_NUMBER, 1 },
    { "forward_dense_ns", "forward: all ns", RELA_BENCH_SPREAD, 2 },
    { "forward_ns", "as chosen ns", RELA_BENCH_SPREAD, 2 },
    { "forward_speed", "speed", RELA_BENCH_NUMBER, 2 },
    { "back_dense_ns", "back: all ns", RELA_BENCH_SPREAD, 2 },
    { "back_ns", "as chosen ns", RELA_BENCH_SPREAD, 2 },
    { "back_speed", "speed", RELA_BENCH_NUMBER, 2 },
    { "products_speed", "gradients", RELA_BENCH_NUMBER, 2 },
};
/* clang-format on */

static bool shifts(const rela_attn_kind *kind)
{
    return (kind->flags & ATTN_NULLABLE) != 0 && !kind->map;
}

/* The kind whose zeros are left out: the last one that is rectified; n_kinds: none. */
static size_t rectified(const rela_bench_job *j)
{
    for (size_t i = j->n_kinds; i-- > 0;)
        if (j->kinds[i]->flags & ATTN_RECTIFIED)
            return i;
    return j->n_kinds;
}

static size_t cases_of(const rela_bench_job *j)
{
    size_t n = rectified(j) < j->n_kinds ? 2 * N_SHARES : 0;
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
    rela_bench_table *const plain = rela_bench_table_new(
        j, "attention",
        "kernels of training with their norms, one thread; ns for one score of one head; speed "
        "relative to softmax",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_bench_table *const zeros =
        rectified(j) == j->n_kinds
            ? NULL
            : rela_bench_table_new(j, "zeros",
                                   "the same without norm, all weights against zeros left out "
                                   "where it pays; gradients: over the four products of a dense "
                                   "backward pass that has its weights",
                                   ZERO_COLUMNS, sizeof ZERO_COLUMNS / sizeof ZERO_COLUMNS[0]);
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
    state *s = rela_mem_zalloc(sizeof *s);
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
        st = report(s, which, tables[0], err);
    if (st == RELA_OK && tables[1])
        st = report_zeros(s, tables[1], err);
    for (int i = 0; i < 2; i++)
        rela_mem_free(s->seconds[i]);
    rela_mem_free(s->block);
    rela_mem_free(s->scratch_block);
    rela_mem_free(s);
    return st;
}

static void add_case(state *s, size_t kind, int share, rela_attn_path path)
{
    s->cases[s->n_cases].kind = kind;
    s->cases[s->n_cases].share = share;
    s->cases[s->n_cases++].path = path;
}

static void add_cases(state *s)
{
    const rela_bench_job *j = s->j;
    const size_t sparse = rectified(j);
    for (size_t i = 0; i < j->n_kinds; i++) {
        add_case(s, i, CENTRED, RELA_ATTN_AUTO);
        if (shifts(j->kinds[i]))
            add_case(s, i, SHIFTED, RELA_ATTN_AUTO);
    }
    s->n_plain = s->n_cases;
    for (int share = 0; sparse < j->n_kinds && share < N_SHARES; share++) {
        add_case(s, sparse, share, RELA_ATTN_DENSE);
        add_case(s, sparse, share, RELA_ATTN_AUTO);
    }
}

/* ---- memory and numbers ---- */

static void plan(state *s, rela_plan *p)
{
    const size_t numbers = s->rows * s->d;
    s->at = rela_plan_take(p, s->n + 1, sizeof *s->at);
    for (int i = 0; i < N_SHARES; i++)
        s->in[i] = rela_plan_reals(p, 3 * numbers);
    s->z = rela_plan_reals(p, numbers);
    s->y = rela_plan_reals(p, numbers);
    s->dy = rela_plan_reals(p, numbers);
    s->dz = rela_plan_reals(p, numbers);
    s->din = rela_plan_reals(p, 3 * numbers);
    s->learned = rela_plan_reals(p, 6 * s->d);
    s->kept = rela_plan_take(p, s->kept_words, sizeof *s->kept);
}

static rela_status prepare(state *s, rela_error *err)
{
    const rela_bench_job *j = s->j;
    rela_plan p = { NULL, 0 }, largest = { NULL, 0 };
    for (size_t i = 0; i < j->n_kinds; i++) {
        rela_plan one = { NULL, 0 };
        const size_t kept =
            rela_attn_kept_words(j->kinds[i], s->heads, s->rows, s->rows, s->length);
        s->kept_words = kept > s->kept_words ? kept : s->kept_words;
        rela_attn_scratch_plan(&s->scratch, &one, j->kinds[i], s->d_head, s->length);
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
    rela_rng r = rela_rng_start(j->o.seed, s->length);
    for (size_t i = 0; i < s->rows * 3 * s->d; i++) {
        const size_t column = i % (3 * s->d);
        const real x = (real)rela_rng_normal(&r);
        for (int share = 0; share < N_SHARES; share++) {
            const real move = (real)sqrt(BOUNDS[share] * sqrt((double)s->d_head - 1));
            const bool moved = share != CENTRED && column < 2 * s->d && column % s->d_head == 0;
            s->in[share][i] = moved ? (column < s->d ? move : -move) : x;
        }
    }
    for (size_t i = 0; i < s->rows * s->d; i++)
        s->dy[i] = (real)rela_rng_normal(&r);
    for (size_t i = 0; i <= s->n; i++)
        s->at[i] = (uint32_t)(i * s->length);
    for (size_t i = 0; i < 6 * s->d; i++)
        s->learned[i] = i < s->d ? 1 : i < 2 * s->d ? (real)(0.1 * rela_rng_normal(&r)) : 0;
    return RELA_OK;
}

/* ---- one turn ---- */

static void norm_of(state *s)
{
    const rela_attn_norm *norm = s->with_norm ? s->attn.kind->norm : NULL;
    const real *gate = norm && norm->gated ? s->learned + s->d : NULL;
    if (norm)
        s->j->k->gated_norm(s->y, s->z, s->learned, gate, s->rows, s->d, 1,
                            (real)s->j->config.attn_eps, norm->center);
}

static rela_attn_in in_of(const state *s)
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
    state *s = ctx;
    const rela_attn_rows rows = { s->n, s->at, s->at, 0 };
    const rela_attn_in in = in_of(s);
    rela_attn_forward(&s->attn, &s->scratch, s->z, &in, &rows);
    norm_of(s);
}

static void back(void *ctx)
{
    state *s = ctx;
    const rela_attn_norm *norm = s->with_norm ? s->attn.kind->norm : NULL;
    const bool gated = norm && norm->gated;
    const rela_attn_rows rows = { s->n, s->at, s->at, 0 };
    const rela_attn_in in = in_of(s);
    const rela_attn_grad grad = { s->din, s->din + s->d, s->din + 2 * s->d, s->learned + 5 * s->d,
                                  s->z };
    if (norm)
        s->j->k->gated_norm_back(s->dz, s->learned + 3 * s->d, gated ? s->learned + 4 * s->d : NULL,
                                 s->dy, s->z, s->learned, gated ? s->learned + s->d : NULL, s->rows,
                                 s->d, 1, (real)s->j->config.attn_eps, norm->center);
    rela_attn_back(&s->attn, &s->scratch, &grad, norm ? s->dz : s->dy, &in, &rows);
}

static double count_zeros(state *s)
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
    state *s = ctx;
    const rela_bench_job *j = s->j;
    const rela_attn_kind *kind = j->kinds[s->cases[i].kind];
    (void)err;
    rela_attn_numbers_start(s->numbers, kind);
    for (size_t h = 0; h < s->heads * kind->n_head; h++)
        s->learned[2 * s->d + h] = kind->head_start;
    s->attn = (rela_attn){ .k = j->k,
                           .kind = kind,
                           .numbers = s->numbers,
                           .heads = s->heads,
                           .d_head = s->d_head,
                           .path = s->cases[i].path,
                           .head_params = kind->n_head ? s->learned + 2 * s->d : NULL };
    s->qkv = s->in[s->cases[i].share];
    s->with_norm = i < s->n_plain;
    rela_plan p = s->scratch_plan;
    rela_attn_scratch_plan(&s->scratch, &p, kind, s->d_head, s->length);
    if (round == 0)
        s->cases[i].zeros = count_zeros(s);
    s->attn.kept = kind->flags & (ATTN_RECTIFIED | ATTN_SOFT) ? s->kept : NULL;
    s->seconds[0][i * j->rounds + round] = rela_bench_time(forward, s, j->o.seconds, 1);
    s->seconds[1][i * j->rounds + round] = rela_bench_time(back, s, j->o.seconds, 1);
    return RELA_OK;
}

/* ---- table ---- */

/* Speed relative to another case; passes: bit 0 forward, bit 1 backward, bit 2: as if the other
 * need not compute its scores. */
static double speed_of(const state *s, size_t other, size_t i, int passes)
{
    const size_t n = s->j->rounds;
    double ratio[RELA_BENCH_ROUNDS_MAX];
    for (size_t r = 0; r < n; r++) {
        double reference = 0, own = 0;
        for (int pass = 0; pass < 2; pass++)
            if (passes & 1 << pass) {
                reference += s->seconds[pass][other * n + r];
                own += s->seconds[pass][i * n + r];
            }
        /* Scores are one of two products of the dense forward pass. */
        const double scores = passes & 4 ? s->seconds[0][other * n + r] / 2 : 0;
        ratio[r] = (reference - scores) / own;
    }
    return rela_bench_spread_of(ratio, n).median;
}

/* Of one score of one head. */
static rela_bench_spread ns_of(const state *s, size_t i, int pass)
{
    const double scores = (double)s->length * (double)s->rows * (double)s->heads;
    double ns[RELA_BENCH_ROUNDS_MAX];
    for (size_t r = 0; r < s->j->rounds; r++)
        ns[r] = s->seconds[pass][i * s->j->rounds + r] / scores * 1e9;
    return rela_bench_spread_of(ns, s->j->rounds);
}

static rela_status report(state *s, size_t which, rela_bench_table *table, rela_error *err)
{
    rela_bench_job *j = s->j;
    const double peak = j->peak.multiply_adds[0], d_head = (double)s->d_head;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_plain && st == RELA_OK; i++) {
        const size_t kind = s->cases[i].kind;
        const bool shifted = s->cases[i].share == SHIFTED;
        const double both = speed_of(s, 0, i, 3);
        (shifted ? j->r.shifted : j->r.kernel)[kind][which] = both;
        rela_bench_cell row[sizeof COLUMNS / sizeof COLUMNS[0]] = {
            rela_bench_text(j->kinds[kind]->name),
            rela_bench_number((double)s->length),
            rela_bench_text(shifted ? "shifted" : "centred"),
            rela_bench_number(100 * s->cases[i].zeros),
            rela_bench_number((double)s->n),
            rela_bench_number((double)s->heads),
            { .text = NULL },
        };
        /* Products: scores and mixing; backward the scores again and four gradients. */
        for (int pass = 0; pass < 2; pass++) {
            const rela_bench_spread v = ns_of(s, i, pass);
            row[6 + 2 * pass] = rela_bench_value(v);
            row[7 + 2 * pass] = rela_bench_number((pass ? 10 : 4) * d_head / v.median / peak);
        }
        row[10] = rela_bench_number(speed_of(s, 0, i, 1));
        row[11] = rela_bench_number(speed_of(s, 0, i, 2));
        row[12] = rela_bench_number(both);
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}

static rela_status report_zeros(state *s, rela_bench_table *table, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = s->n_plain; i < s->n_cases && st == RELA_OK; i += 2) {
        const rela_bench_cell row[sizeof ZERO_COLUMNS / sizeof ZERO_COLUMNS[0]] = {
            rela_bench_text(s->j->kinds[s->cases[i].kind]->name),
            rela_bench_number((double)s->length),
            rela_bench_number(100 * s->cases[i].zeros),
            rela_bench_value(ns_of(s, i, 0)),
            rela_bench_value(ns_of(s, i + 1, 0)),
            rela_bench_number(speed_of(s, i, i + 1, 1)),
            rela_bench_value(ns_of(s, i, 1)),
            rela_bench_value(ns_of(s, i + 1, 1)),
            rela_bench_number(speed_of(s, i, i + 1, 2)),
            rela_bench_number(speed_of(s, i, i + 1, 2 | 4)),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}
