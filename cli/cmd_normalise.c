/* SPDX-License-Identifier: MIT */
/* cli/cmd_normalise.c - rela normalise: normalises quotes, dashes and spaces. */
#include "languages.h"
#include "textline.h"

#include "rela/text.h"

#include <string.h>

typedef struct normalise_options {
    const char *language;
    const char *form;
    bool map_breaks, wide_punctuation, punctuation, penn, quote_commas, numbers;
    bool remove_control, collapse_blanks, lowercase;
    const char *output;
} normalise_options;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "language", 'l', RELA_OPTION_TEXT, offsetof(normalise_options, language), 0, 0, "en", "CODE",
      "language of the text: en, de, fr, cs, es; others get general rules; unless given, that of the name of the file (text.de.gz) if it has one" },
    { "form", 'f', RELA_OPTION_CHOICE, offsetof(normalise_options, form), 0, 0, "as-is", "as-is|nfc|nfkc",
      "Unicode normal form to apply first" },
    { "map-breaks", 0, RELA_OPTION_FLAG, offsetof(normalise_options, map_breaks), 0, 0, "true", NULL,
      "replace VT, FF, U+0085, U+2028 and U+2029 by spaces" },
    { "wide-punctuation", 'p', RELA_OPTION_FLAG, offsetof(normalise_options, wide_punctuation), 0, 0, NULL, NULL,
      "replace East Asian punctuation and digits by ASCII" },
    { "punctuation", 0, RELA_OPTION_FLAG, offsetof(normalise_options, punctuation), 0, 0, "true", NULL,
      "apply the Moses rules for punctuation" },
    { "penn", 0, RELA_OPTION_FLAG, offsetof(normalise_options, penn), 0, 0, "true", NULL,
      "among these rules, replace ` by an apostrophe and '' by a quote" },
    { "quote-commas", 0, RELA_OPTION_FLAG, offsetof(normalise_options, quote_commas), 0, 0, "true", NULL,
      "put commas and full stops inside quotes (en) or outside (de, es, fr)" },
    { "numbers", 0, RELA_OPTION_FLAG, offsetof(normalise_options, numbers), 0, 0, "true", NULL,
      "replace a no-break space between digits by a point or a comma" },
    { "remove-control", 'c', RELA_OPTION_FLAG, offsetof(normalise_options, remove_control), 0, 0, NULL, NULL,
      "remove control, format, private-use and unassigned characters" },
    { "collapse-blanks", 'b', RELA_OPTION_FLAG, offsetof(normalise_options, collapse_blanks), 0, 0, NULL, NULL,
      "replace every run of white space by one space" },
    { "lowercase", 0, RELA_OPTION_FLAG, offsetof(normalise_options, lowercase), 0, 0, NULL, NULL,
      "lower-case the text" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(normalise_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_normalise[] = {
    { .name = "normalise",
      .alias = "normalize",
      .summary = "normalise quotes, dashes and spaces",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description = "Reads lines of text and applies the punctuation rules of Moses, and the "
                     "other steps that are requested. Each input line gives one output line.",
      .examples = "rela normalise -l de < text.de > text.norm.de\n"
                  "rela normalise --no-punctuation -f nfc --collapse-blanks < a > b",
      .options = OPTIONS,
      .options_size = sizeof(normalise_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const normalise_options *o = options;
    rela_normaliser *n = NULL;
    const rela_normaliser_options settings = {
        .struct_size = sizeof settings,
        .language = rela_cli_language(cli, o->language),
        .form = strcmp(o->form, "nfc") == 0    ? RELA_UNICODE_NFC
                : strcmp(o->form, "nfkc") == 0 ? RELA_UNICODE_NFKC
                                               : RELA_UNICODE_AS_IS,
        .keep_breaks = !o->map_breaks,
        .wide_punctuation = o->wide_punctuation,
        .no_punctuation = !o->punctuation,
        .keep_penn = !o->penn,
        .no_quote_commas = !o->quote_commas,
        .no_numbers = !o->numbers,
        .remove_control = o->remove_control,
        .collapse_blanks = o->collapse_blanks,
        .lowercase = o->lowercase,
    };
    rela_status st = rela_normaliser_create(&n, &settings, err);
    if (st == RELA_OK)
        st = rela_cli_run_text(cli, apply, n, "normalise", o->output, err);
    rela_normaliser_destroy(n);
    return st;
}

static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err)
{
    return rela_normalise(out, object, text, len, err);
}
