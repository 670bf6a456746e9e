/* SPDX-License-Identifier: MIT */
/* cli/cmd_convert.c - rela convert: models and vocabularies in other formats. */
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
      "rela|safetensors|ctranslate2|int8|mapped", "output format" },
    { "from", 0, RELA_OPTION_CHOICE, offsetof(convert_options, from), 0, 0, "rela",
      "rela|safetensors", "input format" },
    { "vocab", 0, RELA_OPTION_CHOICE, offsetof(convert_options, vocab), 0, 0, NULL,
      "marian|fairseq|opennmt|joeynmt", "the input is a vocabulary of that tool, not a model" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(convert_options, output), 0, 0, NULL, "PATH",
      "file or directory to write" },
    { .name = NULL },
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status convert_model(rela_cli *cli, const convert_options *o, rela_error *err);
static rela_status check_form(const char *input, const convert_options *o, rela_error *err);
static rela_status convert_vocab(rela_cli *cli, const convert_options *o, rela_error *err);
static int32_t find(const char *const *names, int32_t n, const char *name);
static void on_notice(void *ctx, const char *line);

const rela_command rela_commands_convert[] = {
    { .name = "convert",
      .summary = "convert a model or vocabulary to another format",
      .operands = "INPUT --to FORM -o PATH",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Formats: 'rela' is one model file. 'safetensors' is a directory with the plain weights\n"
          "(model.safetensors) and, next to them, files with the configuration, subword codes,\n"
          "vocabularies and records; '--from safetensors' turns it back into the same model file,\n"
          "byte for byte. 'ctranslate2' is a directory that CTranslate2 loads; only models that\n"
          "use softmax attention everywhere can be converted. 'int8' is one model file with int8\n"
          "matrices: a quarter of the size, loaded as it is, for translation only. 'mapped' is\n"
          "one model file with matrices packed for this type of processor: they are\n"
          "memory-mapped, so that loading is instant and processes share the memory; for\n"
          "translation only. To replace such a file, rename a new one over it: never write into\n"
          "it while it is in use.\n"
          "With --vocab the input is a vocabulary of another tool, and the output one of rela:\n"
          "one token per line, with our special tokens instead of theirs.\n"
          "Every input is checked completely before anything is written. The files of a directory\n"
          "are replaced together: after a failure all old ones are there.",
      .examples = "rela convert model.rela --to int8 -o small.rela\n"
                  "rela convert model.rela --to ctranslate2 -o model.ct2\n"
                  "rela convert model.rela --to safetensors -o plain\n"
                  "rela convert --from safetensors plain -o model.rela\n"
                  "rela convert --vocab marian vocab.yml -o vocab",
      .options = OPTIONS,
      .options_size = sizeof(convert_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const convert_options *o = options;
    if (!o->output)
        return rela_fail(err, RELA_ARG, "no output; give one with --output");
    return o->vocab ? convert_vocab(cli, o, err) : convert_model(cli, o, err);
}

static rela_status convert_model(rela_cli *cli, const convert_options *o, rela_error *err)
{
    static const char *const FORMS[] = {
        [RELA_MODEL_RELA] = "rela",
        [RELA_MODEL_SAFETENSORS] = "safetensors",
        [RELA_MODEL_CTRANSLATE2] = "ctranslate2",
        [RELA_MODEL_INT8] = "int8",
        [RELA_MODEL_MAPPED] = "mapped",
    };
    rela_model_convert_options convert;
    rela_model_convert_options_init(&convert, sizeof convert);
    convert.from = find(FORMS, sizeof FORMS / sizeof FORMS[0], o->from);
    convert.to = find(FORMS, sizeof FORMS / sizeof FORMS[0], o->to);
    convert.n_threads = (int32_t)cli->common.threads;
    convert.notice = on_notice;
    convert.notice_ctx = cli;
    const rela_status st = check_form(cli->operands.items[0], o, err);
    return st ? st : rela_model_convert(o->output, cli->operands.items[0], &convert, err);
}

static rela_status check_form(const char *input, const convert_options *o, rela_error *err)
{
    rela_buffer weights = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&weights, err, "%s/model.safetensors", input);
    if (st == RELA_OK && strcmp(o->from, "rela") == 0 && rela_file_exists(weights.data))
        st = rela_fail(err, RELA_ARG, "%s is a directory of plain weights: give --from safetensors",
                       input);
    rela_buffer_free(&weights);
    return st;
}

static rela_status convert_vocab(rela_cli *cli, const convert_options *o, rela_error *err)
{
    static const char *const FORMS[] = {
        [RELA_VOCAB_MARIAN] = "marian",
        [RELA_VOCAB_FAIRSEQ] = "fairseq",
        [RELA_VOCAB_OPENNMT] = "opennmt",
        [RELA_VOCAB_JOEYNMT] = "joeynmt",
    };
    rela_vocab *v = NULL;
    if (rela_options_given(cli->state, "from") || rela_options_given(cli->state, "to"))
        return rela_fail(err, RELA_ARG, "--from and --to are for models, not for --vocab");
    const rela_vocab_format form =
        (rela_vocab_format)find(FORMS, sizeof FORMS / sizeof FORMS[0], o->vocab);
    rela_status st = rela_vocab_import(&v, cli->operands.items[0], form, err);
    st = st ? st : rela_vocab_save(v, o->output, err);
    rela_vocab_free(v);
    return st;
}

/* The option table guarantees a match. */
static int32_t find(const char *const *names, int32_t n, const char *name)
{
    int32_t i = 0;
    while (i + 1 < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static void on_notice(void *ctx, const char *line)
{
    const rela_cli *cli = ctx;
    rela_log_line(&cli->sink, RELA_LOG_WARNING, "%s", line);
}
