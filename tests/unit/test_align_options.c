/* SPDX-License-Identifier: MIT */
/* tests/unit/test_align_options.c - layers, heads, sources and bases at the ends of their types are
 * refused with the number that was given, by every function that takes them. */
#include "api_model.h"

#include "rela/analyse.h"

#include <stdint.h>

static const int32_t ENDS[] = { INT32_MIN, -2, 4, INT32_MAX - 1, INT32_MAX };

enum { N_ENDS = sizeof ENDS / sizeof ENDS[0] };

static char links_file[SCRATCH_PATH];

static int ignore(void *ctx, const rela_aligned *line)
{
    (void)ctx;
    (void)line;
    return 0;
}

static rela_align_options align_defaults(void)
{
    rela_align_options o;
    rela_align_options_init(&o, sizeof o);
    (void)snprintf(links_file, sizeof links_file, "%s", scratch("links"));
    o.src = o.tgt = spill_text("text", "a b\n");
    return o;
}

/* Refused as an argument, by a message that has the words and the number, counted from 1. */
static void check_refused(rela_status st, const rela_error *err, const char *words, int64_t number)
{
    char want[64];
    (void)snprintf(want, sizeof want, "%s %lld;", words, (long long)number);
    CHECK(st == RELA_ARG && strstr(err->message, want), "status %d, '%s'; expected '%s'", (int)st,
          err->message, want);
}

static void align_refuses_layers_and_heads(void **state)
{
    (void)state;
    world w;
    rela_error err = { RELA_OK, "" };
    world_start(&w, 1);
    for (size_t i = 0; i < N_ENDS; i++)
        for (int reverse = 0; reverse < 2; reverse++) {
            rela_align_options o = align_defaults();
            o.reverse = reverse ? w.model : NULL;
            *(reverse ? &o.reverse_layer : &o.layer) = ENDS[i];
            check_refused(rela_align(NULL, w.model, &o, ignore, NULL, &err), &err, "no layer",
                          (int64_t)ENDS[i] + 1);
            *(reverse ? &o.reverse_layer : &o.layer) = 0;
            *(reverse ? &o.reverse_head : &o.head) = ENDS[i];
            check_refused(rela_align(NULL, w.model, &o, ignore, NULL, &err), &err, "no head",
                          (int64_t)ENDS[i] + 1);
        }
    world_end(&w);
}

static void align_refuses_sources_that_the_model_does_not_have(void **state)
{
    (void)state;
    world w;
    rela_error err = { RELA_OK, "" };
    world_start(&w, 1);
    for (size_t i = 0; i < N_ENDS; i++) {
        rela_align_options o = align_defaults();
        o.source = ENDS[i];
        check_refused(rela_align(NULL, w.model, &o, ignore, NULL, &err), &err, "no source",
                      (int64_t)ENDS[i] + 1);
    }
    rela_align_options o = align_defaults();
    o.src_3 = o.src;
    CHECK(rela_align(NULL, w.model, &o, ignore, NULL, &err) == RELA_ARG &&
              strstr(err.message, "1 source; there is a text of source 3"),
          "%s", err.message);
    world_end(&w);
}

static void align_refuses_a_base_that_is_not_0_or_1(void **state)
{
    (void)state;
    world w;
    rela_error err = { RELA_OK, "" };
    world_start(&w, 1);
    for (size_t i = 0; i < N_ENDS; i++) {
        rela_align_options o = align_defaults();
        o.best_on = spill_text("gold", "0-0\n");
        o.gold_base = ENDS[i];
        check_refused(rela_align(NULL, w.model, &o, ignore, NULL, &err), &err, "words from",
                      ENDS[i]);
    }
    world_end(&w);
}

static void other_functions_refuse_them_too(void **state)
{
    (void)state;
    world w;
    rela_error err = { RELA_OK, "" };
    world_start(&w, 1);
    for (size_t i = 0; i < N_ENDS; i++) {
        rela_shortlist_options s;
        rela_shortlist_options_init(&s, sizeof s);
        s.src = s.tgt = spill_text("text", "a b\n");
        s.out = links_file;
        s.layer = ENDS[i];
        check_refused(rela_shortlist_learn(NULL, w.model, &s, &err), &err, "no layer",
                      (int64_t)ENDS[i] + 1);
        const rela_model *models[] = { w.model };
        rela_analyse_options a;
        rela_analyse_options_init(&a, sizeof a);
        a.src = a.tgt = s.src;
        a.out = scratch_dir;
        a.layer = ENDS[i];
        check_refused(rela_analyse(NULL, NULL, models, 1, &a, &err), &err, "no layer",
                      (int64_t)ENDS[i] + 1);
        a.layer = -1;
        a.source = ENDS[i];
        check_refused(rela_analyse(NULL, NULL, models, 1, &a, &err), &err, "no source",
                      (int64_t)ENDS[i] + 1);
        a.source = 0;
        a.gold = spill_text("gold", "0-0\n");
        a.gold_base = ENDS[i];
        check_refused(rela_analyse(NULL, NULL, models, 1, &a, &err), &err, "words from", ENDS[i]);
    }
    world_end(&w);
}

static void links_of_a_result_refuse_them_too(void **state)
{
    (void)state;
    world w;
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_result *r = NULL;
    rela_translate_options o;
    world_start(&w, 1);
    rela_translate_options_init(&o, sizeof o);
    o.attention = 1;
    CHECK_OK(rela_translate(&r, w.session, texts, NULL, 1, &o, &err), err);
    for (size_t i = 0; i < N_ENDS; i++)
        for (int head = 0; head < 2; head++) {
            rela_link_options l;
            rela_link_options_init(&l, sizeof l);
            *(head ? &l.head : &l.layer) = ENDS[i];
            CHECK(rela_result_links(&text, r, 0, 0, &l, &err) == RELA_ARG, "%d was taken",
                  (int)ENDS[i]);
        }
    rela_buffer_free(&text);
    rela_result_free(r);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(align_refuses_layers_and_heads),
        cmocka_unit_test(align_refuses_sources_that_the_model_does_not_have),
        cmocka_unit_test(align_refuses_a_base_that_is_not_0_or_1),
        cmocka_unit_test(other_functions_refuse_them_too),
        cmocka_unit_test(links_of_a_result_refuse_them_too),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}
