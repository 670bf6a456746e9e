/* SPDX-License-Identifier: MIT */
/* cli/cmd_study.c - rela study plan, run, status, why, verify, adopt. */
#include "study_run.h"

static rela_status run_jobs(rela_cli *cli, void *options, rela_error *err);

#define RUN(member) offsetof(rela_cli_run_options, member)
/* clang-format off */
static const rela_option RUN_OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { "jobs", 'j', RELA_OPTION_INT, RUN(jobs), 1, 1024, "1", "N",
      "jobs to run at the same time; each gets its share of the cores, or --threads" },
    { "next", 0, RELA_OPTION_FLAG, RUN(next), 0, 0, NULL, NULL,
      "run one job, the next that can start, and end; exit code 1 if there is none" },
    { "job", 0, RELA_OPTION_TEXT, RUN(job), 0, 0, NULL, "JOB",
      "run this job, by its name or key, and what it needs" },
    { "until", 0, RELA_OPTION_TEXT, RUN(until), 0, 0, NULL, "STAGE",
      "run the jobs of all stages up to this one" },
    { "program", 0, RELA_OPTION_FILE, RUN(program), 0, 0, NULL, "FILE",
      "program that jobs run [this one]" },
    { "nice", 0, RELA_OPTION_INT, RUN(nice), 0, 19, "0", "N",
      "lower the priority of jobs, as nice does" },
    { .name = NULL },
};

static const char *const RUN_NEEDS[] = {
    "json", "",
    "seed", "",
    "next", "!job|until",
    "job", "!until",
    NULL,
};
/* clang-format on */

const rela_command rela_commands_study[] = {
    { .name = "study run",
      .summary = "run the jobs of a study",
      .operands = "STUDY",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Runs every job of a study that is not done: corpora, tuning, trainings, translations, "
          "analyses. A job is done once and for all: its key is a hash of commands, options and "
          "contents of inputs. Stopped by SIGINT, SIGTERM, SIGHUP or SIGUSR1, it lets trainings "
          "save and exits; run again, it goes on where it was. A job that fails stops only those "
          "that need it, and makes the exit code 1. Several processes may run the same study in "
          "the same folder, also on several machines.",
      .examples = "rela study run studies/paper.yml --scale minutes --jobs 2\n"
                  "rela study run own.yml --dir work --job train/own/rela-g/1",
      .options = RUN_OPTIONS,
      .options_size = sizeof(rela_cli_run_options),
      .needs = RUN_NEEDS,
      .run = run_jobs },
    { .name = NULL },
};

static rela_status run_jobs(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_run(cli, options, err);
}
