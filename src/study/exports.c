/* SPDX-License-Identifier: MIT */
/* src/study/exports.c - see exports.h. */
#include "study/exports.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

static rela_status append_target(rela_buffer *out, const rela_study_job *job,
                                 const rela_study_engine *e, rela_error *err);
static rela_status append_needs(rela_buffer *out, const rela_study_jobs *jobs,
                                const rela_study_job *job, const rela_study_engine *e,
                                rela_error *err);
static size_t find_levels(size_t *levels, const rela_study_jobs *jobs);
static rela_status append_array(rela_buffer *out, const rela_study_jobs *jobs, const size_t *levels,
                                size_t level, rela_error *err);

rela_status rela_study_export_make(rela_buffer *out, const rela_study_jobs *jobs,
                                   const rela_study_engine *e, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err,
                                        "# Made by rela study plan: make -j2 -f FILE. A manifest "
                                        "that exists is never made again.\nRUN = %s\n.PHONY: all",
                                        e->command);
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++)
        if (!*jobs->items[i].key)
            st = rela_buffer_printf(out, err, " %s", jobs->items[i].name);
    st = st ? st : rela_buffer_append_text(out, "\nall:", err);
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        st = rela_buffer_append_char(out, ' ', err);
        st = st ? st : append_target(out, &jobs->items[i], e, err);
    }
    st = st ? st : rela_buffer_append_char(out, '\n', err);
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        st = append_target(out, &jobs->items[i], e, err);
        st = st ? st : rela_buffer_append_text(out, ": |", err);
        st = st ? st : append_needs(out, jobs, &jobs->items[i], e, err);
        st = st ? st : rela_buffer_printf(out, err, "\n\t@$(RUN) %s\n", jobs->items[i].name);
    }
    return st;
}

/* A job that waits for others has no key yet, so its name stands for it. */
static rela_status append_target(rela_buffer *out, const rela_study_job *job,
                                 const rela_study_engine *e, rela_error *err)
{
    if (!*job->key)
        return rela_buffer_append_text(out, job->name, err);
    return rela_study_result_path(out, e->results, job, "manifest.tsv", err);
}

static rela_status append_needs(rela_buffer *out, const rela_study_jobs *jobs,
                                const rela_study_job *job, const rela_study_engine *e,
                                rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < job->n_inputs && st == RELA_OK; i++) {
        const int maker = job->inputs[i].job;
        bool twice = maker == RELA_STUDY_NO_JOB;
        for (size_t k = 0; k < i && !twice; k++)
            twice = job->inputs[k].job == maker;
        if (twice)
            continue;
        st = rela_buffer_append_char(out, ' ', err);
        st = st ? st : append_target(out, &jobs->items[maker], e, err);
    }
    return st;
}

rela_status rela_study_export_xargs(rela_buffer *out, const rela_study_jobs *jobs, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s\n", jobs->items[i].name);
    return st;
}

/* Dependencies are afterany: a job whose input failed says so itself, and the others run. */
rela_status rela_study_export_slurm(rela_buffer *out, const rela_study_jobs *jobs,
                                    const rela_study_engine *e, rela_error *err)
{
    size_t *levels = rela_mem_array(jobs->n + 1, sizeof *levels);
    if (!levels)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu jobs", jobs->n);
    const size_t n = find_levels(levels, jobs);
    rela_status st = rela_buffer_printf(
        out, err,
        "#!/bin/sh\n"
        "# Made by rela study plan: sh FILE [OPTION OF SBATCH...], for example --time=1:00:00.\n"
        "# Two minutes before its time is up, a job saves and queues itself again.\n"
        "set -eu\n"
        "after=\n"
        "# submit NAME...: an array with one task per job, after the array before.\n"
        "submit() {\n"
        "    last=$(($# - 1))\n"
        "    after=$(sbatch --parsable --job-name=study --requeue --signal=B:USR1@120 \\\n"
        "        --array=\"0-$last%%${AT_ONCE:-64}\" ${after:+--dependency=afterany:$after} \\\n"
        "        $options <<END\n"
        "#!/bin/sh\n"
        "set -- $*\n"
        "shift \\$SLURM_ARRAY_TASK_ID\n"
        "cd '$PWD'\n"
        "%s \\$1 &\n"
        "child=\\$!\n"
        "trap 'kill -USR1 \\$child' USR1\n"
        "trap 'kill -TERM \\$child' TERM\n"
        "code=0\n"
        "wait \\$child || code=\\$?\n"
        "# A signal ends the first wait, not the job.\n"
        "while kill -0 \\$child 2>/dev/null; do code=0; wait \\$child || code=\\$?; done\n"
        "if [ \\$code -eq 138 ]; then scontrol requeue \\$SLURM_JOB_ID; fi\n"
        "exit \\$code\n"
        "END\n"
        "    )\n"
        "    after=${after%%%%;*}\n"
        "    echo \"$after\"\n"
        "}\n"
        "options=$*\n",
        e->command);
    for (size_t level = 0; level < n && st == RELA_OK; level++)
        st = append_array(out, jobs, levels, level, err);
    rela_mem_free(levels);
    return st;
}

/* Level of a job: how many jobs follow each other until it, at most. Jobs that are done have
 * none. */
static size_t find_levels(size_t *levels, const rela_study_jobs *jobs)
{
    size_t n = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        const rela_study_job *j = &jobs->items[i];
        levels[i] = 0;
        for (size_t k = 0; k < j->n_inputs; k++) {
            const int maker = j->inputs[k].job;
            if (maker != RELA_STUDY_NO_JOB && jobs->items[maker].state != RELA_STUDY_DONE &&
                levels[maker] + 1 > levels[i])
                levels[i] = levels[maker] + 1;
        }
        if (j->state != RELA_STUDY_DONE && levels[i] + 1 > n)
            n = levels[i] + 1;
    }
    return n;
}

/* Slurm allows some thousand tasks per array. */
static rela_status append_array(rela_buffer *out, const rela_study_jobs *jobs, const size_t *levels,
                                size_t level, rela_error *err)
{
    enum { TASKS_MAX = 1000 };
    size_t n = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        if (levels[i] != level || jobs->items[i].state == RELA_STUDY_DONE)
            continue;
        if (n % TASKS_MAX == 0)
            st = rela_buffer_append_text(out, n ? "\nsubmit" : "submit", err);
        n++;
        st = st ? st : rela_buffer_printf(out, err, " %s", jobs->items[i].name);
    }
    return st || n == 0 ? st : rela_buffer_append_char(out, '\n', err);
}
