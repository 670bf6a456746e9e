/* SPDX-License-Identifier: MIT */
/* cli/cmd_average.c - rela average: averages the parameters of checkpoints. */
#include "cli.h"

#include "rela/model.h"

typedef struct average_options {
    const char *output;
    int64_t last;
} average_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(average_options, output), 0, 0, NULL, "FILE",
      "model file to write" },
    { "last", 'n', RELA_OPTION_INT, offsetof(average_options, last), 0, 100000, "0", "N",
      "use only the last N checkpoints; 0: all of them" },
    { .name = NULL },
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static void on_notice(void *ctx, const char *line);

const rela_command rela_commands_average[] = {
    { .name = "average",
      .summary = "average the parameters of checkpoints",
      .operands = "RUN|FILE... -o FILE",
      .min_operands = 1,
      .max_operands = 100000,
      .description =
          "Writes a model whose parameters are the mean of those of the given models or\n"
          "checkpoints. A directory stands for the checkpoints in it, oldest first, so that\n"
          "-n 5 RUN takes the last five of a run. All must have the same configuration,\n"
          "subword codes and vocabularies. Every file is checked before it is used; an existing\n"
          "output file is only replaced once the new one is complete.",
      .examples = "rela average -n 5 run -o run/model.rela\n"
                  "rela average a.rela b.rela -o mean.rela",
      .options = OPTIONS,
      .options_size = sizeof(average_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const average_options *o = options;
    if (!o->output)
        return rela_fail(err, RELA_ARG, "no output file; give one with --output");
    rela_model_average_options average;
    rela_model_average_options_init(&average, sizeof average);
    average.last = (int32_t)o->last;
    average.n_threads = (int32_t)cli->common.threads;
    average.notice = on_notice;
    average.notice_ctx = cli;
    return rela_model_average(o->output, cli->operands.items, cli->operands.n, &average, err);
}

static void on_notice(void *ctx, const char *line)
{
    const rela_cli *cli = ctx;
    rela_log_line(&cli->sink, RELA_LOG_WARNING, "%s", line);
}
