/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attn_paths.c - every way to compute attention gives the same: whole strips, tiles
 * with all weights, tiles with only those that are not zero, tiles of which 8 bits told which
 * scores to compute, with and without what the forward pass kept; of every usable table of loops,
 * around the borders of strips and blocks. */
#include "attnlayer.h"
#include "check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { HEADS = 2, LEN_MAX = 300, LONG = 4300, NUMBERS = LONG * HEADS * 6 };

typedef struct numbers {
    float q[NUMBERS], k[NUMBERS], v[NUMBERS];
    float dz[NUMBERS];
} numbers;

typedef struct results {
    float z[NUMBERS], dq[NUMBERS], dk[NUMBERS], dv[NUMBERS];
} results;

typedef struct shape {
    const rela_kern *k;
    const rela_attn_kind *kind;
    size_t d_head;
    uint32_t n_q, n_k;
    bool causal;
    double dropout;
} shape;

static const attn_setup SETUP = { .slope = 0.01f };
static numbers in;
static results dense, sparse, kept, prefiltered, chosen, whole;
static uint32_t seed = 1u;

/* The same numbers for a level whatever other levels the machine has. */
static const rela_kern *level_at(size_t level)
{
    seed = 1u;
    return rela_kern_at(level);
}

static float rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

/* Below zero lies the given share of the scores, roughly. */
static void fill(const shape *s, float share)
{
    const size_t d = HEADS * s->d_head;
    for (size_t i = 0; i < NUMBERS; i++) {
        in.q[i] = rnd();
        in.k[i] = rnd();
        in.v[i] = rnd();
        in.dz[i] = rnd();
    }
    for (size_t i = 0; i < (s->n_q > s->n_k ? s->n_q : s->n_k); i++)
        for (size_t h = 0; h < HEADS; h++) {
            in.q[i * d + h * s->d_head] = 1;
            in.k[i * d + h * s->d_head] =
                -(share - 0.5f) * 2 * sqrtf((float)s->d_head) + 0.2f * rnd();
        }
}

static float mixed[NUMBERS]; /* values by the weights that the tap saw */

static void see(void *ctx, const rela_attn_view *v)
{
    const shape *s = ctx;
    const size_t d = HEADS * s->d_head;
    for (size_t i = 0; i < v->rows; i++)
        for (size_t c = v->head * s->d_head; c < (v->head + 1) * s->d_head; c++) {
            double sum = 0;
            for (size_t j = 0; j < v->n; j++)
                sum += (double)v->w[i * v->ld + j] * (double)in.v[j * d + c];
            mixed[(v->first + i) * d + c] = (float)sum;
        }
}

typedef enum manner { PLAIN, LOOKED_AT, KEPT } manner;

static void attend(results *r, shape *s, rela_attn_path path, manner how)
{
    const size_t d = HEADS * s->d_head;
    const rela_attn_tap tap = { see, s };
    const uint32_t q_at[] = { 0, s->n_q }, k_at[] = { 0, s->n_k };
    const rela_attn_rows rows = { 1, q_at, k_at, 7 };
    const rela_attn_in from = { in.q, in.k, in.v, d, d, d };
    const rela_attn_grad grad = { r->dq, r->dk, r->dv, { NULL }, how == KEPT ? r->z : NULL };
    attn_layer l;
    attn_layer_start(&l, s->kind, &SETUP, HEADS, s->d_head, s->n_k);
    l.attn.k = s->k;
    l.attn.causal = s->causal;
    l.attn.path = path;
    l.attn.drop = rela_drop_make(s->dropout, 3, 4, 5, 0);
    l.attn.tap = how == LOOKED_AT ? &tap : NULL;
    const rela_attn_shape sizes = attn_layer_shape(&l);
    const size_t words = rela_attn_kept_words(&sizes, s->n_q, s->n_k, s->n_k);
    if (how == KEPT && words) {
        l.attn.kept = malloc(words * sizeof(uint64_t)); /* no more: the sanitizer watches */
        CHECK(l.attn.kept != NULL, "no memory for %zu words", words);
    }
    memset(r, 0, sizeof *r);
    rela_attn_forward(&l.attn, &l.scratch, r->z, &from, &rows);
    rela_attn_back(&l.attn, &l.scratch, &grad, in.dz, &from, &rows);
    free(l.attn.kept);
    attn_layer_end(&l);
}

static void check_same(const shape *s, const char *what, const float *x, const float *y, size_t n,
                       double tolerance)
{
    for (size_t i = 0; i < n; i++)
        CHECK(fabs((double)x[i] - (double)y[i]) <= tolerance,
              "%s, %s, d_head %zu, %u queries, %u keys, causal %d, dropout %g: %s[%zu] is %.9g, "
              "not %.9g",
              s->k->name, s->kind->name, s->d_head, (unsigned)s->n_q, (unsigned)s->n_k, s->causal,
              s->dropout, what, i, (double)x[i], (double)y[i]);
}

/* Forward all sums have the same order, but for prefiltered scores, each of which is a sum of
 * d_head products below 1 in another order. Backward the gradient of a weight, and the weight
 * itself if only its place was kept, is a sum of d_head products below 1 in another order, which
 * then meets at most len numbers below 1. */
static void check_shape(shape *s)
{
    const size_t d = HEADS * s->d_head;
    const double one = 2 * (double)s->d_head * (double)s->d_head * (double)FLT_EPSILON;
    attend(&dense, s, RELA_ATTN_DENSE, PLAIN);
    attend(&sparse, s, RELA_ATTN_SPARSE, PLAIN);
    attend(&kept, s, RELA_ATTN_SPARSE, KEPT);
    attend(&prefiltered, s, RELA_ATTN_PREFILTERED, KEPT);
    attend(&chosen, s, RELA_ATTN_AUTO, KEPT);
    attend(&whole, s, RELA_ATTN_AUTO, LOOKED_AT);
    check_same(s, "sparse z", sparse.z, dense.z, s->n_q * d, 0);
    check_same(s, "prefiltered z", prefiltered.z, dense.z, s->n_q * d, one * s->n_k);
    check_same(s, "chosen z", chosen.z, dense.z, s->n_q * d, one * s->n_k);
    check_same(s, "seen z", whole.z, chosen.z, s->n_q * d, 0);
    if ((s->kind->flags & ATTN_SOFT) && !(s->dropout > 0)) /* weights of sum 1, values below 1 */
        check_same(s, "joined z", dense.z, mixed, s->n_q * d, 16 * (double)FLT_EPSILON);
    check_same(s, "sparse dq", sparse.dq, dense.dq, s->n_q * d, one * s->n_k);
    check_same(s, "sparse dk", sparse.dk, dense.dk, s->n_k * d, one * s->n_q);
    check_same(s, "sparse dv", sparse.dv, dense.dv, s->n_k * d, 0);
    check_same(s, "kept z", kept.z, dense.z, s->n_q * d, 0);
    check_same(s, "kept dq", kept.dq, dense.dq, s->n_q * d, one * s->n_k);
    check_same(s, "kept dk", kept.dk, dense.dk, s->n_k * d, one * s->n_q);
    check_same(s, "kept dv", kept.dv, dense.dv, s->n_k * d, one * s->n_q);
    check_same(s, "chosen dq", chosen.dq, dense.dq, s->n_q * d, one * s->n_k);
    check_same(s, "chosen dk", chosen.dk, dense.dk, s->n_k * d, one * s->n_q);
    check_same(s, "chosen dv", chosen.dv, dense.dv, s->n_k * d, one * s->n_q);
    check_same(s, "prefiltered dq", prefiltered.dq, dense.dq, s->n_q * d, one * s->n_k);
    check_same(s, "prefiltered dk", prefiltered.dk, dense.dk, s->n_k * d, one * s->n_q);
    check_same(s, "prefiltered dv", prefiltered.dv, dense.dv, s->n_k * d, one * s->n_q);
}

/* No factor of the numbers of cases: those that are left vary in everything. */
enum { STEP = EMULATED ? 7 : 1 };

static void all_paths_agree(void **state)
{
    (void)state;
    static const size_t D_HEADS[] = { 5, 16, 32, 64, 80 };
    static const uint32_t LENGTHS[] = { 1, 15, 63, 64, 65, 127, 128, 129, LEN_MAX };
    enum { N_LENGTHS = sizeof LENGTHS / sizeof LENGTHS[0] };
    for (size_t level = 0; level_at(level); level++)
        for (size_t i = 0; rela_attn_kind_at(i); i++) {
            shape s = { .k = rela_kern_at(level), .kind = rela_attn_kind_at(i) };
            for (size_t c = i % STEP;
                 (s.kind->flags & (ATTN_POINTWISE | ATTN_SOFT)) && c < 5 * N_LENGTHS; c += STEP) {
                s.d_head = D_HEADS[c % 5];
                s.n_q = LENGTHS[c / 5];
                s.n_k = LENGTHS[(c / 5 + c % 3) % N_LENGTHS];
                s.causal = c % 2;
                s.dropout = c % 4 < 2 ? 0 : 0.3;
                fill(&s, c % 3 == 0 ? 0.5f : 0.9f);
                check_shape(&s);
            }
        }
}

/* Whether a tile is prefiltered depends on the zeros of the one before: that must be decided in the
 * same way whether weights are kept, looked at or neither. Shares of zeros around every limit. */
static void keeping_and_looking_change_no_bit(void **state)
{
    (void)state;
    static const size_t D_HEADS[] = { 5, 16, 32, 64 };
    static const uint32_t KEYS_OF[] = { 1, 2, 3, 17, 130 };
    for (size_t level = 0; level_at(level); level++)
        for (size_t c = 0; c < 4 * 5 * 24; c += STEP) {
            shape s = { .k = rela_kern_at(level),
                        .kind = rela_attn_kind_find(c % 2 ? "rela-g" : "relu-rms"),
                        .d_head = D_HEADS[c % 4],
                        .n_q = LEN_MAX,
                        .n_k = KEYS_OF[c / 4 % 5],
                        .dropout = c % 3 ? 0 : 0.2 };
            fill(&s, 0.5f + 0.02f * (float)(c / 20));
            attend(&sparse, &s, RELA_ATTN_AUTO, PLAIN);
            attend(&chosen, &s, RELA_ATTN_AUTO, KEPT);
            attend(&whole, &s, RELA_ATTN_AUTO, LOOKED_AT);
            check_same(&s, "kept z", chosen.z, sparse.z, s.n_q * HEADS * s.d_head, 0);
            check_same(&s, "seen z", whole.z, sparse.z, s.n_q * HEADS * s.d_head, 0);
        }
}

/* More keys than are kept. */
static void long_sentences_agree(void **state)
{
    (void)state;
    shape s = { .k = rela_kern_get(), .kind = rela_attn_kind_find("rela-g"), .d_head = 5 };
    s.n_q = 70;
    s.n_k = LONG;
    fill(&s, 0.9f);
    check_shape(&s);
}

/* A head that attends to nothing costs nothing and passes nothing. */
static void null_heads_are_zero_on_every_path(void **state)
{
    (void)state;
    shape s = { .k = rela_kern_get(), .kind = rela_attn_kind_find("rela-g"), .d_head = 32 };
    s.n_q = s.n_k = 130;
    fill(&s, 8);
    check_shape(&s);
    for (size_t i = 0; i < s.n_q * HEADS * s.d_head; i++)
        CHECK(sparse.z[i] == 0 && sparse.dq[i] == 0 && sparse.dk[i] == 0 && sparse.dv[i] == 0 &&
                  prefiltered.z[i] == 0 && prefiltered.dq[i] == 0,
              "number %zu of a null head is not zero", i);
}

/* Gradients are written though no query comes by. */
static void without_queries_gradients_are_zero(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "softmax", "rela-g" };
    for (size_t i = 0; i < 2; i++) {
        shape s = { .k = rela_kern_get(), .kind = rela_attn_kind_find(KINDS[i]), .d_head = 32 };
        const size_t count = 20 * HEADS * s.d_head;
        s.n_k = 20;
        fill(&s, 0.5f);
        for (size_t j = 0; j < count; j++)
            kept.dk[j] = kept.dv[j] = 1;
        attend(&kept, &s, RELA_ATTN_AUTO, KEPT);
        for (size_t j = 0; j < count; j++)
            CHECK(kept.dk[j] == 0 && kept.dv[j] == 0, "%s: number %zu", KINDS[i], j);
    }
}

enum { ROWS = 64, KEYS = 128, WIDE = 112 };

static float w[ROWS * KEYS], values[KEYS * WIDE], z[ROWS * WIDE], expected[ROWS * WIDE];

static void check_bits(const rela_kern *k, size_t rows, size_t n, size_t positive)
{
    uint64_t looks[KEYS], bits[ROWS * RELA_PREFILTER_WORDS];
    CHECK(k->count_above(w, rows * n) == positive, "%s: %zu above 0, not %zu", k->name,
          k->count_above(w, rows * n), positive);
    CHECK(k->note_above(bits, w, rows * n) == positive, "%s: not %zu above 0", k->name, positive);
    k->transpose_mask(looks, bits, rows, n);
    for (size_t i = 0; i < rows * n; i++)
        CHECK((looks[i % n] >> i / n & 1) == (w[i] > 0), "%s: query %zu, key %zu of %zu x %zu",
              k->name, i / n, i % n, rows, n);
    for (size_t j = 0; j < n && rows < 64; j++)
        CHECK(looks[j] >> rows == 0, "%s: bits after %zu queries", k->name, rows);
}

/* Round 0: nothing but zeros; 1 and 2: some; 3: none. */
static void check_few(const rela_kern *k, size_t rows, size_t n, size_t wide, uint32_t round)
{
    size_t positive = 0;
    for (size_t i = 0; i < rows * n; i++) {
        const float y = rnd();
        w[i] = round == 0 || (round < 3 && y < 0.6f) ? 0 : y;
        positive += w[i] > 0;
    }
    for (size_t i = 0; i < rows * wide; i++)
        z[i] = expected[i] = rnd();
    k->mix_few(z, w, rows, n, values, wide);
    k->mm(expected, wide, w, n, 1, values, wide, rows, wide, n, true);
    CHECK(memcmp(z, expected, rows * wide * sizeof *z) == 0, "%s: %zu x %zu x %zu mixed otherwise",
          k->name, rows, n, wide);
    check_bits(k, rows, n, positive);
}

static void weights_that_are_not_zero_are_found_and_mixed(void **state)
{
    (void)state;
    static const size_t SOME_ROWS[] = { 1, 3, 4, 31, 32, 33, 63, ROWS };
    for (size_t i = 0; i < KEYS * WIDE; i++)
        values[i] = rnd();
    for (size_t level = 0; level_at(level); level++)
        for (size_t n = rela_kern_at(level)->lanes; n <= KEYS; n += rela_kern_at(level)->lanes)
            for (uint32_t c = 0; c < 8 * 4; c++)
                check_few(rela_kern_at(level), SOME_ROWS[c % 8], n, 16 * (1 + c % 7), c / 8);
}

/* ---- prefiltering ---- */

static float queries[ROWS * WIDE], keys[KEYS * WIDE];

/* Rows that 8 bits have trouble with: zeros, a single large number, numbers near the ends of what
 * floats can hold, and beyond. */
static void make_odd(float *row, size_t wide, uint32_t how)
{
    static const float FACTORS[] = { 0, 1e-44f, 1e-38f, 1e-30f, 1e30f, 3e38f };
    for (size_t i = 0; how < 6 && i < wide; i++)
        row[i] *= FACTORS[how];
    if (how >= 6)
        row[how % wide] = how == 6 ? 1e6f : how == 7 ? INFINITY : NAN;
}

/* Queries and keys whose scores lie about the shift below 0. */
typedef struct screen_case {
    const rela_kern *k;
    size_t m, n, wide;
    float shift;
    bool odd; /* with rows that 8 bits have trouble with */
} screen_case;

static void fill_screen(const screen_case *c)
{
    for (size_t i = 0; i < c->m * c->wide; i++)
        queries[i] = i % c->wide ? rnd() : 1;
    for (size_t i = 0; i < c->n * c->wide; i++) {
        keys[i] = i % c->wide ? rnd() : -c->shift;
        values[i] = rnd();
    }
    for (uint32_t how = 0; c->odd && how < 9 && how < c->m && how < c->n; how++) {
        make_odd(queries + how * c->wide, c->wide, how);
        make_odd(keys + (c->n - 1 - how) * c->wide, c->wide, how);
    }
}

/* Weights w (m, all keys) and mixed values as expected; returns how many are above 0. */
static size_t weigh_plainly(const screen_case *c)
{
    size_t weighty = 0;
    memset(expected, 0, c->m * c->wide * sizeof *expected);
    for (size_t i = 0; i < c->m * RELA_PREFILTER_KEYS; i++) {
        const size_t j = i % RELA_PREFILTER_KEYS, row = i / RELA_PREFILTER_KEYS * c->wide;
        const float score = j < c->n ? c->k->dot(queries + row, keys + j * c->wide, c->wide) : 0;
        w[i] = score > 0 ? score : 0;
        if (score > 0)
            c->k->axpy(expected + row, score, values + j * c->wide, c->wide);
        weighty += score > 0;
    }
    return weighty;
}

static void screen_all(const screen_case *c, uint64_t *bits)
{
    static int8_t query_bytes[ROWS * WIDE], key_bytes[KEYS * WIDE];
    int32_t query_bound[ROWS], key_bound[KEYS];
    const rela_prefilter s = { .bits = bits,
                               .m = c->m,
                               .n = c->n,
                               .wide = c->wide,
                               .queries = query_bytes,
                               .keys = key_bytes,
                               .query_bound = query_bound,
                               .key_bound = key_bound };
    c->k->prefilter_queries(query_bytes, query_bound, queries, c->m, c->wide);
    c->k->prefilter_keys(key_bytes, key_bound, keys, c->n, c->wide);
    c->k->prefilter(&s);
}

static void check_screen(const screen_case *c, const uint64_t *bits, size_t weighty)
{
    size_t left = 0;
    for (size_t i = 0; i < c->m * RELA_PREFILTER_KEYS; i++) {
        const bool may = bits[i / 64] >> i % 64 & 1;
        CHECK(may || !(w[i] > 0), "%s, %zu x %zu x %zu: query %zu, key %zu: score %g missed",
              c->k->name, c->m, c->n, c->wide, i / KEYS, i % KEYS, (double)w[i]);
        CHECK(i % KEYS < c->n || !may, "%s: key %zu of %zu", c->k->name, i % KEYS, c->n);
        left += may;
    }
    CHECK(c->odd || c->shift < 1 || left <= weighty + 8 + c->m * c->n / 8,
          "%s, %zu x %zu x %zu: %zu scores are computed for %zu above 0", c->k->name, c->m, c->n,
          c->wide, left, weighty);
}

static void check_mixed(const screen_case *c, uint64_t *bits, size_t weighty)
{
    uint64_t expected_bits[ROWS * RELA_PREFILTER_WORDS];
    const double bound = (double)(c->n * c->wide * c->wide) * (double)FLT_EPSILON;
    const rela_prefiltered b = { .bits = bits,
                                 .m = c->m,
                                 .wide = c->wide,
                                 .keeps = true,
                                 .scale = 1,
                                 .q = queries,
                                 .keys = keys,
                                 .values = values,
                                 .z = z };
    memset(z, 0, c->m * c->wide * sizeof *z);
    const size_t found = c->k->mix_prefiltered(&b);
    if (c->odd) /* sums that overflow in one order need not in another */
        return;
    CHECK(found == weighty, "%s: %zu weights, not %zu", c->k->name, found, weighty);
    for (size_t i = 0; i < c->m * c->wide; i++)
        CHECK(fabs((double)z[i] - (double)expected[i]) <= bound, "%s: %zu x %zu x %zu: %g, not %g",
              c->k->name, c->m, c->n, c->wide, (double)z[i], (double)expected[i]);
    c->k->note_above(expected_bits, w, c->m * KEYS);
    CHECK(memcmp(bits, expected_bits, c->m * RELA_PREFILTER_WORDS * sizeof *bits) == 0,
          "%s: %zu x %zu x %zu looked otherwise", c->k->name, c->m, c->n, c->wide);
}

static void no_score_above_zero_is_missed(void **state)
{
    (void)state;
    static const size_t SOME_ROWS[] = { 1, 3, 7, 8, 9, 33, 63, ROWS };
    static const size_t SOME_KEYS[] = { 1, 15, 16, 17, 64, 65, 100, KEYS };
    for (size_t level = 0; level_at(level); level++)
        for (uint32_t i = 0; i < 8 * 8 * 7; i++) {
            const screen_case c = { .k = rela_kern_at(level),
                                    .m = SOME_ROWS[i % 8],
                                    .n = SOME_KEYS[i / 8 % 8],
                                    .wide = 16 * (1 + (size_t)i / 64),
                                    .shift = (float)(i % 5),
                                    .odd = i % 3 == 0 };
            uint64_t bits[ROWS * RELA_PREFILTER_WORDS];
            fill_screen(&c);
            const size_t weighty = weigh_plainly(&c);
            screen_all(&c, bits);
            check_screen(&c, bits, weighty);
            check_mixed(&c, bits, weighty);
        }
}

/* Bits of dropped weights are cleared, and no others. */
static void dropped_bits_are_those_of_dropped_weights(void **state)
{
    (void)state;
    const rela_drop drop = rela_drop_make(0.3, 1, 2, 3, 4);
    for (size_t level = 0; level_at(level); level++) {
        const rela_kern *k = rela_kern_at(level);
        uint64_t bits[ROWS * RELA_PREFILTER_WORDS];
        memset(bits, 0xFF, sizeof bits);
        k->drop_bits(bits, ROWS, &drop, 1000);
        for (size_t i = 0; i < ROWS * KEYS; i++)
            w[i] = 1;
        for (size_t i = 0; i < ROWS; i++) {
            rela_drop row = drop;
            row.first += (uint32_t)i * 1000;
            k->dropout(w + i * KEYS, KEYS, &row);
        }
        for (size_t i = 0; i < ROWS * KEYS; i++)
            CHECK((bits[i / 64] >> i % 64 & 1) == (w[i] > 0), "%s: query %zu, key %zu", k->name,
                  i / KEYS, i % KEYS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_paths_agree),
        cmocka_unit_test(keeping_and_looking_change_no_bit),
        cmocka_unit_test(long_sentences_agree),
        cmocka_unit_test(null_heads_are_zero_on_every_path),
        cmocka_unit_test(without_queries_gradients_are_zero),
        cmocka_unit_test(weights_that_are_not_zero_are_found_and_mixed),
        cmocka_unit_test(no_score_above_zero_is_missed),
        cmocka_unit_test(dropped_bits_are_those_of_dropped_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
