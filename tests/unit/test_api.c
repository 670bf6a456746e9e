/* SPDX-License-Identifier: MIT */
/* tests/unit/test_api.c - rela/translate.h as a program uses it: a model file made here, ten
 * threads on one model, an ensemble of a model with itself, scores, attention, options of other
 * versions. */
#include "api_model.h"

#include <math.h>

static void same_results(const rela_result *a, const rela_result *b, double most)
{
    CHECK(rela_result_count(a) == rela_result_count(b), "numbers of texts differ");
    for (size_t i = 0; i < rela_result_count(a); i++)
        for (size_t k = 0; k < rela_result_n_best(a, i); k++) {
            CHECK(strcmp(rela_result_text(a, i, k), rela_result_text(b, i, k)) == 0,
                  "text %zu rank %zu: '%s' and '%s'", i, k, rela_result_text(a, i, k),
                  rela_result_text(b, i, k));
            CHECK(fabs(rela_result_score(a, i, k) - rela_result_score(b, i, k)) <= most,
                  "text %zu rank %zu: scores differ", i, k);
        }
}

static void a_model_with_itself_is_that_model(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_session *both = NULL;
    rela_result *a = NULL, *b = NULL;
    rela_scores *x = NULL, *y = NULL;
    const rela_pairs pairs = { .src = texts, .tgt = texts, .n = TEXTS };
    world_start(&w, 2);
    const rela_model *models[] = { w.model, w.model };
    CHECK_OK(rela_session_create_ensemble(&both, models, 2, &err), err);
    CHECK_OK(rela_translate(&a, w.session, texts, NULL, TEXTS, NULL, &err), err);
    CHECK_OK(rela_translate(&b, both, texts, NULL, TEXTS, NULL, &err), err);
    same_results(a, b, 1e-5);
    CHECK_OK(rela_score(&x, w.session, &pairs, NULL, &err), err);
    CHECK_OK(rela_score(&y, both, &pairs, NULL, &err), err);
    for (size_t i = 0; i < TEXTS; i++)
        CHECK(fabs(rela_scores_logp(x, i) - rela_scores_logp(y, i)) < 1e-4, "pair %zu", i);
    rela_scores_free(x);
    rela_scores_free(y);
    rela_result_free(a);
    rela_result_free(b);
    rela_session_destroy(both);
    CHECK(rela_session_create_ensemble(&both, models, 0, &err) == RELA_ARG, "no model at all");
    world_end(&w);
}

/* What the search says of its own translations, scoring must say too. */
static void scores_agree_with_the_search(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_result *r = NULL;
    rela_scores *s = NULL;
    rela_translate_options o;
    world_start(&w, 2);
    rela_translate_options_init(&o, sizeof o);
    o.unk = RELA_UNK_FORBID;
    o.max_factor = 0;
    o.max_extra = MAX_LEN;
    CHECK_OK(rela_translate(&r, w.session, texts, NULL, TEXTS, &o, &err), err);
    const char *found[TEXTS];
    for (size_t i = 0; i < TEXTS; i++)
        found[i] = rela_result_text(r, i, 0);
    const rela_pairs pairs = { .src = texts, .tgt = found, .n = TEXTS };
    CHECK_OK(rela_score(&s, w.session, &pairs, NULL, &err), err);
    size_t n = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        const size_t tokens = rela_result_n_tokens(r, i, 0);
        if (rela_result_n_source(r, i) == 1 ||
            strcmp(rela_result_token(r, i, 0, tokens - 1), "<eos>") != 0)
            continue; /* empty, or cut off */
        CHECK(tokens == rela_scores_n_tokens(s, i), "text %zu: %zu tokens", i, tokens);
        n++;
        CHECK(fabs(rela_result_logp(r, i, 0) - rela_scores_logp(s, i)) < 1e-3,
              "text %zu: %g and %g", i, rela_result_logp(r, i, 0), rela_scores_logp(s, i));
        for (size_t k = 0; k < tokens; k++)
            CHECK(strcmp(rela_result_token(r, i, 0, k), rela_scores_token(s, i, k)) == 0 &&
                      fabs(rela_result_token_logp(r, i, 0, k) - rela_scores_token_logp(s, i, k)) <
                          1e-4,
                  "text %zu token %zu", i, k);
    }
    CHECK(n > TEXTS / 4, "only %zu translations were complete", n);
    rela_scores_free(s);
    rela_result_free(r);
    world_end(&w);
}

typedef struct seen {
    size_t rows, nulls;
    const rela_result *result;
    size_t compared;
    int stop_after;
} seen;

static int see(void *ctx, const rela_attention_row *row)
{
    seen *s = ctx;
    s->rows++;
    s->nulls += row->n == 0;
    for (uint32_t k = 1; k < row->n; k++)
        CHECK(row->keys[k] > row->keys[k - 1] && row->keys[k] < row->n_keys, "keys out of order");
    if (row->type == RELA_ATTENTION_DECODER)
        CHECK(row->n_keys == row->query + 1, "a decoder row sees the future");
    return s->stop_after && s->rows >= (size_t)s->stop_after;
}

static void attention_has_a_row_for_every_query(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_model_shape shape = { .struct_size = sizeof shape };
    seen s = { 0 };
    const char *src[] = { "a b c", "" }, *tgt[] = { "d e", "g" };
    const rela_pairs pairs = { .src = src, .tgt = tgt, .n = 2 };
    world_start(&w, 1);
    CHECK_OK(rela_model_shape_get(&shape, w.model, &err), err);
    CHECK(shape.enc_layers == 4 && shape.heads == 4 && strcmp(shape.attention[2], "rela-g") == 0,
          "shape: %d layers, %d heads, %s", (int)shape.enc_layers, (int)shape.heads,
          shape.attention[2]);
    CHECK_OK(rela_attend(w.session, &pairs, see, &s, &err), err);
    /* Tokens with their ends: 4 and 1 sources, 3 and 2 targets; self and cross for these. */
    const size_t want = 16 * (4 + 1) + 2 * 16 * (3 + 2);
    CHECK(s.rows == want, "%zu rows; expected %zu", s.rows, want);
    s = (seen){ .stop_after = 7 };
    CHECK(rela_attend(w.session, &pairs, see, &s, &err) == RELA_CANCEL, "not stopped");
    CHECK(s.rows == 7, "%zu rows after the stop", s.rows);
    world_end(&w);
}

static void links_come_from_the_heaviest_word(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_result *r = NULL;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_translate_options o;
    rela_link_options links;
    world_start(&w, 1);
    rela_translate_options_init(&o, sizeof o);
    rela_link_options_init(&links, sizeof links);
    CHECK_OK(rela_translate(&r, w.session, texts, NULL, 1, &o, &err), err);
    CHECK(rela_result_links(&text, r, 0, 0, NULL, &err) == RELA_STATE, "links without attention");
    rela_result_free(r);
    o.attention = 1;
    CHECK_OK(rela_translate(&r, w.session, texts, NULL, 1, &o, &err), err);
    links.layer = 1;
    links.head = 2;
    CHECK_OK(rela_result_links(&text, r, 0, 0, &links, &err), err);
    const float *all = rela_result_attention(r, 0, 0);
    const size_t n_src = rela_result_n_source(r, 0);
    /* Words and tokens are the same here but for f@@. */
    const float *row = all + (0 * 16 + 1 * 4 + 2) * n_src;
    size_t best = n_src - 1;
    float most = 0;
    for (size_t k = 0; k < n_src; k++)
        if (row[k] > most) {
            most = row[k];
            best = k;
        }
    char want[32];
    (void)snprintf(want, sizeof want, "%zu-0", best);
    const bool linked = text.len && strstr(text.data, "-0") != NULL;
    CHECK(linked == (best < n_src - 1 && most > 0), "link of word 0 in '%s'",
          text.data ? text.data : "");
    CHECK(!linked || strncmp(text.data, want, strlen(want)) == 0, "'%s'; expected %s first",
          text.data, want);
    links.head = 4;
    CHECK(rela_result_links(&text, r, 0, 0, &links, &err) == RELA_ARG, "head 4 of 4");
    rela_buffer_free(&text);
    rela_result_free(r);
    world_end(&w);
}

static void a_second_session_is_small(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_session *second = NULL;
    rela_result *r = NULL;
    rela_memory_stats before, after;
    world_start(&w, 1);
    CHECK_OK(rela_translate(&r, w.session, texts, NULL, 1, NULL, &err), err);
    rela_result_free(r);
    before = memory_now();
    CHECK_OK(rela_session_create(&second, w.model, &err), err);
    CHECK_OK(rela_translate(&r, second, texts, NULL, 1, NULL, &err), err);
    rela_result_free(r);
    after = memory_now();
    CHECK(after.live - before.live < 3u << 20, "%llu bytes for a session",
          (unsigned long long)(after.live - before.live));
    rela_session_destroy(second);
    world_end(&w);
}

/* A program compiled against an older, smaller struct gets defaults for the rest. */
static void options_of_other_versions_are_fine(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_result *a = NULL, *b = NULL;
    rela_translate_options o;
    world_start(&w, 1);
    memset(&o, 0xff, sizeof o);
    rela_translate_options_init(&o, offsetof(rela_translate_options, n_best));
    o.beam_size = 2;
    CHECK_OK(rela_translate(&a, w.session, texts, NULL, TEXTS, &o, &err), err);
    rela_translate_options_init(&o, sizeof o);
    o.beam_size = 2;
    CHECK_OK(rela_translate(&b, w.session, texts, NULL, TEXTS, &o, &err), err);
    same_results(a, b, 0);
    rela_result_free(a);
    rela_result_free(b);
    o.penalty = 7;
    CHECK(rela_translate(&a, w.session, texts, NULL, TEXTS, &o, &err) == RELA_ARG && !a,
          "penalty 7");
    world_end(&w);
}

/* The model with a huge embedding of one word, which is huge in the output too. */
static void save_huge(const char *to)
{
    rela_error err = { RELA_OK, "" };
    rela_net net;
    rela_extras extras = { 0 };
    CHECK_OK(rela_net_load(&net, &extras, path, NULL, &err), err);
    for (size_t i = 0; i < WIDTH; i++)
        net.weights[net.params.items[0].offset + 3 * WIDTH + i] = (real)1e30;
    CHECK_OK(rela_net_save(to, &net, &extras, NULL, &err), err);
    rela_extras_deinit(&extras);
    rela_net_deinit(&net);
}

static void overflow_is_an_error_or_marked(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w = { NULL, NULL, NULL };
    rela_result *r = NULL;
    rela_scores *s = NULL;
    rela_translate_options o;
    rela_score_options so;
    seen rows = { 0 };
    const char *src[] = { "", "b a", "c" }, *tgt[] = { "b", "d e", "g" };
    const rela_pairs pairs = { .src = src + 1, .tgt = tgt + 1, .n = 2 };
    char huge[SCRATCH_PATH];
    (void)snprintf(huge, sizeof huge, "%s", scratch("huge.rela"));
    save_huge(huge);
    CHECK_OK(rela_runtime_create(&w.runtime, NULL, &err), err);
    CHECK_OK(rela_model_load(&w.model, w.runtime, huge, &err), err);
    CHECK_OK(rela_session_create(&w.session, w.model, &err), err);
    rela_translate_options_init(&o, sizeof o);
    rela_score_options_init(&so, sizeof so);
    o.first_line = so.first_line = 40;
    CHECK(rela_translate(&r, w.session, src, NULL, 3, &o, &err) == RELA_NOTFINITE && !r &&
              strncmp(err.message, "line 42: logits are not finite", 30) == 0,
          "%s", err.message);
    CHECK(rela_score(&s, w.session, &pairs, &so, &err) == RELA_NOTFINITE && !s &&
              strncmp(err.message, "line 41: logits are not finite", 30) == 0,
          "%s", err.message);
    CHECK(rela_attend(w.session, &pairs, see, &rows, &err) == RELA_NOTFINITE &&
              strncmp(err.message, "line 1: attention is not finite", 31) == 0,
          "%s", err.message);
    o.not_finite = so.not_finite = RELA_NOT_FINITE_MARK;
    CHECK_OK(rela_translate(&r, w.session, src, NULL, 3, &o, &err), err);
    CHECK(rela_result_finite(r, 0) && !rela_result_finite(r, 1), "the wrong one is marked");
    CHECK(rela_result_n_best(r, 1) == 1 && rela_result_text_len(r, 1, 0) == 0 &&
              rela_result_n_tokens(r, 1, 0) == 0 && isnan(rela_result_score(r, 1, 0)) &&
              isnan(rela_result_logp(r, 1, 0)) && !rela_result_attention(r, 1, 0),
          "a marked text has a translation");
    rela_result_free(r);
    const char *const two = "b a . c .";
    o.split = RELA_SPLIT_AUTO;
    CHECK_OK(rela_translate(&r, w.session, &two, NULL, 1, &o, &err), err);
    CHECK(!rela_result_finite(r, 0) && rela_result_n_best(r, 0) == 1 &&
              rela_result_text_len(r, 0, 0) == 0 && isnan(rela_result_score(r, 0, 0)),
          "two sentences are not marked");
    rela_result_free(r);
    CHECK_OK(rela_score(&s, w.session, &pairs, &so, &err), err);
    CHECK(!isfinite(rela_scores_logp(s, 0)), "%g", rela_scores_logp(s, 0));
    rela_scores_free(s);
    o.not_finite = so.not_finite = 2;
    CHECK(rela_translate(&r, w.session, src, NULL, 3, &o, &err) == RELA_ARG, "%s", err.message);
    CHECK(rela_score(&s, w.session, &pairs, &so, &err) == RELA_ARG, "%s", err.message);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_with_itself_is_that_model),
        cmocka_unit_test(scores_agree_with_the_search),
        cmocka_unit_test(attention_has_a_row_for_every_query),
        cmocka_unit_test(links_come_from_the_heaviest_word),
        cmocka_unit_test(a_second_session_is_small),
        cmocka_unit_test(options_of_other_versions_are_fine),
        cmocka_unit_test(overflow_is_an_error_or_marked),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}
