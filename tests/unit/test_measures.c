/* SPDX-License-Identifier: MIT */
/* tests/unit/test_measures.c - sparsity, null rate, head diversity, tags and AUC against cases
 * worked out by hand. */
#include "analyse/findings.h"
#include "attend.h"
#include "check.h"

#include <float.h>
#include <math.h>
#include <string.h>

static rela_config config_of(size_t heads, const char *kind)
{
    rela_config c = { .heads = heads, .enc_layers = 1, .dec_layers = 1 };
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind);
    return c;
}

static rela_heads heads_of(rela_attn_type type, size_t heads, size_t n_q, size_t n_k, const real *w)
{
    return (rela_heads){ 0, type, 0, heads, n_q, n_k, w };
}

static void start(rela_measures *m, size_t heads, const char *kind)
{
    rela_error err = { RELA_OK, "" };
    const rela_config c = config_of(heads, kind);
    CHECK_OK(rela_measures_init(m, &c, &err), err);
}

static void see(rela_measures *m, const rela_heads *h)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_measures_see(m, h, &err), err);
}

#define NEAR(got, want)                                                                            \
    CHECK(fabs((got) - (want)) < 1e-9, "%s: %.12g, want %.12g", #got, (double)(got), (double)(want))

static void zeros_and_null_rows_are_counted(void **state)
{
    (void)state;
    rela_measures m;
    start(&m, 2, "rela-g");
    const real w[] = { 1, 0, 0, /* head 0: one null row of two */
                       0, 0, 0, /**/
                       0, 0, 0, /* head 1: all null but the end */
                       2, 3, 4 };
    const rela_heads h = heads_of(RELA_ATTN_CROSS, 2, 2, 3, w);
    see(&m, &h);
    const rela_head_sums *s = m.head[RELA_ATTN_CROSS];
    NEAR(rela_sparsity_micro(&s[0]), 5.0 / 6);
    NEAR(rela_sparsity_micro(&s[1]), 3.0 / 6);
    NEAR(rela_null_micro(&s[0]), 0.5);
    NEAR(rela_null_micro(&s[1]), 0.5);
    NEAR(rela_head_null(&h, 0, true), 0);
    NEAR(rela_head_null(&h, 1, true), 1);
    /* no query is left without any head */
    CHECK(m.layer[RELA_ATTN_CROSS][0].null_rows == 0 && m.layer[RELA_ATTN_CROSS][0].rows == 2,
          "layer rows");
    const rela_spread sparse = rela_spread_over_heads(&m, RELA_ATTN_CROSS, 0, rela_sparsity_micro);
    NEAR(sparse.mean, 4.0 / 6);
    NEAR(sparse.variance, 2 * (1.0 / 6) * (1.0 / 6)); /* n - 1 is 1 */
    rela_measures_deinit(&m);
}

static void the_end_can_be_left_out_of_null_rates_only(void **state)
{
    (void)state;
    rela_measures m;
    start(&m, 1, "rela-g");
    m.skip_end = true;
    const real w[] = { 1, 2, 0, 0 };
    const rela_heads h = heads_of(RELA_ATTN_CROSS, 1, 2, 2, w);
    see(&m, &h);
    NEAR(rela_null_micro(&m.head[RELA_ATTN_CROSS][0]), 0);
    NEAR(rela_sparsity_micro(&m.head[RELA_ATTN_CROSS][0]), 0.5);
    rela_measures_deinit(&m);
}

static void hidden_keys_are_no_zeros(void **state)
{
    (void)state;
    rela_measures m;
    start(&m, 1, "rela-g");
    const real w[] = { 1, 0, 0, /* sees itself only */
                       0, 0, 0, /* null, of two */
                       1, 0, 1 };
    const rela_heads h = heads_of(RELA_ATTN_DEC, 1, 3, 3, w);
    see(&m, &h);
    NEAR(rela_sparsity_micro(&m.head[RELA_ATTN_DEC][0]), 3.0 / 6);
    NEAR(rela_null_micro(&m.head[RELA_ATTN_DEC][0]), 1.0 / 3);
    rela_measures_deinit(&m);
}

static void micro_counts_weights_and_macro_sentences(void **state)
{
    (void)state;
    rela_measures m, other;
    start(&m, 1, "rela-g");
    start(&other, 1, "rela-g");
    const real one[] = { 0 }, two[] = { 1, 1, 0, 1 };
    const rela_heads a = heads_of(RELA_ATTN_ENC, 1, 1, 1, one);
    const rela_heads b = heads_of(RELA_ATTN_ENC, 1, 2, 2, two);
    see(&m, &a);
    see(&other, &b);
    rela_measures_add(&m, &other); /* two threads */
    const rela_head_sums *s = m.head[RELA_ATTN_ENC];
    NEAR(rela_sparsity_micro(s), 2.0 / 5);
    NEAR(rela_sparsity_macro(s), (1.0 + 0.25) / 2);
    NEAR(rela_null_micro(s), 1.0 / 3);
    NEAR(rela_null_macro(s), 0.5);
    const rela_head_sums nothing = { 0 };
    NEAR(rela_sparsity_micro(&nothing) + rela_null_macro(&nothing), 0);
    rela_measures_deinit(&m);
    rela_measures_deinit(&other);
}

static void divergence_reaches_both_bounds(void **state)
{
    (void)state;
    enum { H = 4, N = 5 };
    double scratch[2 * (N + 1)];
    real same[H * N], apart[H * N] = { 0 }, peaked[H * N] = { 0 };
    for (int h = 0; h < H; h++) {
        for (int k = 0; k < N; k++)
            same[h * N + k] = (real)(k + 1) / 15;
        apart[h * N + h] = 1;
        peaked[h * N + h] = h < H - 1 ? (real)1e4 : 0; /* the last head is null */
    }
    NEAR(rela_js(same, H, N, N, true, 1, scratch), 0);
    NEAR(rela_js(same, H, N, N, false, 0.25, scratch), 0);
    NEAR(rela_js(apart, H, N, N, true, 1, scratch), log(H));
    NEAR(rela_js(peaked, H, N, N, false, 1, scratch), log(H));
    NEAR(rela_js(apart, 1, N, N, true, 1, scratch), 0); /* one head agrees with itself */
    real null[H * N] = { 0 };
    NEAR(rela_js(null, H, N, N, false, 1, scratch), 0); /* all are null: they agree */
}

static void divergence_of_small_cases(void **state)
{
    (void)state;
    double scratch[6];
    const double ln2 = log(2);
    /* (1, 0) and (1/2, 1/2): Ent(3/4, 1/4) - ln(2)/2 */
    const real p[] = { 1, 0, 0.5F, 0.5F };
    const double mixed = -0.75 * log(0.75) - 0.25 * log(0.25);
    NEAR(rela_js(p, 2, 2, 2, true, 1, scratch), mixed - ln2 / 2);
    /* Rectified (4, 0) at temperature 1/2 is softmax(2, 0); beside it a null head on its own slot:
     * Ent(p/2, q/2, 1/2) - Ent(p, q)/2 = ln 2 whatever p is. */
    const real w[] = { 4, 0, 0, 0 };
    NEAR(rela_js(w, 2, 2, 2, false, 0.5, scratch), ln2);
    /* (4, 0) and (0, 4) at temperature 1/2: Ent(1/2, 1/2) - Ent(softmax(2, 0)) */
    const real x[] = { 4, 0, 0, 4 };
    const double q = 1 / (1 + exp(-2.0));
    NEAR(rela_js(x, 2, 2, 2, false, 0.5, scratch), ln2 + q * log(q) + (1 - q) * log(1 - q));
    /* A negative weight, as leaky kinds have them, keeps its sign. */
    const real y[] = { -4, 0, 0, -4 };
    const double r = 1 / (1 + exp(-2.0));
    NEAR(rela_js(y, 2, 2, 2, false, 0.5, scratch), ln2 + r * log(r) + (1 - r) * log(1 - r));
}

static void diversity_is_a_mean_over_queries_then_sentences(void **state)
{
    (void)state;
    rela_measures m;
    start(&m, 2, "softmax");
    /* Two heads. First sentence: queries with ln 2 and 0. Second: one query with ln 2. */
    const real a[] = { 1, 0, 1, 0, /**/ 0, 1, 1, 0 }, b[] = { 1, 0, /**/ 0, 1 };
    const rela_heads first = heads_of(RELA_ATTN_CROSS, 2, 2, 2, a);
    const rela_heads second = heads_of(RELA_ATTN_CROSS, 2, 1, 2, b);
    see(&m, &first);
    see(&m, &second);
    for (size_t k = 0; k < RELA_TAUS; k++) /* weights that sum to one have no temperature */
        NEAR(rela_layer_js(&m.layer[RELA_ATTN_CROSS][0], k), (log(2) / 2 + log(2)) / 2);
    NEAR(rela_mean_js(&m, RELA_ATTN_CROSS, 0), 0.75 * log(2));
    rela_measures_deinit(&m);
}

static void null_rates_belong_to_the_word_before(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_tag_null t, sum;
    /* Words "x y@@ z": pieces 0 | 1 1; tags 1 and 2. Queries: after the start, after word 0,
     * inside word 1 (not counted), after word 1. */
    static const uint32_t WORD_OF[] = { 0, 1, 1 }, TAGS[] = { 1, 2 };
    const rela_watched p = { .n_src = 2, .n_tgt = 4, .tgt_map = { WORD_OF, 3, 2 } };
    const real w[] = { 0, 0, 1, 0, 0, 0, 0, 0 };
    const rela_heads h = heads_of(RELA_ATTN_CROSS, 1, 4, 2, w);
    CHECK_OK(rela_tag_null_init(&t, 1, 1, 3, &err), err);
    CHECK_OK(rela_tag_null_init(&sum, 1, 1, 3, &err), err);
    rela_tag_null_see(&t, &h, &p, TAGS);
    rela_tag_null_add(&sum, &t);
    rela_tag_null_add(&sum, &t);
    static const uint64_t WANT[][2] = { { 2, 2 }, { 0, 2 }, { 2, 2 } };
    for (int i = 0; i < 3; i++)
        CHECK(sum.cells[i].null_rows == WANT[i][0] && sum.cells[i].rows == WANT[i][1],
              "tag %d: %d of %d", i, (int)sum.cells[i].null_rows, (int)sum.cells[i].rows);
    rela_map *names = rela_map_create(0);
    CHECK(names && rela_map_add(names, "(start)", 7) == 0 && rela_map_add(names, "N", 1) == 1,
          "map");
    uint32_t found[1];
    CHECK(rela_tags_find(found, 1, names, (rela_span){ "  N N ", 6 }) == 2 && found[0] == 1,
          "tags of a line");
    rela_map_destroy(names);
    rela_tag_null_deinit(&t);
    rela_tag_null_deinit(&sum);
}

static void area_under_the_curve(void **state)
{
    (void)state;
    double low[] = { 0.1, 0.2, -1 }, high[] = { 0.3, 0.5 };
    NEAR(rela_auc(low, 3, high, 2), 1);
    double a[] = { 0.3, 0.1 }, b[] = { 0.2, 0.3 };
    NEAR(rela_auc(a, 2, b, 2), (1 + 1.5) / 4);
    double c[] = { 0, 0, 0 }, d[] = { 0, 0 };
    NEAR(rela_auc(c, 3, d, 2), 0.5);
    NEAR(rela_auc(c, 0, d, 2), 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_and_null_rows_are_counted),
        cmocka_unit_test(the_end_can_be_left_out_of_null_rates_only),
        cmocka_unit_test(hidden_keys_are_no_zeros),
        cmocka_unit_test(micro_counts_weights_and_macro_sentences),
        cmocka_unit_test(divergence_reaches_both_bounds),
        cmocka_unit_test(divergence_of_small_cases),
        cmocka_unit_test(diversity_is_a_mean_over_queries_then_sentences),
        cmocka_unit_test(null_rates_belong_to_the_word_before),
        cmocka_unit_test(area_under_the_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
