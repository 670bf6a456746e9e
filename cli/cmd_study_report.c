/* SPDX-License-Identifier: MIT */
/* cli/cmd_study_report.c - rela study report: tables, figures and claims from results. */
#include "studies.h"

#include "study/study_report.h"

typedef struct report_options {
    rela_cli_study_options study;
    const char *out;
    bool no_timings, without_text;
} report_options;

static rela_status run(rela_cli *cli, void *options, rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { "out", 'o', RELA_OPTION_DIR, offsetof(report_options, out), 0, 0, NULL, "DIR",
      "directory for report.html, report.tsv and report.json [report in --dir]" },
    { "no-timings", 0, RELA_OPTION_FLAG, offsetof(report_options, no_timings), 0, 0, NULL, NULL,
      "leave out what differs from run to run: speed" },
    { "without-text", 0, RELA_OPTION_FLAG, offsetof(report_options, without_text), 0, 0, NULL, NULL,
      "leave out all text of corpora" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_study_report[] = {
    { .name = "study report",
      .summary = "write the report of a study",
      .operands = "STUDY",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Writes report.html, a page that needs no other file, and the same numbers as "
          "report.tsv\n"
          "and report.json: the tables and figures of 'report:', a verdict on every item of\n"
          "'claims:', the tuning, the ledger of test texts and the jobs behind each figure. What\n"
          "has not run is marked as such, so it can be called at any time. --results is enough:\n"
          "neither models nor corpora are needed. The same results give the same bytes.",
      .examples =
          "rela study report studies/paper.yml --scale minutes\n"
          "rela study report studies/paper.yml --scale cpu --results docs/results/paper \\\n"
          "    --without-text --out report",
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
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = rela_cli_study_open(&s, cli->operands.items[0], &o->study, err);
    const char *dir = st == RELA_OK && rela_dir_exists(s.dir.data) ? s.dir.data : NULL;
    st = st ? st : rela_study_locate(&s.jobs, dir, s.results.data, &RELA_CLI_NORMALISER, err);
    st = st       ? st
         : o->out ? rela_buffer_append_text(&out, o->out, err)
                  : rela_buffer_printf(&out, err, "%s/report", s.dir.data);
    const rela_study_report_options how = { .no_timings = o->no_timings,
                                            .without_text = o->without_text,
                                            .results = s.results.data,
                                            .dir = dir };
    st = st ? st : rela_study_report_write(out.data, s.study, &s.jobs, &how, err);
    st = st ? st : rela_buffer_append_text(&out, "/report.html\n", err);
    st = st ? st : rela_file_write("-", out.data, out.len, err);
    rela_buffer_free(&out);
    rela_cli_study_close(&s);
    return st;
}
