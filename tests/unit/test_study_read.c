/* SPDX-License-Identifier: MIT */
/* tests/unit/test_study_read.c - studies are read strictly: every mistake has its file and line. */
#include "check.h"
#include "scratch.h"

#include "study/study.h"

#include <string.h>

static const char GOOD[] = "study: small\n"
                           "set: {level: easy, both: '${level}-${size}', size: '200'}\n"
                           "seeds: [1, 2]\n"
                           "data:\n"
                           "  toy:\n"
                           "    corpus: {level: '${level}', size: '${size}'}\n"
                           "    text: {tokenise: true, merges: 100}\n"
                           "defaults: {preset: demo, updates: 2}\n"
                           "models:\n"
                           "  softmax: {attention: softmax}\n"
                           "  rela-g: {attention: rela-g, title: 'ReLA-g'}\n"
                           "  enc: {attention: softmax, attention-enc: rela-g, tuned-as: rela-g}\n"
                           "tuning:\n"
                           "  data: toy\n"
                           "  models: [softmax, rela-g]\n"
                           "  grid: {lr: [0.001, 0.003], warmup: [1, 2]}\n"
                           "  updates: 1\n"
                           "train:\n"
                           "  - {stage: first, data: toy}\n"
                           "scores: [bleu, chrf]\n"
                           "analyses:\n"
                           "  - {data: toy, models: rela-g, what: [sparsity, gold]}\n"
                           "plan: {primary: bleu, comparisons: [[rela-g, softmax]]}\n"
                           "claims: [{claim: x}]\n"
                           "scales:\n"
                           "  one: {}\n"
                           "  two: {seeds: [7], data: {toy: {corpus: {size: '300'}}}}\n";

static rela_status read_text(rela_study **out, const char *text, const char *scale, const char *set,
                             rela_error *err)
{
    const rela_tree_sets sets = { &set, set ? 1 : 0 };
    return rela_study_read(out, spill("s.yml", text, strlen(text)), scale, sets, err);
}

static void a_study_is_read(void **state)
{
    (void)state;
    rela_study *s = NULL;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(read_text(&s, GOOD, "one", NULL, &err), err);
    assert_string_equal(s->name, "small");
    assert_int_equal(s->n_seeds, 2);
    assert_int_equal(s->n_models, 3);
    assert_string_equal(rela_study_find_model(s, "rela-g")->title, "ReLA-g");
    assert_string_equal(rela_study_find_model(s, "enc")->tuned_as, "rela-g");
    assert_string_equal(rela_study_find_model(s, "softmax")->tuned_as, "softmax");
    assert_string_equal(rela_study_setting_of(s->data[0].corpus, "size"), "200");
    assert_int_equal(s->tuning.n_settings, 4);
    assert_string_equal(rela_study_setting_of(s->tuning.settings[1][2], "lr"), "0.003");
    assert_string_equal(rela_study_setting_of(s->tuning.settings[1][2], "warmup"), "1");
    assert_int_equal(s->rows[0].models.n, 3);
    assert_int_equal(s->plan.n_comparisons, 1);
    assert_int_equal(s->claims->n, 1);
    rela_study_destroy(s);
}

static void a_scale_and_set_replace_values(void **state)
{
    (void)state;
    rela_study *s = NULL, *one = NULL;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(read_text(&s, GOOD, "two", "level=hard", &err), err);
    CHECK_OK(read_text(&one, GOOD, "one", NULL, &err), err);
    assert_int_equal(s->seeds[0], 7);
    assert_string_equal(rela_study_setting_of(s->data[0].corpus, "size"), "300");
    assert_string_equal(rela_study_setting_of(s->data[0].corpus, "level"), "hard");
    CHECK(strcmp(s->plan.hash, one->plan.hash) != 0, "other seeds, but the same plan");
    rela_study_destroy(s);
    rela_study_destroy(one);
}

/* A line of GOOD is replaced by another one. */
static const struct {
    const char *old, *new, *message;
} MISTAKES[] = {
    { "seeds: [1, 2]", "sedes: [1, 2]",
      "line 3: unknown key 'sedes' in a study; did you mean 'seeds'?" },
    { "seeds: [1, 2]", "seeds: [1, x]", "line 3: expected a whole number from 0" },
    { "seeds: [1, 2]", "seeds: [1, 1]", "line 3: '1' is given twice" },
    { "seeds: [1, 2]", "seeds: &a [1]", "line 3: anchors and aliases are not supported" },
    { "seeds: [1, 2]", "study: twice", "line 3: key 'study' is given twice" },
    { "seeds: [1, 2]", "seeds: [1, 2", "line 4: indented, so it continues the value of line 3" },
    { "size: '200'}", "size: '${both}'}", "line 2: the value of ${size} contains itself" },
    { "'${level}', size", "'${levle}', size",
      "line 6: ${levle} has no value; did you mean ${level}?" },
    { "  toy:\n", "  to/y:\n", "line 5: name 'to/y'" },
    { "tuned-as: rela-g", "tuned-as: relag", "line 12: tuned-as: 'relag' is not among the models" },
    { "preset: demo", "merges: 7, out: x", "line 8: option 'out' cannot stand here" },
    { "{attention: softmax}", "{attention: softmax, merges: 7}",
      "line 10: option 'merges' cannot stand here; models share the subwords" },
    { "  models: [softmax, rela-g]", "  models: [softmax, rela-h]",
      "line 15: no model 'rela-h' under 'models:'; did you mean 'rela-g'?" },
    { "  updates: 1\n", "  grids: {rela-g: [{lr: 0.1}]}\n",
      "line 17: rela-g has 1 settings, softmax has 4: every model needs the same number" },
    { "data: toy}\nscores", "data: tyo}\nscores",
      "line 19: no entry 'tyo' under 'data:'; did you mean 'toy'?" },
    { "[bleu, chrf]", "[bleu, chrff]", "line 20: unknown score 'chrff'; did you mean 'chrf'?" },
    { "[sparsity, gold]", "[sparsity, golden]", "line 22: unknown analysis 'golden'" },
    { "[[rela-g, softmax]]", "[[rela-g]]", "line 23: expected two models: [A, B]" },
    { "    corpus: {level: '${level}', size: '${size}'}", "    train: [only-one]",
      "line 6: expected two files: [SRC, TGT]" },
    { "    corpus: {level: '${level}', size: '${size}'}", "    test: [a, b]",
      "line 6: toy: no 'train:' [SRC, TGT] and no 'corpus:'" },
};

static void every_mistake_has_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MISTAKES / sizeof MISTAKES[0]; i++) {
        char text[4096];
        const char *at = strstr(GOOD, MISTAKES[i].old);
        CHECK(at, "%s: not in the study", MISTAKES[i].old);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - GOOD), GOOD, MISTAKES[i].new,
                       at + strlen(MISTAKES[i].old));
        rela_study *s = NULL;
        rela_error err = { RELA_OK, "" };
        CHECK(read_text(&s, text, "one", NULL, &err) == RELA_FORMAT && !s, "%s: %s",
              MISTAKES[i].new, err.message);
        CHECK(strstr(err.message, MISTAKES[i].message), "%s: %s", MISTAKES[i].new, err.message);
    }
}

static void scales_are_chosen_by_name(void **state)
{
    (void)state;
    rela_study *s = NULL;
    rela_error err = { RELA_OK, "" };
    assert_int_equal(read_text(&s, GOOD, NULL, NULL, &err), RELA_ARG);
    CHECK(strstr(err.message, "with --scale: one, two"), "%s", err.message);
    assert_int_equal(read_text(&s, GOOD, "tow", NULL, &err), RELA_ARG);
    CHECK(strstr(err.message, "no scale 'tow'; did you mean 'two'?"), "%s", err.message);
}

static void test_sets_are_found(void **state)
{
    (void)state;
    static const char TEXT[] = "study: x\n"
                               "data:\n"
                               "  d:\n"
                               "    train: [a, b]\n"
                               "    test: '${dir}/test_*.en.gz'\n";
    char set[SCRATCH_PATH];
    rela_study *s = NULL;
    rela_error err = { RELA_OK, "" };
    (void)snprintf(set, sizeof set, "dir=%s", scratch_dir);
    assert_int_equal(read_text(&s, TEXT, NULL, set, &err), RELA_FORMAT);
    CHECK(strstr(err.message, "line 5: no file is named like"), "%s", err.message);
    (void)spill("test_b.en.gz", "", 0);
    (void)spill("test_a.en.gz", "", 0);
    CHECK_OK(read_text(&s, TEXT, NULL, set, &err), err);
    assert_int_equal(s->data[0].n_tests, 2);
    assert_string_equal(s->data[0].tests[0].name, "test_a");
    CHECK(strstr(s->data[0].tests[0].tgt, "/test_a.de.gz"), "%s", s->data[0].tests[0].tgt);
    assert_int_equal(rela_study_check_files(s, &err), RELA_FORMAT);
    CHECK(strstr(err.message, "s.yml: line 4: no file 'a'"), "%s", err.message);
    rela_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_study_is_read),
        cmocka_unit_test(a_scale_and_set_replace_values),
        cmocka_unit_test(every_mistake_has_its_line),
        cmocka_unit_test(scales_are_chosen_by_name),
        cmocka_unit_test(test_sets_are_found),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
