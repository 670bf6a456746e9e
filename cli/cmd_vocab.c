/* SPDX-License-Identifier: MIT */
/* cli/cmd_vocab.c - rela vocab: the tokens of a text and how often they occur. */
#include "count_words.h"

#include <string.h>

typedef struct vocab_options {
    const char *format, *output;
    int64_t size, min_frequency;
} vocab_options;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status write_counts(rela_buffer *out, rela_word_counts *counts, const vocab_options *o,
                                rela_error *err);
static rela_status write_tokens(rela_cli *cli, rela_buffer *out, rela_word_counts *counts,
                                const vocab_options *o, rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "format", 0, RELA_OPTION_CHOICE, offsetof(vocab_options, format), 0, 0, "counts",
      "counts|tokens", "lines 'token count', or a model vocabulary: one token per line, "
      "<pad>, <unk> and <eos> first" },
    { "size", 0, RELA_OPTION_INT, offsetof(vocab_options, size), 0, RELA_VOCAB_SIZE_MAX, "0", "N",
      "write at most N lines; 0: all" },
    { "min-frequency", 0, RELA_OPTION_INT, offsetof(vocab_options, min_frequency), 1, 1e12, "1",
      "N", "leave out tokens with a lower count" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(vocab_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_vocab[] = {
    { .name = "vocab",
      .summary = "list the tokens of a text by frequency",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description =
          "Counts the space-separated tokens of all files together, or of standard input. With "
          "'--format counts', tokens with the same count are in order of first occurrence, as in "
          "subword-nmt get-vocab; with '--format tokens', in code point order.",
      .examples = "rela vocab train.bpe.en -o vocab.en\n"
                  "rela vocab --format tokens --size 32000 train.bpe.de train.bpe.en -o vocab",
      .options = OPTIONS,
      .options_size = sizeof(vocab_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const vocab_options *o = options;
    rela_word_counts *counts = NULL;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_word_counts_create(&counts, err);
    if (st == RELA_OK)
        st = rela_cli_count_words(cli, counts, false, err);
    if (st == RELA_OK)
        st = strcmp(o->format, "tokens") == 0 ? write_tokens(cli, &text, counts, o, err)
                                              : write_counts(&text, counts, o, err);
    if (st == RELA_OK)
        st =
            rela_file_write(o->output ? o->output : "-", text.data ? text.data : "", text.len, err);
    rela_buffer_free(&text);
    rela_word_counts_destroy(counts);
    return st;
}

static rela_status write_counts(rela_buffer *out, rela_word_counts *counts, const vocab_options *o,
                                rela_error *err)
{
    const rela_status st = rela_word_counts_sort(counts, 0, err);
    return st ? st
              : rela_word_counts_write(out, counts, (uint64_t)o->size, (uint64_t)o->min_frequency,
                                       err);
}

static rela_status write_tokens(rela_cli *cli, rela_buffer *out, rela_word_counts *counts,
                                const vocab_options *o, rela_error *err)
{
    rela_vocab *v = NULL;
    size_t n_left_out = 0;
    rela_status st =
        rela_vocab_build(&v, &n_left_out, counts, (size_t)o->size, (uint64_t)o->min_frequency, err);
    if (st == RELA_OK)
        st = rela_vocab_write(out, v, err);
    rela_vocab_free(v);
    if (st == RELA_OK && n_left_out)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%zu token%s left out: special, over %d bytes, or with NUL", n_left_out,
                      n_left_out == 1 ? "" : "s", RELA_VOCAB_TOKEN_MAX);
    return st;
}
