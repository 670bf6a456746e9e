/* SPDX-License-Identifier: MIT */
/* cli/cmd_detokenise.c - rela detokenise: running text from tokens. */
#include "languages.h"
#include "textline.h"

#include "rela/text.h"

typedef struct detokenise_options {
    const char *language;
    bool unescape;
    const char *output;
} detokenise_options;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "language", 'l', RELA_OPTION_TEXT, offsetof(detokenise_options, language), 0, 0, "en", "CODE",
      "language of the text: en, de, fr, cs; others get general rules; unless given, that of the name of the file (text.de.gz) if it has one" },
    { "unescape", 'x', RELA_OPTION_FLAG, offsetof(detokenise_options, unescape), 0, 0, "true", NULL,
      "replace entities like &amp; by their characters" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(detokenise_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_detokenise[] = {
    { .name = "detokenise",
      .alias = "detokenize",
      .summary = "join tokens into running text",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description = "Reads lines of tokens separated by spaces and writes running text, as the "
                     "Moses detokeniser does. Each input line gives one output line.",
      .examples = "rela detokenise -l fr < output.tok > output.txt",
      .options = OPTIONS,
      .options_size = sizeof(detokenise_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const detokenise_options *o = options;
    rela_detokeniser *d = NULL;
    const rela_detokeniser_options settings = { .struct_size = sizeof settings,
                                                .language = rela_cli_language(cli, o->language),
                                                .no_unescape = !o->unescape };
    rela_status st = rela_detokeniser_create(&d, &settings, err);
    if (st == RELA_OK)
        st = rela_cli_run_text(cli, apply, d, "detokenise", o->output, err);
    rela_detokeniser_destroy(d);
    return st;
}

static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err)
{
    return rela_detokenise(out, object, text, len, err);
}
