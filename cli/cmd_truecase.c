/* SPDX-License-Identifier: MIT */
/* cli/cmd_truecase.c - rela truecase: learns, applies and undoes truecasing. */
#include "textline.h"

#include "base/mem.h"
#include "base/par.h"
#include "rela/text.h"

typedef struct learn_options {
    bool first_words;
    const char *output;
} learn_options;

typedef struct apply_options {
    const char *model;
    bool known, asr;
    const char *output;
} apply_options;

typedef struct undo_options {
    bool headline;
    const char *output;
} undo_options;

static rela_status run_learn(rela_cli *cli, void *options, rela_error *err);
static rela_status run_apply(rela_cli *cli, void *options, rela_error *err);
static rela_status run_undo(rela_cli *cli, void *options, rela_error *err);
static rela_status learn_line(void *ctx, const char *text, size_t len, uint64_t number, int thread,
                              rela_error *err);
static rela_status write_model(rela_truecase_counts **counts, int n, const char *output,
                               rela_error *err);
static rela_status apply_line(const void *object, rela_buffer *out, const char *text, size_t len,
                              rela_error *err);
static rela_status undo_line(const void *object, rela_buffer *out, const char *text, size_t len,
                             rela_error *err);

/* clang-format off */
static const rela_option LEARN_OPTIONS[] = {
    { "first-words", 0, RELA_OPTION_FLAG, offsetof(learn_options, first_words), 0, 0, NULL, NULL,
      "also learn from first words that are not capitalised and, with a low weight, from one-word lines" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(learn_options, output), 0, 0, NULL, "FILE",
      "write the model to a file instead of standard output" },
    { .name = NULL },
};

static const rela_option APPLY_OPTIONS[] = {
    { "model", 'm', RELA_OPTION_FILE, offsetof(apply_options, model), 0, 0, NULL, "FILE",
      "truecasing model from 'rela truecase learn'" },
    { "known", 0, RELA_OPTION_FLAG, offsetof(apply_options, known), 0, 0, "true", NULL,
      "inside a sentence, keep spellings that the model knows" },
    { "asr", 0, RELA_OPTION_FLAG, offsetof(apply_options, asr), 0, 0, NULL, NULL,
      "the input has no case information: lower-case it first and trust no spelling" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(apply_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};

static const rela_option UNDO_OPTIONS[] = {
    { "headline", 0, RELA_OPTION_FLAG, offsetof(undo_options, headline), 0, 0, NULL, NULL,
      "capitalise every word except English articles, prepositions and the like" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(undo_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
/* clang-format on */

#define APPLY_ROW                                                                                  \
    .operands = "--model FILE [FILE...]", .max_operands = SIZE_MAX,                                \
    .description = "Reads lines of tokens and gives first words of sentences, and words in a "     \
                   "spelling that the model does not know, the spelling that is most frequent "    \
                   "in the model. Words that the model does not know at all stay as they are.",    \
    .examples = "rela truecase -m model.en < text.tok.en > text.true.en",                          \
    .options = APPLY_OPTIONS, .options_size = sizeof(apply_options), .in_place = true,             \
    .needs = RELA_CLI_NO_FIGURES, .run = run_apply

const rela_command rela_commands_truecase[] = {
    { .name = "truecase learn",
      .summary = "learn the usual spelling of words from tokenised text",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description = "Reads lines of tokens and counts the spellings of each word, except at "
                     "the start of sentences. Writes a model in the format of Moses: one word "
                     "per line, its spellings with their counts, the most frequent first.",
      .examples = "rela truecase learn text.tok.en -o model.en",
      .options = LEARN_OPTIONS,
      .options_size = sizeof(learn_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run_learn },
    { .name = "truecase apply", .summary = "the same as 'truecase'", APPLY_ROW },
    { .name = "truecase undo",
      .summary = "capitalise the first word of each sentence of tokenised text",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description = "Reads lines of tokens and capitalises the first word of each sentence.",
      .examples = "rela truecase undo < output.true | rela detokenise -l en",
      .options = UNDO_OPTIONS,
      .options_size = sizeof(undo_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run_undo },
    { .name = "truecase",
      .summary = "give words of tokenised text their usual spelling",
      APPLY_ROW },
    { .name = NULL },
};

static rela_status run_learn(rela_cli *cli, void *options, rela_error *err)
{
    const learn_options *o = options;
    const int n = rela_par_threads((int)cli->common.threads);
    rela_truecase_counts **counts = rela_mem_zalloc((size_t)n * sizeof(void *));
    if (!counts)
        return rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    rela_status st = RELA_OK;
    for (int i = 0; i < n && st == RELA_OK; i++)
        st = rela_truecase_counts_create(&counts[i], o->first_words, err);
    if (st == RELA_OK)
        st = rela_cli_scan_text(cli, learn_line, counts, "learn", err);
    if (st == RELA_OK)
        st = write_model(counts, n, o->output, err);
    for (int i = 0; i < n; i++)
        rela_truecase_counts_destroy(counts[i]);
    rela_mem_free(counts);
    return st;
}

static rela_status run_apply(rela_cli *cli, void *options, rela_error *err)
{
    const apply_options *o = options;
    if (!o->model)
        return rela_fail(err, RELA_ARG, "no model; give one with --model FILE");
    rela_truecaser *t = NULL;
    const rela_truecaser_options settings = { .struct_size = sizeof settings,
                                              .all_words = !o->known,
                                              .lowercase = o->asr };
    rela_status st = rela_truecaser_load(&t, o->model, &settings, err);
    if (st == RELA_OK)
        st = rela_cli_run_text(cli, apply_line, t, "truecase", o->output, err);
    rela_truecaser_free(t);
    return st;
}

static rela_status run_undo(rela_cli *cli, void *options, rela_error *err)
{
    const undo_options *o = options;
    return rela_cli_run_text(cli, undo_line, &o->headline, "truecase", o->output, err);
}

static rela_status learn_line(void *ctx, const char *text, size_t len, uint64_t number, int thread,
                              rela_error *err)
{
    rela_truecase_counts **counts = ctx;
    return rela_truecase_counts_add(counts[thread], text, len, number, err);
}

static rela_status write_model(rela_truecase_counts **counts, int n, const char *output,
                               rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (int i = 1; i < n && st == RELA_OK; i++)
        st = rela_truecase_counts_merge(counts[0], counts[i], err);
    if (st == RELA_OK)
        st = rela_truecase_counts_write(&text, counts[0], err);
    if (st == RELA_OK)
        st = rela_file_write(output ? output : "-", text.data ? text.data : "", text.len, err);
    rela_buffer_free(&text);
    return st;
}

static rela_status apply_line(const void *object, rela_buffer *out, const char *text, size_t len,
                              rela_error *err)
{
    return rela_truecase(out, object, text, len, err);
}

static rela_status undo_line(const void *object, rela_buffer *out, const char *text, size_t len,
                             rela_error *err)
{
    const bool *headline = object;
    return rela_detruecase(out, text, len, *headline, err);
}
