/* SPDX-License-Identifier: MIT */
/* include/rela/job.h - long work on text, shared among MPI ranks and resumable.
 *
 * A job is passed to rela_align, rela_filter or rela_analyse in their options. The processes that
 * mpirun or srun has started together (ranks) all make the same calls: all of them work on the
 * text, only rank 0 calls back and writes files, and the output is byte for byte that of a single
 * process. With a record, results are kept in a file until the job is closed; if the process ends
 * before that, the same calls with the same record resume from it, on any number of ranks.
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
    /* Share the work with the other ranks, if there are any. If a rank is lost the others end too,
     * with a line on standard error: see docs/cluster.md. */
    bool mpi;
    const char *record; /* file that keeps results, removed when the job succeeds; or NULL */
    void (*log)(void *ctx, int32_t level,
                const char *line); /* as in rela_runtime_options; or NULL */
    void *log_ctx;
} rela_job_options;

RELA_API void rela_job_options_init(rela_job_options *o, size_t size);

RELA_API rela_status rela_job_open(rela_job **out, const rela_job_options *o, rela_error *err);
/* st: the status of the work, with its message in err. RELA_OK removes the record. Returns st, or
 * the failure to remove the record. j NULL is fine. */
RELA_API rela_status rela_job_close(rela_job *j, rela_status st, rela_error *err);

RELA_API uint32_t rela_job_rank(const rela_job *j);  /* 0 for NULL */
RELA_API uint32_t rela_job_ranks(const rela_job *j); /* 1 for NULL */

/* Call before the work: names a setting that must be the same on all ranks and when a job is
 * resumed. If it differs, the work fails with RELA_STATE and both values in the message. The build,
 * version and instruction set are always compared; options and models are for the caller to name.
 */
RELA_API rela_status rela_job_setting(rela_job *j, const char *name, const char *value,
                                      rela_error *err);

/* Collective: every rank must call it. RELA_OK if st is RELA_OK on all ranks; otherwise the status
 * and message of the first rank that failed. For steps that ranks take outside of the work. */
RELA_API rela_status rela_job_agree(rela_job *j, rela_status st, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
