/* SPDX-License-Identifier: MIT */
/* cli/cmd_convert.c - rela convert: models and vocabularies in other forms. */
#include "cli.h"

#include "rela/model.h"
#include "rela/vocab.h"

#include <string.h>

typedef struct convert_options {
    const char *from, *to, *vocab, *output;
} convert_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "to", 0, RELA_OPTION_CHOICE, offsetof(convert_options, to), 0, 0, "rela",
      "rela|safetensors|ctranslate2", "form to write" },
    { "from", 0, RELA_OPTION_CHOICE, offsetof(convert_options, from), 0, 0, "rela",
      "rela|safetensors", "form of the input" },
    { "output", 'o', RELA_OPTION_FILE, offsetof(convert_options, output), 0, 0, NULL, "PATH",
      "file or directory to write" },
    { .name = NULL },
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static int32_t form_of(const char *name);
static void tell(void *ctx, const char *line);

const rela_command rela_commands_convert[] = {
    { .name = "convert",
      .summary = "write a model in another form",
      .operands = "MODEL --to FORM -o PATH",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Forms: 'rela' is one model file. 'safetensors' is a directory with the plain weights\n"
          "(model.safetensors) and the configuration, subword codes, vocabularies and records as\n"
          "files beside them; '--from safetensors' makes the same model file of it again, byte\n"
          "for byte. 'ctranslate2' is a directory that CTranslate2 loads; only models whose\n"
          "attention is softmax everywhere can be said in it.\n"
          "Every input is checked as a whole before anything is written.",
      .examples = "rela convert model.rela --to ctranslate2 -o model.ct2\n"
                  "rela convert model.rela --to safetensors -o plain\n"
                  "rela convert --from safetensors plain -o model.rela",
      .options = OPTIONS,
      .options_size = sizeof(convert_options),
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const convert_options *o = options;
    if (!o->output)
        return rela_fail(err, RELA_ARG, "no output; give one with --output");
    rela_model_convert_options convert;
    rela_model_convert_options_init(&convert, sizeof convert);
    convert.from = form_of(o->from);
    convert.to = form_of(o->to);
    convert.n_threads = (int32_t)cli->common.threads;
    convert.notice = tell;
    convert.notice_ctx = cli;
    return rela_model_convert(o->output, cli->operands.items[0], &convert, err);
}

static int32_t form_of(const char *name)
{
    static const char *const NAMES[] = {
        [RELA_MODEL_RELA] = "rela",
        [RELA_MODEL_SAFETENSORS] = "safetensors",
        [RELA_MODEL_CTRANSLATE2] = "ctranslate2",
    };
    int32_t i = 0;
    while (strcmp(NAMES[i], name) != 0) /* the option table allows these only */
        i++;
    return i;
}

static void tell(void *ctx, const char *line)
{
    const rela_cli *cli = ctx;
    rela_log_line(&cli->sink, RELA_LOG_WARNING, "%s", line);
}
