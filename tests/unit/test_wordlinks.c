/* SPDX-License-Identifier: MIT */
/* tests/unit/test_wordlinks.c - pieces to words, rows to links, heads to errors: cases worked out
 * by hand. */
#include "align/head_aer.h"
#include "base/str.h"
#include "check.h"

#include <math.h>
#include <string.h>

/* Source: two words of 2 and 1 pieces; target: two words of 1 and 2 pieces; ends added. */
static const uint32_t SRC_OF[] = { 0, 0, 1 }, TGT_OF[] = { 0, 1, 1 };
static const rela_watched PAIR = { .state = RELA_WATCHED,
                                   .src = { { .n = 4, .map = { SRC_OF, 3, 2 } } },
                                   .tgt = { .n = 4, .map = { TGT_OF, 3, 2 } } };
static const rela_attn_stack CROSS = { .queries = 1, .keys = 0 };

/* Rows predict target pieces 0, 1, 2 and the end. */
static const real W[] = {
    1, 2, 0, 4, /* piece 0 */
    0, 0, 6, 2, /* piece 1 */
    2, 0, 4, 0, /* piece 2 */
    0, 0, 0, 0, /* the end: a null row */
};

static void check_weights(const rela_word_weights *m, const double *want)
{
    CHECK(m->n_tgt == 2 && m->n_src == 2, "%zu x %zu", m->n_tgt, m->n_src);
    for (size_t i = 0; i < 6; i++)
        CHECK(fabs((double)m->w[i] - want[i]) < 1e-6, "cell %zu: %g, want %g", i, (double)m->w[i],
              want[i]);
}

static void check_links(const rela_word_weights *m, double threshold, bool transposed,
                        const char *want)
{
    rela_error err = { RELA_OK, "" };
    rela_links links = { NULL, 0, 0 };
    rela_buffer text = RELA_BUFFER_INIT;
    CHECK_OK(rela_word_weights_links(&links, m, threshold, transposed, &err), err);
    CHECK_OK(rela_buffer_append_text(&text, "", &err), err);
    CHECK_OK(rela_links_format(&text, &links, NULL, &err), err);
    CHECK(strcmp(text.data, want) == 0, "threshold %g: \"%s\", want \"%s\"", threshold, text.data,
          want);
    rela_buffer_free(&text);
    rela_links_free(&links);
}

static void pieces_are_summed_and_averaged(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_word_weights m = { 0 };
    CHECK_OK(rela_word_weights_merge(&m, W, &PAIR.src[0], &PAIR.tgt, false, &err), err);
    check_weights(&m, (const double[]){ 3, 0, 4, 1, 5, 1 });
    /* Shifted: one row down; the last piece has the row of the end. */
    CHECK_OK(rela_word_weights_merge(&m, W, &PAIR.src[0], &PAIR.tgt, true, &err), err);
    check_weights(&m, (const double[]){ 0, 6, 2, 1, 2, 0 });
    rela_word_weights sum = { 0 };
    CHECK_OK(rela_word_weights_add(&sum, &m, &err), err);
    CHECK_OK(rela_word_weights_add(&sum, &m, &err), err);
    check_weights(&sum, (const double[]){ 0, 12, 4, 2, 4, 0 });
    rela_word_weights_free(&sum);
    rela_word_weights_free(&m);
}

static void the_heaviest_word_is_linked_unless_it_is_the_end(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_word_weights m = { 0 };
    CHECK_OK(rela_word_weights_merge(&m, W, &PAIR.src[0], &PAIR.tgt, false, &err), err);
    check_links(&m, 0, false, "1-1"); /* word 0 attends to the end most */
    check_links(&m, 0.4, false, "0-0 1-1");
    check_links(&m, 0.1, false, "0-0 0-1 1-1");
    check_links(&m, 0.1, true, "0-0 1-0 1-1");
    check_links(&m, 1, false, "");
    m.w[3] = m.w[4] = m.w[5] = 0; /* a word that attends to nothing */
    check_links(&m, 0, false, "");
    check_links(&m, 0.01, false, "0-0");
    m.w[3] = m.w[4] = 2; /* equal weights: the first */
    check_links(&m, 0, false, "0-1");
    rela_word_weights_free(&m);
}

static void both_directions_are_weighed_together(void **state)
{
    (void)state;
    /* Two target words by one source word, and back; the last column is the end. */
    real there[] = { (real)0.5, (real)0.5, 3, 1 }, back[] = { (real)0.5, 0, (real)0.25 };
    rela_word_weights forward = { there, 2, 1, 4 }, reverse = { back, 1, 2, 3 };
    rela_error err = { RELA_OK, "" };
    rela_links links = { NULL, 0, 0 };
    CHECK_OK(rela_word_weights_both(&links, &forward, &reverse, 0.5, &err), err);
    CHECK(links.n == 1 && links.items[0].tgt == 0, "%zu links", links.n); /* 0.5 and 0.375 */
    CHECK_OK(rela_word_weights_both(&links, &forward, &reverse, 0.37, &err), err);
    CHECK(links.n == 2 && links.items[1].tgt == 1, "%zu links", links.n);
    rela_links_free(&links);
}

/* Kinds such as leaky-g have weights below zero, which neither link nor count in a share. */
static void weights_below_zero_count_as_none(void **state)
{
    (void)state;
    real there[] = { (real)0.5, (real)-0.4, (real)-0.1, (real)-0.2 }, back[] = { (real)0.5, -9, 0 };
    rela_word_weights forward = { there, 2, 1, 4 }, reverse = { back, 1, 2, 3 };
    rela_error err = { RELA_OK, "" };
    rela_links links = { NULL, 0, 0 };
    check_links(&forward, 0, false, "0-0");
    check_links(&forward, 0.9, false, "0-0");
    CHECK(rela_weight_sum(there, 2) == 0.5, "%g", rela_weight_sum(there, 2));
    there[2] = (real)0.9;
    CHECK_OK(rela_word_weights_both(&links, &forward, &reverse, 0.44, &err), err);
    CHECK(links.n == 2, "%zu links: a weight below zero took from the other direction", links.n);
    rela_links_free(&links);
}

/* Of several sources one may be empty: no head links anything in it. */
static void an_empty_source_has_no_links(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_word_weights m = { 0 };
    rela_head_aer a;
    rela_links gold = { NULL, 0, 0 };
    static const rela_attn_stack SECOND = { .queries = 2, .keys = 1 };
    rela_watched pair = PAIR;
    pair.src[1] = (rela_watched_text){ .n = 0 };
    for (int shift = 0; shift < 2; shift++) {
        CHECK_OK(rela_word_weights_merge(&m, NULL, &pair.src[1], &pair.tgt, shift == 1, &err), err);
        CHECK(m.n_tgt == 2 && m.n_src == 0 && m.w[0] == 0 && m.w[1] == 0, "%zu x %zu", m.n_tgt,
              m.n_src);
        check_links(&m, 0, false, "");
        check_links(&m, 0.1, false, "");
    }
    const rela_heads h = { .of = &SECOND, .heads = 2, .n_q = 4, .n_k = 0, .w = W };
    CHECK_OK(rela_links_parse(&gold, "", 0, NULL, &err), err);
    CHECK_OK(rela_head_aer_init(&a, 1, 2, 0, &err), err);
    CHECK_OK(rela_head_aer_layer(&a, &h, &pair, &gold, &err), err);
    CHECK_OK(rela_head_aer_ran(&a, 0, &gold, &err), err);
    CHECK(a.pairs == 1 && a.sums[0][0] == 0, "%d pairs", (int)a.pairs);
    rela_head_aer_deinit(&a);
    rela_links_free(&gold);
    rela_word_weights_free(&m);
}

static void heads_are_scored_and_the_best_is_found(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_head_aer a, b;
    rela_links gold = { NULL, 0, 0 };
    /* Head 0: the weights above. Head 1: all on the end, so never a link. */
    real w[32] = { 0 };
    memcpy(w, W, sizeof W);
    for (int i = 0; i < 4; i++)
        w[16 + i * 4 + 3] = 20;
    const rela_heads h = { .of = &CROSS, .heads = 2, .n_q = 4, .n_k = 4, .w = w };
    CHECK_OK(rela_links_parse(&gold, "0-1 1-0", 7, NULL, &err), err);
    CHECK_OK(rela_head_aer_init(&a, 1, 2, 0, &err), err);
    CHECK_OK(rela_head_aer_init(&b, 1, 2, 0, &err), err);
    CHECK_OK(rela_head_aer_layer(&a, &h, &PAIR, &gold, &err), err);
    CHECK_OK(rela_head_aer_ran(&a, 0, &gold, &err), err);
    /* Head 0, normal: 1-1, which is not gold: error 1. Shifted: 1-0 and 1-1, one of them gold:
     * 1 - 2 / (2 + 2). */
    CHECK(rela_head_aer_get(&a, (rela_head_choice){ 0, 0, false }) == 1, "normal");
    CHECK(rela_head_aer_get(&a, (rela_head_choice){ 0, 0, true }) == 0.5, "shifted");
    CHECK(rela_head_aer_get(&a, (rela_head_choice){ 0, 1, true }) == 1, "no links");
    const rela_head_choice best = rela_head_aer_best(&a);
    CHECK(best.layer == 0 && best.head == 0 && best.shift, "layer %d head %d", best.layer,
          best.head);
    /* A pair without attention costs recall: 1 - 2 / (2 + 4). */
    rela_head_aer_missed(&b, &gold);
    rela_head_aer_add(&a, &b);
    CHECK(fabs(rela_head_aer_get(&a, best) - 2.0 / 3) < 1e-12, "%g", rela_head_aer_get(&a, best));
    CHECK(a.pairs == 2, "%d pairs", (int)a.pairs);
    rela_head_aer_deinit(&a);
    rela_head_aer_deinit(&b);
    rela_links_free(&gold);
}

static void means_are_over_heads_and_layers(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_head_aer a;
    rela_links gold = { NULL, 0, 0 };
    /* One word on each side. Layer 0 sees the word with 3 and the end with 2, layer 1 only the end
     * with 2: the sum of both chooses the end. */
    static const uint32_t ONE[] = { 0 };
    const rela_watched pair = { .src = { { .n = 2, .map = { ONE, 1, 1 } } },
                                .tgt = { .n = 2, .map = { ONE, 1, 1 } } };
    const real first[] = { 3, 2, 0, 0 }, second[] = { 0, 2, 0, 0 };
    const rela_heads h[] = { { 2, 2, &CROSS, 0, 1, 2, 2, first },
                             { 2, 2, &CROSS, 1, 1, 2, 2, second } };
    CHECK_OK(rela_links_parse(&gold, "0-0", 3, NULL, &err), err);
    CHECK_OK(rela_head_aer_init(&a, 2, 1, 0, &err), err);
    for (int i = 0; i < 2; i++)
        CHECK_OK(rela_head_aer_layer(&a, &h[i], &pair, &gold, &err), err);
    CHECK_OK(rela_head_aer_ran(&a, 2, &gold, &err), err);
    const rela_head_choice layer = { 0, RELA_HEAD_MEAN, false };
    const rela_head_choice all = { RELA_HEAD_MEAN, RELA_HEAD_MEAN, false };
    CHECK(rela_head_aer_get(&a, layer) == 0, "layer %g", rela_head_aer_get(&a, layer));
    CHECK(rela_head_aer_get(&a, all) == 1, "all %g", rela_head_aer_get(&a, all));
    /* A null row is no link, shifted or not. */
    CHECK(rela_head_aer_get(&a, (rela_head_choice){ 0, 0, true }) == 1, "null row");
    rela_head_aer_deinit(&a);
    rela_links_free(&gold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_summed_and_averaged),
        cmocka_unit_test(the_heaviest_word_is_linked_unless_it_is_the_end),
        cmocka_unit_test(both_directions_are_weighed_together),
        cmocka_unit_test(weights_below_zero_count_as_none),
        cmocka_unit_test(an_empty_source_has_no_links),
        cmocka_unit_test(heads_are_scored_and_the_best_is_found),
        cmocka_unit_test(means_are_over_heads_and_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
