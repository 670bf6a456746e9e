/* SPDX-License-Identifier: MIT */
/* cli/cmd_split.c - rela split: one sentence per line. */
#include "languages.h"
#include "textline.h"

#include "base/str.h"
#include "rela/text.h"

typedef struct split_options {
    const char *language;
    bool paragraphs;
    const char *output;
} split_options;

typedef struct job {
    rela_splitter *splitter;
    bool paragraphs;
} job;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "language", 'l', RELA_OPTION_TEXT, offsetof(split_options, language), 0, 0, "en", "CODE",
      "language of the text, for its abbreviations: cs, de, en, es, fr, it, nl, pl, pt, ru, sv; others get general rules; unless given, that of the name of the file (text.de.gz) if it has one" },
    { "paragraphs", 'p', RELA_OPTION_FLAG, offsetof(split_options, paragraphs), 0, 0, NULL, NULL,
      "write an empty line after the sentences of each input line, so that lines can be rejoined" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(split_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_split[] = {
    { .name = "split",
      .summary = "split text into sentences",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description =
          "Reads lines of text and writes each sentence on a line of its own. Sentences do not "
          "extend over line ends; a line without text gives an empty line.",
      .examples = "rela split -l de < text.de > sentences.de\n"
                  "rela split -l en --paragraphs report.txt | rela translate model.rela",
      .options = OPTIONS,
      .options_size = sizeof(split_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const split_options *o = options;
    job j = { .paragraphs = o->paragraphs };
    const rela_splitter_options settings = { .struct_size = sizeof settings,
                                             .language = rela_cli_language(cli, o->language) };
    rela_status st = rela_splitter_create(&j.splitter, &settings, err);
    if (st == RELA_OK)
        st = rela_cli_run_text(cli, apply, &j, "split", o->output, err);
    rela_splitter_destroy(j.splitter);
    return st;
}

/* Ends no line after the last sentence: the caller does. */
static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err)
{
    const job *j = object;
    rela_sentence s;
    rela_status st = RELA_OK;
    bool any = false;
    for (size_t at = 0; st == RELA_OK && rela_split_next(&s, &at, j->splitter, text, len);) {
        if (any)
            st = rela_buffer_append_char(out, '\n', err);
        st = st ? st : rela_buffer_append(out, text + s.begin, s.end - s.begin, err);
        any = true;
    }
    return st == RELA_OK && any && j->paragraphs ? rela_buffer_append_char(out, '\n', err) : st;
}
