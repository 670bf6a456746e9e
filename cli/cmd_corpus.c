/* SPDX-License-Identifier: MIT */
/* cli/cmd_corpus.c - rela corpus: writes the built-in corpus. */
#include "cli.h"

#include "grammar/builtin_corpus.h"

#include <string.h>

typedef struct corpus_options {
    int64_t size, valid, test;
    const char *out, *level;
    bool tokenised, reverse;
} corpus_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "size", 'n', RELA_OPTION_INT, offsetof(corpus_options, size), 0, 1e12, "20000", "N",
      "pairs in the training set" },
    { "valid", 0, RELA_OPTION_INT, offsetof(corpus_options, valid), 0, RELA_HELD_OUT_MAX, "500", "N",
      "pairs in the validation set" },
    { "test", 0, RELA_OPTION_INT, offsetof(corpus_options, test), 0, RELA_HELD_OUT_MAX, "500", "N",
      "pairs in the test set" },
    { "out", 'o', RELA_OPTION_DIR, offsetof(corpus_options, out), 0, 0, NULL, "DIR",
      "output directory; created if missing" },
    { "level", 0, RELA_OPTION_CHOICE, offsetof(corpus_options, level), 0, 0, "hard", "hard|easy",
      "easy: sentences of one clause with common words" },
    { "tokenised", 0, RELA_OPTION_FLAG, offsetof(corpus_options, tokenised), 0, 0, NULL, NULL,
      "put spaces between words and punctuation marks, as the alignments count them" },
    { "reverse", 0, RELA_OPTION_FLAG, offsetof(corpus_options, reverse), 0, 0, NULL, NULL,
      "the same pairs from German to English" },
    { .name = NULL },
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_corpus[] = {
    { .name = "corpus",
      .summary = "write the built-in parallel corpus with gold word alignments",
      .operands = "--out DIR",
      .description =
          "Writes DIR/train, DIR/valid and DIR/test, each as .src (simplified English), .tgt\n"
          "(simplified German), .align (gold word alignment: i-j sure, i?j possible, counted from\n"
          "0 with punctuation marks as words of their own), .src.upos and .tgt.upos (the part of\n"
          "speech of each of these words). The sentences come from a grammar with reordering,\n"
          "agreement, separable verbs, compounds, ambiguous words, relative clauses, numbers and\n"
          "names. The same --seed gives the same corpus on every machine. No sentence of the\n"
          "validation and test sets occurs anywhere else. --reverse swaps the two sides.",
      .examples = "rela corpus --size 20K --seed 1 --out toy\n"
                  "rela corpus --size 1M --valid 2000 --test 2000 --tokenised --out large",
      .options = OPTIONS,
      .options_size = sizeof(corpus_options),
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const corpus_options *o = options;
    if (!o->out)
        return rela_fail(err, RELA_ARG, "--out must name a directory");
    rela_cli_bar bar = { .cli = cli, .label = "writing", .unit = "pairs" };
    const rela_corpus_make_options make = { .dir = o->out,
                                            .train = (uint64_t)o->size,
                                            .valid = (uint64_t)o->valid,
                                            .test = (uint64_t)o->test,
                                            .seed = (uint64_t)cli->common.seed,
                                            .n_threads = (int32_t)cli->common.threads,
                                            .tokenised = o->tokenised,
                                            .reverse = o->reverse,
                                            .easy = strcmp(o->level, "easy") == 0,
                                            .progress = rela_cli_log,
                                            .progress_ctx = &bar };
    rela_corpus_made made;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_corpus_make(&made, &make, err);
    if (st == RELA_OK)
        st = cli->common.json ? rela_corpus_made_json(&text, &made, err)
                              : rela_corpus_made_table(&text, &made, err);
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}
