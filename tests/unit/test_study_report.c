/* SPDX-License-Identifier: MIT */
/* tests/unit/test_study_report.c - the report of a study from planted facts: what has run stands
 * there, what has not says so, and nothing else decides its bytes. */
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"
#include "study/results.h"
#include "study/study_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char STUDY[] =
    "study: planted\n"
    "data: {d: {train: [a.en, a.de], valid: [v.en, v.de], test: {t: [t.en, t.de]}}}\n"
    "models: {softmax: {attention: softmax}, rela-g: {attention: rela-g}, relu: {attention: "
    "relu}}\n"
    "train:\n"
    "  - {stage: rows, data: d, models: all}\n"
    "plan: {primary: bleu, samples: 200, comparisons: [[rela-g, softmax]]}\n"
    "claims:\n"
    "  - {claim: \"<b>better & best\", rule: greater, measure: bleu, data: d, a: rela-g, b: "
    "softmax,"
    " effect: 1}\n"
    "  - {claim: sparse, rule: greater, measure: sparsity, units: heads, a: rela-g, b: 0.5}\n"
    "  - {claim: gone, rule: less, measure: aer, units: heads, a: rela-g, b: 50}\n"
    "  - {claim: fast, rule: greater, measure: train-speed, a: rela-g, b: softmax, ratio: true}\n"
    "report:\n"
    "  title: Planted\n"
    "  answer: {a: rela-g, b: softmax, data: d}\n"
    "  show:\n"
    "    - {id: table-1, name: Table 1, kind: scores, data: d, against: softmax, measures: [bleu],"
    " models: [softmax, rela-g, relu], columns: [BLEU], published: {softmax: 26.9, rela-g: 26.6}}\n"
    "    - {id: fig-3, name: Figure 3, kind: layers, models: [rela-g], parts: [{title: Cross,"
    " measure: sparsity, place: cross, second: other}]}\n"
    "    - {id: table-5, kind: means, models: [rela-g], parts: [{title: AoL, measure: AoL}],"
    " published: {rela-g: [64.46]}}\n"
    "    - {id: table-2, kind: speed, models: [softmax, rela-g], parts: [{title: training,"
    " measure: train-speed}]}\n"
    "    - {id: fig-2, kind: lengths, measures: [length-speed], models: [rela-g]}\n"
    "    - {id: table-4, kind: operations}\n"
    "    - {id: tags, kind: tags, models: [rela-g]}\n"
    "    - {id: ranking, kind: ranking, models: [rela-g]}\n"
    "    - {id: maps, kind: maps, models: [rela-g]}\n";

enum { SENTENCES = 60, PAIRS = 40 };

typedef struct planted {
    rela_study *study;
    rela_study_jobs jobs;
    rela_study_job job[3];
    rela_facts facts;
    rela_layout layout;
    rela_claims claims;
    rela_buffer html, tsv, json;
} planted;

static void plant(planted *p, const char *measure, const char *model, int64_t layer, int64_t head,
                  double value, bool timing)
{
    rela_error err = { RELA_OK, "" };
    rela_fact f = { .value = value, .job = "0123456789ab", .timing = timing };
    f.key = (rela_fact_key){ .measure = measure,
                             .model = model,
                             .data = timing ? "" : "d",
                             .place = timing ? "" : "cross",
                             .seed = timing ? layer : 1,
                             .layer = timing ? RELA_FACT_NONE : layer,
                             .head = head };
    CHECK_OK(rela_facts_add(&p->facts, &f, &err), err);
}

/* Sentences of ten words; wrong: how many are wrong at the end of each. */
static void plant_scores(planted *p, const char *model, uint32_t wrong)
{
    rela_error err = { RELA_OK, "" };
    uint32_t *stats = rela_arena_alloc(p->facts.arena, SENTENCES * 10 * sizeof *stats);
    CHECK(stats, "no memory");
    for (size_t i = 0; i < SENTENCES; i++) {
        uint32_t *row = stats + 10 * i;
        const uint32_t right = 10 - (i % 5 == 0 ? 2 * wrong : wrong);
        row[0] = row[1] = 10;
        for (uint32_t n = 0; n < 4; n++) {
            row[2 + n] = right > n ? right - n : 0;
            row[6 + n] = 10 - n;
        }
    }
    rela_fact_scores s = { .stats = stats, .n = SENTENCES, .k = 10, .job = "ba9876543210" };
    s.key = (rela_fact_key){ .measure = "bleu",
                             .model = model,
                             .data = "d",
                             .test = "t",
                             .seed = 1,
                             .layer = RELA_FACT_NONE,
                             .head = RELA_FACT_NONE };
    CHECK_OK(rela_facts_add_scores(&p->facts, &s, &err), err);
}

static void plant_pairs(planted *p)
{
    static const char *labels[PAIRS], *src[PAIRS], *tgt[PAIRS];
    static double values[PAIRS];
    rela_error err = { RELA_OK, "" };
    for (size_t i = 0; i < PAIRS; i++) {
        labels[i] = i % 2 ? "ok" : "shuf";
        src[i] = "a <secret> source";
        tgt[i] = "its target";
        values[i] = (double)(i % 2 ? i : PAIRS + i) / 100;
    }
    rela_fact_column c = { .values = values,
                           .labels = labels,
                           .src = src,
                           .tgt = tgt,
                           .n = PAIRS,
                           .job = "0123456789ab" };
    c.key = rela_fact_any("rank-null");
    c.key.model = "rela-g";
    CHECK_OK(rela_facts_add_column(&p->facts, &c, &err), err);
    static const char *const WORDS[] = { "one", "two" };
    static const double WEIGHTS[] = { 0.5, 0, 0, 0 };
    rela_fact_map m = { .rows = WORDS,
                        .columns = WORDS,
                        .n_rows = 2,
                        .n_columns = 2,
                        .weights = WEIGHTS,
                        .job = "0123456789ab" };
    m.key = rela_fact_any("map");
    m.key.model = "rela-g";
    m.key.layer = m.key.head = 0;
    CHECK_OK(rela_facts_add_map(&p->facts, &m, &err), err);
}

static void make(planted *p, bool no_timings, bool without_text)
{
    rela_error err = { RELA_OK, "" };
    rela_study_report r = { .study = p->study,
                            .jobs = &p->jobs,
                            .facts = &p->facts,
                            .layout = &p->layout,
                            .claims = &p->claims,
                            .options = { .no_timings = no_timings, .without_text = without_text } };
    rela_buffer_clear(&p->html);
    rela_buffer_clear(&p->tsv);
    rela_buffer_clear(&p->json);
    CHECK_OK(rela_study_report_make(&p->html, &p->tsv, &p->json, &r, &err), err);
}

static void setup(planted *p)
{
    char path[SCRATCH_PATH];
    rela_error err = { RELA_OK, "" };
    const rela_tree_sets none = { NULL, 0 };
    *p = (planted){ .study = NULL };
    (void)snprintf(path, sizeof path, "%s/planted.yml", scratch_dir);
    CHECK_OK(rela_file_write(path, STUDY, sizeof STUDY - 1, &err), err);
    CHECK_OK(rela_study_read(&p->study, path, NULL, none, &err), err);
    CHECK_OK(rela_facts_init(&p->facts, &err), err);
    CHECK_OK(rela_layout_read(&p->layout, p->study, &err), err);
    CHECK_OK(rela_claims_read(&p->claims, p->study->arena, p->study->claims, &err), err);
    static const char *const MODELS[] = { "softmax", "rela-g", "relu" };
    for (size_t i = 0; i < 3; i++)
        p->job[i] = (rela_study_job){ .name = MODELS[i],
                                      .kind = RELA_STUDY_TRAIN,
                                      .stage = "rows",
                                      .data = "d",
                                      .model = MODELS[i],
                                      .seed = 1,
                                      .key = "0123456789abcdef",
                                      .state = i == 2 ? RELA_STUDY_FAILED : RELA_STUDY_DONE };
    p->jobs = (rela_study_jobs){ p->study, p->job, 3 };
    plant_scores(p, "softmax", 2);
    plant_scores(p, "rela-g", 1);
    for (int64_t layer = 0; layer < 3; layer++) {
        plant(p, "sparsity", "rela-g", layer, RELA_FACT_NONE, 0.7, false);
        for (int64_t head = 0; head < 4; head++)
            plant(p, "sparsity", "rela-g", layer, head, 0.7 + 0.01 * (double)head, false);
        plant(p, "train-speed", "softmax", layer, RELA_FACT_NONE, 1, true);
        plant(p, "train-speed", "rela-g", layer, RELA_FACT_NONE, 0.9 + 0.01 * (double)layer, true);
    }
    plant_pairs(p);
}

static void teardown(planted *p)
{
    rela_facts_deinit(&p->facts);
    rela_study_destroy(p->study);
    rela_buffer_free(&p->html);
    rela_buffer_free(&p->tsv);
    rela_buffer_free(&p->json);
}

#define HAS(text, part)   CHECK(strstr(text, part), "'%s' is missing", part)
#define LACKS(text, part) CHECK(!strstr(text, part), "'%s' is there", part)

static void what_has_run_stands_beside_what_is_published(void **state)
{
    (void)state;
    planted p;
    setup(&p);
    make(&p, false, false);
    HAS(p.html.data, "<td class=\"paper\">26.9</td>");
    HAS(p.html.data, "class=\"answer\"");
    HAS(p.html.data, " BLEU on d: a difference of ");
    HAS(p.html.data, "Settings as given, without tuning of both; ");
    HAS(p.html.data, "<span class=\"tag planned\">planned</span>");
    HAS(p.html.data, "<span class=\"tag explored\">explored</span>");
    HAS(p.tsv.data, "table-1\trela-g\tbleu\t");
    HAS(p.tsv.data, "\tdone\t1\tba9876543210\n");
    HAS(p.json.data, "\"verdict\": \"holds\"");
    HAS(p.html.data, "role=\"img\" aria-label=\"Cross: rela-g 0.7");
    HAS(p.html.data, "layer 1, head 1");
    teardown(&p);
}

static void what_has_not_run_or_has_failed_says_so(void **state)
{
    (void)state;
    planted p;
    setup(&p);
    make(&p, false, false);
    HAS(p.tsv.data, "table-1\trelu\tbleu\t\t\t\t\t\t0\t0\t\tfailed\t");
    HAS(p.html.data, "<td class=\"none\">failed</td>");
    HAS(p.html.data, "<section id=\"fig-2\">");
    HAS(p.html.data, "Not run.");
    HAS(p.tsv.data, "claim-3\tgone\tless\t\t\t\t\t\t0\t0\t\tnot run\t");
    teardown(&p);
}

static void verdicts_follow_the_facts(void **state)
{
    (void)state;
    static const char *const EXPECTED[] = { "claim-1\t", "\tholds\t",        "claim-2\t",
                                            "\tholds\t", "claim-3\t",        "\tnot run\t",
                                            "claim-4\t", "\tdoes not hold\t" };
    planted p;
    setup(&p);
    make(&p, false, false);
    const char *at = p.tsv.data;
    for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; i++) {
        at = strstr(at, EXPECTED[i]);
        CHECK(at, "'%s' is missing:\n%s", EXPECTED[i], p.tsv.data);
    }
    teardown(&p);
}

static void text_of_studies_and_corpora_is_escaped(void **state)
{
    (void)state;
    planted p;
    setup(&p);
    make(&p, false, false);
    HAS(p.html.data, "&lt;b&gt;better &amp; best");
    LACKS(p.html.data, "<b>better");
    HAS(p.html.data, "a &lt;secret&gt; source");
    teardown(&p);
}

static void timings_and_texts_can_be_left_out(void **state)
{
    (void)state;
    planted p;
    setup(&p);
    make(&p, true, true);
    LACKS(p.html.data, "secret");
    HAS(p.html.data, "line 2");
    LACKS(p.html.data, "id=\"table-2\"");
    LACKS(p.tsv.data, "train-speed");
    LACKS(p.tsv.data, "table-2");
    LACKS(p.tsv.data, "claim-4");
    LACKS(p.json.data, "\"fast\"");
    teardown(&p);
}

static void the_same_facts_give_the_same_bytes(void **state)
{
    (void)state;
    planted p;
    setup(&p);
    make(&p, false, false);
    char *first = rela_str_copy(p.html.data, p.html.len);
    make(&p, false, false);
    CHECK(first && strcmp(first, p.html.data) == 0, "another page");
    LACKS(p.html.data, "http");
    LACKS(p.html.data, "src=");
    rela_mem_free(first);
    teardown(&p);
}

static void mistakes_in_a_report_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        { "report: {titel: x}\n", "title" },
        { "report: {show: [{id: a, kind: curves}]}\n", "kind is 'curves'" },
        { "report: {show: [{id: A B, kind: maps}]}\n", "needs `id:`" },
        { "report: {show: [{id: a, kind: maps, models: [m, n]}]}\n", "no model 'n'" },
        { "report: {answer: {a: m, data: d}}\n", "an answer compares" },
        { "report: {show: [{id: a, kind: means, parts: [{title: x}]}]}\n", "needs `measure:`" },
    };
    static const char HEAD[] = "study: s\n"
                               "data: {d: {train: [a, b], valid: [c, d]}}\n"
                               "models: {m: {attention: softmax}}\n"
                               "train:\n  - {stage: x, data: d, models: all}\n";
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char path[SCRATCH_PATH], text[1024];
        rela_study *study = NULL;
        rela_layout layout;
        rela_error err = { RELA_OK, "" };
        const rela_tree_sets none = { NULL, 0 };
        (void)snprintf(path, sizeof path, "%s/bad.yml", scratch_dir);
        (void)snprintf(text, sizeof text, "%s%s", HEAD, CASES[i][0]);
        CHECK_OK(rela_file_write(path, text, strlen(text), &err), err);
        CHECK_OK(rela_study_read(&study, path, NULL, none, &err), err);
        CHECK(rela_layout_read(&layout, study, &err) == RELA_FORMAT, "%s: read", CASES[i][0]);
        CHECK(strstr(err.message, CASES[i][1]) && strstr(err.message, "line 6"), "%s: %s",
              CASES[i][0], err.message);
        rela_study_destroy(study);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_run_stands_beside_what_is_published),
        cmocka_unit_test(what_has_not_run_or_has_failed_says_so),
        cmocka_unit_test(verdicts_follow_the_facts),
        cmocka_unit_test(text_of_studies_and_corpora_is_escaped),
        cmocka_unit_test(timings_and_texts_can_be_left_out),
        cmocka_unit_test(the_same_facts_give_the_same_bytes),
        cmocka_unit_test(mistakes_in_a_report_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
