/* SPDX-License-Identifier: MIT */
/* cli/cmd_bpe.c - rela bpe learn, apply, undo: subwords by byte pair encoding. */
#include "count_words.h"

#include "base/mem.h"
#include "base/par.h"

#include "rela/subword.h"

typedef struct learn_options {
    int64_t symbols, min_frequency;
    bool total_symbols, dict_input;
    const char *output;
} learn_options;

typedef struct apply_options {
    const char *codes, *separator, *vocabulary, *output;
    int64_t merges, vocabulary_threshold;
    rela_list glossaries;
    double dropout;
} apply_options;

typedef struct undo_options {
    const char *separator, *output;
} undo_options;

typedef struct apply_job {
    rela_bpe_scratch **scratch; /* one per thread */
    int n_threads;
} apply_job;

enum { SYMBOLS_MAX = (1 << 24) - 1 };

static rela_status run_learn(rela_cli *cli, void *options, rela_error *err);
static rela_status run_apply(rela_cli *cli, void *options, rela_error *err);
static rela_status run_undo(rela_cli *cli, void *options, rela_error *err);
static rela_status learn(rela_cli *cli, rela_buffer *codes, const rela_word_counts *counts,
                         const learn_options *o, rela_error *err);
static int show_progress(void *ctx, uint64_t done, uint64_t total);
static rela_status load(rela_bpe **out, const rela_cli *cli, const apply_options *o,
                        rela_error *err);
static rela_status apply(rela_cli *cli, const rela_bpe *bpe, const char *output, rela_error *err);
static rela_status apply_line(void *ctx, rela_buffer *out, const char *text, size_t len,
                              uint64_t number, int thread, rela_error *err);
static rela_status undo_line(void *ctx, rela_buffer *out, const char *text, size_t len,
                             uint64_t number, int thread, rela_error *err);

/* clang-format off */
static const rela_option LEARN[] = {
    { "symbols", 's', RELA_OPTION_INT, offsetof(learn_options, symbols), 0, SYMBOLS_MAX, "10000",
      "N", "number of merges to learn" },
    { "min-frequency", 0, RELA_OPTION_INT, offsetof(learn_options, min_frequency), 1, 1e12, "2",
      "N", "stop when no pair of symbols occurs at least N times" },
    { "total-symbols", 0, RELA_OPTION_FLAG, offsetof(learn_options, total_symbols), 0, 0, NULL,
      NULL, "subtract the number of different characters from --symbols" },
    { "dict-input", 0, RELA_OPTION_FLAG, offsetof(learn_options, dict_input), 0, 0, NULL,
      NULL, "input lines are 'word count'" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(learn_options, output), 0, 0, NULL, "FILE",
      "write the codes to a file instead of standard output" },
    { .name = NULL },
};

static const rela_option APPLY[] = {
    { "codes", 'c', RELA_OPTION_FILE, offsetof(apply_options, codes), 0, 0, NULL, "FILE",
      "codes from 'rela bpe learn' or subword-nmt (required)" },
    { "merges", 'm', RELA_OPTION_INT, offsetof(apply_options, merges), -1, SYMBOLS_MAX, "-1", "N",
      "use only the first N merges; -1: all" },
    { "separator", 's', RELA_OPTION_TEXT, offsetof(apply_options, separator), 0, 0, "@@", "TEXT",
      "mark of a piece that does not end its word" },
    { "vocabulary", 0, RELA_OPTION_FILE, offsetof(apply_options, vocabulary), 0, 0, NULL, "FILE",
      "vocabulary from 'rela vocab', lines 'subword count'; subwords not in it are split further" },
    { "vocabulary-threshold", 0, RELA_OPTION_INT, offsetof(apply_options, vocabulary_threshold), 0,
      1e12, "0", "N", "treat subwords with a lower count as not in the vocabulary" },
    { "glossaries", 0, RELA_OPTION_LIST, offsetof(apply_options, glossaries), 0, 0, NULL, "REGEX",
      "words or regular expressions to keep whole; may be repeated" },
    { "dropout", 0, RELA_OPTION_REAL, offsetof(apply_options, dropout), 0, 1, "0", "P",
      "BPE dropout: skip each merge with this probability (for training data); see --seed" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(apply_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};

static const rela_option UNDO[] = {
    { "separator", 's', RELA_OPTION_TEXT, offsetof(undo_options, separator), 0, 0, "@@", "TEXT",
      "mark of a piece that does not end its word" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(undo_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
static const char *const APPLY_NEEDS[] = {
    "json", "",
    "seed", "dropout",
    "vocabulary-threshold", "vocabulary",
    NULL,
};
/* clang-format on */

const rela_command rela_commands_bpe[] = {
    { .name = "bpe learn",
      .summary = "learn subwords from text",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description =
          "Counts the space-separated words of all files together (joint learning), or of standard "
          "input, and writes the merges of byte pair encoding, one per line, most frequent first. "
          "The result is that of subword-nmt learn-bpe, byte for byte, with any number of threads.",
      .examples = "rela bpe learn -s 32000 train.de.gz train.en.gz -o codes\n"
                  "rela tokenise -l en < text | rela bpe learn > codes",
      .options = LEARN,
      .options_size = sizeof(learn_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run_learn },
    { .name = "bpe apply",
      .summary = "split the words of a text into subwords",
      .operands = "--codes FILE [FILE...]",
      .max_operands = SIZE_MAX,
      .description =
          "Reads the files, or standard input, line by line and splits every word with the merges "
          "of --codes. The result is that of subword-nmt apply-bpe. With --dropout it depends on "
          "--seed, the line number and the position in the line, not on the number of threads.",
      .examples = "rela bpe apply -c codes < train.en > train.bpe.en\n"
                  "rela bpe apply -c codes --vocabulary vocab.en \\\n"
                  "    --vocabulary-threshold 50 test.en",
      .options = APPLY,
      .options_size = sizeof(apply_options),
      .in_place = true,
      .needs = APPLY_NEEDS,
      .run = run_apply },
    { .name = "bpe undo",
      .summary = "join subwords back into words",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description = "Removes every separator that is followed by a space, with the space, and a "
                     "separator at the end of a line.",
      .examples = "rela bpe undo < output.bpe > output",
      .options = UNDO,
      .options_size = sizeof(undo_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run_undo },
    { .name = NULL },
};

static rela_status run_learn(rela_cli *cli, void *options, rela_error *err)
{
    const learn_options *o = options;
    rela_word_counts *counts = NULL;
    rela_buffer codes = RELA_BUFFER_INIT;
    rela_status st = rela_word_counts_create(&counts, err);
    if (st == RELA_OK)
        st = rela_cli_count_words(cli, counts, o->dict_input, err);
    if (st == RELA_OK)
        st = learn(cli, &codes, counts, o, err);
    if (st == RELA_OK)
        st = rela_file_write(o->output ? o->output : "-", codes.data, codes.len, err);
    rela_buffer_free(&codes);
    rela_word_counts_destroy(counts);
    return st;
}

static rela_status learn(rela_cli *cli, rela_buffer *codes, const rela_word_counts *counts,
                         const learn_options *o, rela_error *err)
{
    rela_bpe_learn_options how;
    rela_bpe_learn_report report = { .struct_size = sizeof report };
    rela_progress progress;
    rela_bpe_learn_options_init(&how, sizeof how);
    how.n_symbols = (uint64_t)o->symbols;
    how.min_frequency = (uint64_t)o->min_frequency;
    how.total_symbols = o->total_symbols;
    how.progress = show_progress;
    how.progress_ctx = &progress;
    rela_cli_progress(cli, &progress, "learning", "merges", how.n_symbols);
    rela_progress_start(&progress, 0);
    const rela_status st = rela_bpe_learn(codes, &report, counts, &how, err);
    if (progress.visible)
        rela_progress_finish(&progress, report.n_merges, NULL);
    if (st != RELA_OK)
        return st;
    if (o->total_symbols)
        rela_log_line(&cli->sink, RELA_LOG_INFO,
                      "merges reduced by %llu characters inside words and %llu at their end",
                      (unsigned long long)report.n_inner, (unsigned long long)report.n_final);
    if (report.exhausted)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "only %llu merge%s: no %spair has frequency %lld",
                      (unsigned long long)report.n_merges, rela_plural(report.n_merges),
                      report.n_merges ? "other " : "", (long long)o->min_frequency);
    return RELA_OK;
}

static int show_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)total;
    rela_progress_update(ctx, done, NULL);
    return 0;
}

static rela_status run_apply(rela_cli *cli, void *options, rela_error *err)
{
    const apply_options *o = options;
    rela_bpe *bpe = NULL;
    if (!o->codes)
        return rela_fail(err, RELA_ARG, "option --codes is missing");
    rela_status st = load(&bpe, cli, o, err);
    if (st == RELA_OK)
        st = apply(cli, bpe, o->output, err);
    rela_bpe_free(bpe);
    return st;
}

static rela_status load(rela_bpe **out, const rela_cli *cli, const apply_options *o,
                        rela_error *err)
{
    rela_bpe_options how;
    rela_word_counts *vocabulary = NULL;
    rela_status st = RELA_OK;
    if (o->vocabulary) {
        st = rela_word_counts_create(&vocabulary, err);
        if (st == RELA_OK)
            st = rela_word_counts_add_dictionary(vocabulary, o->vocabulary, RELA_DUPLICATES_MAX,
                                                 err);
    }
    rela_bpe_options_init(&how, sizeof how);
    how.merges = o->merges;
    how.separator = o->separator;
    how.vocabulary = vocabulary;
    how.vocabulary_threshold = (uint64_t)o->vocabulary_threshold;
    how.glossaries = o->glossaries.items;
    how.n_glossaries = o->glossaries.n;
    how.dropout = o->dropout;
    how.seed = (uint64_t)cli->common.seed;
    if (st == RELA_OK)
        st = rela_bpe_load(out, o->codes, &how, err);
    rela_word_counts_destroy(vocabulary);
    return st;
}

static rela_status apply(rela_cli *cli, const rela_bpe *bpe, const char *output, rela_error *err)
{
    const int n = rela_par_threads((int)cli->common.threads);
    apply_job job = { rela_mem_zalloc((size_t)n * sizeof *job.scratch), n };
    rela_status st =
        job.scratch ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    for (int i = 0; i < n && st == RELA_OK; i++)
        st = rela_bpe_scratch_create(&job.scratch[i], bpe, err);
    const rela_cli_lines lines = { .line = apply_line, .ctx = &job, .label = "segmenting" };
    if (st == RELA_OK)
        st = rela_cli_run_lines(cli, &lines, cli->operands, output, err);
    uint64_t n_replaced = 0;
    for (int i = 0; job.scratch && i < n; i++) {
        n_replaced += job.scratch[i] ? rela_bpe_n_replaced(job.scratch[i]) : 0;
        rela_bpe_scratch_destroy(job.scratch[i]);
    }
    rela_mem_free(job.scratch);
    if (st == RELA_OK && n_replaced)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%llu sequences of bytes are not UTF-8 and became U+FFFD",
                      (unsigned long long)n_replaced);
    return st;
}

static rela_status apply_line(void *ctx, rela_buffer *out, const char *text, size_t len,
                              uint64_t number, int thread, rela_error *err)
{
    const apply_job *job = ctx;
    return rela_bpe_apply(out, job->scratch[thread], text, len, number, err);
}

static rela_status run_undo(rela_cli *cli, void *options, rela_error *err)
{
    undo_options *o = options;
    const rela_cli_lines lines = { .line = undo_line, .ctx = o, .label = "joining" };
    return rela_cli_run_lines(cli, &lines, cli->operands, o->output, err);
}

static rela_status undo_line(void *ctx, rela_buffer *out, const char *text, size_t len,
                             uint64_t number, int thread, rela_error *err)
{
    const undo_options *o = ctx;
    (void)number;
    (void)thread;
    return rela_bpe_undo(out, o->separator, text, len, err);
}
