/* SPDX-License-Identifier: MIT */
/* cli/cmd_study_report.c - rela study report: tables, figures and claims from results. */
#include "studies.h"

typedef struct report_options {
    rela_cli_study_options study;
    const char *out;
    bool timings, text;
} report_options;

static rela_status run(rela_cli *cli, void *options, rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { "out", 'o', RELA_OPTION_DIR, offsetof(report_options, out), 0, 0, NULL, "DIR",
      "directory for report.html, report.tsv and report.json [report in --dir]" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_study_report[] = {
    { .name = "study report",
      .summary = "write the report of a study",
      .operands = "STUDY",
      .min_operands = 1,
      .max_operands = 1,
      .description = "Writes the tables, figures and claims of a study from its results.",
      .examples = "rela study report studies/paper.yml --scale minutes",
      .options = OPTIONS,
      .options_size = sizeof(report_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const report_options *o = options;
    rela_cli_study s = { .study = NULL };
    rela_status st = rela_cli_study_open(&s, cli->operands.items[0], &o->study, err);
    st = st ? st : rela_study_locate(&s.jobs, NULL, s.results.data, &RELA_CLI_NORMALISER, err);
    rela_cli_study_close(&s);
    return st;
}
