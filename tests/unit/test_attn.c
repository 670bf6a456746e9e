/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attn.c - what attention of every kind promises: sums, zeros, independence of
 * order, batch and length, and finite results at the extremes. The values: test_attn_weights.c. */
#include "attnlayer.h"
#include "check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { HEADS = 2, D_HEAD = 5, D = HEADS * D_HEAD, ROWS_MAX = 80, HEAD_MAX = 4 };

static const attn_setup SETUP = {
    .slope = 0.01f, .alpha = 1.5f, .top = 4, .window = 2, .stride = 4, .fuse = 0.1f
};

static uint32_t seed = 1u;

static float rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

/* Inputs, outputs and weights of one call. */
typedef struct run {
    float q[ROWS_MAX * D], k[ROWS_MAX * D], v[ROWS_MAX * D], z[ROWS_MAX * D];
    float dz[ROWS_MAX * D], dq[ROWS_MAX * D], dk[ROWS_MAX * D], dv[ROWS_MAX * D];
    float head[HEADS * HEAD_MAX], dhead[HEADS * HEAD_MAX];
    float w[HEADS][ROWS_MAX][ROWS_MAX]; /* of the last sentence seen */
    size_t rows, without_keys;          /* queries seen, of all heads */
} run;

static void see(void *ctx, const rela_attn_view *v)
{
    run *r = ctx;
    for (size_t i = 0; i < v->rows; i++)
        memcpy(r->w[v->head][v->first + i], v->w + i * v->ld, v->n * sizeof *v->w);
    r->rows += v->rows;
    r->without_keys += v->n ? 0 : v->rows;
}

static void fill(run *r, float scale)
{
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < ROWS_MAX * D; i++) {
        r->q[i] = rnd() * scale;
        r->k[i] = rnd() * scale;
        r->v[i] = rnd();
        r->dz[i] = rnd();
    }
    for (size_t i = 0; i < HEADS * HEAD_MAX; i++)
        r->head[i] = rnd();
}

/* Forward and backward over n sentences. */
static void attend(run *r, const rela_attn_kind *kind, bool causal, size_t n, const uint32_t *q_at,
                   const uint32_t *k_at)
{
    attn_layer l;
    const rela_attn_tap tap = { see, r };
    attn_layer_start(&l, kind, &SETUP, HEADS, D_HEAD, ROWS_MAX);
    l.attn.causal = causal;
    l.attn.tap = &tap;
    const rela_attn_rows rows = { n, q_at, k_at, 0 };
    const rela_attn_in in = { r->q, r->k, r->v, D, D, D };
    rela_attn_grad grad = { .dq = r->dq, .dk = r->dk, .dv = r->dv };
    CHECK(attn_layer_learned(&l) <= sizeof r->head / sizeof r->head[0], "%s: too many learned",
          kind->name);
    attn_layer_learn(&l, r->head, &grad, r->dhead);
    rela_attn_forward(&l.attn, &l.scratch, r->z, &in, &rows);
    rela_attn_back(&l.attn, &l.scratch, &grad, r->dz, &in, &rows);
    attn_layer_end(&l);
}

static void attend_one(run *r, const rela_attn_kind *kind, bool causal, uint32_t n_q, uint32_t n_k)
{
    const uint32_t q_at[] = { 0, n_q }, k_at[] = { 0, n_k };
    attend(r, kind, causal, 1, q_at, k_at);
}

static void check_finite(const char *name, const char *what, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK(isfinite((double)x[i]), "%s: %s[%zu] is %g", name, what, i, (double)x[i]);
}

static run a, b;

static void rows_sum_to_one_where_promised(void **state)
{
    (void)state;
    static const uint32_t LENGTHS[] = { 1, 2, 7, 16, 33, 80 };
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        for (size_t c = 0; c < 12 && rela_attn_kind_at(i)->flags & ATTN_SUM_ONE; c++) {
            const uint32_t n = LENGTHS[c / 2];
            fill(&a, 4);
            attend_one(&a, rela_attn_kind_at(i), c % 2, n, n);
            for (size_t row = 0; row < HEADS * n; row++) {
                double sum = 0;
                const float *w = a.w[row % HEADS][row / HEADS];
                for (size_t j = 0; j < n; j++) {
                    CHECK(w[j] >= 0, "%s: weight %g", rela_attn_kind_at(i)->name, (double)w[j]);
                    sum += (double)w[j];
                }
                CHECK(fabs(sum - 1) < 1e-5, "%s, %u keys: sum %.8f", rela_attn_kind_at(i)->name,
                      (unsigned)n, sum);
            }
        }
}

static void zeros_and_null_rows_occur_only_where_promised(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_attn_kind *kind = rela_attn_kind_at(i);
        size_t zeros = 0, null_rows = 0;
        if (!rela_attn_shows(kind))
            continue;
        fill(&a, 2);
        for (size_t j = 0; j < D; j++) { /* the first query meets negative scores only */
            a.q[j] = -1;
            for (size_t row = 0; row < 40; row++)
                a.k[row * D + j] = row ? fabsf(a.k[row * D + j]) + 0.3f : 0.4f;
        }
        memset(a.head, 0, sizeof a.head);
        attend_one(&a, kind, false, 40, 40);
        for (size_t row = 0; row < HEADS * 40; row++) {
            size_t n = 0;
            for (size_t j = 0; j < 40; j++)
                n += a.w[row % HEADS][row / HEADS][j] == 0;
            zeros += n;
            null_rows += n == 40;
        }
        CHECK((zeros > 0) == ((kind->flags & ATTN_SPARSE) != 0), "%s: %zu zeros", kind->name,
              zeros);
        CHECK((null_rows > 0) == ((kind->flags & ATTN_NULLABLE) != 0), "%s: %zu null rows",
              kind->name, null_rows);
    }
}

/* Rotates the keys; weights rotate with them and the output stays. */
static void order_of_keys_does_not_matter(void **state)
{
    (void)state;
    enum { N = 37, SHIFT = 11 };
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_attn_kind *kind = rela_attn_kind_at(i);
        if (kind->pattern || (kind->flags & ATTN_ORDERED))
            continue;
        fill(&a, 2);
        b = a;
        for (size_t j = 0; j < N; j++) {
            memcpy(b.k + (j + SHIFT) % N * D, a.k + j * D, D * sizeof *a.k);
            memcpy(b.v + (j + SHIFT) % N * D, a.v + j * D, D * sizeof *a.v);
        }
        attend_one(&a, kind, false, N, N);
        attend_one(&b, kind, false, N, N);
        for (size_t row = 0; row < HEADS * N; row++)
            for (size_t j = 0; j < N; j++) {
                const float x = a.w[row % HEADS][row / HEADS][j];
                const float y = b.w[row % HEADS][row / HEADS][(j + SHIFT) % N];
                CHECK(fabsf(x - y) <= 4e-6f * (1 + fabsf(x)), "%s: %g became %g", kind->name,
                      (double)x, (double)y);
            }
        for (size_t j = 0; j < N * D; j++)
            CHECK(fabsf(a.z[j] - b.z[j]) <= 4e-5f * (1 + fabsf(a.z[j])), "%s: %g became %g",
                  kind->name, (double)a.z[j], (double)b.z[j]);
    }
}

static void same(const char *name, const char *what, const float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK(x[i] == y[i], "%s: %s[%zu] is %.9g instead of %.9g", name, what, i, (double)x[i],
              (double)y[i]);
}

/* Bit for bit, forward and backward; one of the sentences is empty. */
static void a_batch_equals_its_sentences_alone(void **state)
{
    (void)state;
    static const uint32_t AT[] = { 0, 3, 3, 40, 45 };
    for (size_t c = 0; rela_attn_kind_at(c / 2); c++) {
        const rela_attn_kind *kind = rela_attn_kind_at(c / 2);
        fill(&a, 2);
        b = a;
        attend(&a, kind, c % 2, 4, AT, AT);
        for (size_t s = 0; s < 4; s++) {
            const uint32_t at[] = { AT[s], AT[s + 1] };
            attend(&b, kind, c % 2, 1, at, at);
        }
        same(kind->name, "z", b.z, a.z, 45 * D);
        same(kind->name, "dq", b.dq, a.dq, 45 * D);
        same(kind->name, "dk", b.dk, a.dk, 45 * D);
        same(kind->name, "dv", b.dv, a.dv, 45 * D);
    }
}

/* The last row of every prefix equals that row of the full causal pass, bit for bit; and so does a
 * lone query over the keys so far, as decoding asks it, unless the kind looks at places. Methods
 * of kinds may add in another order then. */
static void step_by_step_equals_the_full_pass(void **state)
{
    (void)state;
    enum { N = 70 };
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_attn_kind *kind = rela_attn_kind_at(i);
        fill(&a, 2);
        b = a;
        attend_one(&a, kind, true, N, N);
        for (uint32_t n = 1; n <= N; n++) {
            attend_one(&b, kind, true, n, n);
            same(kind->name, "prefix", b.z + (n - 1) * D, a.z + (n - 1) * D, D);
            if (kind->pattern)
                continue;
            const uint32_t q_at[] = { n - 1, n }, k_at[] = { 0, n };
            attend(&b, kind, false, 1, q_at, k_at);
            if (!kind->method)
                same(kind->name, "step", b.z + (n - 1) * D, a.z + (n - 1) * D, D);
            for (size_t j = (n - 1) * D; j < n * D; j++)
                CHECK(fabsf(b.z[j] - a.z[j]) <= 2e-6f * (1 + fabsf(a.z[j])), "%s: step %u is %g",
                      kind->name, (unsigned)n, (double)b.z[j]);
        }
    }
}

static void extreme_scores_stay_finite(void **state)
{
    (void)state;
    static const float Q[] = { 1e15f, -1e15f, 0, -1e15f };
    enum { N = 20, ALL_LOW = 3 };
    for (size_t c = 0; rela_attn_kind_at(c / 4); c++) {
        const rela_attn_kind *kind = rela_attn_kind_at(c / 4);
        const bool squares = strcmp(kind->name, "relu2-g") == 0;
        const float less = squares ? 1e-8f : 1; /* 1e30 squared is not a float */
        fill(&a, 1);
        for (size_t j = 0; j < N * D; j++) { /* about +-1e30, both signs or all below */
            a.q[j] = Q[c % 4] * less;
            a.k[j] = ((j / D) % 3 || c % 4 == ALL_LOW ? 4e14f : -1e15f) * less;
            a.dz[j] = 1;
        }
        attend_one(&a, kind, c % 2, N, N);
        for (size_t row = 0; row < HEADS * N; row++)
            check_finite(kind->name, "weight", a.w[row % HEADS][row / HEADS], N);
        check_finite(kind->name, "z", a.z, N * D);
        check_finite(kind->name, "dq", a.dq, N * D);
        check_finite(kind->name, "dk", a.dk, N * D);
        check_finite(kind->name, "dv", a.dv, N * D);
        for (size_t row = 0; row < HEADS * N && kind->flags & ATTN_SUM_ONE; row++) {
            double sum = 0;
            for (size_t j = 0; j < N; j++)
                sum += (double)a.w[row % HEADS][row / HEADS][j];
            CHECK(fabs(sum - 1) < 1e-5, "%s: sum %g", kind->name, sum);
        }
    }
}

/* One head null, then all of them; through the norm of the kind, forward and backward. */
static void null_heads_keep_everything_finite(void **state)
{
    (void)state;
    enum { N = 6 };
    float gain[D], gate[D], dgain[D] = { 0 }, dgate[D] = { 0 };
    for (size_t j = 0; j < D; j++)
        gain[j] = gate[j] = 1;
    for (size_t c = 0; rela_attn_kind_at(c / 2); c++) {
        const rela_attn_kind *kind = rela_attn_kind_at(c / 2);
        if (!(kind->flags & ATTN_NULLABLE) || !kind->norm)
            continue;
        fill(&a, 1);
        memset(a.head, 0, sizeof a.head);
        for (size_t j = 0; j < N * D; j++) {
            a.q[j] = c % 2 || j % D < D_HEAD ? -1 : 1;
            a.k[j] = 1;
        }
        attend_one(&a, kind, false, N, N);
        for (size_t j = 0; j < N * D; j++)
            CHECK((a.z[j] == 0) == (c % 2 || j % D < D_HEAD), "%s: z[%zu] is %g", kind->name, j,
                  (double)a.z[j]);
        const rela_kern *k = rela_kern_get();
        const float *u = kind->norm->gated ? gate : NULL;
        k->gated_norm(b.z, a.z, gain, u, N, D, 1, 1e-8f, kind->norm->center);
        k->gated_norm_back(b.dz, dgain, u ? dgate : NULL, a.dz, a.z, gain, u, N, D, 1, 1e-8f,
                           kind->norm->center);
        check_finite(kind->name, "y", b.z, N * D);
        check_finite(kind->name, "dz", b.dz, N * D);
        check_finite(kind->name, "dgate", dgate, D);
        memcpy(a.dz, b.dz, sizeof a.dz);
        attend_one(&a, kind, false, N, N);
        for (size_t j = 0; j < N * D; j++)
            CHECK(isfinite((double)a.dq[j]) && (a.z[j] != 0 || a.dq[j] == 0),
                  "%s: a null head passes %g", kind->name, (double)a.dq[j]);
    }
}

/* No keys: output 0, gradient 0, the tap sees rows of no weights; no queries: keys and values get
 * gradient 0, the tap sees nothing. */
static void empty_sentences_give_zero(void **state)
{
    (void)state;
    static const uint32_t Q_AT[] = { 0, 2, 4, 4 }, K_AT[] = { 0, 3, 3, 5 };
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        fill(&a, 1);
        attend(&a, rela_attn_kind_at(i), false, 3, Q_AT, K_AT);
        const bool shown = rela_attn_shows(rela_attn_kind_at(i));
        CHECK(!shown || (a.rows == 4 * HEADS && a.without_keys == 2 * HEADS),
              "%s: %zu rows, %zu without keys", rela_attn_kind_at(i)->name, a.rows, a.without_keys);
        for (size_t j = 0; j < 2 * D; j++) {
            CHECK(a.z[2 * D + j] == 0 && a.dq[2 * D + j] == 0, "%s: without keys",
                  rela_attn_kind_at(i)->name);
            CHECK(a.dk[3 * D + j] == 0 && a.dv[3 * D + j] == 0, "%s: without queries",
                  rela_attn_kind_at(i)->name);
        }
    }
}

/* In the rectified kinds NaN is no weight: the query attends to nothing instead of spoiling z. */
static void nan_scores_get_no_weight_in_rectified_kinds(void **state)
{
    (void)state;
    enum { N = 9 };
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_attn_kind *kind = rela_attn_kind_at(i);
        if (!(kind->flags & (ATTN_POINTWISE | ATTN_NULLABLE)))
            continue;
        fill(&a, 1);
        a.q[3 * D] = NAN;
        attend_one(&a, kind, false, N, N);
        for (size_t j = 0; j < N; j++)
            CHECK(a.w[0][3][j] == 0, "%s: weight %g", kind->name, (double)a.w[0][3][j]);
        check_finite(kind->name, "z", a.z, N * D);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_sum_to_one_where_promised),
        cmocka_unit_test(zeros_and_null_rows_occur_only_where_promised),
        cmocka_unit_test(order_of_keys_does_not_matter),
        cmocka_unit_test(a_batch_equals_its_sentences_alone),
        cmocka_unit_test(step_by_step_equals_the_full_pass),
        cmocka_unit_test(extreme_scores_stay_finite),
        cmocka_unit_test(null_heads_keep_everything_finite),
        cmocka_unit_test(empty_sentences_give_zero),
        cmocka_unit_test(nan_scores_get_no_weight_in_rectified_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
