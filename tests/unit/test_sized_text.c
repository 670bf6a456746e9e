/* SPDX-License-Identifier: MIT */
/* tests/unit/test_sized_text.c - structs that begin with their size, where text is worked on. */
#include "rela/corpus.h"
#include "rela/metric.h"
#include "rela/subword.h"
#include "rela/text.h"
#include "sized.h"

static rela_metric *bleu;
static rela_word_counts *counts;
static char src[SCRATCH_PATH], tgt[SCRATCH_PATH];

/* ---- rela.h, vocab.h ---- */

static rela_status memory_stats(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_memory_stats);
    return sized_written(rela_memory_stats_get(&s.o, err), &s, size, sizeof s);
}

static rela_status word_stats(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_word_stats);
    return sized_written(rela_word_counts_stats_get(&s.o, counts, err), &s, size, sizeof s);
}

/* ---- corpus.h ---- */

static rela_corpus_check_options plain_check(void)
{
    rela_corpus_check_options o;
    rela_corpus_check_options_init(&o, sizeof o);
    o.src = src;
    o.tgt = tgt;
    return o;
}

static rela_status corpus_rules(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_corpus_rules, rela_corpus_rules_init);
    rela_corpus_check_options o = plain_check();
    o.rules = &s.o;
    return rela_corpus_check(NULL, NULL, &o, err);
}

static rela_status check_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_corpus_check_options, rela_corpus_check_options_init);
    s.o.src = src;
    s.o.tgt = tgt;
    return rela_corpus_check(NULL, NULL, &s.o, err);
}

static rela_status corpus_report(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_corpus_report);
    const rela_corpus_check_options o = plain_check();
    return sized_written(rela_corpus_check(&s.o, NULL, &o, err), &s, size, sizeof s);
}

static rela_status corpus_stats(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_corpus_stats);
    const rela_corpus_check_options o = plain_check();
    return sized_written(rela_corpus_check(NULL, &s.o, &o, err), &s, size, sizeof s);
}

static rela_status report_table(size_t size, rela_error *err)
{
    SIZED_SHOWN(rela_corpus_report, rela_corpus_report_table(&text, &s.o, err));
}

static rela_status report_json(size_t size, rela_error *err)
{
    SIZED_SHOWN(rela_corpus_report, rela_corpus_report_json(&text, &s.o, err));
}

static const rela_corpus_report no_report = { .struct_size = sizeof no_report };

static rela_status stats_table(size_t size, rela_error *err)
{
    SIZED_SHOWN(rela_corpus_stats, rela_corpus_stats_table(&text, &no_report, &s.o, err));
}

static rela_status stats_json(size_t size, rela_error *err)
{
    SIZED_SHOWN(rela_corpus_stats, rela_corpus_stats_json(&text, &no_report, &s.o, err));
}

/* ---- metric.h ---- */

static const uint64_t sums[RELA_STATS_MAX] = { 9, 9, 7, 5, 3, 1, 9, 8, 7, 6 };
static const uint32_t stats[] = { 3, 1, 4, 1 };

static double first_sum(const void *ctx, const uint64_t *s)
{
    (void)ctx;
    return (double)s[0];
}

static const rela_scored scored = { .stats = stats, .n = 4, .k = 1, .score = first_sum };

static rela_status bleu_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_bleu_options, rela_bleu_options_init);
    rela_metric *made = NULL;
    const rela_status st = rela_metric_create_bleu(&made, &s.o, err);
    rela_metric_destroy(made);
    return st;
}

static rela_status chrf_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_chrf_options, rela_chrf_options_init);
    rela_metric *made = NULL;
    const rela_status st = rela_metric_create_chrf(&made, &s.o, err);
    rela_metric_destroy(made);
    return st;
}

static rela_status bleu_figures(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_bleu_figures);
    return sized_written(rela_bleu_figures_get(&s.o, bleu, sums, err), &s, size, sizeof s);
}

static rela_status aer_figures(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_aer_figures);
    return sized_written(rela_aer_figures_get(&s.o, sums, err), &s, size, sizeof s);
}

static rela_status signature(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_signature, rela_signature_init);
    rela_buffer text = RELA_BUFFER_INIT;
    const rela_status st = rela_metric_signature(&text, bleu, &s.o, err);
    rela_buffer_free(&text);
    return st;
}

static rela_status bootstrap(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_resampling, rela_resampling_init);
    rela_interval found;
    return rela_bootstrap(&found, &scored, &s.o, err);
}

static rela_status bootstrap_paired(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_resampling, rela_resampling_init);
    double p = 0;
    return rela_bootstrap_paired(&p, NULL, &scored, &scored, &s.o, err);
}

static rela_status randomise_paired(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_resampling, rela_resampling_init);
    double p = 0;
    return rela_randomise_paired(&p, &scored, &scored, &s.o, err);
}

static rela_status parse_links(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_link_format, rela_link_format_init);
    rela_links links = { NULL, 0, 0 };
    const rela_status st = rela_links_parse(&links, "0-1", 3, &s.o, err);
    rela_links_free(&links);
    return st;
}

static rela_status format_links(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_link_format, rela_link_format_init);
    rela_link link = { .src = 0 };
    const rela_links links = { &link, 1, 1 };
    rela_buffer text = RELA_BUFFER_INIT;
    const rela_status st = rela_links_format(&text, &links, &s.o, err);
    rela_buffer_free(&text);
    return st;
}

/* ---- text.h, subword.h ---- */

static rela_status tokeniser_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_tokeniser_options, rela_tokeniser_options_init);
    rela_tokeniser *made = NULL;
    const rela_status st = rela_tokeniser_create(&made, &s.o, err);
    rela_tokeniser_destroy(made);
    return st;
}

static rela_status splitter_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_splitter_options, rela_splitter_options_init);
    rela_splitter *made = NULL;
    const rela_status st = rela_splitter_create(&made, &s.o, err);
    rela_splitter_destroy(made);
    return st;
}

static rela_status detokeniser_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_detokeniser_options, rela_detokeniser_options_init);
    rela_detokeniser *made = NULL;
    const rela_status st = rela_detokeniser_create(&made, &s.o, err);
    rela_detokeniser_destroy(made);
    return st;
}

static rela_status normaliser_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_normaliser_options, rela_normaliser_options_init);
    rela_normaliser *made = NULL;
    const rela_status st = rela_normaliser_create(&made, &s.o, err);
    rela_normaliser_destroy(made);
    return st;
}

static rela_status truecaser_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_truecaser_options, rela_truecaser_options_init);
    rela_truecaser *made = NULL;
    const rela_status st = rela_truecaser_parse(&made, "model", "a (1/1)\n", 8, &s.o, err);
    rela_truecaser_free(made);
    return st;
}

static rela_status learn_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_bpe_learn_options, rela_bpe_learn_options_init);
    rela_buffer codes = RELA_BUFFER_INIT;
    const rela_status st = rela_bpe_learn(&codes, NULL, counts, &s.o, err);
    rela_buffer_free(&codes);
    return st;
}

static rela_status learn_report(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_bpe_learn_report);
    rela_buffer codes = RELA_BUFFER_INIT;
    const rela_status st = rela_bpe_learn(&codes, &s.o, counts, NULL, err);
    rela_buffer_free(&codes);
    return sized_written(st, &s, size, sizeof s);
}

static rela_status bpe_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_bpe_options, rela_bpe_options_init);
    rela_bpe *made = NULL;
    const rela_status st = rela_bpe_parse(&made, "codes", "a b\n", 4, &s.o, err);
    rela_bpe_free(made);
    return st;
}

/* ---- all of them ---- */

#define ROW(type, run)                                                                             \
    {                                                                                              \
#type, sizeof(type), run                                                                   \
    }

/* clang-format off */
static const sized_row ROWS[] = {
    ROW(rela_memory_stats, memory_stats),
    ROW(rela_word_stats, word_stats),
    ROW(rela_corpus_rules, corpus_rules),
    ROW(rela_corpus_check_options, check_options),
    ROW(rela_corpus_report, corpus_report),
    ROW(rela_corpus_report, report_table),
    ROW(rela_corpus_report, report_json),
    ROW(rela_corpus_stats, corpus_stats),
    ROW(rela_corpus_stats, stats_table),
    ROW(rela_corpus_stats, stats_json),
    ROW(rela_bleu_options, bleu_options),
    ROW(rela_chrf_options, chrf_options),
    ROW(rela_bleu_figures, bleu_figures),
    ROW(rela_aer_figures, aer_figures),
    ROW(rela_signature, signature),
    ROW(rela_resampling, bootstrap),
    ROW(rela_resampling, bootstrap_paired),
    ROW(rela_resampling, randomise_paired),
    ROW(rela_link_format, parse_links),
    ROW(rela_link_format, format_links),
    ROW(rela_tokeniser_options, tokeniser_options),
    ROW(rela_splitter_options, splitter_options),
    ROW(rela_detokeniser_options, detokeniser_options),
    ROW(rela_normaliser_options, normaliser_options),
    ROW(rela_truecaser_options, truecaser_options),
    ROW(rela_bpe_learn_options, learn_options),
    ROW(rela_bpe_learn_report, learn_report),
    ROW(rela_bpe_options, bpe_options),
};
/* clang-format on */

static const char *const HEADERS[] = { "rela", "corpus", "metric", "subword", "text", "vocab" };
static const char *const FIXED[] = { "rela_error",  "rela_buffer",         "rela_allocator",
                                     "rela_piece",  "rela_corpus_lengths", "rela_segment",
                                     "rela_scored", "rela_interval",       "rela_link",
                                     "rela_links",  "rela_sentence" };

static const sized_rows ALL = { ROWS,    sizeof ROWS / sizeof ROWS[0],
                                HEADERS, sizeof HEADERS / sizeof HEADERS[0],
                                FIXED,   sizeof FIXED / sizeof FIXED[0] };

static void no_struct_is_forgotten(void **state)
{
    (void)state;
    sized_complete(&ALL);
}

static void own_and_earlier_sizes_are_taken(void **state)
{
    (void)state;
    sized_taken(&ALL);
}

static void no_size_and_later_sizes_are_refused(void **state)
{
    (void)state;
    sized_refused(&ALL);
}

/* A program of an earlier version: nothing is written after its struct. */
static void init_keeps_to_the_size_it_is_given(void **state)
{
    (void)state;
    rela_corpus_check_options o;
    const unsigned char *bytes = (const unsigned char *)&o;
    memset(&o, SIZED_POISON, sizeof o);
    rela_corpus_check_options_init(&o, offsetof(rela_corpus_check_options, batch_tokens));
    assert_int_equal(o.struct_size, offsetof(rela_corpus_check_options, batch_tokens));
    assert_null(o.src);
    for (size_t i = o.struct_size; i < sizeof o; i++)
        CHECK(bytes[i] == SIZED_POISON, "byte %zu was written", i);
    rela_corpus_check_options_init(&o, 0);
    assert_int_equal(o.struct_size, 0);
}

static int start(void **state)
{
    if (scratch_make(state) != 0)
        return -1;
    (void)snprintf(src, sizeof src, "%s", spill_text("src", "a b c .\nd e\n"));
    (void)snprintf(tgt, sizeof tgt, "%s", spill_text("tgt", "a b .\ng h\n"));
    rela_status st = rela_metric_create_bleu(&bleu, NULL, NULL);
    st = st ? st : rela_word_counts_create(&counts, NULL);
    return st ? st : rela_word_counts_add_text(counts, "ab ab ac", 8, NULL);
}

static int end(void **state)
{
    rela_word_counts_destroy(counts);
    rela_metric_destroy(bleu);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_struct_is_forgotten),
        cmocka_unit_test(own_and_earlier_sizes_are_taken),
        cmocka_unit_test(no_size_and_later_sizes_are_refused),
        cmocka_unit_test(init_keeps_to_the_size_it_is_given),
    };
    return cmocka_run_group_tests(tests, start, end);
}
