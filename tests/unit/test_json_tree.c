/* SPDX-License-Identifier: MIT */
/* tests/unit/test_json_tree.c - jansson without memory: nothing is stored in part, and a good text
 * is not called a bad one. */
#include "check.h"
#include "format/json_tree.h"
#include "format/model_text.h"
#include "train/resume_state.h"
#include "train/train_options.h"

#include <stdlib.h>
#include <string.h>

static uint64_t n_calls, n_fail; /* allocations of jansson; the one that fails, 0: none */

static void *failing(size_t size)
{
    return ++n_calls == n_fail ? NULL : malloc(size);
}

static int set_up(void **state)
{
    (void)state;
    json_set_alloc_funcs(failing, free);
    return 0;
}

static void arm(uint64_t n)
{
    n_calls = 0;
    n_fail = n;
}

/* Whether the call was reached; from here on nothing fails. */
static bool disarm(void)
{
    const bool reached = n_calls >= n_fail;
    n_fail = 0;
    return reached;
}

static void a_good_text_is_never_bad(void **state)
{
    (void)state;
    static const char TEXT[] =
        "{\"a long key of an object\": [1, \"a text\", {\"b\": null}], \"c\": 2}";
    for (uint64_t n = 1, more = 1; more; n++) {
        rela_error err = { RELA_OK, "" };
        json_t *tree = NULL;
        arm(n);
        const rela_status st = rela_json_tree_read(&tree, rela_span_of(TEXT), &err);
        more = disarm();
        CHECK(st == (tree ? RELA_OK : RELA_NOMEM), "call %d: %d: %s", (int)n, st, err.message);
        CHECK(tree || strstr(err.message, "no memory"), "%s", err.message);
        json_decref(tree);
    }
}

static void a_bad_text_is_bad(void **state)
{
    (void)state;
    static const char *const TEXTS[] = { "", "{", "{\"a\": 1, \"a\": 2}", "{\"a\"}", "[1,]", "\"" };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        json_t *tree = NULL;
        assert_int_equal(rela_json_tree_read(&tree, rela_span_of(TEXTS[i]), &err), RELA_FORMAT);
        CHECK(!tree && *err.message, "'%s' was read", TEXTS[i]);
    }
}

static void a_pipeline_is_stored_whole_or_not(void **state)
{
    (void)state;
    static const char VOCAB[] = "<pad>\n<unk>\n<eos>\na\n";
    const rela_pipeline_parts parts = { .side = { { .tokenise = true, .language = "de" },
                                                  { .tokenise = true, .language = "en" } },
                                        .vocab = { rela_span_of(VOCAB), rela_span_of(VOCAB) } };
    rela_error err = { RELA_OK, "" };
    rela_pipeline *p = NULL;
    CHECK_OK(rela_pipeline_create(&p, &parts, &err), err);
    for (uint64_t n = 1, more = 1; more; n++) {
        rela_extras e = { 0 };
        rela_pipeline *back = NULL;
        arm(n);
        rela_status st = rela_pipeline_store(&e, p, &err);
        more = disarm();
        CHECK(st == RELA_OK || st == RELA_NOMEM, "call %d: %d: %s", (int)n, st, err.message);
        if (st == RELA_OK) {
            arm(n);
            st = rela_pipeline_restore(&back, &e, &err);
            more |= disarm();
            CHECK(st == (back ? RELA_OK : RELA_NOMEM), "call %d: %d: %s", (int)n, st, err.message);
            rela_pipeline_destroy(back);
            CHECK_OK(rela_pipeline_restore(&back, &e, &err), err);
            assert_string_equal(rela_pipeline_parts_of(back)->side[1].language, "en");
            rela_pipeline_destroy(back);
        }
        rela_extras_deinit(&e);
    }
    rela_pipeline_destroy(p);
}

static void the_state_of_a_run_is_stored_whole_or_not(void **state)
{
    (void)state;
    const rela_train_state run = { .loop = { .update = 9, .tokens = 70, .part_loss = 2 },
                                   .adam_count = 8,
                                   .data_digest = 7 };
    rela_train_options o;
    rela_error err = { RELA_OK, "" };
    rela_train_options given;
    rela_train_own own;
    rela_train_options_init(&given, sizeof given);
    given.preset = "demo";
    given.train_src = "a";
    given.train_tgt = "b";
    given.out = "c";
    CHECK_OK(rela_train_resolve(&o, &own, &given, &err), err);
    for (uint64_t n = 1, more = 1; more; n++) {
        rela_extras e = { 0 };
        rela_train_state back;
        arm(n);
        rela_status st = rela_train_state_store(&e, &run, &o, &err);
        more = disarm();
        CHECK(st == RELA_OK || st == RELA_NOMEM, "call %d: %d: %s", (int)n, st, err.message);
        if (st == RELA_OK) {
            arm(n);
            st = rela_train_state_restore(&back, &e, &err);
            more |= disarm();
            CHECK(st == RELA_OK || st == RELA_NOMEM, "call %d: %d: %s", (int)n, st, err.message);
            CHECK_OK(rela_train_state_restore(&back, &e, &err), err);
            CHECK(back.loop.update == 9 && back.loop.tokens == 70 && back.adam_count == 8 &&
                      back.data_digest == 7,
                  "call %d: another state", (int)n);
            CHECK_OK(rela_train_state_compare(&e, &o, &err), err);
        }
        rela_extras_deinit(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_text_is_never_bad),
        cmocka_unit_test(a_bad_text_is_bad),
        cmocka_unit_test(a_pipeline_is_stored_whole_or_not),
        cmocka_unit_test(the_state_of_a_run_is_stored_whole_or_not),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
