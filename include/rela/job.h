/* SPDX-License-Identifier: MIT */
/* include/rela/job.h - long work on text, shared by several processes and able to go on after it
 * was ended.
 *
 * A job is handed to rela_align, rela_filter or rela_analyse in their options. The processes that
 * mpirun or srun has started together (ranks) each make the same calls: all of them work on the
 * text, rank 0 alone calls back and writes files, and every byte is what one process would have
 * written. With a record, results are kept in a file until the job is closed; if the process is
 * ended before, the same calls with the same record take them from there, on any number of ranks.
 * One thread at a time; a job serves one of these calls. */
#ifndef RELA_JOB_H
#define RELA_JOB_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rela_job rela_job;

typedef struct rela_job_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    /* Not 0: shares the work with the other ranks, if there are any. A rank that is lost ends the
     * others, with a line on standard error: see docs/cluster.md. */
    bool mpi;
    const char *record; /* file that keeps results; it goes when a job has ended well; or NULL */
    void (*log)(void *ctx, int32_t level,
                const char *line); /* as in rela_runtime_options; or NULL */
    void *log_ctx;
} rela_job_options;

RELA_API void rela_job_options_init(rela_job_options *o, size_t size);

RELA_API rela_status rela_job_open(rela_job **out, const rela_job_options *o, rela_error *err);
/* st: how the work ended, with the message in err. RELA_OK ends the record. Returns st. NULL is
 * fine. */
RELA_API rela_status rela_job_close(rela_job *j, rela_status st, rela_error *err);

RELA_API uint32_t rela_job_rank(const rela_job *j);  /* 0 for NULL */
RELA_API uint32_t rela_job_ranks(const rela_job *j); /* 1 for NULL */

/* Before the work: something that must be the same on all ranks, and when a job goes on. What
 * differs is RELA_STATE with both values. The program, its version and the instructions it uses are
 * compared in any case; options and models are the caller's to name. */
RELA_API rela_status rela_job_setting(rela_job *j, const char *name, const char *value,
                                      rela_error *err);

/* RELA_OK if st is for all ranks; otherwise status and message of the first that failed. For what
 * ranks do beside the work: every rank calls it. */
RELA_API rela_status rela_job_agree(rela_job *j, rela_status st, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
