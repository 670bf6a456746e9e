/* SPDX-License-Identifier: MIT */
/* cli/study_worker.h - one job at a time of a run: claimed, run step by step, put in its place. */
#ifndef RELA_CLI_STUDY_WORKER_H
#define RELA_CLI_STUDY_WORKER_H

#include "study_process.h"
#include "study_run.h"

#include "study/locate.h"

typedef struct rela_cli_worker {
    rela_cli_process process;
    bool busy, stopping;
    size_t job, step;
    double started, beaten; /* by the clock */
    double cpu_seconds;     /* of steps that have ended, and of earlier runs */
    double wall_seconds;    /* of earlier runs */
    uint64_t peak_bytes;
} rela_cli_worker;

/* What a run intends with a job. */
typedef struct rela_cli_job_plan {
    bool wanted, tried; /* tried: failed or was stopped in this run */
    bool again;         /* it is done, but a big output is needed */
    bool running;       /* here */
    bool changed;       /* its state, while that of others is brought up to date */
} rela_cli_job_plan;

typedef struct rela_cli_runner {
    rela_cli *cli;
    const rela_cli_run_options *o;
    rela_cli_study s;
    rela_study_locator *locator;
    rela_buffer program;
    rela_cli_worker *workers;
    size_t n_workers;
    rela_cli_job_plan *plans; /* one per job */
    size_t n_started, n_failed;
    int stop; /* signal; 0: none */
    rela_status failed_st;
} rela_cli_runner;

void rela_cli_runner_close(rela_cli_runner *r);
/* The program that jobs run. */
rela_status rela_cli_runner_program(rela_cli_runner *r, rela_error *err);
bool rela_cli_runner_busy(const rela_cli_runner *r);
/* Looks again at all jobs that are not done, as other processes may work on them. */
rela_status rela_cli_runner_refresh(rela_cli_runner *r, rela_error *err);

bool rela_cli_worker_busy(const rela_cli_worker *w);
/* Claims a job and starts its first command. If another process has it, the worker stays free and
 * *elsewhere is set. */
rela_status rela_cli_worker_start(rela_cli_runner *r, rela_cli_worker *w, size_t number,
                                  bool *elsewhere, rela_error *err);
/* Has its command ended? Then starts the next, or ends the job. Gives a sign of life every beat
 * seconds. */
rela_status rela_cli_worker_look(rela_cli_runner *r, rela_cli_worker *w, double beat,
                                 rela_error *err);

#endif
