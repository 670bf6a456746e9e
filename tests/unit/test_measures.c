/* SPDX-License-Identifier: MIT */
/* tests/unit/test_measures.c - sparsity, null rate, head diversity, tags and AUC against cases
 * worked out by hand. */
#include "analyse/findings.h"
#include "lens.h"
#include "tiny_config.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Whether the weights of heads sum to one. */
static const bool ONE[] = { true, true, true, true }, OTHER[] = { false, false, false, false };

/* Measures of a model with one layer. */
typedef struct gauge {
    rela_net net;
    rela_measures m;
} gauge;

static void start_sources(gauge *g, size_t sources, size_t heads, const char *kind)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    tiny_config(&c);
    c.sources = sources;
    c.d = c.ffn = 8;
    c.heads = heads;
    c.enc_layers = c.dec_layers = 1;
    c.vocab_src = c.vocab_tgt = 8;
    CHECK_OK(rela_config_attend(&c, kind, &err), err);
    CHECK_OK(rela_net_init(&g->net, &c, &err), err);
    CHECK_OK(rela_measures_init(&g->m, &g->net, &err), err);
}

static void start(gauge *g, size_t heads, const char *kind)
{
    start_sources(g, 1, heads, kind);
}

static void end(gauge *g)
{
    rela_measures_deinit(&g->m);
    rela_net_deinit(&g->net);
}

/* Weights (heads, n_q, n_k) of the place with that name. */
static rela_heads heads_of(const gauge *g, const char *name, size_t n_q, size_t n_k, const real *w)
{
    const size_t place = place_named(&g->net, name);
    return (rela_heads){ .stack = place,
                         .of = &g->net.list.stacks[place],
                         .heads = g->m.heads,
                         .n_q = n_q,
                         .n_k = n_k,
                         .w = w };
}

static void see(gauge *g, const rela_heads *h)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_measures_count(&g->m, h, &err), err);
}

static const rela_head_sums *sums_of(const gauge *g, const char *name)
{
    return g->m.head[place_named(&g->net, name)];
}

static const rela_layer_sums *layer_of(const gauge *g, const char *name)
{
    return g->m.layer[place_named(&g->net, name)];
}

#define NEAR(got, want)                                                                            \
    CHECK(fabs((got) - (want)) < 1e-9, "%s: %.12g, want %.12g", #got, (double)(got), (double)(want))

static void zeros_and_null_rows_are_counted(void **state)
{
    (void)state;
    gauge g;
    start(&g, 2, "rela-g");
    const real w[] = { 1, 0, 0, /* head 0: one null row of two */
                       0, 0, 0, /**/
                       0, 0, 0, /* head 1: all null but the end */
                       2, 3, 4 };
    const rela_heads h = heads_of(&g, "cross", 2, 3, w);
    see(&g, &h);
    const rela_head_sums *s = sums_of(&g, "cross");
    NEAR(rela_sparsity_micro(&s[0]), 5.0 / 6);
    NEAR(rela_sparsity_micro(&s[1]), 3.0 / 6);
    NEAR(rela_null_micro(&s[0]), 0.5);
    NEAR(rela_null_micro(&s[1]), 0.5);
    NEAR(rela_head_null(&h, 0, true), 0);
    NEAR(rela_head_null(&h, 1, true), 1);
    /* no query is left without any head */
    CHECK(layer_of(&g, "cross")->null_rows == 0 && layer_of(&g, "cross")->rows == 2, "layer rows");
    const rela_spread sparse =
        rela_spread_over_heads(&g.m, place_named(&g.net, "cross"), 0, rela_sparsity_micro);
    NEAR(sparse.mean, 4.0 / 6);
    NEAR(sparse.variance, 2 * (1.0 / 6) * (1.0 / 6)); /* n - 1 is 1 */
    end(&g);
}

static void the_end_can_be_left_out_of_null_rates_only(void **state)
{
    (void)state;
    gauge g;
    start(&g, 1, "rela-g");
    g.m.skip_end = true;
    const real w[] = { 1, 2, 0, 0 };
    const rela_heads h = heads_of(&g, "cross", 2, 2, w);
    see(&g, &h);
    NEAR(rela_null_micro(&sums_of(&g, "cross")[0]), 0);
    NEAR(rela_sparsity_micro(&sums_of(&g, "cross")[0]), 0.5);
    end(&g);
}

static void hidden_keys_are_no_zeros(void **state)
{
    (void)state;
    gauge g;
    start(&g, 1, "rela-g");
    const real w[] = { 1, 0, 0, /* sees itself only */
                       0, 0, 0, /* null, of two */
                       1, 0, 1 };
    const rela_heads h = heads_of(&g, "dec", 3, 3, w);
    see(&g, &h);
    NEAR(rela_sparsity_micro(&sums_of(&g, "dec")[0]), 3.0 / 6);
    NEAR(rela_null_micro(&sums_of(&g, "dec")[0]), 1.0 / 3);
    end(&g);
}

static void micro_counts_weights_and_macro_sentences(void **state)
{
    (void)state;
    gauge g, other;
    start(&g, 1, "rela-g");
    start(&other, 1, "rela-g");
    const real one[] = { 0 }, two[] = { 1, 1, 0, 1 };
    const rela_heads a = heads_of(&g, "enc", 1, 1, one);
    const rela_heads b = heads_of(&other, "enc", 2, 2, two);
    see(&g, &a);
    see(&other, &b);
    rela_measures_add(&g.m, &other.m); /* two threads */
    const rela_head_sums *s = sums_of(&g, "enc");
    NEAR(rela_sparsity_micro(s), 2.0 / 5);
    NEAR(rela_sparsity_macro(s), (1.0 + 0.25) / 2);
    NEAR(rela_null_micro(s), 1.0 / 3);
    NEAR(rela_null_macro(s), 0.5);
    const rela_head_sums nothing = { 0 };
    NEAR(rela_sparsity_micro(&nothing) + rela_null_macro(&nothing), 0);
    end(&g);
    end(&other);
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
    NEAR(rela_js(same, H, N, N, ONE, 1, scratch), 0);
    NEAR(rela_js(same, H, N, N, OTHER, 0.25, scratch), 0);
    NEAR(rela_js(apart, H, N, N, ONE, 1, scratch), log(H));
    NEAR(rela_js(peaked, H, N, N, OTHER, 1, scratch), log(H));
    NEAR(rela_js(apart, 1, N, N, ONE, 1, scratch), 0); /* one head agrees with itself */
    real null[H * N] = { 0 };
    NEAR(rela_js(null, H, N, N, OTHER, 1, scratch), 0); /* all are null: they kl_weight */
}

static void divergence_of_small_cases(void **state)
{
    (void)state;
    double scratch[6];
    const double ln2 = log(2);
    /* (1, 0) and (1/2, 1/2): Ent(3/4, 1/4) - ln(2)/2 */
    const real p[] = { 1, 0, 0.5F, 0.5F };
    const double mixed = -0.75 * log(0.75) - 0.25 * log(0.25);
    NEAR(rela_js(p, 2, 2, 2, ONE, 1, scratch), mixed - ln2 / 2);
    /* Rectified (4, 0) at temperature 1/2 is softmax(2, 0); beside it a null head on its own slot:
     * Ent(p/2, q/2, 1/2) - Ent(p, q)/2 = ln 2 whatever p is. */
    const real w[] = { 4, 0, 0, 0 };
    NEAR(rela_js(w, 2, 2, 2, OTHER, 0.5, scratch), ln2);
    /* (4, 0) and (0, 4) at temperature 1/2: Ent(1/2, 1/2) - Ent(softmax(2, 0)) */
    const real x[] = { 4, 0, 0, 4 };
    const double q = 1 / (1 + exp(-2.0));
    NEAR(rela_js(x, 2, 2, 2, OTHER, 0.5, scratch), ln2 + q * log(q) + (1 - q) * log(1 - q));
    /* A negative weight, as leaky kinds have them, keeps its sign. */
    const real y[] = { -4, 0, 0, -4 };
    const double r = 1 / (1 + exp(-2.0));
    NEAR(rela_js(y, 2, 2, 2, OTHER, 0.5, scratch), ln2 + r * log(r) + (1 - r) * log(1 - r));
}

/* A layer with a softmax head, whose weights are a distribution as they are, and a rectified one,
 * whose weights become one by a softmax. */
static void heads_of_mixed_kinds_are_normalised_one_by_one(void **state)
{
    (void)state;
    gauge g;
    start(&g, 2, "1xsoftmax+1xrela-g");
    const real w[] = { 0.75F, 0.25F, /**/ 4, 0 };
    const rela_heads h = heads_of(&g, "cross", 1, 2, w);
    see(&g, &h);
    for (size_t k = 0; k < RELA_TAUS; k++) {
        const double q = 1 / (1 + exp(-pow(4, rela_taus[k]))), mean = (0.75 + q) / 2;
        const double inside =
            -0.75 * log(0.75) - 0.25 * log(0.25) - q * log(q) - (1 - q) * log(1 - q);
        NEAR(rela_layer_js(layer_of(&g, "cross"), k),
             -mean * log(mean) - (1 - mean) * log(1 - mean) - inside / 2);
    }
    CHECK(!rela_measures_sum_one(&g.m), "all heads sum to one");
    end(&g);
}

static void diversity_is_a_mean_over_queries_then_sentences(void **state)
{
    (void)state;
    gauge g;
    start(&g, 2, "softmax");
    /* Two heads. First sentence: queries with ln 2 and 0. Second: one query with ln 2. */
    const real a[] = { 1, 0, 1, 0, /**/ 0, 1, 1, 0 }, b[] = { 1, 0, /**/ 0, 1 };
    const rela_heads first = heads_of(&g, "cross", 2, 2, a);
    const rela_heads second = heads_of(&g, "cross", 1, 2, b);
    see(&g, &first);
    see(&g, &second);
    for (size_t k = 0; k < RELA_TAUS; k++) /* weights that sum to one have no temperature */
        NEAR(rela_layer_js(layer_of(&g, "cross"), k), (log(2) / 2 + log(2)) / 2);
    NEAR(rela_mean_js(&g.m, place_named(&g.net, "cross"), 0), 0.75 * log(2));
    end(&g);
}

/* Three sources, the second of them empty: its queries are null and have no weights to count. */
static void queries_to_an_empty_source_are_null(void **state)
{
    (void)state;
    gauge g, other;
    start_sources(&g, 3, 2, "rela-g");
    start_sources(&other, 3, 2, "rela-g");
    /* Two target queries, two heads. */
    const real first[] = { 1, 0, 0, 2, /**/ 0, 0, 1, 1 }, third[] = { 3, 0, /**/ 0, 0 };
    const rela_heads h[] = { heads_of(&g, "cross0", 2, 2, first),
                             heads_of(&g, "cross1", 2, 0, first),
                             heads_of(&g, "cross2", 2, 1, third) };
    CHECK(h[0].of->keys == 0 && h[1].of->keys == 1 && h[2].of->keys == 2, "streams");
    for (int i = 0; i < 3; i++)
        see(&g, &h[i]);
    NEAR(rela_null_micro(&sums_of(&g, "cross0")[1]), 0.5);
    for (int k = 0; k < 2; k++) {
        const rela_head_sums *s = &sums_of(&g, "cross1")[k];
        CHECK(s->pairs == 0 && s->zeros == 0 && s->rows == 2 && s->null_rows == 2, "head %d", k);
        NEAR(rela_null_micro(s), 1);
        NEAR(rela_null_macro(s), 1);
        NEAR(rela_sparsity_micro(s), 0);
        NEAR(rela_head_null(&h[1], (size_t)k, false), 1);
    }
    CHECK(layer_of(&g, "cross1")->null_rows == 2, "no head answers");
    NEAR(rela_null_micro(&sums_of(&g, "cross2")[0]), 0.5);
    NEAR(rela_null_micro(&sums_of(&g, "cross2")[1]), 1);
    /* Another sentence, in which the second source has a word: shares of weights, and what heads
     * have in common, are means over sentences that have weights. */
    const rela_heads again = heads_of(&other, "cross1", 2, 2, first);
    see(&other, &again);
    const double js = rela_layer_js(layer_of(&other, "cross1"), 0);
    rela_measures_add(&g.m, &other.m);
    const rela_head_sums *s = sums_of(&g, "cross1");
    NEAR(rela_null_micro(&s[1]), 0.75);
    NEAR(rela_null_macro(&s[1]), 0.75);
    NEAR(rela_sparsity_micro(&s[1]), 0.5);
    NEAR(rela_sparsity_macro(&s[1]), 0.5);
    NEAR(rela_layer_js(layer_of(&g, "cross1"), 0), js);
    rela_measures_clear(&g.m);
    CHECK(sums_of(&g, "cross1")->rows == 0 && layer_of(&g, "cross0")->rows == 0, "not cleared");
    end(&g);
    end(&other);
}

static void null_rates_belong_to_the_word_before(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_tag_null t, sum;
    /* Words "x y@@ z": pieces 0 | 1 1; tags 1 and 2. Queries: after the start, after word 0,
     * inside word 1 (not counted), after word 1. */
    static const uint32_t WORD_OF[] = { 0, 1, 1 }, TAGS[] = { 1, 2 };
    const rela_watched p = { .src = { { .n = 2 } }, .tgt = { .n = 4, .map = { WORD_OF, 3, 2 } } };
    const real w[] = { 0, 0, 1, 0, 0, 0, 0, 0 };
    const rela_heads h = { .heads = 1, .n_q = 4, .n_k = 2, .w = w };
    CHECK_OK(rela_tag_null_init(&t, 1, 1, 3, &err), err);
    CHECK_OK(rela_tag_null_init(&sum, 1, 1, 3, &err), err);
    rela_tag_null_count(&t, &h, &p, TAGS);
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
    NEAR(rela_auc_find(low, 3, high, 2).value, 1);
    double a[] = { 0.3, 0.1 }, b[] = { 0.2, 0.3 };
    NEAR(rela_auc_find(a, 2, b, 2).value, (1 + 1.5) / 4);
    double c[] = { 0, 0, 0 }, d[] = { 0, 0 };
    NEAR(rela_auc_find(c, 3, d, 2).value, 0.5);
    NEAR(rela_auc_find(c, 0, d, 2).value, 0.5);
    CHECK(rela_auc_find(c, 3, d, 2).blank && rela_auc_find(c, 0, d, 2).blank, "zeros tell nothing");
}

/* The figures of pROC's ci.auc(..., method = "delong") on the same values, by hand: components of
 * the area for each value, variances with n - 1. */
static void area_under_the_curve_has_an_interval(void **state)
{
    (void)state;
    double a[] = { 0.1, 0.2, 0.3, 0.4 }, b[] = { 0.25, 0.35, 0.5, 0.6 };
    const rela_auc x = rela_auc_find(a, 4, b, 4);
    /* of b above a: 1/2, 3/4, 1, 1; of a below b: 1, 1, 3/4, 1/2 */
    const double half = 1.959963984540054 * sqrt(2 * (11.0 / 192) / 4);
    NEAR(x.value, 13.0 / 16);
    NEAR(x.low, 13.0 / 16 - half);
    NEAR(x.high, 1);
    CHECK(!x.blank && !rela_auc_is_chance(&x) == (x.low > 0.5), "0.5 is %s", "told from chance");
    double same[] = { 0.1, 0.2, 0.3 }, other[] = { 0.1, 0.2, 0.3 };
    const rela_auc none = rela_auc_find(same, 3, other, 3);
    CHECK(rela_auc_is_chance(&none) && !none.blank, "the same values: %g to %g", none.low,
          none.high);
}

static void labels_are_short_and_printable(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        { "", "" },
        { "word", "word" },
        { "eighteen-letters-x", "eighteen-letters-x" },
        { "nineteen-letters-xy", "nineteen-letters-\xE2\x80\xA6" },
        { "a\xE2\x80\x8D"
          "b\xFF",
          "a?b?" }, /* joiner, not UTF-8 */
        { "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80\xF0\x9F\x98\x80" },
    };
    char label[RELA_LABEL_SIZE], many[4 * 500];
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        rela_label_make(label, rela_span_of(CASES[i][0]));
        CHECK(strcmp(label, CASES[i][1]) == 0, "%s: %s", CASES[i][0], label);
    }
    for (size_t i = 0; i < sizeof many; i += 4)
        memcpy(many + i, "\xF0\x9F\x98\x80", 4);
    rela_label_make(label, (rela_span){ many, sizeof many });
    CHECK(strlen(label) == 17 * 4 + 3 && memcmp(label, many, 17 * 4) == 0, "%s", label);
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
        cmocka_unit_test(heads_of_mixed_kinds_are_normalised_one_by_one),
        cmocka_unit_test(diversity_is_a_mean_over_queries_then_sentences),
        cmocka_unit_test(queries_to_an_empty_source_are_null),
        cmocka_unit_test(null_rates_belong_to_the_word_before),
        cmocka_unit_test(area_under_the_curve),
        cmocka_unit_test(area_under_the_curve_has_an_interval),
        cmocka_unit_test(labels_are_short_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
