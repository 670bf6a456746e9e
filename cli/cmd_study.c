/* SPDX-License-Identifier: MIT */
/* cli/cmd_study.c - rela study plan, run, status, why, verify, adopt. */
#include "study_keep.h"
#include "study_run.h"
#include "study_show.h"

static rela_status run_jobs(rela_cli *cli, void *options, rela_error *err);
static rela_status plan(rela_cli *cli, void *options, rela_error *err);
static rela_status status(rela_cli *cli, void *options, rela_error *err);
static rela_status why(rela_cli *cli, void *options, rela_error *err);
static rela_status verify(rela_cli *cli, void *options, rela_error *err);
static rela_status adopt(rela_cli *cli, void *options, rela_error *err);

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

static const rela_option PLAN_OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { "format", 'f', RELA_OPTION_CHOICE, offsetof(rela_cli_plan_options, format), 0, 0, "text",
      "text|tsv|json|make|xargs|slurm", "for people or programs, or the jobs for make, xargs or Slurm" },
    { "program", 0, RELA_OPTION_FILE, offsetof(rela_cli_plan_options, program), 0, 0, NULL, "FILE",
      "make, slurm: program that runs the jobs [this one]" },
    { .name = NULL },
};

static const rela_option STATUS_OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { "format", 'f', RELA_OPTION_CHOICE, offsetof(rela_cli_status_options, format), 0, 0, "text",
      "text|tsv|json", "for people or programs" },
    { .name = NULL },
};

static const rela_option STUDY_OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { .name = NULL },
};

static const rela_option ADOPT_OPTIONS[] = {
    RELA_CLI_STUDY_ROWS,
    { "from", 0, RELA_OPTION_TEXT, offsetof(rela_cli_adopt_options, from), 0, 0, NULL, "KEY",
      "results to take [the last ones under the name of the job]" },
    { .name = NULL },
};

static const char *const PLAN_NEEDS[] = { "json", "", "seed", "", "program", "format=make|format=slurm", NULL };

static const char *const RUN_NEEDS[] = {
    "json", "",
    "seed", "",
    "next", "!job|until",
    "job", "!until",
    NULL,
};
/* clang-format on */

const rela_command rela_commands_study[] = {
    { .name = "study plan",
      .summary = "list the jobs of a study that are to be run, and why",
      .operands = "STUDY",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Prints each job that is not done with the reason (never run, an option or an input that "
          "has changed, what it waits for) and a forecast of its time and memory, and at the end "
          "those of all, with the disk they need. Formats make, xargs and slurm hand the same jobs "
          "to other engines: each runs 'rela study run --job'. Nothing is run or changed.",
      .examples =
          "rela study plan studies/paper.yml --scale minutes\n"
          "rela study plan own.yml --dir work --format make > study.mk && make -j2 -f study.mk\n"
          "rela study plan own.yml --dir work --format xargs | \\\n"
          "    xargs -n 1 -P 2 rela study run own.yml --dir work --job",
      .options = PLAN_OPTIONS,
      .options_size = sizeof(rela_cli_plan_options),
      .needs = PLAN_NEEDS,
      .run = plan },
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
    { .name = "study status",
      .summary = "show what runs, was stopped or failed in a study",
      .operands = "STUDY",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Prints the jobs that run, with the last line of their log and their last sign of life, "
          "those that were stopped, and those that failed, with the last 20 lines of their log; "
          "then "
          "how many there are of each state. Formats tsv and json list all jobs.",
      .examples = "rela study status studies/paper.yml --scale minutes",
      .options = STATUS_OPTIONS,
      .options_size = sizeof(rela_cli_status_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = status },
    { .name = "study why",
      .summary = "explain a job of a study: why it is to be run, its commands and inputs",
      .operands = "STUDY JOB",
      .min_operands = 2,
      .max_operands = 2,
      .description =
          "Prints the reason that 'rela study plan' gives for a job, its key, the commands "
          "that it runs, and its inputs with their hashes.",
      .examples = "rela study why own.yml train/own/rela-g/1",
      .options = STUDY_OPTIONS,
      .options_size = sizeof(rela_cli_study_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = why },
    { .name = "study verify",
      .summary = "check the results of a study against their manifests",
      .operands = "STUDY",
      .min_operands = 1,
      .max_operands = 1,
      .description = "Recomputes the hash of every output of every job that is done, and names "
                     "each file that is "
                     "not what its manifest says (exit code 3).",
      .examples = "rela study verify studies/paper.yml --scale minutes",
      .options = STUDY_OPTIONS,
      .options_size = sizeof(rela_cli_study_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = verify },
    { .name = "study adopt",
      .summary = "keep results after a change that changes nothing",
      .operands = "STUDY JOB...|all",
      .min_operands = 2,
      .max_operands = SIZE_MAX,
      .description = "Gives jobs that would be run again, as an option, an input or the version of "
                     "a command has "
                     "changed, the results that they had before. For changes that are known to "
                     "have no effect: "
                     "nothing is checked but that the results are there.",
      .examples = "rela study adopt own.yml corpus/own\n"
                  "rela study adopt own.yml all",
      .options = ADOPT_OPTIONS,
      .options_size = sizeof(rela_cli_adopt_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = adopt },
    { .name = NULL },
};

static rela_status plan(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_plan(cli, options, err);
}

static rela_status status(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_status(cli, options, err);
}

static rela_status why(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_why(cli, options, err);
}

static rela_status verify(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_verify(cli, options, err);
}

static rela_status adopt(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_adopt(cli, options, err);
}

static rela_status run_jobs(rela_cli *cli, void *options, rela_error *err)
{
    return rela_cli_study_run(cli, options, err);
}
